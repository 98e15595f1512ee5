package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Conversation is what the files of one directory say.
type Conversation struct {
	Entry
	Details    *events.Details
	Stream     *events.Stream
	BaseConfig []byte   // nil when there is no base_config.json
	Files      []string // every regular file, slash-separated below the directory
	// Others are further directories with the same id, which only Unite touches.
	Others []Entry
	// AllowDangling lets a save add references to content that is not there.
	AllowDangling bool
	// Renamed lets a save give the directory the name of its title also where Git has it.
	Renamed bool

	stored stored
}

// stored is what the files held when they were read or written last.
type stored struct {
	details, base, stream []byte
	elements              *events.Stream // of stream; nil for a new conversation
	title                 string
	encoded               bool // stream is nobody else's memory, and grows in place
}

// files returns the files in the order of [Conversation.files], with what they held.
func (s *stored) files() [3]file {
	return [...]file{
		{name: BaseConfigFile, old: s.base},
		{name: EventsFile, old: s.stream},
		{name: MetadataFile, old: s.details},
	}
}

// Title returns the title, "" when there is none.
func (c *Conversation) Title() string { return titleOf(c.Details) }

func titleOf(d *events.Details) string {
	if d == nil || d.Title == nil {
		return ""
	}
	return *d.Title
}

// Load reads a conversation. The error of a file that makes no sense holds a
// [*events.SyntaxError] with the file's path.
func (w *Workspace) Load(e Entry) (*Conversation, error) {
	s := w.storeOf(e)
	c, err := s.reader().read(s.path(e), e)
	if err == nil {
		s.expect(c.Stream)
	}
	return c, err
}

// LoadDetails reads metadata.json and nothing else.
func (w *Workspace) LoadDetails(e Entry) (*events.Details, error) {
	s := w.storeOf(e)
	d, _, err := s.reader().details(s.path(e), e.Path)
	return d, err
}

// A Text is what a conversation says, apart from its metadata.
type Text struct {
	Stream     *events.Stream
	BaseConfig []byte // nil when there is no base_config.json
	Bytes      int64  // of the stream's file
}

// LoadText reads the stream and the base configuration, and nothing else: lists need no more.
func (w *Workspace) LoadText(e Entry) (Text, error) {
	s, c := w.storeOf(e), Conversation{Entry: e}
	if err := c.readText(s.reader(), s.path(e)); err != nil {
		return Text{}, err
	}
	return Text{c.Stream, c.stored.base, int64(len(c.stored.stream))}, nil
}

// Read is [Workspace.Load] for an entry that [Scan] found in fsys, which bounds what it reads: a
// tree of Git does by the limits of its repository.
func Read(fsys fs.FS, e Entry) (*Conversation, error) {
	return reader{fsys, regular.Limits{Stream: regular.MaxOwn}}.read(e.Path, e)
}

// ReadDetails is [Workspace.LoadDetails] for an entry that [Scan] found in fsys.
func ReadDetails(fsys fs.FS, e Entry) (*events.Details, error) {
	d, _, err := reader{fsys: fsys}.details(e.Path, e.Path)
	return d, err
}

// A reader reads the files of conversations.
type reader struct {
	fsys   fs.FS
	limits regular.Limits
}

func (s *store) reader() reader { return reader{s.fsys, s.limits} }

// file reads a file that is no link.
func (r reader) file(name string) ([]byte, error) {
	return regular.ReadUnlinked(r.fsys, name, r.limits.Of(name))
}

// read loads the directory dir. Errors name its files as e.Path does.
func (r reader) read(dir string, e Entry) (*Conversation, error) {
	c := &Conversation{Entry: e}
	var err error
	if c.Details, c.stored.details, err = r.details(dir, e.Path); err != nil {
		return nil, err
	}
	c.stored.title = titleOf(c.Details)
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

// unreadable says which file could not be read by the name that a person can find it
// under, not by that below the store.
func unreadable(err error, name string) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("load %s: %w", name, err)
}

// located puts the path into an error of the codec, which does not know it.
func located(err error, name string) error {
	var se *events.SyntaxError
	if !errors.As(err, &se) {
		return fmt.Errorf("load %s: %w", name, err)
	}
	placed := *se
	placed.Path = name
	return &placed
}

// files lists a directory. What ends in .tmp is what jp left behind and
// deletes.
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
