package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

type gcUndoCmd struct {
	Name      string `arg:"" name:"run" optional:"" help:"What to bring back; the last collection by default."`
	List      bool   `help:"List what can be brought back."`
	UserLocal bool   `help:"Undo a run of the user-local store."`
}

// Help says what comes back.
func (gcUndoCmd) Help() string {
	return `Brings back the files of a collection and their entries in the index. Their grace period
begins again. Named as --list names it, what 'git jp compact --in-place' has changed comes back
too, with what was said since behind it, and what 'git jp repair' has taken away. What has
something else in its place by now stays in the quarantine, and is named.`
}

// collected is the kind of a run of the collector. The others are those of the quarantine.
const collected = "collected"

// runRecord is a run in the JSON of `gc undo`.
type runRecord struct {
	Run          string   `json:"run"`
	Kind         string   `json:"kind"`
	Conversation string   `json:"conversation"`
	Blobs        int      `json:"blobs"`
	Bytes        int64    `json:"bytes"`
	Restored     []string `json:"restored"`
	Kept         []string `json:"kept"`
	Indexed      []string `json:"indexed"`
}

func newRunRecord(name, kind string) runRecord {
	return runRecord{
		Run: name, Kind: kind, Restored: []string{}, Kept: []string{}, Indexed: []string{},
	}
}

// Run brings back, or lists.
func (c gcUndoCmd) Run(ctx context.Context, a *app) error {
	o, err := collector(ctx, a, c.UserLocal)
	if err != nil {
		return err
	}
	items, err := items(ctx, a, o)
	if err != nil {
		return err
	}
	if c.List {
		return c.list(a, o, items)
	}
	for _, one := range items {
		if one.Name == c.Name {
			return c.restoreItem(ctx, a, one)
		}
	}
	res, err := gc.Undo(ctx, o, c.Name)
	if errors.Is(err, gc.ErrNoRun) {
		return &noRunError{name: c.Name, kept: items}
	}
	if err != nil {
		return err
	}
	r := newRunRecord(res.Run, collected)
	r.Blobs = len(res.Blobs)
	for _, h := range res.Blobs {
		r.Restored = append(r.Restored, h.String())
	}
	for _, h := range res.Kept {
		r.Kept = append(r.Kept, h.String())
	}
	r.Indexed = append(r.Indexed, res.Indexed...)
	return c.tell(a, r, fmt.Sprintf("brought back %s of run %s",
		render.Count(len(res.Blobs), "blob"), res.Run))
}

// A noRunError says that there is no run of a name, or no collection at all, that could be
// undone. What other commands have quarantined comes back only by its name.
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

// Details are the names that could be given.
func (e *noRunError) Details() []string {
	if e.name != "" {
		return nil
	}
	var lines []string
	for _, one := range e.kept {
		lines = append(lines,
			strings.TrimSpace(one.Name+"  "+conversationName(one.Conversation)))
	}
	return lines
}

// Hints name what can be undone instead.
func (e *noRunError) Hints() []string {
	switch {
	case e.name != "":
		return []string{"'git jp gc undo --list' lists the runs"}
	case len(e.kept) > 0:
		return []string{"'git jp gc undo <run>' brings one of them back"}
	default:
		return nil
	}
}

func (c gcUndoCmd) tell(a *app, r runRecord, text string) error {
	if a.JSON {
		return a.printJSON(r)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	for _, name := range r.Kept {
		a.warn("%s stays in the quarantine: something else is in its place", name)
	}
	return err
}

// items is what other commands have put into the quarantine of a collection. The user-local
// store has none.
func items(ctx context.Context, a *app, o gc.Options) ([]quarantine.Item, error) {
	if o.UserLocal {
		return nil, nil
	}
	var all []quarantine.Item
	own := repair.Quarantine(repair.Sources{Workspace: o.Workspace, Repo: o.Repo}, 0, nil)
	grace := a.openConfig.Settings().GC.Grace
	for _, q := range append(a.host().Quarantines(ctx, a.openWorkspace.Root(), grace), own) {
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

// restoreItem brings back what another command has quarantined.
func (c gcUndoCmd) restoreItem(ctx context.Context, a *app, one quarantine.Item) error {
	if one.Kind == quarantine.Compacted {
		return c.compactionBack(ctx, a, one)
	}
	w := a.openWorkspace
	root, err := os.OpenRoot(w.Root())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // everything is synced
	res, err := one.PutBack(root, path.Join(workspace.DirName, blobs.Dir, ".tmp"))
	if err != nil {
		return err
	}
	r := newRunRecord(one.Name, string(one.Kind))
	r.Restored = append(r.Restored, res.Files...)
	for _, name := range res.Kept {
		r.Kept = append(r.Kept, filepath.Join(a.short(one.Dir()), name))
	}
	return c.tell(a, r, fmt.Sprintf("brought back %s of %s",
		render.Count(len(res.Files), "file"), one.Name))
}

// compactionBack is compact --undo for one copy.
func (c gcUndoCmd) compactionBack(ctx context.Context, a *app, one quarantine.Item) error {
	e, err := a.find(one.Conversation.String())
	if err != nil {
		return err
	}
	conv, err := a.openWorkspace.Load(e)
	if err != nil {
		return err
	}
	j, err := compactionOf(a, conv)
	if err != nil {
		return err
	}
	for _, kept := range a.host().Copies(ctx, a.openWorkspace.Root(), conv.ID) {
		was, ok := kept.Restored(conv.Stream)
		if kept.Dir != one.Dir() || !ok {
			continue
		}
		if err := j.Restore(ctx, kept, was); err != nil {
			return err
		}
		r := newRunRecord(one.Name, string(one.Kind))
		r.Conversation = conversationName(conv.ID)
		r.Restored = append(r.Restored, path.Join(filepath.ToSlash(e.Path), workspace.EventsFile))
		return c.tell(a, r, fmt.Sprintf("brought back %s of %s", e.ID, one.Name))
	}
	return fmt.Errorf("bring back %s of %s: %w", one.Conversation, one.Name, quarantine.ErrNone)
}

func (c gcUndoCmd) list(a *app, o gc.Options, items []quarantine.Item) error {
	past, err := gc.Runs(o)
	if err != nil {
		return err
	}
	type row struct {
		runRecord
		at time.Time
	}
	var all []row
	for _, p := range past {
		r := newRunRecord(p.Run, collected)
		r.Blobs, r.Bytes = p.Blobs, p.Bytes
		all = append(all, row{r, p.Started})
	}
	for _, one := range items {
		r := newRunRecord(one.Name, string(one.Kind))
		r.Conversation = conversationName(one.Conversation)
		r.Blobs, r.Bytes = one.Files, one.Bytes
		all = append(all, row{r, one.At})
	}
	slices.SortStableFunc(all, func(a, b row) int { return a.at.Compare(b.at) })
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, r := range all {
			if err := lines.Write(r.runRecord); err != nil {
				return err
			}
		}
		return nil
	}
	table := render.NewTable(a.output(), render.Column{Head: "RUN"},
		render.Column{Head: "FILES", Align: render.AlignRight},
		render.Column{Head: "SIZE", Align: render.AlignRight}, render.Column{Head: "WHEN"},
		render.Column{Head: "OF"})
	for _, r := range all {
		of := strings.TrimSpace(r.Kind + " " + r.Conversation)
		table.Row(r.Run, fmt.Sprint(r.Blobs), render.Bytes(r.Bytes), render.Ago(a.now(), r.at), of)
	}
	return table.Write(a.stdout)
}
