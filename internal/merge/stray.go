package merge

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
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
		if !bytes.HasPrefix(line, []byte("--- ")) && !bytes.HasPrefix(line, []byte("+++ ")) &&
			!bytes.HasPrefix(line, []byte("diff --git ")) {
			continue
		}
		for _, parent := range conversationParents {
			_, below, ok := strings.Cut(string(line), parent+"/")
			dir, _, _ := strings.Cut(below, "/")
			named = named || ok
			if of, is := events.ParseDirname(dir); is && of == id {
				return false, nil
			}
		}
	}
	return named, nil
}
