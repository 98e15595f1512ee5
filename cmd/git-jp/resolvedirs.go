package main

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
)

// unite makes one directory of those that a conversation got, because both sides gave it
// another title, and puts that into the index in the place of all that git has unmerged.
func (r *conflictRun) unite(item merge.Case) error {
	marked, err := r.resolver.Marked(r.ctx, item)
	if err != nil {
		return err
	}
	if len(marked) > 0 {
		for _, name := range marked {
			r.warn("%s has conflict markers: edit it, 'git add' it, and run 'git jp resolve' again",
				name)
		}
		r.left++
		return nil
	}
	var u unionChoice
	if err := r.resolver.Complete(r.ctx, item); err != nil {
		return err
	}
	plan, err := repair.PlanUnion(r.ctx, repair.Options{
		Sources: repair.Sources{Workspace: r.resolver.Workspace, Repo: r.resolver.Repo},
		Now:     r.now, PID: r.pid, Keep: r.openConfig.Settings().GC.Grace,
		Choose: func(
			_ events.ID, all []events.Conflict, side *events.Stream,
		) ([]merge.Decision, error) {
			asked := item
			u.record = &merge.Record{Path: item.Path, Conflicts: all, Theirs: side.Encode()}
			asked.Record = u.record
			var err error
			u.decisions, err = r.decisions(asked)
			return u.decisions, err
		},
	}, []events.ID{item.ID})
	if err != nil {
		return err
	}
	if u.record != nil && u.decisions == nil {
		r.left++
		return nil
	}
	if len(plan.Faults) == 0 && !merge.Stopped(r.resolver.Repo) {
		// The index alone has it in several: one was moved since.
		return r.staged(item)
	}
	if len(plan.Faults) == 0 {
		r.warn("%s is in one directory already; 'git add' it when it is as it should be", item.ID)
		r.left++
		return nil
	}
	return r.carryOutUnion(item, plan, u)
}

// A unionChoice is what a person decided about the conflicts of directories, if there were any.
type unionChoice struct {
	record    *merge.Record
	decisions []merge.Decision
}

// settleAll decides what nobody has to be asked about: conversations that both sides moved, and
// files that git could not bring together because it did not recognize a move.
func (c resolveCmd) settleAll(ctx context.Context, a *app) error {
	r, cases, err := c.cases(ctx, a)
	if err != nil {
		return err
	}
	r.prompter = nil
	for _, item := range cases {
		if item.Kind != merge.Directories && (item.Record != nil || item.Deleted()) {
			continue
		}
		if err := r.decide(item); err != nil {
			return err
		}
	}
	return nil
}

// carryOutUnion prints and executes the plan.
func (r *conflictRun) carryOutUnion(
	item merge.Case, plan *repair.Plan, u unionChoice,
) error {
	for _, f := range plan.Faults {
		r.note("%s: %s", item.ID, f.Remedy)
	}
	if err := plan.Apply(r.ctx, true); err != nil {
		return err
	}
	for _, f := range plan.Faults {
		switch {
		case f.Err != nil:
			return f.Err
		case !f.Done:
			r.left++
			return nil
		}
	}
	if forks(u.decisions) {
		forked := item
		forked.Record = u.record
		if err := r.fork(forked); err != nil {
			return err
		}
	}
	if err := r.stageUnion(item); err != nil {
		return err
	}
	if err := r.resolver.Close(item); err != nil {
		return err
	}
	if u.record != nil {
		r.remember(u.record.Conflicts, u.decisions)
	}
	r.note("resolved %s", item.ID)
	return nil
}

// staged puts a conversation that the work tree has in one directory into the index.
func (r *conflictRun) staged(item merge.Case) error {
	if err := r.stageUnion(item); err != nil {
		return err
	}
	r.note("resolved %s", item.ID)
	return nil
}

// lacking returns the paths of names that are not among others.
func lacking(dir string, names, among []string) []string {
	var all []string
	for _, name := range names {
		if at := path.Join(dir, name); !slices.Contains(among, at) {
			all = append(all, at)
		}
	}
	return all
}

// stageUnion takes every entry of the conversation out of the index and adds what the work
// tree has of it now, with its content.
func (r *conflictRun) stageUnion(item merge.Case) error {
	e, err := r.find(item.ID.String())
	if err != nil {
		return err
	}
	at := path.Join(path.Dir(r.resolver.Dir), e.Path)
	gone := slices.DeleteFunc(slices.Clone(item.Entries), func(name string) bool {
		return path.Dir(name) == at
	})
	var beside []string
	for _, name := range item.Entries {
		if path.Dir(name) == at {
			beside = append(beside, path.Base(name))
		}
	}
	add := r.resolver.Files(at, beside)
	gone = append(gone, lacking(at, beside, add)...)
	_, err = r.resolver.Repo.Stage(r.ctx, gitint.Change{
		Remove: gone, Add: add, ResolveConflicts: true,
	})
	if err != nil {
		return err
	}
	return r.stage(item.ID)
}

// stage adds a conversation with its content. What one side deleted of that, because nothing of
// its own referred to it any more, is brought back first where the other refers to it.
func (r *conflictRun) stage(id events.ID) error {
	req := stage.Request{
		Repo: r.resolver.Repo, Dir: r.resolver.Dir, IDs: []events.ID{id},
		MaxBlobBytes: r.openConfig.Settings().Storage.MaxBlobBytes,
	}
	_, err := stage.Run(r.ctx, req)
	refused := new(stage.RefusedError)
	if !errors.As(err, &refused) {
		return err
	}
	var lost []repair.Lost
	for _, f := range refused.Report.Findings {
		if f.State == check.Missing && !f.Hash.IsZero() {
			lost = append(lost, repair.Lost{Hash: f.Hash, Size: f.Size, In: []events.ID{id}})
		}
	}
	w := r.resolver.Workspace
	found, err := repair.Restore(
		r.ctx, repair.Sources{Workspace: w, Repo: r.resolver.Repo}, w.Blobs(), lost)
	if err != nil {
		return err
	}
	if len(found.Finds) > 0 {
		_, err = stage.Run(r.ctx, req)
		if !errors.As(err, &refused) {
			return err
		}
	}
	return r.refuseStage(r.ctx, r.resolver.Repo, refused.Report.Findings)
}
