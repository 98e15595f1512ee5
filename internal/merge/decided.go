package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

// decidedName is the file, in the git directory of a worktree, that records the decisions of a
// person about the merge in progress: a line for each commit that is merged, then one for each
// conversation.
const decidedName = "jp/resolved"

// noteDecided records that a person decided about a conversation in the merge in progress. It adds
// a trailer to the message that git keeps for the commit, which git commit and git merge --continue
// use. If the user gives another message, the file remains, which [DecidedIn] reads; not for a
// squash, whose commit does not name what it merged. A cherry-pick or rebase does not become a
// merge commit, so nothing is recorded.
func (r Resolver) noteDecided(ctx context.Context, id events.ID) error {
	heads, err := r.Repo.MergeHeads()
	if err == nil && len(heads) == 0 {
		var squash *Sides
		if squash, err = sidesOfSquash(ctx, r.Repo); squash != nil {
			heads = []gitint.OID{squash.Theirs}
		}
	}
	if err != nil || len(heads) == 0 || id == 0 {
		return err
	}
	ids, err := readDecided(r.Repo, heads)
	if err != nil {
		return err
	}
	if !slices.Contains(ids, id) {
		ids = append(ids, id)
	}
	// The message may be of a merge that was begun again, which does not have them yet.
	file := filepath.Join(r.Repo.GitDir(), "MERGE_MSG")
	if _, err := os.Stat(file); err == nil {
		if err := r.Repo.AddTrailers(ctx, file, Trailers(ids)); err != nil {
			return err
		}
	}
	var text strings.Builder
	for _, head := range heads {
		fmt.Fprintln(&text, head)
	}
	for _, id := range ids {
		fmt.Fprintln(&text, id)
	}
	return RecordsOf(r.Repo.GitDir()).write(decidedName, []byte(text.String()))
}

// Trailers returns the trailers that name the decided conversations in the message of a merge.
func Trailers(ids []events.ID) []string {
	return lists.Map(ids, func(id events.ID) string { return ResolvedKey + ": " + id.String() })
}

// DecidedIn returns the conversations about which a person decided in a merge of HEAD with the
// given commits. It starts no process.
func DecidedIn(repo *gitint.Repo, heads []gitint.OID) ([]events.ID, error) {
	ids, err := readDecided(repo, heads)
	if err != nil {
		return nil, fmt.Errorf("read what was decided of the merge: %w", err)
	}
	return ids, nil
}

// HasDecided reports whether a decision is recorded, of whatever merge. It only checks for the
// file.
func HasDecided(repo *gitint.Repo) bool {
	_, err := os.Stat(decidedFile(repo))
	return err == nil
}

// ForgetDecided removes the file once its commit was made.
func ForgetDecided(repo *gitint.Repo) error {
	if err := os.Remove(decidedFile(repo)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget what was decided of a merge: %w", err)
	}
	return nil
}

func decidedFile(repo *gitint.Repo) string {
	return filepath.Join(repo.GitDir(), filepath.FromSlash(decidedName))
}

// outlived reports whether the decisions are of a merge that was aborted: git has noted the merge
// in progress, which may be of the same commits, later than they were.
func outlived(repo *gitint.Repo) bool {
	decided, err := os.Stat(decidedFile(repo))
	if err != nil {
		return false
	}
	for _, name := range []string{"MERGE_HEAD", "SQUASH_MSG"} {
		if begun, err := os.Stat(filepath.Join(repo.GitDir(), name)); err == nil {
			return begun.ModTime().After(decided.ModTime())
		}
	}
	return false
}

// readDecided reads the file if it belongs to a merge with the given commits. It removes a file
// that outlived its merge, since that cannot be told any more once the next one is committed.
func readDecided(repo *gitint.Repo, heads []gitint.OID) ([]events.ID, error) {
	if outlived(repo) {
		return nil, ForgetDecided(repo)
	}
	data, err := regular.ReadFile(decidedFile(repo), regular.MaxOther)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var merged []gitint.OID
	var ids []events.ID
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if head, err := gitint.ParseOID(line); err == nil {
			merged = append(merged, head)
		} else if id, err := events.ParseID(line); err == nil {
			ids = append(ids, id)
		}
	}
	if !slices.Equal(merged, heads) {
		return nil, nil
	}
	return ids, nil
}
