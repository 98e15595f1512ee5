package llm

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sqlite"
)

// Dialect is the [sessions.Dialect] of llm.
type Dialect struct{}

// Agent implements [sessions.Dialect].
func (Dialect) Agent() sessions.Agent { return sessions.LLM }

// Appends implements [sessions.Dialect].
func (Dialect) Appends(sessions.Session) bool { return false }

// Files returns the paths of llm's log.
func Files(p sessions.Places) []string {
	const app, file = "io.datasette.llm", "logs.db"
	if dir := p.Getenv("LLM_USER_PATH"); dir != "" {
		return []string{filepath.Join(dir, file)}
	}
	dirs := []string{
		filepath.Join(p.Home, ".config"),
		filepath.Join(p.Home, "Library", "Application Support"),
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "APPDATA"} {
		if dir := p.Getenv(name); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for i, dir := range dirs {
		dirs[i] = filepath.Join(dir, app, file)
	}
	return dirs
}

// Find implements [sessions.Dialect]. llm does not record the directory in which it ran.
func (d Dialect) Find(ctx context.Context, p sessions.Places) iter.Seq2[sessions.Session, error] {
	return func(yield func(sessions.Session, error) bool) {
		sessions.ListEach(ctx, d, Files(p), yield)
	}
}

// Recognize implements [sessions.Dialect].
func (Dialect) Recognize(head []byte) bool { return sqlite.Recognize(head) }

// List implements [sessions.Dialect]. A conversation that began before version 0.32 and continued
// after it is one session.
func (Dialect) List(ctx context.Context, path string) ([]sessions.Session, error) {
	var l *listing
	err := sqlite.View(ctx, path, func(db *sqlite.Database) error {
		l = &listing{path: path, byID: map[string]*sessions.Session{}}
		if !hasLegacy(db) && !hasThreads(db) && !db.IsEmpty() {
			return sessions.ErrOther
		}
		return errors.Join(l.legacy(db), l.threads(db))
	})
	if err != nil {
		return nil, err
	}
	all := make([]sessions.Session, 0, len(l.order))
	for _, id := range l.order {
		if s := l.byID[id]; s.Length > 0 {
			all = append(all, *s)
		}
	}
	return all, nil
}

type listing struct {
	path  string
	byID  map[string]*sessions.Session
	order []string
}

func (l *listing) session(id string) *sessions.Session {
	s := l.byID[id]
	if s == nil {
		s = &sessions.Session{
			Name: sessions.Name{Agent: sessions.LLM, ID: id}, Path: l.path,
		}
		l.byID[id] = s
		l.order = append(l.order, id)
	}
	return s
}

func hasLegacy(db *sqlite.Database) bool {
	return db.Has("responses", "id", "conversation_id", "response")
}

func hasThreads(db *sqlite.Database) bool {
	return db.Has("turns", "id", "thread_id", "tip_message_hash")
}

func (l *listing) legacy(db *sqlite.Database) error {
	if !hasLegacy(db) {
		return nil
	}
	err := db.Table("conversations").Each(func(r sqlite.Row) error {
		l.session(r.Text("id")).Title = r.Text("name")
		return nil
	})
	if err != nil {
		return err
	}
	return db.Table("responses").Each(func(r sqlite.Row) error {
		l.turn(ownerOf(r), r)
		return nil
	})
}

// ownerOf returns the conversation of a response. Some early ones have none.
func ownerOf(r sqlite.Row) string {
	if id := r.Text("conversation_id"); id != "" {
		return id
	}
	return r.Text("id")
}

func (l *listing) threads(db *sqlite.Database) error {
	if !hasThreads(db) {
		return nil
	}
	err := db.Table("threads").Each(func(r sqlite.Row) error {
		if s := l.session(r.Text("id")); r.Text("name") != "" {
			s.Title = r.Text("name")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return db.Table("turns").Each(func(r sqlite.Row) error {
		l.turn(r.Text("thread_id"), r)
		return nil
	})
}

func (l *listing) turn(id string, r sqlite.Row) {
	s := l.session(id)
	s.Length++ // a logged turn does not change
	if at := when(r); at.After(s.Changed) {
		s.Changed = at
	}
	if s.Title == "" {
		s.Title = sessions.Opening(r.Text("prompt"))
	}
}

func when(r sqlite.Row) time.Time {
	return sessions.ParseTime(strings.TrimSpace(r.Text("datetime_utc")))
}
