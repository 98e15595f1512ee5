package repair

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// trashNote is the file in which jp records why it moved a conversation to its trash.
const trashNote = "TRASHED.md"

// trash examines the conversations that jp has moved to its trash because it could not read them.
func (m *planner) trash(ctx context.Context) error {
	if err := m.trashIn(ctx, m.Workspace.Dir(), workspace.DirName, false); err != nil {
		return err
	}
	if userLocal := m.Workspace.UserDir(); userLocal != "" {
		return m.trashIn(ctx, userLocal, userLocal, true)
	}
	return nil
}

// trashIn examines one trash. A restored conversation also stays in it: only the user empties it,
// and a conversation that already exists again is not offered again.
func (m *planner) trashIn(ctx context.Context, dir, shown string, local bool) error {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // was only read
	entries, err := fs.ReadDir(regular.In(root), trashDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, ok := events.ParseDirname(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		t := &trashed{
			planner: m, fsys: regular.In(root), dir: path.Join(trashDir, e.Name()), id: id,
			local: local,
		}
		f, err := t.fault(ctx)
		if err != nil {
			return err
		}
		if f != nil {
			f.Path = path.Join(filepath.ToSlash(shown), t.dir)
			m.add(f)
		}
	}
	return nil
}

// A trashed is a conversation in jp's trash.
type trashed struct {
	*planner

	fsys  fs.FS
	dir   string // below the directory whose trash it is in
	id    events.ID
	local bool

	files   map[string][]byte
	remedy  []string // the repairs that are needed
	unknown []string // the files about which a person has to decide
	command string
}

// fault returns nil if the working tree has everything of the conversation.
func (t *trashed) fault(ctx context.Context) (*Fault, error) {
	if err := t.read(ctx); err != nil {
		return nil, err
	}
	f := &Fault{
		State: Trashed, Conversation: t.id, Outcome: Offered, Command: t.command,
		Detail: "was moved to the trash by jp: " + t.reason(),
	}
	redacted, err := t.redaction(ctx)
	if err != nil {
		return nil, err
	}
	n := t.conversation(&redacted)
	if n != nil {
		f.Title = n.Details.Name()
	}
	copies, err := t.Workspace.Copies(t.id)
	if err != nil {
		return nil, err
	}
	copies = slices.DeleteFunc(copies, func(e workspace.Entry) bool { return e.Local && !t.local })
	f.Minor = len(copies) > 0
	switch {
	case n == nil:
		f.Remedy = "cannot be loaded because of " + strings.Join(t.unknown, " and ")
		return f, nil
	case len(copies) > 0 && t.isIn(copies, n.Stream):
		return nil, nil
	case len(copies) > 0:
		f.Remedy = "has what " + copies[0].Path + " has not"
		f.Command = "git diff --no-index -- " + quoted(copies[0].Path,
			path.Join(workspace.DirName, t.dir))
		return f, nil
	}
	f.Outcome, f.Changes, f.Command = Certain, true, ""
	f.Remedy = strings.Join(append(t.remedy, "restore it"), ", and ")
	f.mend = func(ctx context.Context) error {
		if err := redacted.store(); err != nil {
			return err
		}
		_, err := t.Workspace.Create(ctx, n)
		return err
	}
	return f, nil
}

// read reads the files, and repairs what can be repaired with certainty.
func (t *trashed) read(ctx context.Context) error {
	t.files = make(map[string][]byte)
	err := fs.WalkDir(t.fsys, t.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := regular.Read(t.fsys, name, t.planner.limits().Of(name))
		t.files[strings.TrimPrefix(name, t.dir+"/")] = data
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range []string{
		workspace.MetadataFile, workspace.EventsFile, workspace.BaseConfigFile,
	} {
		data, there := t.files[name]
		if there && Loads(name, data) || !there && name == workspace.BaseConfigFile {
			continue
		}
		if err := t.mendFile(ctx, name, data); err != nil {
			return err
		}
	}
	return nil
}

func (t *trashed) mendFile(ctx context.Context, name string, data []byte) error {
	c, err := t.cure(ctx, t.id, path.Join(workspace.DirName, t.dir, name), data)
	switch {
	case err != nil:
		return err
	case c == nil || !c.certain:
		t.unknown = append(t.unknown, name)
		if c != nil && t.command == "" {
			t.command = c.command
		}
	default:
		t.files[name] = c.data
		t.remedy = append(t.remedy, c.remedy+" ("+name+")")
	}
	return nil
}

// conversation returns the conversation without redacted text, nil if it cannot be loaded.
func (t *trashed) conversation(redacted *redaction) *workspace.NewConversation {
	if len(t.unknown) > 0 {
		return nil
	}
	stream, err := events.Decode(redacted.fromStream(t.files[workspace.EventsFile], t.id))
	if err != nil {
		return nil
	}
	details, err := events.DecodeDetails(t.files[workspace.MetadataFile])
	if err != nil {
		return nil
	}
	n := &workspace.NewConversation{
		Details: details, Stream: stream, BaseConfig: t.files[workspace.BaseConfigFile], ID: t.id,
		Local: t.local, Files: make(map[string][]byte), AllowDangling: true, Beside: true,
	}
	for name, data := range t.files {
		switch name {
		case workspace.MetadataFile, workspace.EventsFile, workspace.BaseConfigFile, trashNote:
		default:
			n.Files[name] = data
		}
	}
	return n
}

// reason returns jp's reason in one line.
func (t *trashed) reason() string {
	for line := range strings.Lines(string(t.files[trashNote])) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			return strings.Trim(line, "*`")
		}
	}
	return "it does not say why"
}

// isIn reports whether an existing conversation has everything of a stream.
func (m *planner) isIn(copies []workspace.Entry, s *events.Stream) bool {
	return slices.ContainsFunc(copies, func(e workspace.Entry) bool {
		c, err := m.Workspace.Load(e)
		return err == nil && contains(c.Stream, s)
	})
}

// contains reports whether one stream has every element of another, in any order.
func contains(all, some *events.Stream) bool {
	next := 0
	has := func(e *events.Element) bool {
		for n := range all.Len() {
			if i := (next + n) % all.Len(); events.Equal(all.At(i), e) {
				next = i + 1
				return true
			}
		}
		return false
	}
	for _, e := range some.All() {
		if !has(e) {
			return false
		}
	}
	return true
}
