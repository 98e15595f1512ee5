package opencode

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sqlite"
	"github.com/go-json-experiment/json/jsontext"
)

// A transcript is a snapshot of a session.
type transcript struct {
	info     info
	messages []*message
	updated  int64 // the latest change
	size     int
}

// A row is a message or a part.
type row struct {
	id      string
	created int64 // milliseconds
	data    jsontext.Value
}

type message struct {
	row
	parts []row
}

func load(ctx context.Context, s sessions.Session) (*transcript, error) {
	if file, err := os.Lstat(s.Path); err == nil && file.IsDir() {
		return loadTree(ctx, s.Path)
	}
	var t *transcript
	err := sqlite.View(ctx, s.Path, func(db *sqlite.Database) error {
		t = &transcript{}
		return t.rows(db, s.Name.ID)
	})
	if err == nil {
		t.sort()
	}
	return t, err
}

func (t *transcript) rows(db *sqlite.Database, id string) error {
	err := db.Table("session").Where("id", id, func(r sqlite.Row) error {
		t.info = infoOf(r)
		return nil
	})
	if err == nil && t.info.ID == "" {
		err = fmt.Errorf("session %s: %w", id, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	t.updated = int64(t.info.Time.Updated)
	byID := map[string]*message{}
	err = db.Table("message").Where("session_id", id, func(r sqlite.Row) error {
		m := &message{row: t.row(r)}
		t.messages, byID[m.id] = append(t.messages, m), m
		return t.fits()
	})
	if err != nil {
		return err
	}
	return db.Table("part").Where("session_id", id, func(r sqlite.Row) error {
		id := r.Text("message_id")
		if byID[id] == nil { // of a message that is gone
			byID[id] = &message{row: row{id: id, created: r.Int("time_created")}}
			t.messages = append(t.messages, byID[id])
		}
		byID[id].parts = append(byID[id].parts, t.row(r))
		return t.fits()
	})
}

func (t *transcript) row(r sqlite.Row) row {
	t.updated = max(t.updated, r.Int("time_updated"))
	data := r.Bytes("data")
	t.size += len(data)
	return row{r.Text("id"), r.Int("time_created"), data}
}

func (t *transcript) fits() error {
	if t.size > sessions.MaxRows {
		return sessions.ErrRows
	}
	return nil
}

// loadTree reads a session from the files of its messages.
func loadTree(ctx context.Context, dir string) (*transcript, error) {
	in, err := describe(dir)
	if err != nil {
		return nil, err
	}
	t := &transcript{info: in, updated: int64(in.Time.Updated)}
	messages, err := t.files(dir)
	if err != nil {
		return nil, err
	}
	parts := filepath.Join(filepath.Dir(filepath.Dir(dir)), "part")
	for _, r := range messages {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m := &message{row: r}
		if m.parts, err = t.files(filepath.Join(parts, r.id)); err != nil {
			return nil, err
		}
		t.messages = append(t.messages, m)
	}
	t.sort()
	return t, nil
}

// files reads the files of a directory, which have no times except those in their content.
func (t *transcript) files(dir string) (all []row, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a message without parts
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		data, err := regular.ReadFile(filepath.Join(dir, e.Name()), maxFile)
		if err != nil {
			return nil, err
		}
		var said struct {
			Time struct {
				Created   sessions.Number `json:"created"`
				Start     sessions.Number `json:"start"`
				End       sessions.Number `json:"end"`
				Completed sessions.Number `json:"completed"`
			} `json:"time"`
		}
		if sessions.Unmarshal(data, &said) == nil {
			t.updated = max(t.updated, int64(said.Time.End), int64(said.Time.Completed))
		}
		t.size += len(data)
		all = append(all, row{id, int64(cmp.Or(said.Time.Created, said.Time.Start)), data})
		if err := t.fits(); err != nil {
			return nil, err
		}
	}
	return all, err
}

// sort sorts messages by time and parts by id, as opencode does.
func (t *transcript) sort() {
	slices.SortFunc(t.messages, func(a, b *message) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
	})
	for _, m := range t.messages {
		slices.SortFunc(m.parts, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	}
}

// version returns the time of the latest change, and a digest of everything.
func (t *transcript) version() sessions.Version {
	h := sha256.New()
	add := func(fields ...string) {
		for _, f := range fields {
			h.Write([]byte(strconv.Itoa(len(f)) + ":" + f))
		}
	}
	add(string(t.info.Title), string(t.info.Revert.Message), string(t.info.Revert.Part))
	for _, m := range t.messages {
		add("message", m.id, string(m.data))
		for _, p := range m.parts {
			add("part", p.id, string(p.data))
		}
	}
	return sessions.VersionOf(t.updated, [sha256.Size]byte(h.Sum(nil)))
}

func parseInfo(data []byte) info {
	var in info
	if sessions.Unmarshal(data, &in) != nil {
		return info{}
	}
	return in
}
