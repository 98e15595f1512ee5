package copilot

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/sessions"
)

// Dialect is the [sessions.Dialect] of Copilot CLI.
type Dialect struct{}

// Agent implements [sessions.Dialect].
func (Dialect) Agent() sessions.Agent { return sessions.Copilot }

// Appends implements [sessions.Dialect].
func (Dialect) Appends(sessions.Session) bool { return true }

// Home returns the directory in which Copilot CLI keeps its data.
func Home(p sessions.Places) string { return p.Dir("COPILOT_HOME", ".copilot") }

// Find implements [sessions.Dialect].
func (d Dialect) Find(
	ctx context.Context, p sessions.Places,
) iter.Seq2[sessions.Session, error] {
	dirs := []string{filepath.Join(Home(p), "session-state")}
	return sessions.FindFiles(ctx, d, dirs, func(name string) bool {
		return strings.HasSuffix(name, ".jsonl")
	})
}

// Recognize implements [sessions.Dialect]. A session begins with an event that names its producer.
func (Dialect) Recognize(head []byte) bool {
	for line := range bytes.Lines(head) {
		if e, ok := read(line); ok && e.Type == "session.start" {
			d := &e.d
			return d.SessionID != "" && (d.Producer == "copilot-agent" || d.Version != "")
		}
	}
	return false
}

// List implements [sessions.Dialect].
func (Dialect) List(_ context.Context, name string) ([]sessions.Session, error) {
	var s sessions.Session
	info, err := sessions.Glance(name, func(line []byte) (more bool) {
		e, ok := read(line)
		if !ok {
			return true
		}
		switch d := &e.d; {
		case e.Type == "session.start" && s.Name.IsZero() && d.SessionID != "":
			s.Name = sessions.Name{Agent: sessions.Copilot, ID: string(d.SessionID)}
			s.Dir = string(d.Context.Value.CWD)
		case e.Type == "session.resume" && s.Dir == "": // early versions said it only here
			s.Dir = string(d.Context.Value.CWD)
		case e.Type == "user.message" && s.Title == "" && e.agent() == "":
			s.Title = sessions.Opening(string(d.Content))
		}
		return s.Name.IsZero() || s.Title == "" || s.Dir == ""
	})
	if err != nil || s.Name.IsZero() {
		return nil, err
	}
	s.Path, s.Size, s.Length, s.Changed = name, info.Size(), info.Size(), info.ModTime()
	return []sessions.Session{s}, nil
}
