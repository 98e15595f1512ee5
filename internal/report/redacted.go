package report

import (
	"context"
	"path"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

// redacted returns the indexes of the findings about content that is missing because it was
// redacted. History still has it, but a command that restores it would bring the secret back.
func (ad Adviser) redacted(ctx context.Context, findings []check.Finding) map[int]bool {
	if ad.Repo.Root() == "" || ad.Open == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	all, in := map[int]bool{}, map[string][]int{}
	for i, f := range findings {
		dir, ok := workspace.PathDir(f.Path)
		if ok && (f.State == check.Missing || f.State == check.Corrupt) {
			in[dir] = append(in[dir], i)
		}
	}
	for dir, which := range in {
		w, err := ad.Open(filepath.Join(ad.Repo.Root(), filepath.FromSlash(path.Dir(dir))))
		if err != nil {
			continue // there is no workspace to redact in
		}
		missing := lists.Map(which, func(i int) check.Finding { return findings[i] })
		is, _ := repair.Sources{Workspace: w, Repo: ad.Repo}.Redacted(ctx, missing)
		for n, i := range which {
			all[i] = is[n]
		}
	}
	return all
}

// redactAgain returns what to do about content that is missing because it was redacted. What lacks
// it in a commit before HEAD can only be changed there.
func (l *lookout) redactAgain(ctx context.Context, f check.Finding) remedy {
	r := remedy{command: check.RedactAgain, noPaths: true}
	if f.Commit == check.WorkTreeName || f.Commit == check.IndexName {
		return r
	}
	commit, err := l.repo.Resolve(ctx, f.Commit)
	head, headErr := l.repo.Resolve(ctx, "HEAD")
	if err != nil || headErr != nil || commit == head {
		return r
	}
	if onto := l.before(ctx, f.Commit); onto != "" {
		r.command = "git rebase -i " + onto
	}
	return r
}
