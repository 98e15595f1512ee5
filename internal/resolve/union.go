package resolve

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/stage"
)

// unite merges the directories of a conversation that both sides renamed differently, and replaces
// all its unmerged entries in the index by the result.
func (r *Run) unite(ctx context.Context, item merge.Case) error {
	marked, err := r.resolver.Marked(ctx, item)
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
	if err := r.resolver.Complete(ctx, item); err != nil {
		return err
	}
	plan, err := repair.PlanUnion(ctx, repair.Options{
		Sources: repair.Sources{Workspace: r.Workspace, Repo: r.Repo},
		Now:     r.Now, PID: r.PID, Keep: r.Grace,
		Choose: func(
			_ events.ID, all []threeway.Conflict, side *events.Stream,
		) ([]merge.Decision, error) {
			asked := item
			u.record = &merge.Record{Path: item.Path, Conflicts: all, Theirs: side.Encode()}
			asked.Record = u.record
			var err error
			u.decisions, err = r.decisions(ctx, asked)
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
	if len(plan.Faults) == 0 && !merge.Stopped(r.Repo) {
		// Only the index has several: one was moved since.
		return r.staged(ctx, item)
	}
	if len(plan.Faults) == 0 {
		r.warn("%s is in one directory already; 'git add' it when it is as it should be", item.ID)
		r.left++
		return nil
	}
	return r.carryOutUnion(ctx, item, plan, u)
}

// A unionChoice holds a person's decisions about the conflicts between directories, if there were
// any.
type unionChoice struct {
	record    *merge.Record
	decisions []merge.Decision
}

// Settle decides the cases that need no question: conversations that both sides moved, and files
// that git could not match because it did not detect a rename.
func (r *Run) Settle(ctx context.Context) error {
	cases, err := r.Cases(ctx)
	if err != nil {
		return err
	}
	for _, item := range cases {
		if item.Kind != merge.Directories && (item.Record != nil || item.Deleted()) {
			continue
		}
		if err := r.Decide(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// carryOutUnion prints and executes the plan.
func (r *Run) carryOutUnion(
	ctx context.Context, item merge.Case, plan *repair.Plan, u unionChoice,
) error {
	for _, f := range plan.Faults {
		r.note("%s: %s", item.ID, f.Remedy)
	}
	if err := plan.Apply(ctx, true); err != nil {
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
		if err := r.fork(ctx, forked); err != nil {
			return err
		}
	}
	if err := r.stageUnion(ctx, item); err != nil {
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

// staged stages a conversation that has a single directory in the working tree.
func (r *Run) staged(ctx context.Context, item merge.Case) error {
	if err := r.stageUnion(ctx, item); err != nil {
		return err
	}
	r.note("resolved %s", item.ID)
	return nil
}

// lacking returns the paths of names that are not in among.
func lacking(dir string, names, among []string) []string {
	var all []string
	for _, name := range names {
		if at := path.Join(dir, name); !slices.Contains(among, at) {
			all = append(all, at)
		}
	}
	return all
}

// stageUnion replaces every entry of the conversation in the index by its files in the working
// tree, with the content that they refer to.
func (r *Run) stageUnion(ctx context.Context, item merge.Case) error {
	e, err := r.find(item.ID)
	if err != nil {
		return err
	}
	at := path.Join(path.Dir(r.Dir), e.Path)
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
	_, err = r.Repo.Stage(ctx, gitint.Change{
		Remove: gone, Add: add, ResolveConflicts: true,
	})
	if err != nil {
		return err
	}
	return r.stage(ctx, item.ID)
}

// stage adds a conversation with its content. If one side deleted blobs, because its own version no
// longer referred to them, they are restored first.
func (r *Run) stage(ctx context.Context, id events.ID) error {
	req := stage.Request{
		Repo: r.Repo, Dir: r.Dir, IDs: []events.ID{id},
		MaxBlobBytes: r.MaxBlobBytes,
	}
	_, err := stage.Run(ctx, req)
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
	w := r.Workspace
	found, err := repair.Restore(
		ctx, repair.Sources{Workspace: w, Repo: r.Repo}, w.Blobs(), lost)
	if err != nil {
		return err
	}
	if len(found.Finds) > 0 {
		_, err = stage.Run(ctx, req)
		if !errors.As(err, &refused) {
			return err
		}
	}
	return r.Refuse(ctx, r.Repo, refused.Report.Findings)
}

// RestoreKept restores the files of conversations that one side removed, if the index has only
// those that the other changed.
func (r *Run) RestoreKept(ctx context.Context) error {
	kept, err := merge.KeptIn(ctx, r.Repo, r.Dir, r.kept...)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if err := k.Restore(ctx, r.Repo); err != nil {
			return err
		}
		r.note("%s", k)
	}
	return nil
}
