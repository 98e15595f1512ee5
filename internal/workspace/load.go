package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Conversation has the content of the files in one directory.
type Conversation struct {
	Entry
	Details    *events.Details
	Stream     *events.Stream
	BaseConfig []byte   // nil if there is no base_config.json
	Files      []string // every regular file, slash-separated below the directory
	// AllowDangling allows a save to add references to missing content.
	AllowDangling bool
	// Rename, if not "", is the name that a save gives to the directory, even if git has it.
	Rename string

	stored stored
	spare  *atomicfile.Spare // of the stream; nil where it is saved once
}

// stored has the content of the files as last read or written.
type stored struct {
	details, base, stream []byte
	elements              *events.Stream // of stream; nil for a new conversation
	title                 string
	encoded               bool // no other code uses the memory of stream
}

// files returns the files in the order of [Conversation.files], with their content.
func (s *stored) files() [3]file {
	return [...]file{
		{name: BaseConfigFile, old: s.base},
		{name: EventsFile, old: s.stream},
		{name: MetadataFile, old: s.details},
	}
}

// Title returns the title, "" if there is none.
func (c *Conversation) Title() string { return c.Details.Name() }

// Load reads a conversation. The error for an invalid file has a [*events.SyntaxError] with the
// file's path.
func (w *Workspace) Load(e Entry) (*Conversation, error) {
	s := w.storeOf(e)
	c, err := s.reader().read(s.path(e), e)
	if err == nil {
		s.expect(c.Stream)
	}
	return c, err
}

// LoadDetails reads only metadata.json.
func (w *Workspace) LoadDetails(e Entry) (*events.Details, error) {
	s := w.storeOf(e)
	d, _, err := s.reader().details(s.path(e), e.Path)
	return d, err
}

// A Text is a conversation without its metadata.
type Text struct {
	Stream     *events.Stream
	BaseConfig []byte // nil if there is no base_config.json
	Bytes      int64  // of the stream's file
}

// LoadText reads only the stream and the base configuration, for lists.
func (w *Workspace) LoadText(e Entry) (Text, error) {
	s, c := w.storeOf(e), Conversation{Entry: e}
	if err := c.readText(s.reader(), s.path(e)); err != nil {
		return Text{}, err
	}
	return Text{c.Stream, c.stored.base, int64(len(c.stored.stream))}, nil
}

// Read is [Workspace.Load] for an entry that [Scan] found in fsys. fsys limits what is read: a tree
// of git by the limits of its repository.
func Read(fsys fs.FS, e Entry) (*Conversation, error) {
	return reader{fsys: fsys, limits: regular.Limits{Stream: regular.MaxOwn}}.read(e.Path, e)
}

// ReadDetails is [Workspace.LoadDetails] for an entry that [Scan] found in fsys.
func ReadDetails(fsys fs.FS, e Entry) (*events.Details, error) {
	d, _, err := reader{fsys: fsys}.details(e.Path, e.Path)
	return d, err
}

// A reader reads the files of conversations.
type reader struct {
	fsys    fs.FS
	limits  regular.Limits
	instead map[string][]byte // the content of files that are about to be replaced
}

func (s *store) reader() reader { return reader{fsys: s.fsys, limits: s.limits} }

// file reads a file that is not a symlink.
func (r reader) file(name string) ([]byte, error) {
	if data, ok := r.instead[name]; ok {
		return data, nil
	}
	return regular.ReadUnlinked(r.fsys, name, r.limits.Of(name))
}

// read loads the directory dir. Errors have the names of files as in e.Path.
func (r reader) read(dir string, e Entry) (*Conversation, error) {
	c := &Conversation{Entry: e}
	var err error
	if c.Details, c.stored.details, err = r.details(dir, e.Path); err != nil {
		return nil, err
	}
	c.stored.title = c.Details.Name()
	if err := c.readText(r, dir); err != nil {
		return nil, err
	}
	c.BaseConfig, c.stored.elements = c.stored.base, c.Stream.Clone()
	if c.Files, err = files(r.fsys, dir); err != nil {
		return nil, fmt.Errorf("load conversation %s: %w", e.ID, err)
	}
	return c, nil
}

// readText reads the base configuration and the stream.
func (c *Conversation) readText(r reader, dir string) (err error) {
	c.stored.base, err = r.file(path.Join(dir, BaseConfigFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(err, path.Join(c.Path, BaseConfigFile))
	}
	name, decode := EventsFile, events.Decode
	if c.Legacy {
		name, decode = MessagesFile, decodeMessages
	}
	data, err := r.file(path.Join(dir, name))
	if err != nil {
		return unreadable(err, path.Join(c.Path, name))
	}
	c.stored.stream = data
	if c.Stream, err = decode(data); err != nil {
		return located(err, path.Join(c.Path, name))
	}
	return nil
}

func (r reader) details(dir, shown string) (*events.Details, []byte, error) {
	data, err := r.file(path.Join(dir, MetadataFile))
	if err != nil {
		return nil, nil, unreadable(err, path.Join(shown, MetadataFile))
	}
	d, err := events.DecodeDetails(data)
	if err != nil {
		return nil, nil, located(err, path.Join(shown, MetadataFile))
	}
	return d, data, nil
}

// unreadable names a file in an error by its path for people, not by the one below the store.
func unreadable(err error, name string) error {
	return fmt.Errorf("load %s: %w", name, regular.Cause(err))
}

// located adds the path to an error of the codec, which does not know it.
func located(err error, name string) error {
	var se *events.SyntaxError
	if !errors.As(err, &se) {
		return fmt.Errorf("load %s: %w", name, err)
	}
	placed := *se
	placed.Path = name
	return &placed
}

// files lists a directory. It skips names that end in .tmp: jp left these files behind and deletes
// them.
func files(fsys fs.FS, dir string) ([]string, error) {
	var all []string
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && !strings.HasSuffix(name, ".tmp") {
			all = append(all, strings.TrimPrefix(name, dir+"/"))
		}
		return nil
	})
	return all, err
}
