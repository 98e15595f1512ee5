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
	"github.com/git-jp/git-jp/internal/regular"
)

// decidedName is where is noted what a person decided of the merge that waits, from the
// directory of git that a working tree has of its own: a line for each commit that is merged,
// then one for each conversation.
const decidedName = "jp/resolved"

// noteDecided notes that a person decided what the merge that waits for its commit is to have of
// a conversation, in the message that git keeps for that commit: git commit and git merge
// --continue take it from there. For whoever gives another message the note remains, which
// [DecidedIn] reads; not of a squash, whose commit tells nobody what it merged. Git makes no merge
// of a pick or a rebase, and then nothing is to be said.
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
	if err != nil || slices.Contains(ids, id) {
		return err
	}
	ids = append(ids, id)
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

// Trailers say in the message of a merge which conversations a person decided.
func Trailers(ids []events.ID) []string {
	lines := make([]string, len(ids))
	for i, id := range ids {
		lines[i] = ResolvedKey + ": " + id.String()
	}
	return lines
}

// DecidedIn returns the conversations of which a person decided what a merge of HEAD with the
// commits has. It starts no process.
func DecidedIn(repo *gitint.Repo, heads []gitint.OID) ([]events.ID, error) {
	ids, err := readDecided(repo, heads)
	if err != nil {
		return nil, fmt.Errorf("read what was decided of the merge: %w", err)
	}
	return ids, nil
}

// HasDecided reports whether something is noted, of whatever merge. It only looks for a file.
func HasDecided(repo *gitint.Repo) bool {
	_, err := os.Stat(decidedFile(repo))
	return err == nil
}

// ForgetDecided removes the note when its commit is made.
func ForgetDecided(repo *gitint.Repo) error {
	if err := os.Remove(decidedFile(repo)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget what was decided of a merge: %w", err)
	}
	return nil
}

func decidedFile(repo *gitint.Repo) string {
	return filepath.Join(repo.GitDir(), filepath.FromSlash(decidedName))
}

// readDecided reads the note of a merge with the commits. That of another is none.
func readDecided(repo *gitint.Repo, heads []gitint.OID) ([]events.ID, error) {
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
