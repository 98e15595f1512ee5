package importer

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// held has contents that are not in a store yet.
type held map[blobs.Hash][]byte

// Write implements [events.Writer].
func (h held) Write(b []byte) (blobs.Ref, error) {
	ref := blobs.RefTo(b)
	if _, ok := h[ref.Hash]; !ok {
		h[ref.Hash] = bytes.Clone(b)
	}
	return ref, nil
}

// Read implements [blobs.Reader].
func (h held) Read(ref blobs.Ref) ([]byte, error) {
	b, ok := h[ref.Hash]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return b, nil
}

// give writes the contents that a stream refers to.
func (h held) give(s *events.Stream, w events.Writer) error {
	refs, err := events.References(s.Encode())
	for _, at := range refs {
		if b, ok := h[at.Ref.Hash]; ok && err == nil {
			_, err = w.Write(b)
		}
	}
	return err
}

// inline moves contents into a stream if the workspace has them there.
func (h held) inline(s *events.Stream, form workspace.Format) error {
	if form != workspace.FormatInline {
		return nil
	}
	_, err := s.Inline(h)
	return err
}

// A sieve stores the contents to which a conversation refers that is here, and keeps the others: a
// person may have removed one of them, and then it must not come back as a file.
type sieve struct {
	has  map[blobs.Hash]bool
	to   events.Writer
	kept held
}

// Write implements [events.Writer].
func (s sieve) Write(b []byte) (blobs.Ref, error) {
	if s.has[blobs.RefTo(b).Hash] {
		return s.to.Write(b)
	}
	return s.kept.Write(b)
}

// takeAll reads the session for a workspace. Contents that streams have inline are not stored as
// blobs, because nothing would refer to them; nor are those of an export, and those that a
// conversation which is here does not refer to after the merge.
func (j *job) takeAll(ctx context.Context, w events.Writer) error {
	to, err := j.writer(w)
	if err == nil {
		j.all, err = j.read(ctx, 0, to)
	}
	if err == nil && j.origin != nil {
		err = j.choose()
	}
	if err != nil || j.kept == nil {
		return err
	}
	waits := false
	for _, c := range j.all {
		if err := j.kept.inline(c.Stream, j.Workspace.Format()); err != nil {
			return err
		}
		part, err := j.certain(c)
		if err != nil {
			return err
		}
		waits = waits || part != c.Stream
		if err := j.kept.give(part, w); err != nil {
			return err
		}
	}
	if !waits {
		j.kept = nil
	}
	return nil
}

// certain returns the part of a session's conversation whose contents are stored in any case: all
// of a new one, nothing of a removed one, else what the conversation here has not imported yet.
func (j *job) certain(c *sessions.Conversation) (*events.Stream, error) {
	e, _, err := j.find(c.Name)
	switch {
	case c == j.behind:
		e = j.origin.Entry
	case errors.Is(err, fs.ErrNotExist) && j.isRemoved(c.Name):
		return events.New(), nil
	case errors.Is(err, fs.ErrNotExist):
		return c.Stream, nil
	case err != nil:
		return nil, err
	}
	here, err := j.Workspace.Load(e)
	if err != nil {
		return nil, err
	}
	was := lists.Set(common(here, c.Stream))
	return events.New(slices.DeleteFunc(elements(c.Stream), func(e *events.Element) bool {
		return was[e]
	})...), nil
}

// writer returns what takes the contents of a session, and begins j.kept if some have to wait.
func (j *job) writer(w events.Writer) (events.Writer, error) {
	if j.Workspace.Format() == workspace.FormatInline || j.origin != nil {
		j.kept = held{}
		return j.kept, nil
	}
	e, _, err := j.find(j.session.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	here, err := j.Workspace.Load(e)
	if err != nil {
		return nil, err
	}
	refs, err := events.References(here.Stream.Encode())
	j.kept = held{}
	s := sieve{map[blobs.Hash]bool{}, w, j.kept}
	for _, at := range refs {
		s.has[at.Ref.Hash] = true
	}
	return s, err
}

// supply stores the kept contents that a stream refers to, before it is saved.
func (j *job) supply(s *events.Stream, store *blobs.Store) error {
	if len(j.kept) == 0 {
		return nil
	}
	batch := store.NewBatch()
	defer batch.Discard()
	if err := j.kept.give(s, batch); err != nil {
		return err
	}
	return batch.Commit()
}
