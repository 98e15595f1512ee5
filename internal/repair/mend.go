package repair

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A cure is the repaired content of a conversation's file that cannot be loaded.
type cure struct {
	data    []byte
	certain bool
	remedy  string
	command string // for a person, if it is not certain

	redacted redaction // has what the data refers to beside the store
}

// files looks for a cure for every file of a conversation that cannot be loaded, or lacks what jp
// dropped.
func (m *planner) files(ctx context.Context) error {
	for _, f := range m.findings {
		switch f.State {
		case check.Malformed, check.Unreadable, check.Dropped:
		default:
			continue
		}
		if slices.Contains(m.kept, f.Path) {
			continue
		}
		fault := &Fault{
			State: f.State, Path: f.Path, Conversation: conversationOf(f), Title: f.Title,
			Detail: f.Detail, Outcome: Offered, Command: f.Next,
		}
		if !f.Hash.IsZero() {
			fault.Path = path.Join(workspace.DirName, blobs.Dir, f.Hash.Path())
			fault.Ref = blobs.Ref{Hash: f.Hash, Size: f.Size}
		}
		m.add(fault)
		e := m.entryAt(path.Dir(f.Path))
		var err error
		switch {
		case f.State == check.Unreadable || f.Pointer:
		case e.ID == 0:
			if !m.rest(fault) {
				err = m.removed(ctx, fault)
			}
		default:
			err = m.file(ctx, fault, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entryAt returns the conversation in a directory, or the zero entry.
func (m *planner) entryAt(dir string) workspace.Entry {
	for _, e := range m.entries {
		if e.Path == dir {
			return e
		}
	}
	return workspace.Entry{}
}

func (m *planner) file(ctx context.Context, fault *Fault, e workspace.Entry) error {
	name := path.Base(fault.Path)
	damaged, err := m.Workspace.ReadFile(e, name)
	if err != nil { // a link, a pipe or a directory, which is not replaced unasked
		return m.displaced(ctx, fault, e)
	}
	find := m.cure
	if fault.State == check.Dropped {
		find = m.reattach
	}
	c, err := find(ctx, e.ID, fault.Path, damaged)
	if err != nil || c == nil {
		return err
	}
	fault.Remedy = c.remedy
	if !c.certain {
		fault.Command = c.command
		return nil
	}
	fault.Outcome, fault.Changes, fault.Command = Certain, true, ""
	fault.mend = func(ctx context.Context) error {
		if len(damaged) > 0 {
			if err := m.plan.kept.Keep(fault.Path, damaged); err != nil {
				return err
			}
		}
		if err := c.redacted.store(); err != nil {
			return err
		}
		return m.Workspace.Replace(ctx, e.ID, workspace.Replacement{
			Name: name, Before: damaged, After: c.data, Path: e.Path,
		})
	}
	return nil
}

// displaced offers the newest version of a file in whose place something else is, which the command
// moves out of the workspace first.
func (m *planner) displaced(ctx context.Context, fault *Fault, e workspace.Entry) error {
	if err := m.lookForVersions(ctx); err != nil {
		return err
	}
	c := newCutFile(path.Base(fault.Path), nil)
	err := m.versions.each(ctx, versionKey{e.ID, c.name}, c.compare)
	if err != nil || c.whole == nil {
		return err
	}
	fault.Remedy = "the newest version that loads is in " + c.whole.title()
	fault.Command = "mv -i -- " + check.ShellQuote(fault.Path) + " . && " +
		m.command(c.whole.version, fault.Path)
	return nil
}

// lookForVersions sets m.versions, once.
func (m *planner) lookForVersions(ctx context.Context) (err error) {
	if m.versions == nil {
		m.versions, err = m.newVersions(ctx)
	}
	return err
}

// cure finds the content for a file that cannot be loaded. It is certain in three cases: the file
// is in a merge whose sides are known, from git's index or from conflict markers in the file, and
// they merge without conflict; or the file is missing or is the beginning of a version that loads,
// because a write was interrupted; or it is a truncated stream whose complete elements include
// everything of the newest version and are in no version.
//
// A stream loses what was redacted: a version that has it may be from before that, or of a side.
func (m *planner) cure(
	ctx context.Context, id events.ID, name string, damaged []byte,
) (*cure, error) {
	c, err := m.diagnose(ctx, id, name, damaged)
	if err != nil || c == nil || !c.certain || path.Base(name) != workspace.EventsFile {
		return c, err
	}
	if c.redacted, err = m.redaction(ctx); err != nil {
		return nil, err
	}
	c.data = c.redacted.fromStream(c.data, id)
	return c, nil
}

// diagnose finds the content for cure, with what was redacted in a stream.
func (m *planner) diagnose(
	ctx context.Context, id events.ID, name string, damaged []byte,
) (*cure, error) {
	if err := m.lookForVersions(ctx); err != nil {
		return nil, err
	}
	key := versionKey{id, path.Base(name)}
	if c := m.remerge(ctx, key, damaged); c != nil {
		return c, nil
	}
	c := newCutFile(key.name, damaged)
	if err := m.versions.each(ctx, key, c.compare); err != nil {
		return nil, err
	}
	best := cmp.Or(c.whole, c.best())
	if best == nil {
		best = &loaded{}
	}
	data, ok, err := m.restorable(ctx, id, name, best.data)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		return &cure{
			remedy:  "the version in " + best.title() + " has text that was redacted",
			command: m.command(best.version, name),
		}, nil
	case c.whole != nil:
		return &cure{data: data, certain: true, remedy: c.completed()}, nil
	case c.salvaged():
		return &cure{data: c.rest, certain: true, remedy: c.ended()}, nil
	case c.best() == nil:
		return nil, nil
	case hasMarkers(damaged): // any version loses a side, or two
		return &cure{
			remedy:  "it has conflict markers whose sides cannot be merged; " + c.offered(),
			command: edit(key),
		}, nil
	case c.stream != nil && c.covering == nil:
		// Any version would lose complete events of this file, and this file would lose some of the
		// version.
		return &cure{
			remedy:  c.offered() + ", and lacks " + c.lacking(),
			command: edit(key),
		}, nil
	case json.Valid(damaged):
		// Nothing is cut off or overwritten: it was edited, or a later version wrote it, and any
		// version loses what that has.
		return &cure{
			remedy:  "a later version of git jp may load it; here " + c.offered(),
			command: edit(key),
		}, nil
	}
	return &cure{remedy: c.offered(), command: m.command(c.best().version, name)}, nil
}

// edit returns the command that opens a file in an editor.
func edit(k versionKey) string {
	flags := map[string]string{
		workspace.MetadataFile: "--metadata ", workspace.BaseConfigFile: "--base-config ",
	}
	return "git jp edit " + flags[k.name] + k.id.String()
}

// command returns the command that restores a version.
func (m *planner) command(v version, name string) string {
	if v.file != "" {
		return "cp " + check.ShellQuote(v.file) + " " + check.ShellQuote(name)
	}
	at := path.Join(path.Dir(m.versions.own), name)
	switch {
	case at != v.path:
		return fmt.Sprintf("git show %s > %s", check.ShellQuote(v.spec()), check.ShellQuote(name))
	case v.commit.IsZero():
		return "git restore -- " + check.Pathspec(at)
	}
	return fmt.Sprintf("git restore --source=%s -- %s", v.commit.String()[:12],
		check.Pathspec(at))
}

// Loads reports whether data can be loaded as the file of a conversation with the given name.
func Loads(name string, data []byte) bool {
	var err error
	switch name {
	case workspace.EventsFile:
		_, err = events.Decode(data)
	case workspace.MetadataFile:
		_, err = events.DecodeDetails(data)
	case workspace.BaseConfigFile:
		err = events.CheckObject(data)
	default:
		return false
	}
	return err == nil
}
