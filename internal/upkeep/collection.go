package upkeep

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
)

// A CollectedRecord is a blob that a collection deletes, in JSON.
type CollectedRecord struct {
	Hash         string    `json:"hash"`
	Path         string    `json:"path"`
	Bytes        int64     `json:"bytes"`
	ModifiedAt   time.Time `json:"modified_at"`
	Tracked      bool      `json:"tracked"`
	Action       string    `json:"action"`
	Run          string    `json:"run"`
	Conversation string    `json:"conversation"`
	Title        string    `json:"title"`
	Commit       string    `json:"commit"`
}

const (
	wouldDelete = "would_delete"
	wasDeleted  = "deleted"
)

// A Collection deletes blobs that nothing refers to.
type Collection struct {
	gc.Options

	Terminal *ask.Terminal
	DryRun   bool
	Yes      bool // does not ask
	LsRemote bool // asks remotes for branches that were not fetched
}

// Run collects garbage.
func (c Collection) Run(ctx context.Context) error {
	t := c.Terminal
	progress, end := t.Stages("gc")
	c.Progress = progress
	plan, err := gc.MakePlan(ctx, c.Options)
	end()
	if err != nil {
		return err
	}
	if t.Verbose && c.Repo != nil {
		t.Note("looked at %s, read %s, asked git %s", render.Count(plan.Commits, "older commit"),
			render.Count(c.Repo.ObjectsRead(), "object"), render.Count(c.Repo.Processes(), "time"))
	}
	c.warn(ctx, plan)
	old, err := gc.Expired(c.Options)
	if err != nil {
		return err
	}
	if c.DryRun || plan.Empty() && len(old) == 0 {
		return c.print(plan, nil, old)
	}
	if err := c.agree(plan); err != nil {
		return err
	}
	progress, end = t.Stages("gc")
	c.Progress = progress
	res, err := gc.Sweep(ctx, c.Options, plan)
	end()
	if err != nil {
		return err
	}
	for _, d := range res.Doubts {
		t.Warn("%s: it was kept", d)
	}
	if len(res.Doubts) > 0 {
		t.Note("%s", report.DoubtHint)
	}
	return c.print(plan, res, old)
}

// warn prints what the plan does not know.
func (c Collection) warn(ctx context.Context, plan *gc.Plan) {
	t := c.Terminal
	for _, n := range plan.Notes {
		t.Note("%s", n)
	}
	for _, m := range plan.Missing {
		t.Warn("%s", m)
	}
	if c.Repo == nil || !c.LsRemote && !t.Verbose {
		return
	}
	remotes, err := c.Repo.Remotes(ctx)
	if err != nil || len(remotes) == 0 {
		return
	}
	if !c.LsRemote {
		t.Note("branches of %s that were not fetched are not known; --ls-remote asks",
			strings.Join(remotes, ", "))
		return
	}
	for _, remote := range remotes {
		unknown, err := c.Repo.Unfetched(ctx, remote)
		if err != nil {
			t.Warn("ask %s for its branches: %v", remote, err)
		}
		for _, name := range unknown {
			t.Warn("%s of %s was not fetched: what it refers to is not known", name, remote)
		}
	}
}

// agree prints the plan and asks before files that git tracks are deleted: others will see that
// change.
func (c Collection) agree(plan *gc.Plan) error {
	if c.Yes || !plan.AnyTracked() {
		return nil
	}
	what := fmt.Sprintf("delete %s of %s", render.Count(len(plan.Items), "blob"),
		render.Bytes(plan.Bytes()))
	if !c.Terminal.JSON && c.Terminal.In != nil {
		if err := c.list(plan.Items); err != nil {
			return err
		}
	}
	return c.Terminal.Agree(what, what+", also such as git tracks?")
}

func (c Collection) print(plan *gc.Plan, res *gc.Result, old []quarantine.Item) error {
	items, action, run := plan.Items, wouldDelete, ""
	if res != nil {
		items, action, run = res.Moved, wasDeleted, res.Run
	}
	t := c.Terminal
	if t.JSON {
		return render.Records(&t.Printer, lists.Map(items, func(i gc.Item) CollectedRecord {
			return newCollectedRecord(i, action, run)
		}))
	}
	if res == nil {
		if err := c.list(items); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(t.Out, summary(plan, res, old))
	if run != "" {
		t.Note("'git jp gc undo' restores them")
	}
	return err
}

func newCollectedRecord(i gc.Item, action, run string) CollectedRecord {
	r := CollectedRecord{
		Hash: i.Hash.String(), Path: i.Path, Bytes: i.Size, ModifiedAt: i.ModTime.UTC(),
		Tracked: i.Tracked, Action: action, Run: run,
	}
	if i.Last != nil {
		r.Conversation, r.Title = conversationName(i.Last.Conversation), i.Last.Title
		r.Commit = i.Last.Commit.String()
	}
	return r
}

// list prints what is deleted: untracked blobs first, because nothing else has them.
func (c Collection) list(items []gc.Item) error {
	p := &c.Terminal.Printer
	for _, tracked := range []bool{false, true} {
		table := render.NewTable(p.Output, render.Column{Head: "CONTENT"},
			render.Column{Head: "SIZE", Align: render.AlignRight}, render.Column{Head: "WRITTEN"},
			render.Column{Head: "LAST REFERRED TO BY", Shrink: true})
		n := 0
		for _, i := range items {
			if i.Tracked == tracked {
				n++
				table.Row(i.Hash.String()[:12], render.Bytes(i.Size),
					render.Ago(p.Now(), i.ModTime), mentionText(i.Last))
			}
		}
		if n == 0 {
			continue
		}
		head := "not tracked by git:"
		if tracked {
			head = "tracked by git:"
		}
		if _, err := fmt.Fprintln(p.Out, head); err != nil {
			return err
		}
		if err := table.Write(p.Out); err != nil {
			return err
		}
	}
	return nil
}

func mentionText(m *gc.Mention) string {
	if m == nil {
		return "no conversation of any commit"
	}
	return fmt.Sprintf("%s %q, in commit %s", conversationName(m.Conversation), m.Title,
		m.Commit.String()[:12])
}

func conversationName(id events.ID) string {
	if id == 0 {
		return ""
	}
	return id.String()
}

// summary says in a line what a collection did, or without a result what it would do.
func summary(plan *gc.Plan, res *gc.Result, old []quarantine.Item) string {
	var parts []string
	add := func(n int, noun, rest string) {
		if n > 0 {
			parts = append(parts, render.Count(n, noun)+" "+rest)
		}
	}
	switch {
	case res != nil:
		var bytes int64
		for _, i := range res.Moved {
			bytes += i.Size
		}
		parts = append(parts, fmt.Sprintf("deleted %s of %s",
			render.Count(len(res.Moved), "blob"), render.Bytes(bytes)))
		add(len(res.Unindexed), "entry", "left the index")
		add(res.Spared+res.Returned, "blob", "kept because of a change in the meantime")
		add(res.Purged, "blob", "of earlier runs deleted for good")
		add(res.Revived, "blob", "of earlier runs restored")
		add(res.Expired, "copy", "of the quarantine deleted for good")
		add(res.Temporaries, "leftover", "removed")
	case plan.Empty() && len(old) == 0:
		parts = append(parts, "nothing to delete")
	default:
		parts = append(parts, fmt.Sprintf("would delete %s of %s",
			render.Count(len(plan.Items), "blob"), render.Bytes(plan.Bytes())))
		for _, r := range plan.Expired {
			add(len(r.Dead), "blob", "of run "+r.Run+" would go for good")
			add(len(r.Wanted), "blob", "of run "+r.Run+" would come back")
		}
		for _, one := range old {
			parts = append(parts, "the copy "+one.Name+" would go for good")
		}
		add(len(plan.Temporaries), "leftover", "would be removed")
	}
	if !plan.Unmarked {
		parts = append(parts, fmt.Sprintf("%d of %d are referred to", plan.Wanted, plan.Total))
	}
	add(plan.Past, "blob", "kept for older commits")
	add(plan.Young, "blob", "newer than the grace period")
	add(plan.Locked, "blob", "kept while a conversation is held")
	add(plan.Tracked, "blob", "left because git tracks them")
	return strings.Join(parts, ", ")
}

// Why prints what keeps a blob, or what did last. The blob is named by its hash, the beginning of
// it or a path; a name that fits no blob is [gc.ErrNoName].
func Why(ctx context.Context, p *render.Printer, o gc.Options, name string) error {
	h, err := gc.Named(o, name)
	if err != nil {
		return err
	}
	w, err := gc.Explain(ctx, o, h)
	if err != nil {
		return err
	}
	reasons := w.Reasons()
	if p.JSON {
		return render.Records(p, reasons)
	}
	for line := range strings.Lines(gc.DescribeReasons(reasons)) {
		if err := p.Line(strings.TrimSuffix(line, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// Recover finishes a killed collection: it moves back what that had moved. err is an earlier error
// that prevents it.
func Recover(ctx context.Context, p *render.Printer, o gc.Options, err error) {
	done := false
	if err == nil {
		done, err = gc.Recover(ctx, o)
	}
	if err != nil {
		p.Warn("finish an interrupted 'git jp gc': %v", err)
	} else if done {
		p.Note("finished an interrupted 'git jp gc'")
	}
}
