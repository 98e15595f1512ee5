package hooks

import (
	"context"

	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/stage"
)

// refuseHalf stops a commit that would bring a conversation into several directories. A stopped
// merge and 'git stash pop' leave it so: added like that, jp keeps one of them and deletes the
// other.
func (r *run) refuseHalf(ctx context.Context, hook served, v *stage.Verdict,
) error {
	if !isTwice(v.Others) {
		return nil
	}
	names := lists.Map(v.Others, func(f check.Finding) string { return f.Path })
	cases, err := merge.Doubled(ctx, hook.Repo, workspacesOf(names))
	if err != nil || len(cases) == 0 {
		return err
	}
	stopped := merge.Stopped(hook.Repo)
	var findings []check.Finding
	for _, item := range cases {
		f := audit.ConflictFinding(item)
		if !stopped {
			f.Detail = "would be in several directories: " + audit.DirNames(item.Dirs)
		}
		if hook.Partial() {
			f.Next = "git commit"
			for _, dir := range item.Dirs {
				f.Next += " " + check.Pathspec(dir)
			}
		}
		if stopped || hook.stops(f) {
			findings = append(findings, f)
		}
	}
	if len(findings) == 0 {
		return nil
	}
	if err := r.Print(findings); err != nil {
		return err
	}
	return &ConflictError{"a conversation is in several directories"}
}
