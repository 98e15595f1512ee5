package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

type checkCmd struct {
	Revision    []string `arg:"" optional:"" help:"A revision, or a range A..B to check each new commit."`
	Staged      bool     `xor:"what" help:"Check the index, that is the next commit."`
	Worktree    bool     `xor:"what" help:"Check the files as they lie in the working tree."`
	All         bool     `xor:"what" help:"Check the tip of every branch, tag and other ref."`
	Stdin       bool     `xor:"what" help:"Check the new commits of a push, as a pre-receive hook is given it."`
	Merge       bool     `xor:"what" help:"Check what a merge of two revisions would come to."`
	Squash      bool     `xor:"what" help:"Check what a commit that squashed a branch left out: the commit, then the branch."`
	Content     bool     `help:"Read and verify every blob."`
	Secrets     bool     `help:"Look for secrets too; of a range, for those that it brings."`
	AllowSecret []string `placeholder:"FINGERPRINT" sep:"none" help:"Record that a finding is not a secret: write and stage an exception."`
	Strict      bool     `help:"Warnings are problems too."`
	Format      string   `enum:"text,json,sarif,github,gitlab" default:"text" help:"text, json, sarif, github or gitlab."`
}

// Help says what is checked and what is not.
func (checkCmd) Help() string {
	return `Checks whether every blob that a conversation refers to is there: in the working tree by
default, in HEAD of a bare repository. Presence is checked without opening content, so it is
quick; --content verifies every byte. Needs neither network nor working tree.

    git jp check origin/main..HEAD --format github
    git jp check --secrets origin/main..HEAD
    git jp check --merge origin/main HEAD
    git jp check --squash main origin/topic

A merge can break what both sides have: it loses content that one side deleted and the other refers
to again, and lines that git merged without the drivers are not a conversation. --merge shows that
before the merge, and a check of the merge commit afterwards. A squash names no second parent:
--squash compares it with the branch. A range does so where the message is that of
'git merge --squash', and warns where the files of a commit are those of a squash of a branch that
still has a ref.

--secrets scans text and content for keys, passwords and tokens, as 'git jp stage' and the commit
hook do. A finding shows its kind, length and place, never the secret. 'git jp redact' removes it;
--allow-secret records for everyone that it is not a secret. What a range allows is listed.

A clone without the drivers that its attributes name is reported by 'git jp doctor', and here as a
warning about the working tree.

Exit code: 0 nothing wrong, 1 problems. What cannot be seen in a shallow or partial clone is
reported as unchecked and is no problem.`
}

// Run checks.
func (c checkCmd) Run(ctx context.Context, a *app) error {
	if len(c.Revision) > 0 && (c.Staged || c.Worktree || c.All || c.Stdin) {
		return usagef("name a revision, or give --staged, --worktree, --all or --stdin, not both")
	}
	if c.Merge && len(c.Revision) != 2 {
		return usagef("--merge takes two revisions")
	}
	if c.Squash && len(c.Revision) != 2 {
		return usagef("--squash takes a commit and the branch that it squashed")
	}
	if f := check.Format(c.Format); a.JSON && f != check.FormatText && f != check.FormatJSON {
		return usagef("--format=%s and --json cannot be used together", c.Format)
	}
	if slices.Contains(c.Revision, "") {
		return usagef("a revision is empty")
	}
	if i := slices.IndexFunc(c.Revision, insideWorkspace); i >= 0 {
		return usagef("%s is inside of %s; name the tree that has it",
			c.Revision[i], workspace.DirName)
	}
	if len(c.AllowSecret) > 0 {
		if len(c.Revision) > 0 || c.named() {
			return usagef("--allow-secret is about the working tree")
		}
		return a.allowSecret(ctx, c.AllowSecret)
	}
	a.garbage.seldom()
	outcome, err := c.check(ctx, a)
	if err != nil {
		return err
	}
	if repo := a.openRepo; repo != nil && !c.Stdin {
		if c.ofClone() {
			if err := addDrift(ctx, a, repo, outcome); err != nil {
				return err
			}
		}
		newAdviser(a, repo).Advise(ctx, outcome.Findings)
	}
	if err := c.print(a, outcome); err != nil {
		return err
	}
	if outcome.Problems() {
		return report.ErrProblems
	}
	return nil
}

// named reports whether the check is of something else than the working tree, or its replacement in
// a bare repository.
func (c checkCmd) named() bool {
	return len(c.Revision) > 0 || c.Staged || c.All || c.Stdin
}

// ofClone reports whether the outcome depends on the clone, and not on commits alone: its files do,
// and so does the result of a merge in it.
func (c checkCmd) ofClone() bool { return c.Merge || !c.named() }

func (c checkCmd) print(a *app, report *check.Report) error {
	format := check.Format(c.Format)
	if a.JSON {
		format = check.FormatJSON
	}
	switch {
	case format != check.FormatText:
		return newPrinter(a).Print(a.stdout, format, report)
	case a.Quiet:
		return newPrinter(a).Findings(a.stdout, report.Findings)
	}
	if err := newPrinter(a).Findings(a.stdout, report.Findings); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.stdout, report.Summary())
	return err
}

func newPrinter(a *app) check.Printer {
	return check.Printer{Version: a.version, Verbose: a.Verbose, More: "'-v' shows all"}
}

// printFindings writes findings to standard error.
func (a *app) printFindings(findings []check.Finding) error {
	p := newPrinter(a)
	p.More = "'git jp check -v' shows all"
	return p.Findings(a.stderr, findings)
}

func (c checkCmd) check(ctx context.Context, a *app) (*check.Report, error) {
	repo, err := a.repo(ctx)
	if errors.Is(err, gitint.ErrNotRepository) && !c.named() {
		return c.plainDirectory(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	if repo.PackedObjects(ctx) >= muchToRead {
		a.garbage.growLarge()
	}
	conf, err := checkConfig(a, repo)
	if err != nil {
		return nil, err
	}
	o, err := checkOptions(a, repo, check.Options{
		Content: c.Content, Strict: c.Strict, MaxBlobBytes: conf.Settings().Storage.MaxBlobBytes,
		Rules: a.version,
	}, isRange(c.Revision))
	if err != nil {
		return nil, err
	}
	progress, done := a.terminal.Stages("check")
	defer done()
	o.Progress = progress
	auditor := audit.Auditor{Repo: repo, Options: o}
	if c.Secrets {
		leak := a.leakOptions(repo.Root())
		auditor.Secrets = &leak
	}
	switch {
	case c.Merge:
		return auditor.Merge(ctx, c.Revision[0], c.Revision[1])
	case c.Squash:
		return auditor.Squash(ctx, c.Revision[0], c.Revision[1])
	case isRange(c.Revision):
		return auditor.Range(ctx, c.Revision)
	case len(c.Revision) > 0:
		return auditor.Revision(ctx, c.Revision[0])
	case c.All:
		return auditor.Refs(ctx)
	case c.Stdin:
		d, err := hooks.Received(ctx, repo, a.input(ctx))
		if err != nil {
			return nil, err
		}
		return auditor.Push(ctx, d)
	case c.Staged:
		report, err := auditor.Index(ctx)
		if err != nil {
			return nil, err
		}
		conflicts, err := audit.Undecided(ctx, repo)
		for _, f := range conflicts {
			report.Add(f)
		}
		return report, err
	case c.Worktree && repo.Root() == "":
		return nil, fmt.Errorf("check the working tree: %s has none here", repo.GitDir())
	case repo.Root() == "":
		return auditor.Revision(ctx, "HEAD")
	}
	kept := stage.KeepSpares(ctx, repo) // what is in its way is reported by the check
	report, err := auditor.WorkTree(ctx)
	return report, cmp.Or(err, kept)
}

// insideWorkspace reports whether a revision names .jp, or what is in it, in which a search for
// workspaces finds none: the check would pass.
func insideWorkspace(rev string) bool {
	_, name, ok := strings.Cut(rev, ":")
	return ok && slices.Contains(strings.Split(name, "/"), workspace.DirName)
}

// isRange reports whether revisions name commits to be checked one by one.
func isRange(revs []string) bool {
	return len(revs) > 1 || len(revs) == 1 && gitint.IsSeveral(revs[0])
}

// checkOptions returns the options that all sources of a repository share. They read no
// configuration: a broken file of a workspace must not stop hooks.
func checkOptions(
	a *app, repo *gitint.Repo, o check.Options, ranged bool,
) (check.Options, error) {
	o.Cache = a.refsCache(repo)
	return audit.Options(context.Background(), repo, o, ranged) // a few files are read
}

// checkConfig reads the configuration of the nearest workspace; a bare repository has none.
func checkConfig(a *app, repo *gitint.Repo) (*config.Config, error) {
	if repo.Root() == "" {
		return a.configAt("")
	}
	root, err := a.root()
	if errors.Is(err, workspace.ErrNoWorkspace) {
		return a.configAt("")
	}
	if err != nil {
		return nil, err
	}
	return a.configAt(root)
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
	var secrets *leaks.Options
	if c.Secrets {
		leak := a.leakOptions(w.Root())
		secrets = &leak
	}
	report, _, err := audit.FilesBelow(ctx, w.Root(), check.Options{
		Content: c.Content, Strict: c.Strict, MaxBlobBytes: settings.Storage.MaxBlobBytes,
	}, a.limits(), secrets)
	return report, err
}
