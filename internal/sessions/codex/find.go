package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// Dialect is the [sessions.Dialect] of Codex.
type Dialect struct{}

// Agent implements [sessions.Dialect].
func (Dialect) Agent() sessions.Agent { return sessions.Codex }

// Appends implements [sessions.Dialect].
func (Dialect) Appends(sessions.Session) bool { return true }

// Home returns the directory in which Codex keeps its data.
func Home(p sessions.Places) string { return p.Dir("CODEX_HOME", ".codex") }

// Find implements [sessions.Dialect].
func (d Dialect) Find(
	ctx context.Context, p sessions.Places,
) iter.Seq2[sessions.Session, error] {
	dirs := []string{
		filepath.Join(Home(p), "sessions"), filepath.Join(Home(p), "archived_sessions"),
	}
	return sessions.FindFiles(ctx, d, dirs, func(name string) bool {
		return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, packed)
	})
}

// packed is the suffix of a file that Codex compressed. Codex unpacks a file to append to it, so
// the plain file counts if both exist.
const packed = ".jsonl.zst"

// Recognize implements [sessions.Dialect]. Records of Codex have a payload beside their type; a
// file of mid-2025 begins with its metadata.
func (Dialect) Recognize(head []byte) bool {
	first := true
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r, ok := read(line)
		if ok && (r.enveloped && r.isKnown() || first && r.Type == kindMeta) {
			return true
		}
		first = false
	}
	return false
}

// List implements [sessions.Dialect].
func (Dialect) List(_ context.Context, name string) ([]sessions.Session, error) {
	plain, isPacked := strings.CutSuffix(name, filepath.Ext(packed))
	if isPacked {
		if _, err := os.Lstat(plain); err == nil {
			return nil, nil
		}
	}
	var s sessions.Session
	var mark sessions.Mark
	info, err := sessions.Glance(name, func(line []byte) (more bool) {
		r, ok := read(line)
		if s.Name.IsZero() { // the following lines may be the parent's
			var export jsontext.Value
			if ok && r.Type == kindMeta {
				export = r.p.Export
			}
			mark.Look(line, export)
		}
		if ok {
			glanceAt(&s, r)
		}
		return s.Name.IsZero() || s.Title == ""
	})
	if err = cmp.Or(err, mark.Err); err != nil || s.Name.IsZero() {
		return nil, err
	}
	s.Export = mark.Export
	s.Path, s.Size, s.Changed = name, info.Size(), info.ModTime()
	if !isPacked {
		s.Length = info.Size()
	}
	if title := indexed(name, s.Name.ID); title != "" {
		s.Title = sessions.Opening(title)
	}
	return []sessions.Session{s}, nil
}

func glanceAt(s *sessions.Session, r *record) {
	switch {
	case r.Type == kindMeta && s.Name.IsZero(): // a second one is the parent's
		s.Name = name(string(r.p.ID))
		s.Dir = string(r.p.CWD)
		s.Parent = r.p.parent()
	case r.Type == kindContext && s.Dir == "":
		s.Dir = string(r.p.CWD)
	case r.Type == kindEvent && r.p.Type == "user_message":
		s.Title = sessions.Opening(string(r.p.Message))
	case r.Type == kindItem && r.p.isMessage() && r.p.Role == "user":
		if text := r.p.text(); !isInjected(text) {
			s.Title = sessions.Opening(text)
		}
	}
}

func name(id string) sessions.Name {
	if id == "" {
		return sessions.Name{}
	}
	return sessions.Name{Agent: sessions.Codex, ID: id}
}

// maxDepth is how many directories a session may be below the one with the index.
const maxDepth = 5

// indexed returns the title of a session in the index that some versions keep.
func indexed(transcript, id string) (title string) {
	dir := filepath.Dir(transcript)
	for range maxDepth {
		title, err := inIndex(filepath.Join(dir, "session_index.jsonl"), id)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return title
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func inIndex(path, id string) (title string, err error) {
	f, err := regular.OpenFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	lines, err := sessions.NewLines(f, 0)
	if err != nil {
		return "", err
	}
	defer lines.Close()
	for {
		line, _, err := lines.Next(sessions.Complete)
		var broken *sessions.LineError
		switch {
		case errors.Is(err, io.EOF):
			return title, nil
		case errors.As(err, &broken):
			continue
		case err != nil:
			return title, err
		}
		var e struct {
			ID   sessions.Text `json:"id"`
			Name sessions.Text `json:"thread_name"`
		}
		if sessions.Unmarshal(line, &e) == nil && string(e.ID) == id {
			title = string(e.Name)
		}
	}
}
