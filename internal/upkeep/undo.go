package upkeep

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/compactor"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

// collected is the kind of a run of the collector. The other kinds belong to the quarantine.
const collected = "collected"

// A RunRecord is a run that can be restored, or was, in JSON.
type RunRecord struct {
	Run          string   `json:"run"`
	Kind         string   `json:"kind"`
	Conversation string   `json:"conversation"`
	Blobs        int      `json:"blobs"`
	Bytes        int64    `json:"bytes"`
	Restored     []string `json:"restored"`
	Kept         []string `json:"kept"`
	Indexed      []string `json:"indexed"`
}

func newRunRecord(name, kind string) RunRecord {
	return RunRecord{
		Run: name, Kind: kind, Restored: []string{}, Kept: []string{}, Indexed: []string{},
	}
}

// itemRecord returns the record of what another command has quarantined.
func itemRecord(one quarantine.Item) RunRecord {
	r := newRunRecord(one.Name, string(one.Kind))
	r.Conversation = conversationName(one.Conversation)
	r.Blobs, r.Bytes = one.Files, one.Bytes
	return r
}

// An Undo restores what a collection deleted, and what other commands have quarantined.
type Undo struct {
	gc.Options

	Host *prepare.Host
	// Compaction returns the compactions of the conversation of this id.
	Compaction func(id string) (compactor.Job, error)
}

// Run restores the entry of the list with this name, without a name the last collection.
func (u Undo) Run(ctx context.Context, name string) error {
	items, err := u.items(ctx)
	if err != nil {
		return err
	}
	for _, one := range items {
		if one.Name == name {
			return u.restore(ctx, one)
		}
	}
	res, err := gc.Undo(ctx, u.Options, name)
	if errors.Is(err, gc.ErrNoRun) {
		return &noRunError{name: name, kept: items}
	}
	if err != nil {
		return err
	}
	r := newRunRecord(res.Run, collected)
	r.Blobs, r.Bytes = len(res.Blobs), res.Bytes
	r.Restored = append(r.Restored, lists.Map(res.Blobs, blobs.Hash.String)...)
	r.Kept = append(r.Kept, lists.Map(res.Kept, blobs.Hash.String)...)
	r.Indexed = append(r.Indexed, res.Indexed...)
	return u.print(r, fmt.Sprintf("restored %s of run %s",
		render.Count(len(res.Blobs), "blob"), res.Run))
}

// A noRunError reports that no run has this name, or that there is no collection to undo. What
// other commands have quarantined is restored only by its name.
type noRunError struct {
	name string // as given, "" for the last collection
	kept []quarantine.Item
}

func (e *noRunError) Error() string {
	switch {
	case e.name != "":
		return fmt.Sprintf("undo %q: no such run", e.name)
	case len(e.kept) > 0:
		return "undo the last collection: there is none; the quarantine has"
	default:
		return "undo the last collection: there is none"
	}
}

// Details returns the names that could be given.
func (e *noRunError) Details() []string {
	if e.name != "" {
		return nil
	}
	return lists.Map(e.kept, func(one quarantine.Item) string {
		return strings.TrimSpace(one.Name + "  " + conversationName(one.Conversation))
	})
}

// Hints returns what can be undone instead.
func (e *noRunError) Hints() []string {
	switch {
	case e.name != "":
		return []string{"'git jp gc undo --list' lists the runs"}
	case len(e.kept) > 0:
		return []string{"'git jp gc undo <run>' restores one of them"}
	default:
		return nil
	}
}

// A redactedError reports a conversation from before a redaction. Its files have no place in the
// working tree: only the command that knows the entries can restore it.
type redactedError struct{ item quarantine.Item }

func (e *redactedError) Error() string {
	return fmt.Sprintf("undo %q: it is a conversation with what was redacted", e.item.Name)
}

// Hints returns the command that restores it.
func (e *redactedError) Hints() []string {
	return []string{
		fmt.Sprintf("'git jp redact --undo %s' restores it", e.item.Conversation),
	}
}

func (u Undo) print(r RunRecord, text string) error {
	t := u.Host.Terminal
	if t.JSON {
		return t.Records(r)
	}
	_, err := fmt.Fprintln(t.Out, text)
	for _, name := range r.Kept {
		t.Warn("%s stays in the quarantine: another file is in its place", name)
	}
	return err
}

// items returns what other commands have quarantined. The user-local store has none.
func (u Undo) items(ctx context.Context) ([]quarantine.Item, error) {
	if u.UserLocal {
		return nil, nil
	}
	var all []quarantine.Item
	own := repair.Quarantine(repair.Sources{Workspace: u.Workspace, Repo: u.Repo}, 0, nil)
	for _, q := range append(u.Host.Quarantines(ctx, u.Workspace.Root(), u.Grace), own) {
		some, err := q.Items()
		if err != nil {
			return nil, fmt.Errorf("list the quarantine: %w", err)
		}
		for _, one := range some {
			twice := func(other quarantine.Item) bool { return other.Dir() == one.Dir() }
			if !slices.ContainsFunc(all, twice) {
				all = append(all, one)
			}
		}
	}
	return slices.DeleteFunc(all, func(one quarantine.Item) bool { return one.Files == 0 }), nil
}

// restore restores what another command has quarantined.
func (u Undo) restore(ctx context.Context, one quarantine.Item) error {
	switch {
	case one.Kind.HasUndo():
		return u.restoreCopy(ctx, one)
	case one.Kind == quarantine.Redacted && one.Conversation != 0:
		return &redactedError{one}
	case one.Kind != quarantine.Repaired && one.Kind != quarantine.Redacted:
		// Of a later version: its files may have no place in the working tree.
		return fmt.Errorf("undo %q: this version does not know what %q is", one.Name, one.Kind)
	}
	root, err := regular.OpenRoot(u.Workspace.Root())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // everything is synced
	res, err := one.PutBack(root, path.Join(workspace.DirName, blobs.Dir, ".tmp"))
	if err != nil {
		return err
	}
	r := itemRecord(one)
	r.Restored = append(r.Restored, res.Files...)
	for _, name := range res.Kept {
		r.Kept = append(r.Kept, filepath.Join(u.Host.Short(one.Dir()), name))
	}
	return u.print(r, fmt.Sprintf("restored %s of %s",
		render.Count(len(res.Files), "file"), one.Name))
}

// restoreCopy takes back the change before which a copy was made.
func (u Undo) restoreCopy(ctx context.Context, one quarantine.Item) error {
	j, err := u.Compaction(one.Conversation.String())
	if err != nil {
		return err
	}
	conv := j.Conversation
	kept, err := one.Copy()
	if err != nil {
		return fmt.Errorf("restore %s of %s: %w", conv.ID, one.Name, err)
	}
	was, err := kept.Restored(conv.Stream)
	if err != nil {
		return fmt.Errorf("restore %s of %s: %w", conv.ID, one.Name, err)
	}
	if err := j.Restore(ctx, kept, was); err != nil {
		return err
	}
	r := itemRecord(one)
	r.Restored = append(r.Restored, path.Join(filepath.ToSlash(conv.Path), workspace.EventsFile))
	return u.print(r, fmt.Sprintf("restored %s of %s", conv.ID, one.Name))
}

// List prints what can be restored.
func (u Undo) List(ctx context.Context) error {
	items, err := u.items(ctx)
	if err != nil {
		return err
	}
	past, err := gc.Runs(u.Options)
	if err != nil {
		return err
	}
	type row struct {
		RunRecord
		at time.Time
	}
	var all []row
	for _, p := range past {
		r := newRunRecord(p.Run, collected)
		r.Blobs, r.Bytes = p.Blobs, p.Bytes
		all = append(all, row{r, p.Started})
	}
	for _, one := range items {
		all = append(all, row{itemRecord(one), one.At})
	}
	slices.SortStableFunc(all, func(a, b row) int { return a.at.Compare(b.at) })
	p := &u.Host.Terminal.Printer
	table := render.NewTable(p.Output, render.Column{Head: "RUN"},
		render.Column{Head: "FILES", Align: render.AlignRight},
		render.Column{Head: "SIZE", Align: render.AlignRight}, render.Column{Head: "WHEN"},
		render.Column{Head: "OF"})
	if p.JSON {
		return render.Records(p, lists.Map(all, func(r row) RunRecord { return r.RunRecord }))
	}
	for _, r := range all {
		of := strings.TrimSpace(r.Kind + " " + r.Conversation)
		table.Row(r.Run, fmt.Sprint(r.Blobs), render.Bytes(r.Bytes), render.Ago(p.Now(), r.at), of)
	}
	return table.Write(p.Out)
}
