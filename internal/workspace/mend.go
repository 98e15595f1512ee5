package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// ErrMeanwhile reports that a file changed after a replacement was made from it.
var ErrMeanwhile = errors.New("another program changed the file in the meantime")

// ReadFile returns one file of a conversation, valid or not. It is empty if missing.
func (w *Workspace) ReadFile(e Entry, name string) ([]byte, error) {
	s := w.storeOf(e)
	data, err := s.read(s.path(e, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(err, path.Join(e.Path, name))
	}
	return data, nil
}

// A Replacement is new content for one file of a conversation.
type Replacement struct {
	Name   string // MetadataFile, BaseConfigFile or EventsFile
	Before []byte // the content that After was made from
	After  []byte
	// Path is that of the [Entry] if several directories share the id. If empty, the directory is
	// that which the id means.
	Path string
}

// Replace replaces a file that may be damaged, which Update cannot do. It saves as Update does:
// only a valid file, with its content in the store.
func (w *Workspace) Replace(ctx context.Context, id events.ID, r Replacement) error {
	return w.locked(ctx, "replace "+r.Name+" of", id, func(e Entry, others []Entry) error {
		if i := slices.IndexFunc(others, func(o Entry) bool { return o.Path == r.Path }); i >= 0 {
			e = others[i]
		}
		if r.Path != "" && r.Path != e.Path {
			return ErrMeanwhile
		}
		if e.Legacy {
			return ErrLegacy
		}
		now, err := w.ReadFile(e, r.Name)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, r.Before) {
			return ErrMeanwhile
		}
		r.Before = now // nil if it is missing
		if r.Name == MetadataFile {
			return w.replaceDetails(e, r)
		}
		return w.replacePart(e, r)
	})
}

// replaceDetails does not read the stream, which may be damaged too.
func (w *Workspace) replaceDetails(e Entry, r Replacement) error {
	d, err := events.DecodeDetails(r.After)
	if err != nil {
		return located(err, path.Join(e.Path, r.Name))
	}
	s := w.storeOf(e)
	next := file{name: r.Name, old: r.Before, rest: r.After}
	if err := s.fit(e, next); err != nil {
		return err
	}
	if e, err = w.retitle(e, d.Name()); err != nil {
		return err
	}
	if err := s.replace(e, next); err != nil {
		return err
	}
	return w.outrank(e, r.Name)
}

func (w *Workspace) replacePart(e Entry, r Replacement) error {
	if r.Name == BaseConfigFile {
		if err := events.CheckObject(r.After); err != nil {
			return located(err, path.Join(e.Path, r.Name))
		}
	}
	s := w.storeOf(e)
	mended := s.reader()
	mended.instead = map[string][]byte{s.path(e, r.Name): r.After}
	c, err := mended.read(s.path(e), e)
	if err != nil {
		return err
	}
	if r.Name == BaseConfigFile {
		c.stored.base = r.Before
		return w.save(c)
	}
	c.stored.stream = r.Before
	// If the old stream does not load, it is unknown which references were dangling before.
	c.stored.elements, err = events.Decode(r.Before)
	c.AllowDangling = err != nil
	return w.save(c)
}
