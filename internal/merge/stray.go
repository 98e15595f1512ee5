package merge

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrStray reports a change of a conversation that is not here, which git am would make in another
// one: the only files that it knows of the patch's base are those of the patch, so any similar file
// is one of these, renamed.
var ErrStray = errors.New("git took it for a file of another conversation, which the patch changes")

// isStray reports whether git applies a patch that names conversations, but not that of a file. A
// merge or a pick beside a patch that waits, or that was given up without a word, has nothing to do
// with the patch.
func isStray(repo *gitint.Repo, name string) (bool, error) {
	id := conversationOf(name)
	others := []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"}
	if id == 0 || len(told(repo.Env())) > 0 || slices.ContainsFunc(others, repo.InProgress) {
		return false, nil
	}
	patch, err := regular.ReadFile(
		filepath.Join(repo.GitDir(), "rebase-apply", "patch"), regular.MaxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	named := false
	for line := range bytes.Lines(patch) {
		for _, header := range []string{"diff --git ", "--- ", "+++ "} {
			if file, ok := bytes.CutPrefix(line, []byte(header)); ok {
				of, isIn := workspace.PathID(string(file))
				if of == id {
					return false, nil
				}
				named = named || isIn
			}
		}
	}
	return named, nil
}
