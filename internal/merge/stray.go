package merge

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
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
	patch, err := regular.OpenFile(filepath.Join(repo.GitDir(), "rebase-apply", "patch"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer patch.Close() //nolint:errcheck // nothing was written
	named, err := patched(patch)
	return err == nil && len(named) > 0 && !slices.Contains(named, id), err
}

// patched returns the conversations of which a patch changes files. The patch may be of any size,
// and so may its lines: only the beginnings of long ones are looked at.
func patched(patch io.Reader) (named []events.ID, err error) {
	lines := bufio.NewReaderSize(patch, 64<<10)
	for begins := true; ; {
		line, err := lines.ReadSlice('\n')
		for _, header := range []string{"diff --git ", "--- ", "+++ "} {
			file, ok := bytes.CutPrefix(line, []byte(header))
			if id, isIn := workspace.PathID(string(file)); begins && ok && isIn {
				named = append(named, id)
			}
		}
		begins = err == nil
		switch {
		case errors.Is(err, io.EOF):
			return named, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
