package opencode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sqlite"
)

// Dialect is the [sessions.Dialect] of opencode.
type Dialect struct{}

// Agent implements [sessions.Dialect].
func (Dialect) Agent() sessions.Agent { return sessions.Opencode }

// Appends implements [sessions.Dialect].
func (Dialect) Appends(sessions.Session) bool { return false }

// Home returns the directory in which opencode keeps its data.
func Home(p sessions.Places) string {
	return filepath.Join(p.Dir("XDG_DATA_HOME", ".local", "share"), "opencode")
}

// Find implements [sessions.Dialect].
func (d Dialect) Find(ctx context.Context, p sessions.Places) iter.Seq2[sessions.Session, error] {
	return func(yield func(sessions.Session, error) bool) {
		paths := []string{filepath.Join(Home(p), "opencode.db")}
		// Sessions in the tree are found by their messages: some have no file of their own.
		dirs, err := os.ReadDir(filepath.Join(Home(p), "storage", "message"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !yield(sessions.Session{}, err) {
			return
		}
		for _, e := range dirs {
			paths = append(paths, filepath.Join(Home(p), "storage", "message", e.Name()))
		}
		sessions.ListEach(ctx, d, paths, yield)
	}
}

// Recognize implements [sessions.Dialect]. In the tree, the file of a session has its directory,
// and that of a message names its session; a database is recognized by its tables.
func (Dialect) Recognize(head []byte) bool {
	if sqlite.Recognize(head) {
		return true
	}
	var file struct {
		info
		SessionID sessions.Text `json:"sessionID"`
		Role      sessions.Text `json:"role"`
	}
	if sessions.Unmarshal(head, &file) != nil || file.ID == "" {
		return false
	}
	return file.Role != "" && file.SessionID != "" || file.Directory != "" && file.Project != ""
}

// List implements [sessions.Dialect]. A session in the tree is named by the directory of its
// messages, one of them, or its own file.
func (Dialect) List(ctx context.Context, path string) ([]sessions.Session, error) {
	dir, ok, err := messagesOf(path)
	if err != nil {
		return nil, err
	}
	if !ok {
		return listDatabase(ctx, path)
	}
	id := filepath.Base(dir)
	in, err := describe(dir)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	in.ID = sessions.Text(id)
	s := in.session(dir)
	s.Length = 0 // known only after the messages were read
	return []sessions.Session{s}, nil
}

// messagesOf returns the directory of the messages of a session in the tree.
func messagesOf(path string) (dir string, ok bool, err error) {
	file, err := os.Lstat(path)
	if err != nil {
		return "", false, err
	}
	parent := filepath.Dir(path)
	switch {
	case file.IsDir():
		return path, true, nil
	case filepath.Ext(path) != ".json":
		return "", false, nil
	case filepath.Base(filepath.Dir(parent)) == "message":
		return parent, true, nil
	}
	id := filepath.Base(path)
	storage := filepath.Dir(filepath.Dir(parent))
	return filepath.Join(storage, "message", id[:len(id)-len(".json")]), true, nil
}

// describe reads the file of a session in the tree, which may be missing.
func describe(dir string) (info, error) {
	storage := filepath.Dir(filepath.Dir(dir))
	names, err := regular.Glob(storage, "session/*/"+regular.Literal(filepath.Base(dir))+".json")
	if err != nil || len(names) == 0 {
		return info{}, err
	}
	data, err := regular.ReadFile(names[0], maxFile)
	if err != nil {
		return info{}, err
	}
	return parseInfo(data), nil
}

// maxFile limits the size of a file of the tree.
const maxFile = 64 << 20

func listDatabase(ctx context.Context, path string) (all []sessions.Session, err error) {
	err = sqlite.View(ctx, path, func(db *sqlite.Database) error {
		all = nil
		if !isOurs(db) && !db.IsEmpty() {
			return sessions.ErrOther
		}
		told, err := answered(db)
		if err != nil {
			return err
		}
		return db.Table("session").Each(func(r sqlite.Row) error {
			in := infoOf(r)
			told := told[string(in.ID)]
			in.Time.Updated = max(in.Time.Updated, told.updated)
			s := in.session(path)
			if told.back || !told.ended() {
				s.Length = 0 // the latest change may not be the last one
			}
			all = append(all, s)
			return nil
		})
	})
	return all, err
}

// times are those of the messages of a session.
type times struct {
	created, updated sessions.Number // the last one was created, and the latest change
	back             bool            // the clock went back between two of them
	last             message         // the last one, without its parts
}

// ended reports whether nothing is added to the last message any more: until then its parts change
// without it, and stay so if opencode is killed.
func (t times) ended() bool {
	return t.last.data == nil || !t.last.head().Time.Completed.IsZero()
}

// answered returns the times of the messages of each session: the end of an answer does not always
// change the row of its session.
func answered(db *sqlite.Database) (map[string]times, error) {
	all := map[string]times{}
	err := db.Table("message").Each(func(r sqlite.Row) error {
		id, created := r.Text("session_id"), sessions.Number(r.Int("time_created"))
		t := all[id]
		t.back = t.back || created < t.created
		t.created, t.updated = created, max(t.updated, sessions.Number(r.Int("time_updated")))
		t.last.data = r.Bytes("data")
		all[id] = t
		return nil
	})
	return all, err
}

func isOurs(db *sqlite.Database) bool {
	return db.Has("session", "id", "directory") && db.Has("message", "id", "session_id", "data") &&
		db.Has("part", "id", "message_id", "session_id", "data")
}

// info describes a session.
type info struct {
	ID        sessions.Text `json:"id"`
	Project   sessions.Text `json:"projectID"`
	Parent    sessions.Text `json:"parentID"`
	Directory sessions.Text `json:"directory"`
	Title     sessions.Text `json:"title"`
	Version   sessions.Text `json:"version"`
	Time      struct {
		Updated sessions.Number `json:"updated"`
	} `json:"time"`
	Revert revert `json:"revert"`
}

// revert is the point to which the person went back: everything after it is undone, and is deleted
// at the next prompt.
type revert struct {
	Message sessions.Text `json:"messageID"`
	Part    sessions.Text `json:"partID"`
}

func infoOf(r sqlite.Row) info {
	in := info{
		ID: sessions.Text(r.Text("id")), Parent: sessions.Text(r.Text("parent_id")),
		Directory: sessions.Text(r.Text("directory")), Title: sessions.Text(r.Text("title")),
		Version: sessions.Text(r.Text("version")),
	}
	in.Time.Updated = sessions.Number(r.Int("time_updated"))
	if sessions.Unmarshal(r.Bytes("revert"), &in.Revert) != nil {
		in.Revert = revert{}
	}
	return in
}

func (in info) session(path string) sessions.Session {
	s := sessions.Session{
		Name: name(string(in.ID)), Path: path, Dir: string(in.Directory), Title: string(in.Title),
		Length: int64(in.Time.Updated), Changed: time.UnixMilli(int64(in.Time.Updated)).UTC(),
	}
	if in.Parent != "" {
		s.Parent = name(string(in.Parent))
	}
	return s
}

func name(id string) sessions.Name { return sessions.Name{Agent: sessions.Opencode, ID: id} }
