package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Auditor checks one repository. Options.Dirs is not used: the auditor finds the workspaces
// itself. Options.Progress is called with the number of trees that were read.
type Auditor struct {
	Repo    *gitint.Repo
	Options check.Options
	// Secrets, if not nil, selects that and how secrets are searched for too. Its Dirs are not
	// used.
	Secrets *leaks.Options
}

// finder returns a finder of workspaces.
func finder() *gitint.DirFinder { return gitint.NewDirFinder(workspace.DirName) }

// A RevisionError reports a revision given by the user that does not exist.
type RevisionError struct {
	Text    string
	Shallow bool // it may be beyond the boundary of a shallow clone
}

// NewRevisionError returns the error with this text for a repository.
func NewRevisionError(repo *gitint.Repo, text string) *RevisionError {
	isShallow := func(i gitint.Incomplete) bool { return i.Reason == gitint.ReasonShallow }
	return &RevisionError{Text: text, Shallow: slices.ContainsFunc(repo.Incomplete(), isShallow)}
}

// Error implements error.
func (e *RevisionError) Error() string { return e.Text }

// exitFatal is the exit code of git for a revision that does not exist.
const exitFatal = 128

// RangeError returns the error of a walk of git over revisions that a user named: a
// [*RevisionError] if git could not begin it.
func RangeError(repo *gitint.Repo, what string, err error) error {
	if failed := new(gitint.ExitError); errors.As(err, &failed) && failed.Code == exitFatal {
		return NewRevisionError(repo, what+": "+failed.Reason())
	}
	return err
}

// Revision checks a revision and, if it is a merge commit, the merge. The error is a
// [*RevisionError] if it does not exist.
func (a Auditor) Revision(ctx context.Context, rev string) (*check.Report, error) {
	tree, err := a.Repo.Tree(ctx, rev)
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return nil, NewRevisionError(a.Repo, "check "+rev+": unknown revision")
	}
	if err != nil {
		return nil, err
	}
	report, err := a.snapshot(ctx, tree)
	if err != nil {
		return nil, err
	}
	commits, err := a.Repo.Commits(ctx, rev+"^!")
	if _, ok := errors.AsType[*gitint.ExitError](err); ok {
		return report, nil // a tree, so not a merge
	}
	if err != nil {
		return nil, err
	}
	return report, a.merges(ctx, report, commits, heads(commits))
}

// snapshot checks the workspaces of a revision or of the index.
func (a Auditor) snapshot(ctx context.Context, snap gitint.Snapshot) (*check.Report, error) {
	dirs, err := finder().Find(snap)
	if err != nil {
		return nil, err
	}
	a.Options.Dirs = dirs
	src := check.Git(a.Repo, snap)
	report, err := check.Tree(ctx, src, a.Options)
	if err != nil {
		return nil, err
	}
	settings := settingsReader{known: map[gitint.OID]bool{}}
	findings, err := settings.read(snap, dirs)
	if err != nil {
		return nil, err
	}
	report.AddAll(findings)
	return report, a.secrets(ctx, report, dirs, src)
}

// Index checks the index, which is the next commit.
func (a Auditor) Index(ctx context.Context) (*check.Report, error) {
	index, err := a.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	return a.snapshot(ctx, index)
}

// Range checks each commit in a range such as A..B, including the merges and squashes in it.
func (a Auditor) Range(ctx context.Context, revs []string) (*check.Report, error) {
	commits, err := a.Repo.Commits(ctx, revs...)
	if err != nil {
		return nil, RangeError(a.Repo, "check "+strings.Join(revs, " "), err)
	}
	tips := heads(commits)
	report, err := a.several(ctx, revisionsOf(commits))
	if err != nil {
		return nil, err
	}
	if a.Secrets != nil {
		err = a.removed(ctx, report, commits, tips)
	}
	if err != nil {
		return nil, err
	}
	if err := a.merges(ctx, report, commits, tips); err != nil {
		return nil, err
	}
	squashed, err := a.Repo.Squashed(ctx, revs...)
	if err != nil {
		return nil, err
	}
	if err := a.squashes(ctx, report, commits, tips, squashed); err != nil {
		return nil, err
	}
	return report, a.seemingSquashes(ctx, report, commits, tips, squashed)
}

// Refs checks the tip of every ref, and HEAD.
func (a Auditor) Refs(ctx context.Context) (*check.Report, error) {
	refs, err := a.Repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	head, err := a.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	refs = append(refs, head)
	seen := make(map[gitint.OID]bool)
	var revs []string
	var stash gitint.OID // unless another ref has it too
	for _, ref := range refs {
		switch {
		case ref.Peeled == stash:
			stash = gitint.OID{}
		case ref.Name == stashRef && !seen[ref.Peeled]:
			stash = ref.Peeled
		}
		if ref.Peeled.IsZero() || seen[ref.Peeled] {
			continue
		}
		seen[ref.Peeled] = true
		_, err := a.Repo.Tree(ctx, ref.Peeled.String())
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue // a ref to a blob, such as a tag of a public key
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref.Name, err)
		}
		revs = append(revs, ref.Peeled.String())
	}
	report, err := a.several(ctx, revisions{all: revs, tips: revs})
	if err != nil || stash.IsZero() {
		return report, err
	}
	return report, a.stashed(ctx, report, stash)
}

// Revisions are those that a check looks at.
type revisions struct {
	all   []string
	tips  []string // those that are no parent of another one
	known []string // those whose secrets are known
}

func revisionsOf(commits []gitint.Commit) revisions {
	r := revisions{all: commitIDs(commits), known: boundary(commits)}
	r.tips = append(r.tips, lists.Map(heads(commits), gitint.OID.String)...)
	return r
}

// several checks many revisions. It looks for workspaces first, so that one which only some
// revisions have is not missed.
//
// It reports only secrets that are in none of the known revisions.
func (a Auditor) several(ctx context.Context, revs revisions) (*check.Report, error) {
	finder := finder()
	o := a.Options
	o.Dirs = []string{}
	settings := settingsReader{known: map[gitint.OID]bool{}}
	var unmerged []check.Finding
	for _, rev := range revs.all {
		tree, err := a.Repo.Tree(ctx, rev)
		if err != nil {
			return nil, err
		}
		dirs, err := finder.Find(tree)
		if err != nil {
			return nil, err
		}
		findings, err := settings.read(tree, dirs)
		if err != nil {
			return nil, err
		}
		unmerged = append(unmerged, findings...)
		o.Dirs = slices.Compact(slices.Sorted(slices.Values(append(o.Dirs, dirs...))))
	}
	progress := o.Progress
	o.Progress = nil // it is the progress of a single tree
	report, err := check.Range(ctx, a.sources(ctx, revs.all, progress), o)
	if err != nil {
		return nil, err
	}
	report.AddAll(unmerged)
	s, err := a.scanner(ctx, o.Dirs, revs.known)
	if err != nil || s == nil {
		return report, err
	}
	for src, err := range a.sources(ctx, revs.all, func(string, int, int) {}) {
		if err == nil {
			err = s.Scan(ctx, src)
		}
		if err == nil && slices.Contains(revs.tips, src.Name()) {
			err = s.Revisit(ctx, src)
		}
		if err != nil {
			return report, err
		}
	}
	s.Report(report)
	return report, nil
}

// sources opens one revision after the other.
func (a Auditor) sources(
	ctx context.Context, revs []string, report func(stage string, done, total int),
) iter.Seq2[check.Source, error] {
	return func(yield func(check.Source, error) bool) {
		for i, rev := range revs {
			report("trees", i, len(revs))
			tree, err := a.Repo.Tree(ctx, rev)
			if err != nil {
				yield(nil, fmt.Errorf("read commit %s: %w", rev, err))
				return
			}
			if !yield(check.Git(a.Repo, tree), nil) {
				return
			}
		}
	}
}

// FilesBelow checks the files of the workspaces below a directory. It also returns the workspaces.
func FilesBelow(
	ctx context.Context, root string, o check.Options, limits regular.Limits,
	secrets *leaks.Options,
) (*check.Report, []string, error) {
	roots, err := workspace.FindAll(root)
	if err != nil { // some directories cannot be read; check the others
		o.Gaps = append(o.Gaps, check.Gap{Reason: gitint.ReasonUnreadable, Detail: err.Error()})
	}
	o.Dirs = []string{}
	for _, r := range roots {
		rel, err := filepath.Rel(root, filepath.Join(r, workspace.DirName))
		if err != nil {
			return nil, nil, err
		}
		o.Dirs = append(o.Dirs, filepath.ToSlash(rel))
	}
	src, err := check.OpenWorkTree(root, limits)
	if err != nil {
		return nil, nil, err
	}
	report, err := check.Tree(ctx, src, o)
	if err == nil {
		err = Auditor{Options: o, Secrets: secrets}.secrets(ctx, report, o.Dirs,
			check.Lazily(src, o.LeftOut))
	}
	return report, roots, errors.Join(err, src.Close())
}
