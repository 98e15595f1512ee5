package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
)

// stillWritten is how long after its last byte a pack may still be part of a fetch.
const stillWritten = time.Hour

// packs reports parts of packs that cut fetches left. Git gives no process for such a file, so it
// is for the user to know that none writes it; 'git gc' removes them after two weeks.
func (d *examination) packs(_ context.Context, repo *gitint.Repo) error {
	names, err := regular.Glob(filepath.Join(repo.CommonDir(), "objects", "pack"), "tmp_pack_*")
	if err != nil {
		return fmt.Errorf("list packs: %w", err)
	}
	n, bytes, next := 0, int64(0), "rm -f"
	for _, name := range names {
		info, err := os.Lstat(name)
		if err == nil && d.Now().Sub(info.ModTime()) > stillWritten {
			n, bytes = n+1, bytes+info.Size()
			next += " " + check.ShellQuote(d.Short(name))
		}
	}
	if n > 0 {
		d.add("repository", fmt.Sprintf("cut fetches left %s (%s)", render.Count(n, "part"),
			render.Bytes(bytes)), next)
	}
	return nil
}
