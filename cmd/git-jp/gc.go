package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type gcCmd struct {
	Run  gcRunCmd  `cmd:"" default:"withargs" help:"Delete what nothing refers to."`
	Why  gcWhyCmd  `cmd:"" help:"Show what keeps a blob, or what did."`
	Undo gcUndoCmd `cmd:"" help:"Bring back what was deleted."`
}

// Help says what is kept and what becomes of the rest.
func (gcCmd) Help() string {
	return `Deletes content from the store of this worktree that nothing can need: no worktree,
index, branch, remote-tracking branch, stash or operation in progress refers to it, and no
older commit refers to it without having it itself. What cannot be read stops it, and it says
what that is. In a lazy clone that is also what only the remote has; --fetch-all fetches it.

What is deleted lies in a quarantine for the grace period, and 'git jp gc undo' brings it back.
So does what 'git jp compact --in-place' and 'git jp repair' have changed or taken away.
Files that git tracks also leave the index, which is asked first.

gc.auto collects files that git does not track beside 'git jp query', once a day, and the content
of user-local conversations, which --user-local does at once.`
}

type gcRunCmd struct {
	DryRun        bool   `short:"n" help:"Print what would be deleted and why."`
	Grace         string `placeholder:"DURATION" help:"How old content must be, such as 3d or 2w; gc.grace by default."`
	KeepIndex     bool   `help:"Delete files that git tracks, and leave them in the index."`
	Untracked     bool   `help:"Delete only files that git does not track."`
	UserLocal     bool   `help:"Collect the content of user-local conversations."`
	AcceptMissing bool   `help:"Go on although references are without content already."`
	FetchAll      bool   `help:"Fetch conversations that only the remote has."`
	LsRemote      bool   `name:"ls-remote" help:"Ask remotes for branches that were not fetched."`
	Yes           bool   `short:"y" help:"Do not ask."`
}

// collectedRecord is a blob in the JSON of gc.
type collectedRecord struct {
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

// Run collects.
func (c gcRunCmd) Run(ctx context.Context, a *app) error {
	if c.Grace != "" {
		a.Set = append(a.Set, "gc.grace="+c.Grace)
	}
	if c.DryRun {
		a.interrupts.Reading()
	}
	o, err := collector(ctx, a, c.UserLocal)
	if err != nil {
		return err
	}
	o.OnlyUntracked, o.KeepIndex, o.AcceptMissing = c.Untracked, c.KeepIndex, c.AcceptMissing
	if c.FetchAll && o.Repo != nil {
		o.Fetch = fetchFiles(a, o.Repo)
	}
	progress, end := a.terminal.Stages("gc")
	o.Progress = progress
	plan, err := gc.MakePlan(ctx, o)
	end()
	if err != nil {
		return err
	}
	if a.Verbose && o.Repo != nil {
		a.note("looked at %s, read %s, asked git %s", render.Count(plan.Commits, "older commit"),
			render.Count(o.Repo.ObjectsRead(), "object"), render.Count(o.Repo.Processes(), "time"))
	}
	c.tell(ctx, a, o, plan)
	old, err := gc.Expired(o)
	if err != nil {
		return err
	}
	if c.DryRun || plan.Empty() && len(old) == 0 {
		return c.print(a, plan, nil, old)
	}
	if err := c.agree(a, plan); err != nil {
		return err
	}
	progress, end = a.terminal.Stages("gc")
	o.Progress = progress
	res, err := gc.Sweep(ctx, o, plan)
	end()
	if err != nil {
		return err
	}
	for _, d := range res.Doubts {
		a.warn("%s: it was kept", d)
	}
	if len(res.Doubts) > 0 {
		a.note("%s", report.DoubtHint)
	}
	return c.print(a, plan, res, old)
}

// tell warns of what the plan does not know.
func (c gcRunCmd) tell(ctx context.Context, a *app, o gc.Options, plan *gc.Plan) {
	for _, n := range plan.Notes {
		a.note("%s", n)
	}
	for _, m := range plan.Missing {
		a.warn("%s", m)
	}
	if o.Repo == nil {
		return
	}
	remotes, err := o.Repo.Remotes(ctx)
	if err != nil || len(remotes) == 0 {
		return
	}
	if !c.LsRemote {
		if a.Verbose {
			a.note("branches of %s that were not fetched are not known; --ls-remote asks",
				strings.Join(remotes, ", "))
		}
		return
	}
	for _, remote := range remotes {
		unknown, err := o.Repo.Unfetched(ctx, remote)
		if err != nil {
			a.warn("ask %s for its branches: %v", remote, err)
		}
		for _, name := range unknown {
			a.warn("%s of %s was not fetched: what it refers to is not known", name, remote)
		}
	}
}

// agree prints the plan and asks before files go that git tracks: that is a change which
// others will see.
func (c gcRunCmd) agree(a *app, plan *gc.Plan) error {
	if c.Yes || !plan.AnyTracked() {
		return nil
	}
	what := fmt.Sprintf("delete %s of %s", render.Count(len(plan.Items), "blob"),
		render.Bytes(plan.Bytes()))
	if !a.JSON && a.terminal.In != nil {
		if err := c.list(a, plan.Items); err != nil {
			return err
		}
	}
	return a.terminal.Agree(what, what+", also such as git tracks?")
}

func (c gcRunCmd) print(
	a *app, plan *gc.Plan, res *gc.Result, old []quarantine.Item,
) error {
	items, action, run := plan.Items, wouldDelete, ""
	if res != nil {
		items, action, run = res.Moved, wasDeleted, res.Run
	}
	if a.JSON {
		lines := render.NewJSONLines(a.stdout, a.output())
		for _, i := range items {
			r := collectedRecord{
				Hash: i.Hash.String(), Path: i.Path, Bytes: i.Size, ModifiedAt: i.ModTime.UTC(),
				Tracked: i.Tracked, Action: action, Run: run,
			}
			if i.Last != nil {
				r.Conversation, r.Title = conversationName(i.Last.Conversation), i.Last.Title
				r.Commit = i.Last.Commit.String()
			}
			if err := lines.Write(r); err != nil {
				return err
			}
		}
		return nil
	}
	if res == nil {
		if err := c.list(a, items); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(a.stdout, c.summary(plan, res, old))
	if res != nil && res.Run != "" {
		a.note("'git jp gc undo' brings them back")
	}
	return err
}

// list prints what goes: what git does not have first, because nothing else has it.
func (c gcRunCmd) list(a *app, items []gc.Item) error {
	for _, tracked := range []bool{false, true} {
		table := render.NewTable(a.output(), render.Column{Head: "CONTENT"},
			render.Column{Head: "SIZE", Align: render.AlignRight}, render.Column{Head: "WRITTEN"},
			render.Column{Head: "LAST REFERRED TO BY", Shrink: true})
		n := 0
		for _, i := range items {
			if i.Tracked == tracked {
				n++
				table.Row(i.Hash.String()[:12], render.Bytes(i.Size),
					render.Ago(a.now(), i.ModTime), mentionText(i.Last))
			}
		}
		if n == 0 {
			continue
		}
		head := "not tracked by git:"
		if tracked {
			head = "tracked by git:"
		}
		if _, err := fmt.Fprintln(a.stdout, head); err != nil {
			return err
		}
		if err := table.Write(a.stdout); err != nil {
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

func (c gcRunCmd) summary(plan *gc.Plan, res *gc.Result, old []quarantine.Item) string {
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
		add(res.Spared+res.Returned, "blob", "stayed because of a change meanwhile")
		add(res.Purged, "blob", "of earlier runs deleted for good")
		add(res.Revived, "blob", "of earlier runs brought back")
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

// collector opens what a collection needs: the repository in which the workspace lies, which
// need not be that of the working directory.
func collector(ctx context.Context, a *app, userLocal bool) (gc.Options, error) {
	w, err := a.workspace()
	if err != nil {
		return gc.Options{}, err
	}
	settings, err := a.settings()
	if err != nil {
		return gc.Options{}, err
	}
	o := gc.Options{
		Workspace: w, UserLocal: userLocal, Now: a.now, PID: a.pid, Grace: settings.GC.Grace,
	}
	if userLocal {
		return o, nil
	}
	if o.Repo, err = repoOf(ctx, a, w); err != nil {
		return o, err
	}
	o.Cache = a.refsCache(o.Repo)
	return o, nil
}

// repoOf opens the repository in which a workspace lies.
func repoOf(ctx context.Context, a *app, w *workspace.Workspace) (*gitint.Repo, error) {
	log, err := openTrace(a)
	if err != nil {
		return nil, err
	}
	r, err := gitint.Open(ctx, gitint.Options{
		Dir: w.Root(), Env: a.env, Trace: log, Now: a.now, LockTimeout: indexLockWait,
		Limits: a.limits(),
	})
	if err == nil {
		a.closers = append(a.closers, r.Close)
	}
	return r, err
}

// finishCollection finishes a collection of the workspace that was killed, before anything
// else is done with it.
func finishCollection(a *app, w *workspace.Workspace) {
	ctx := context.Background() // it is short, and must not be left half-way again
	for _, userLocal := range []bool{false, true} {
		dir := w.Dir()
		if userLocal {
			dir = w.UserDir()
		}
		if dir == "" || !gc.IsOpen(dir) {
			continue
		}
		o := gc.Options{Workspace: w, UserLocal: userLocal, Now: a.now, PID: a.pid}
		var err error
		if !userLocal {
			o.Repo, err = repoOf(ctx, a, w)
		}
		recoverCollection(ctx, a, o, err)
	}
}

// putBack is finishCollection for hooks: it costs one look at a file where nothing is open, it
// waits for nobody, and it changes no index and deletes nothing.
func (a *app) putBack(ctx context.Context, root string, repo *gitint.Repo) {
	if !gc.IsOpen(filepath.Join(root, workspace.DirName)) {
		return
	}
	w, err := a.workspaceAt(root)
	recoverCollection(ctx, a, gc.Options{
		Workspace: w, Repo: repo, Now: a.now, PID: a.pid, NoWait: true,
	}, err)
}

// recoverCollection puts back what a collection had moved. What stood in its way before is err.
func recoverCollection(ctx context.Context, a *app, o gc.Options, err error) {
	done := false
	if err == nil {
		done, err = gc.Recover(ctx, o)
	}
	if err != nil {
		a.warn("finish an interrupted 'git jp gc': %v", err)
	} else if done {
		a.note("finished an interrupted 'git jp gc'")
	}
}

// collectAside begins a collection that is due, beside a command that takes long. The function
// that it returns ends it and does not wait: what it had not done, the next command puts
// back.
func collectAside(ctx context.Context, a *app, w *workspace.Workspace) (end func()) {
	settings, err := a.settings()
	if err != nil || !settings.GC.Auto || safe(a, w.Root()) != nil {
		return func() {}
	}
	limits := a.limits()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		// Everything is its own: the command closes what it has when it ends.
		repo, err := gitint.Open(ctx, gitint.Options{Dir: w.Root(), Env: a.env, Limits: limits})
		if err != nil {
			return
		}
		own, err := workspace.Open(w.Root(), a.workspaceEnv(settings))
		if err != nil {
			return
		}
		o := gc.Options{
			Repo: repo, Workspace: own, Now: a.now, PID: a.pid, Grace: settings.GC.Grace,
			Cache:         refs.Open(filepath.ToSlash(filepath.Join(repo.Dir(), "cache"))),
			OnlyUntracked: true,
		}
		gc.CollectDue(ctx, o)
		if ctx.Err() == nil {
			_ = o.Cache.Close()
		}
		gc.CollectDue(ctx, gc.Options{
			Workspace: own, UserLocal: true, Now: a.now, PID: a.pid, Grace: settings.GC.Grace,
		})
	}()
	return cancel
}
