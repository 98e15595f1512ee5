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

// settle puts the contents that a stream refers to in the form of the workspace.
func (h held) settle(s *events.Stream, form workspace.Format, w events.Writer) error {
	if err := h.inline(s, form); err != nil {
		return err
	}
	return h.give(s, w)
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

// takeAll reads a session for a workspace. Contents that streams have inline are not stored as
// blobs, because nothing would refer to them; nor are those of an export, and those that a
// conversation which is here does not refer to after the merge.
func (p *prepared) takeAll(ctx context.Context, im *Importer, w events.Writer) error {
	to, err := p.writer(im, w)
	if err == nil {
		p.all, err = im.read(ctx, p.dialect, p.out.Session, 0, to)
	}
	if err == nil && p.origin != nil {
		err = p.choose(im)
	}
	if err != nil || p.kept == nil {
		return err
	}
	waits := false
	for _, c := range p.all {
		if err := p.kept.inline(c.Stream, im.Workspace.Format()); err != nil {
			return err
		}
		part, err := im.certain(p, c)
		if err != nil {
			return err
		}
		waits = waits || part != c.Stream
		if err := p.kept.give(part, w); err != nil {
			return err
		}
	}
	if !waits {
		p.kept = nil
	}
	return nil
}

// certain returns the part of a session's conversation whose contents are stored in any case: all
// of a new one, nothing of a removed one, else what the conversation here has not imported yet.
func (im *Importer) certain(p *prepared, c *sessions.Conversation) (*events.Stream, error) {
	e, _, err := im.find(c.Name)
	switch {
	case c == p.behind:
		e = p.origin.Entry
	case errors.Is(err, fs.ErrNotExist) && !im.Again && removed(im.Workspace, c.Name):
		return events.New(), nil
	case errors.Is(err, fs.ErrNotExist):
		return c.Stream, nil
	case err != nil:
		return nil, err
	}
	here, err := im.Workspace.Load(e)
	if err != nil {
		return nil, err
	}
	was := lists.Set(common(here, c.Stream))
	return events.New(slices.DeleteFunc(elements(c.Stream), func(e *events.Element) bool {
		return was[e]
	})...), nil
}

// writer returns what takes the contents of a session, and begins p.kept if some have to wait.
func (p *prepared) writer(im *Importer, w events.Writer) (events.Writer, error) {
	if im.Workspace.Format() == workspace.FormatInline || p.origin != nil {
		p.kept = held{}
		return p.kept, nil
	}
	e, _, err := im.find(p.out.Session.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	here, err := im.Workspace.Load(e)
	if err != nil {
		return nil, err
	}
	refs, err := events.References(here.Stream.Encode())
	p.kept = held{}
	s := sieve{map[blobs.Hash]bool{}, w, p.kept}
	for _, at := range refs {
		s.has[at.Ref.Hash] = true
	}
	return s, err
}

// supply stores the kept contents that a stream refers to, before it is saved.
func (p *prepared) supply(s *events.Stream, store *blobs.Store) error {
	if len(p.kept) == 0 {
		return nil
	}
	batch := store.NewBatch()
	defer batch.Discard()
	if err := p.kept.give(s, batch); err != nil {
		return err
	}
	return batch.Commit()
}
