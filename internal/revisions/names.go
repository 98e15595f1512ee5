package revisions

import (
	"context"
	"strings"

	"github.com/git-jp/git-jp/gitint"
)

// Names returns completions for a partial revision: HEAD, and the names of branches and tags, also
// at the end of a range. On an error it returns none.
func Names(ctx context.Context, repo *gitint.Repo, begun string) []string {
	refs, err := repo.Refs(ctx)
	if err != nil {
		return nil
	}
	before := ""
	if i := strings.LastIndex(begun, ".."); i >= 0 {
		before = begun[:i+len("..")]
	}
	names := []string{before + "HEAD"}
	for _, ref := range refs {
		for _, kind := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
			if name, ok := strings.CutPrefix(ref.Name, kind); ok {
				names = append(names, before+name)
			}
		}
	}
	return names
}
