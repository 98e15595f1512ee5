package gitint

import (
	"bytes"
	"context"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/index"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// exitUsage is the exit code of a git that does not know an option.
const exitUsage = 129

// list asks git for the entries, those of a sparse index unexpanded.
func (x *Index) list(ctx context.Context, keep index.Filter) error {
	out, err := x.git(ctx, "ls-files", "--sparse", "--stage", "-v", "-z")
	if git.ExitCode(err) == exitUsage {
		out, err = x.git(ctx, "ls-files", "--stage", "-v", "-z")
	}
	if err != nil {
		return err
	}
	empties, empty := false, x.repo.HashBlob(nil)
	x.entries = make([]Entry, 0, bytes.Count(out, []byte{0}))
	for line := range strings.SplitSeq(string(out), "\x00") {
		if line == "" {
			continue
		}
		e, err := index.ParseLine(line)
		if err != nil {
			return err
		}
		e.Mode = object.CanonicalMode(uint32(e.Mode))
		x.add(e, keep)
		empties = empties || e.Stage == 0 && e.OID == empty
	}
	if !empties {
		return nil
	}
	return x.findIntents(ctx)
}

// git runs a command for this index, which need not be that of the repository's working tree.
func (x *Index) git(ctx context.Context, args ...string) ([]byte, error) {
	c := git.Command{Args: args}
	if x.gitDir != "" {
		c.Env = []string{
			environ.Dir + "=" + x.gitDir, environ.CommonDir + "=" + x.repo.commonDir,
			environ.IndexFile + "=" + x.path, environ.WorkTree + "=" + x.repo.git.Dir,
		}
	}
	return x.repo.git.Run(ctx, c)
}

// findIntents removes the intent-to-add entries. ls-files shows them as empty files; diff-index
// against the empty tree shows what a commit would add, which is every other entry.
func (x *Index) findIntents(ctx context.Context) error {
	out, err := x.git(ctx,
		"diff-index", "--cached", "--ita-invisible-in-index", "--name-only", "--no-renames",
		"--diff-filter=A", "-z", x.repo.emptyTree())
	if err != nil {
		return err
	}
	added := map[string]bool{}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		added[string(name)] = true
	}
	entries, empty := x.entries, x.repo.HashBlob(nil)
	x.entries = nil
	for _, e := range entries {
		if !added[e.Path] && e.OID == empty {
			x.intents = append(x.intents, e.Path)
		} else {
			x.entries = append(x.entries, e)
		}
	}
	return nil
}
