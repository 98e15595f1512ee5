package hooks

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// warnLost prints what merges that were just made, or came with a pull, left out, with the command
// that restores it.
func (r *run) warnLost(ctx context.Context, hook served, came gitint.PushRange) error {
	commits, err := hook.Repo.PushedCommits(ctx, came) // a hook may have completed the last
	if err != nil {
		return err
	}
	head, err := hook.Repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	// What was not fetched is reported last: the other merges can be checked without it.
	missed := needHere(ctx, hook.Repo, commits, came.Not[0])
	var report check.Report
	auditor := audit.Auditor{Repo: hook.Repo}
	if err := auditor.Lost(ctx, &report, commits, []gitint.OID{head}); err != nil {
		return err
	}
	found := hook.checked(report.Findings)
	r.Advise(ctx, hook.Repo, found)
	r.warnNext(found)
	return missed
}

// needHere fetches what the check of a merge that was made here, onto a commit, reads. Those that
// came with a pull were checked where they were made.
func needHere(
	ctx context.Context, repo *gitint.Repo, commits []gitint.Commit, onto string,
) error {
	if partial, err := repo.Partial(ctx); err != nil || !partial {
		return err
	}
	from, err := repo.Resolve(ctx, onto)
	if err != nil {
		return err
	}
	for _, c := range commits {
		if !isMerge(c) || c.Parents[0] != from {
			continue
		}
		dirs, err := indexed(ctx, repo)
		if err != nil {
			return err
		}
		tree, err := repo.Tree(ctx, c.OID.String())
		if err != nil {
			return err
		}
		err = merge.Merge{Repo: repo, Parents: c.Parents, Dirs: dirs}.Need(ctx, tree)
		if err != nil {
			return err
		}
	}
	return nil
}

// warnNext warns about findings, and prints their commands, each once.
func (e Env) warnNext(found []check.Finding) {
	e.WarnFindings(found)
	seen := make(map[string]bool)
	for _, f := range found {
		if f.Next != "" && !seen[f.Next] {
			seen[f.Next] = true
			e.Hint(f.Next)
		}
	}
}

// warnLosing prints what the merge that waits for its commit is about to leave out, except what a
// person decided with resolve.
func (r *run) warnLosing(ctx context.Context, hook served) error {
	found, err := audit.Auditor{Repo: hook.Repo}.Waiting(ctx)
	if err != nil {
		return err
	}
	r.warnNext(hook.checked(found))
	return nil
}

// noteDecided adds the decisions about the merge that is HEAD to its message, if git was given
// another message than the one that had them.
func noteDecided(ctx context.Context, repo *gitint.Repo) error {
	if !merge.HasDecided(repo) || merge.Waits(repo) {
		return nil
	}
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	parents, err := repo.Parents(ctx, head)
	if err != nil || len(parents) < 2 {
		return err
	}
	ids, err := merge.DecidedIn(repo, parents[1:])
	if err != nil || len(ids) == 0 {
		return err
	}
	err = repo.TrailHead(ctx, head, merge.Trailers(ids), "git jp: say what was decided")
	if err != nil {
		return fmt.Errorf("%w; 'git jp resolve --accept HEAD' says it in a commit of its own", err)
	}
	return merge.ForgetDecided(repo)
}

// indexed returns the workspaces of the index.
func indexed(ctx context.Context, repo *gitint.Repo) ([]string, error) {
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	return gitint.NewDirFinder(workspace.DirName).Find(index)
}
