package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/workspace"
)

type checkCmd struct {
	Revision []string `arg:"" optional:"" help:"A revision, or a range A..B to check each new commit."`
	Staged   bool     `xor:"what" help:"Check the index, that is the next commit."`
	Worktree bool     `xor:"what" help:"Check the files as they lie in the work tree."`
	All      bool     `xor:"what" help:"Check the tip of every branch, tag and other ref."`
	Content  bool     `help:"Read and verify every content."`
	Strict   bool     `help:"Warnings are problems too."`
	Format   string   `enum:"text,json,sarif,github,gitlab" default:"text" help:"text, json, sarif, github or gitlab."`
}

// Help says what is looked at and what is not.
func (checkCmd) Help() string {
	return `Looks whether every content that a conversation refers to is there: in the work tree by
default, in HEAD of a bare repository. Presence is checked without opening content, so it is
quick; --content verifies every byte. Needs neither network nor work tree.

    git jp check origin/main..HEAD --format github

Exit code: 0 nothing wrong, 1 problems. What cannot be seen in a shallow or partial clone is
reported as unchecked and is no problem.`
}

// Run checks.
func (c checkCmd) Run(ctx context.Context, a *app) error {
	if len(c.Revision) > 0 && (c.Staged || c.Worktree || c.All) {
		return usagef("name a revision, or give --staged, --worktree or --all, not both")
	}
	if slices.Contains(c.Revision, "") {
		return usagef("a revision is empty")
	}
	report, err := c.check(ctx, a)
	if err != nil {
		return err
	}
	if repo := a.openRepo; repo != nil {
		a.advise(ctx, repo, report.Findings)
	}
	if err := c.print(a, report); err != nil {
		return err
	}
	if report.Problems() {
		return errProblems
	}
	return nil
}

func (c checkCmd) print(a *app, report *check.Report) error {
	format := check.Format(c.Format)
	if a.JSON {
		format = check.FormatJSON
	}
	switch {
	case format != check.FormatText:
		return a.printer().Print(a.stdout, format, report)
	case a.Quiet:
		return a.printer().Findings(a.stdout, report.Findings)
	}
	if err := a.printer().Findings(a.stdout, report.Findings); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.stdout, report.Summary())
	return err
}

func (a *app) printer() check.Printer {
	return check.Printer{
		Clean: a.output().Line, Version: a.version, Verbose: a.Verbose,
	}
}

// printFindings writes findings where errors go.
func (a *app) printFindings(findings []check.Finding) error {
	p := a.printer()
	p.Clean = a.outputOf(a.stderrTerminal).Line
	return p.Findings(a.stderr, findings)
}

func (c checkCmd) check(ctx context.Context, a *app) (*check.Report, error) {
	repo, err := a.repo(ctx)
	if errors.Is(err, gitint.ErrNotRepository) && len(c.Revision) == 0 && !c.Staged && !c.All {
		return c.plainDirectory(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	o, err := c.options(a, repo)
	if err != nil {
		return nil, err
	}
	bar := a.progress("check", 0)
	defer bar.Done()
	switch {
	case isRange(c.Revision):
		return c.commits(ctx, repo, o)
	case len(c.Revision) > 0:
		return c.revision(ctx, repo, c.Revision[0], o)
	case c.All:
		return c.refs(ctx, repo, o)
	case c.Staged:
		return c.index(ctx, repo, o)
	case c.Worktree && repo.Root() == "":
		return nil, fmt.Errorf("check the work tree: %s has none here", repo.GitDir())
	case repo.Root() == "":
		return c.revision(ctx, repo, "HEAD", o)
	default:
		return c.workTree(ctx, repo.Root(), o)
	}
}

// A revisionError says that a revision of the command line is not there.
type revisionError struct {
	text    string
	shallow bool // it may lie behind the boundary
}

func newRevisionError(repo *gitint.Repo, text string) *revisionError {
	return &revisionError{text: text, shallow: slices.ContainsFunc(repo.Incomplete(), isShallow)}
}

func (e *revisionError) Error() string { return e.text }

func isShallow(i gitint.Incomplete) bool { return i.Reason == gitint.ReasonShallow }

// exitFatal is the exit code of a git that was asked for what is not there.
const exitFatal = 128

// isRange reports whether revisions name commits to be checked one by one.
func isRange(revs []string) bool {
	return len(revs) > 1 || len(revs) == 1 && (strings.Contains(revs[0], "..") || revs[0][0] == '^')
}

// options are what all sources of a repository share.
func (c checkCmd) options(a *app, repo *gitint.Repo) (check.Options, error) {
	conf, err := c.config(a, repo)
	if err != nil {
		return check.Options{}, err
	}
	o := check.Options{
		Content: c.Content, Strict: c.Strict,
		MaxBlobBytes: conf.Settings().Storage.MaxBlobBytes,
		Cache:        a.refsCache(repo),
	}
	for _, i := range repo.Incomplete() {
		// That history ends matters to a range alone: a tree is there or is not.
		if !isShallow(i) || isRange(c.Revision) {
			o.Gaps = append(o.Gaps, check.Gap{Reason: i.Reason, Detail: i.Detail})
		}
	}
	lfs := filepath.Join(repo.CommonDir(), "lfs", "objects")
	if info, err := os.Stat(lfs); err == nil && info.IsDir() {
		o.LFS = os.DirFS(lfs)
	}
	return o, nil
}

// config reads the configuration of the nearest workspace; a bare repository has none.
func (checkCmd) config(a *app, repo *gitint.Repo) (*config.Config, error) {
	if repo.Root() == "" {
		return a.configAt("")
	}
	root, err := workspace.Find(a.directory())
	if errors.Is(err, workspace.ErrNoWorkspace) {
		return a.configAt("")
	}
	if err != nil {
		return nil, err
	}
	return a.configAt(root)
}

// entryOf takes an entry of gitint apart for check.
func entryOf(e gitint.Entry) (name string, mode uint32, id gitint.OID) {
	return e.Path, uint32(e.Mode), e.OID
}

// source makes a source of a snapshot and finds its workspaces.
func source(
	repo *gitint.Repo, snap gitint.Snapshot, dirs *dirFinder,
) (src check.Source, jp []string, err error) {
	jp, err = dirs.find(snap)
	return check.Git(repo, snap, entryOf), jp, err
}

func (checkCmd) revision(
	ctx context.Context, repo *gitint.Repo, rev string, o check.Options,
) (*check.Report, error) {
	tree, err := repo.Tree(ctx, rev)
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return nil, newRevisionError(repo, "check "+rev+": unknown revision")
	}
	if err != nil {
		return nil, err
	}
	src, dirs, err := source(repo, tree, newDirFinder())
	if err != nil {
		return nil, err
	}
	o.Dirs = dirs
	return check.Tree(ctx, src, o)
}

func (checkCmd) index(
	ctx context.Context, repo *gitint.Repo, o check.Options,
) (*check.Report, error) {
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	src, dirs, err := source(repo, index, newDirFinder())
	if err != nil {
		return nil, err
	}
	o.Dirs = dirs
	return check.Tree(ctx, src, o)
}

func (c checkCmd) commits(
	ctx context.Context, repo *gitint.Repo, o check.Options,
) (*check.Report, error) {
	commits, err := repo.Commits(ctx, c.Revision...)
	if failed := new(gitint.ExitError); errors.As(err, &failed) && failed.Code == exitFatal {
		return nil, newRevisionError(repo, "check "+strings.Join(c.Revision, " ")+": "+
			strings.TrimPrefix(failed.Stderr, "fatal: "))
	}
	if err != nil {
		return nil, err
	}
	var revs []string
	for _, commit := range commits {
		revs = append(revs, commit.OID.String())
	}
	return c.several(ctx, repo, revs, o)
}

func (c checkCmd) refs(
	ctx context.Context, repo *gitint.Repo, o check.Options,
) (*check.Report, error) {
	refs, err := repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	refs = append(refs, head)
	seen := make(map[gitint.OID]bool)
	var revs []string
	for _, ref := range refs {
		if ref.Peeled.IsZero() || seen[ref.Peeled] {
			continue
		}
		seen[ref.Peeled] = true
		_, err := repo.Tree(ctx, ref.Peeled.String())
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue // a ref to a blob, such as a tag of a public key
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref.Name, err)
		}
		revs = append(revs, ref.Peeled.String())
	}
	return c.several(ctx, repo, revs, o)
}

// several checks many revisions. Their workspaces are looked for first, so that one
// that only some of them have is not missed.
func (checkCmd) several(
	ctx context.Context, repo *gitint.Repo, revs []string, o check.Options,
) (*check.Report, error) {
	finder := newDirFinder()
	o.Dirs = []string{}
	for _, rev := range revs {
		tree, err := repo.Tree(ctx, rev)
		if err != nil {
			return nil, err
		}
		dirs, err := finder.find(tree)
		if err != nil {
			return nil, err
		}
		o.Dirs = union(o.Dirs, dirs)
	}
	return check.Range(ctx, sources(ctx, repo, revs), o)
}

func sources(ctx context.Context, repo *gitint.Repo, revs []string) iter.Seq2[check.Source, error] {
	return func(yield func(check.Source, error) bool) {
		for _, rev := range revs {
			tree, err := repo.Tree(ctx, rev)
			if err != nil {
				yield(nil, fmt.Errorf("read commit %s: %w", rev, err))
				return
			}
			if !yield(check.Git(repo, tree, entryOf), nil) {
				return
			}
		}
	}
}

func (checkCmd) workTree(ctx context.Context, root string, o check.Options) (*check.Report, error) {
	roots, err := workspace.FindAll(root)
	if err != nil {
		return nil, err
	}
	o.Dirs = []string{}
	for _, r := range roots {
		rel, err := filepath.Rel(root, filepath.Join(r, workspace.DirName))
		if err != nil {
			return nil, err
		}
		o.Dirs = append(o.Dirs, filepath.ToSlash(rel))
	}
	src, err := check.OpenWorkTree(root)
	if err != nil {
		return nil, err
	}
	report, err := check.Tree(ctx, src, o)
	return report, errors.Join(err, src.Close())
}

// plainDirectory checks a workspace that is in no repository.
func (c checkCmd) plainDirectory(ctx context.Context, a *app) (*check.Report, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, err
	}
	settings, err := a.settings()
	if err != nil {
		return nil, err
	}
	return c.workTree(ctx, w.Root(), check.Options{
		Content: c.Content, Strict: c.Strict, MaxBlobBytes: settings.Storage.MaxBlobBytes,
	})
}
