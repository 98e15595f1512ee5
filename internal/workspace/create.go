package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// NewConversation has the content of a conversation for [Workspace.Create].
type NewConversation struct {
	Details    *events.Details // required
	Stream     *events.Stream  // nil means an empty one
	BaseConfig []byte          // nil: {}, or none if the stream begins with one
	ID         events.ID       // 0 means one from the current time
	Local      bool            // only in user-local storage, which is created if missing
	// Files are further files, by slash-separated name.
	Files map[string][]byte
	// Beside allows an id that user-local storage has already.
	Beside bool
	// Archived creates it in the archive.
	Archived bool
	// AllowDangling allows references to content that is missing.
	AllowDangling bool
}

// Create creates a conversation under an id that no directory has, live or archived, in the
// workspace or in user-local storage. It builds the directory under a temporary name and publishes
// it in one step. If n.ID is taken, the error is [fs.ErrExist]; if it is locked, Create waits as
// [Workspace.Lock] does.
func (w *Workspace) Create(ctx context.Context, n *NewConversation) (Entry, error) {
	e, err := w.create(ctx, n)
	if err != nil {
		return Entry{}, fmt.Errorf("create conversation: %w", err)
	}
	return e, nil
}

func (w *Workspace) create(ctx context.Context, n *NewConversation) (Entry, error) {
	s := w.main
	if n.Local {
		if err := w.needUserLocal(); err != nil {
			return Entry{}, err
		}
		s = w.userLocal
	}
	id := n.ID
	if id == 0 {
		id = events.IDAt(w.env.Now())
	}
	for {
		e, err := w.createAs(ctx, s, id, n)
		var held *LockedError
		taken := errors.Is(err, fs.ErrExist) || errors.As(err, &held)
		if !taken || n.ID != 0 || ctx.Err() != nil {
			return e, err
		}
		id++
	}
}

// MakeUserDir creates the user-local storage if it is missing.
func (w *Workspace) MakeUserDir() error { return w.needUserLocal() }

func (w *Workspace) needUserLocal() error {
	if w.userLocal != nil {
		return nil
	}
	dir, err := makeUserLocal(w.env, w.root, w.wsid)
	if err != nil {
		return err
	}
	w.userLocal, err = openStore(dir, "", true, w.env)
	return err
}

// createAs creates the conversation as id, unless that is taken or locked. If the id is given, it
// waits for the lock.
func (w *Workspace) createAs(
	ctx context.Context, s *store, id events.ID, n *NewConversation,
) (_ Entry, err error) {
	var unlock func() error
	if n.ID == 0 { // the next one will do
		unlock, err = w.tryLock(id)
	} else {
		unlock, err = w.Lock(ctx, id)
	}
	if err != nil {
		return Entry{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	taken, err := w.Copies(id)
	if err != nil {
		return Entry{}, err
	}
	if n.Beside {
		taken = slices.DeleteFunc(taken, func(e Entry) bool { return e.Local != s.local })
	}
	if len(taken) > 0 {
		return Entry{}, &fs.PathError{Op: "create", Path: taken[0].Path, Err: fs.ErrExist}
	}
	if err := w.LeftOut(id); err != nil {
		return Entry{}, err
	}
	c, err := w.built(s, id, n, s.options())
	if err != nil {
		return Entry{}, err
	}
	defer s.discard(c)
	if err := s.place(c, s.options()); err != nil {
		return Entry{}, err
	}
	return c.Entry, c.content.verify(c.Conversation)
}

// built writes the conversation under a temporary name.
func (w *Workspace) built(
	s *store, id events.ID, n *NewConversation, o atomicfile.Options,
) (*creation, error) {
	e := Entry{ID: id, Local: s.local}
	c := &creation{Conversation: n.conversation(e.at(n.partition(), n.dirname(id), s.prefix))}
	var err error
	if c.content, err = w.settle(s, c.Conversation); err != nil {
		return nil, err
	}
	if c.temp, err = atomicfile.MkdirTemp(s.root, c.Dirname, o); err == nil {
		err = s.fill(c, n.Files)
	}
	if err != nil {
		s.discard(c)
		return nil, err
	}
	return c, nil
}

// place publishes a conversation under its name.
func (s *store) place(c *creation, o atomicfile.Options) error {
	err := atomicfile.PublishDir(s.root, c.temp, s.path(c.Entry), o)
	if err == nil {
		c.temp = ""
	}
	return err
}

// discard removes a conversation that was not published.
func (s *store) discard(c *creation) {
	if c.temp != "" {
		_ = s.root.RemoveAll(c.temp) // the first error says more
	}
}

func (n *NewConversation) partition() Partition {
	if n.Archived {
		return Archive
	}
	return Live
}

func (n *NewConversation) dirname(id events.ID) string {
	if id.IsDerived() {
		return events.Dirname(id, "")
	}
	return events.Dirname(id, n.Details.Name())
}

func (n *NewConversation) conversation(e Entry) *Conversation {
	c := &Conversation{
		Entry: e, Details: n.Details, BaseConfig: n.BaseConfig, AllowDangling: n.AllowDangling,
		Stream: events.New(),
	}
	if n.Stream != nil {
		c.Stream = n.Stream.Clone()
	}
	ownConfig := c.Stream.Len() > 0 && c.Stream.At(0).Kind() == events.KindConfigDelta
	if c.BaseConfig == nil && !ownConfig {
		c.BaseConfig = []byte("{}\n")
	}
	return c
}

// fill writes the files of a conversation.
func (s *store) fill(c *creation, extra map[string][]byte) error {
	files := changes(c.files(0, c.Stream.Encode()))
	if err := s.fit(c.Entry, files...); err != nil {
		return err
	}
	for name, data := range extra {
		files = append(files, file{name: name, rest: data})
	}
	return s.build(c.temp, files)
}

// build writes files into an unpublished directory, which publishing syncs.
func (s *store) build(dir string, files []file) error {
	root, err := regular.OpenRootIn(s.root, dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err = atomicfile.WriteNew(root, f.name, f.rest, s.options()); err != nil {
			break
		}
	}
	return errors.Join(err, root.Close())
}
