package gemini

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// Dialect is the [sessions.Dialect] of Gemini CLI.
type Dialect struct{}

// Agent implements [sessions.Dialect].
func (Dialect) Agent() sessions.Agent { return sessions.Gemini }

// Appends implements [sessions.Dialect]. A file of lines only grows, so the fold of its beginning
// equals what was imported from it; changes by later lines are merged with the fold of all lines.
func (Dialect) Appends(s sessions.Session) bool { return isLines(s.Path) }

func isLines(name string) bool { return strings.HasSuffix(name, ".jsonl") }

// Home returns the directory in which Gemini CLI keeps its data.
func Home(p sessions.Places) string {
	return filepath.Join(p.Dir("GEMINI_CLI_HOME"), ".gemini")
}

// Find implements [sessions.Dialect].
func (d Dialect) Find(
	ctx context.Context, p sessions.Places,
) iter.Seq2[sessions.Session, error] {
	dirs := []string{filepath.Join(Home(p), "tmp")}
	return sessions.FindFiles(ctx, d, dirs, func(name string) bool {
		return isLines(name) || strings.HasSuffix(name, ".json")
	})
}

// Recognize implements [sessions.Dialect]. A session begins with its metadata.
func (Dialect) Recognize(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	var m metadata
	if sessions.Unmarshal(line, &m) == nil {
		return m.isSession()
	}
	m = glanceObject(head)
	return m.isSession()
}

// List implements [sessions.Dialect].
func (Dialect) List(_ context.Context, name string) ([]sessions.Session, error) {
	if isLines(name) {
		return listLines(name)
	}
	if _, err := os.Lstat(name + "l"); err == nil {
		return nil, nil // it was continued in a file of lines
	}
	f, err := regular.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, min(info.Size(), maxHead))
	n, err := f.Read(head)
	m := glanceObject(head[:n])
	if !m.isSession() || err != nil {
		return nil, err
	}
	s := m.session(name)
	s.Size, s.Changed = info.Size(), info.ModTime()
	return []sessions.Session{s}, nil
}

// maxHead limits how much of an object is read to recognize it.
const maxHead = 1 << 20

func listLines(name string) ([]sessions.Session, error) {
	var about metadata
	info, err := sessions.Glance(name, func(line []byte) (more bool) {
		var r record
		if sessions.Unmarshal(line, &r) != nil {
			return true
		}
		if !about.isSession() && r.isSession() {
			about = r.metadata
		}
		if r.Type == "user" && r.ID != "" && about.title == "" {
			about.title = r.typed()
		}
		return !about.isSession() || about.title == ""
	})
	if err != nil || !about.isSession() {
		return nil, err
	}
	s := about.session(name)
	s.Size, s.Length, s.Changed = info.Size(), info.Size(), info.ModTime()
	return []sessions.Session{s}, nil
}

// session returns the session that metadata describe. The session of a sub-agent is in a directory
// named after its parent.
func (m *metadata) session(name string) sessions.Session {
	s := sessions.Session{
		Name: sessions.Name{Agent: sessions.Gemini, ID: string(m.SessionID)},
		Path: name, Dir: m.dir(name), Title: sessions.Opening(m.title),
	}
	if s.Dir == "" {
		s.DirSum = string(m.Project)
	}
	dir := filepath.Dir(name)
	if m.Kind == "subagent" && filepath.Base(filepath.Dir(dir)) == "chats" {
		s.Parent = sessions.Name{Agent: sessions.Gemini, ID: filepath.Base(dir)}
	}
	return s
}

// dir returns the root of the project, which is recorded in the project's directory; old
// directories are named by a hash of it.
func (m *metadata) dir(name string) string {
	project := filepath.Dir(filepath.Dir(name))
	if m.Kind == "subagent" {
		project = filepath.Dir(project)
	}
	const maxMarker = 1 << 20
	marker := filepath.Join(project, ".project_root")
	if root, err := regular.ReadFile(marker, maxMarker); err == nil {
		return strings.TrimSpace(string(root))
	}
	var known struct {
		Projects sessions.Loose[map[string]sessions.Text] `json:"projects"`
	}
	list := filepath.Join(filepath.Dir(filepath.Dir(project)), "projects.json")
	if data, err := regular.ReadFile(list, maxMarker); err == nil &&
		sessions.Unmarshal(data, &known) == nil {
		for _, root := range slices.Sorted(maps.Keys(known.Projects.Value)) {
			sum := sha256.Sum256([]byte(root))
			if string(known.Projects.Value[root]) == filepath.Base(project) ||
				hex.EncodeToString(sum[:]) == string(m.Project) {
				return root
			}
		}
	}
	if dirs := m.Dirs.Value; len(dirs) > 0 {
		return string(dirs[0])
	}
	return ""
}
