package doctor

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// uncommitted reports attributes that git does not have although it has conversations. They work in
// this clone, so nothing else shows that the others lack them: one without drivers merges by lines.
func (d *examination) uncommitted(ctx context.Context, repo *gitint.Repo) error {
	if repo.Root() == "" {
		return nil
	}
	for _, dir := range d.Dirs(repo) {
		file := filepath.Join(dir, ".gitattributes")
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		below, err := filepath.Rel(repo.Root(), dir)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		name := path.Join(below, ".gitattributes")
		index, err := repo.IndexWhere(ctx, func(p []byte, _ gitint.Mark) bool {
			return string(p) == name || path.Base(string(p)) == workspace.EventsFile &&
				bytes.HasPrefix(p, []byte(below+"/"))
		})
		if err != nil {
			return err
		}
		conversations, err := index.Entries(below)
		if err != nil {
			return err
		}
		if _, ok := index.OID(name); !ok && len(conversations) > 0 {
			d.add(d.Short(file), "is not committed: clones without drivers merge by lines",
				"git add -- "+check.ShellQuote(d.Short(file)))
		}
	}
	return nil
}
