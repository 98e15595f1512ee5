package claude

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// Dialect is the [sessions.Dialect] of Claude Code.
type Dialect struct{}

// Agent implements [sessions.Dialect].
func (Dialect) Agent() sessions.Agent { return sessions.ClaudeCode }

// Appends implements [sessions.Dialect].
func (Dialect) Appends(sessions.Session) bool { return true }

// Homes returns the directories in which Claude Code keeps its projects.
func Homes(p sessions.Places) []string {
	if dir := p.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return []string{filepath.Join(dir, "projects")}
	}
	return []string{
		filepath.Join(p.Home, ".claude", "projects"),
		filepath.Join(p.Home, ".config", "claude", "projects"),
	}
}

// Find implements [sessions.Dialect].
func (d Dialect) Find(ctx context.Context, p sessions.Places) iter.Seq2[sessions.Session, error] {
	return sessions.FindFiles(ctx, d, Homes(p), func(name string) bool {
		return strings.HasSuffix(name, ".jsonl")
	})
}

// Recognize implements [sessions.Dialect]. Records of Claude Code name their session beside their
// type.
func (Dialect) Recognize(head []byte) bool {
	for line := range bytes.Lines(head) {
		var r record
		if sessions.Unmarshal(line, &r) != nil {
			continue
		}
		switch {
		case r.Type == "":
		case r.Payload == nil && r.SessionID.Text() != "":
			return true
		case r.Type == "summary" && r.LeafUUID != "",
			r.Type == "file-history-snapshot" && r.MessageID != "":
			return true
		}
	}
	return false
}

// List implements [sessions.Dialect].
func (Dialect) List(_ context.Context, name string) ([]sessions.Session, error) {
	var s sessions.Session
	var mark sessions.Mark
	info, err := sessions.Glance(name, func(line []byte) (more bool) {
		var r record
		if sessions.Unmarshal(line, &r) == nil {
			glanceAt(&s, &r)
		}
		mark.Look(line, r.Export)
		return !found(s)
	})
	if err = cmp.Or(err, mark.Err); err != nil || s.Name.IsZero() {
		return nil, err
	}
	s.Export = mark.Export
	s.Path, s.Size, s.Length, s.Changed = name, info.Size(), info.Size(), info.ModTime()
	return []sessions.Session{s}, nil
}

func found(s sessions.Session) bool { return !s.Name.IsZero() && s.Dir != "" && s.Title != "" }

func glanceAt(s *sessions.Session, r *record) {
	if id := r.SessionID.Text(); s.Name.IsZero() && id != "" {
		s.Name = sessions.Name{Agent: sessions.ClaudeCode, ID: string(id)}
		if r.IsSidechain && r.AgentID != "" {
			s.Parent = s.Name
			s.Name = subagent(s.Name, string(r.AgentID))
		}
	}
	if s.Dir == "" {
		s.Dir = string(r.CWD.Text())
	}
	if s.Title == "" {
		text, _ := r.prompt()
		s.Title = sessions.Opening(words(text))
	}
}

// subagent names a sub-agent of a session: its own id is unique only within the session.
func subagent(of sessions.Name, id string) sessions.Name {
	return sessions.Name{Agent: of.Agent, ID: of.ID + "." + id}
}

// persisted returns the full text of a result that the agent keeps in a separate file. It reads
// only files in the directory of the session.
func persisted(transcript, named string) (string, bool) {
	base := named[strings.LastIndexAny(named, `/\`)+1:]
	dir := strings.TrimSuffix(transcript, filepath.Ext(transcript))
	if base == "" || !filepath.IsLocal(base) {
		return "", false
	}
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return "", false
	}
	defer root.Close() //nolint:errcheck // only read
	data, err := regular.Read(regular.In(root), path.Join("tool-results", base), maxPersisted)
	return string(data), err == nil
}

// maxPersisted limits the size of a result that is read from a separate file.
const maxPersisted = 16 << 20
