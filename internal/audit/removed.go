package audit

import (
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/secrets"
)

// removed adds a warning to a report for each redaction entry that a commit removes and no tip has.
func (a Auditor) removed(
	ctx context.Context, report *check.Report, commits []gitint.Commit, tips []gitint.OID,
) error {
	r := removals{
		repo: a.Repo, tips: tips, trees: map[gitint.OID]*gitint.Tree{},
		listed: map[string]map[string]bool{},
	}
	for _, rev := range boundary(commits) {
		id, err := gitint.ParseOID(rev)
		if err != nil {
			return err
		}
		r.before = append(r.before, id)
	}
	dirs, err := r.dirs(ctx)
	if err != nil {
		return err
	}
	for _, commit := range commits {
		for _, dir := range dirs {
			gone, err := r.of(ctx, commit, dir)
			if err != nil {
				return err
			}
			for name, before := range gone {
				report.Add(leaks.RemovedEntry(commit.OID.String(), name, before))
			}
		}
	}
	return nil
}

// removals finds the redaction entries that commits remove.
type removals struct {
	repo *gitint.Repo
	tips []gitint.OID
	// before are the commits before the first ones.
	before []gitint.OID
	trees  map[gitint.OID]*gitint.Tree // nil for a commit that is not here
	// listed caches the entries of each version of a directory, by its path and object name.
	listed map[string]map[string]bool
}

// dirs returns the directories .jp that the tips, or the commits before the first ones, have.
func (r removals) dirs(ctx context.Context) (all []string, err error) {
	finder := finder()
	for _, id := range slices.Concat(r.before, r.tips) {
		tree, err := r.tree(ctx, id)
		if err != nil {
			return nil, err
		}
		if tree == nil {
			continue
		}
		dirs, err := finder.Find(tree)
		if err != nil {
			return nil, err
		}
		all = append(all, dirs...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (r removals) tree(ctx context.Context, commit gitint.OID) (*gitint.Tree, error) {
	tree, ok := r.trees[commit]
	if ok {
		return tree, nil
	}
	tree, err := gitint.OrNone(r.repo.Tree(ctx, commit.String())) // none beyond a shallow boundary
	r.trees[commit] = tree
	return tree, err
}

// of returns the redaction entries that a commit lacks and no tip has, each with a parent that has
// it. If only one parent of a merge has an entry, the commits of the other side removed it, unless
// the entry is newer than the sides: then the merge did not take it.
func (r removals) of(
	ctx context.Context, commit gitint.Commit, dir string,
) (gone map[string]gitint.OID, err error) {
	now, err := r.entries(ctx, commit.OID, dir)
	if err != nil {
		return nil, err
	}
	gone = map[string]gitint.OID{}
	had := map[string]int{}
	for _, p := range commit.Parents {
		was, err := r.entries(ctx, p, dir)
		if err != nil {
			return nil, err
		}
		for name := range was {
			if had[name]++; !now[name] {
				gone[name] = p
			}
		}
	}
	for name, before := range gone {
		fine, err := r.anyHas(ctx, r.tips, name)
		if err == nil && !fine {
			fine, err = r.harmless(ctx, before, name)
		}
		if err == nil && !fine && had[name] < len(commit.Parents) {
			fine, err = r.older(ctx, commit, name)
		}
		if err != nil {
			return nil, err
		}
		if fine {
			delete(gone, name)
		}
	}
	return gone, nil
}

// older reports whether the sides of a merge had an entry in common.
func (r removals) older(
	ctx context.Context, merge gitint.Commit, name string,
) (bool, error) {
	bases, err := r.repo.MergeBases(ctx, merge.Parents[0], merge.Parents[1:]...)
	if err != nil {
		return false, err
	}
	return r.anyHas(ctx, bases, name)
}

// entries returns the redaction entries of a commit. Most commits leave the directory unchanged, so
// each version of it is listed once.
func (r removals) entries(
	ctx context.Context, commit gitint.OID, dir string,
) (map[string]bool, error) {
	tree, err := r.tree(ctx, commit)
	if err != nil || tree == nil {
		return nil, err
	}
	at := path.Join(dir, secrets.RedactedDir)
	beside, err := tree.Children(path.Dir(at))
	if gitint.IsNoDir(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(beside, func(e gitint.Entry) bool { return e.Path == at })
	if i < 0 {
		return nil, nil
	}
	version := at + " " + beside[i].OID.String()
	if all, ok := r.listed[version]; ok {
		return all, nil
	}
	all := map[string]bool{}
	entries, err := tree.Entries(at)
	for _, e := range entries {
		if _, _, ok := leaks.IsRedaction(e.Path); ok {
			all[e.Path] = true
		}
	}
	r.listed[version] = all
	return all, err
}

// harmless reports whether the entry of a commit is invalid and ignored, or what it redacts was
// allowed before the first commits: theirs may allow what they bring back.
func (r removals) harmless(ctx context.Context, commit gitint.OID, name string) (bool, error) {
	tree, err := r.tree(ctx, commit)
	if err != nil || tree == nil {
		return false, err
	}
	for _, id := range r.before {
		allowing, err := r.tree(ctx, id)
		if err != nil || allowing == nil {
			return false, err
		}
		redacts, err := leaks.Redacts(name, func() ([]byte, error) {
			return tree.ReadFile(name)
		}, check.Git(r.repo, allowing))
		if err != nil || !redacts {
			return !redacts, err
		}
	}
	return false, nil
}

// anyHas reports whether one of the commits has a file.
func (r removals) anyHas(
	ctx context.Context, commits []gitint.OID, name string,
) (bool, error) {
	for _, id := range commits {
		tree, err := r.tree(ctx, id)
		if err != nil {
			return false, err
		}
		if tree == nil {
			continue
		}
		if _, ok := tree.OID(name); ok {
			return true, nil
		}
	}
	return false, nil
}
