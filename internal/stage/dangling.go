package stage

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
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Files in <git-dir>/jp: checkedFile says which index pre-commit let pass, danglingFile which
// conversations HEAD has without their content.
const (
	checkedFile  = "checked"
	danglingFile = "dangling"
)

// A place is a conversation of a workspace.
type place struct {
	dir string // .jp
	id  events.ID
}

func stateFile(repo *gitint.Repo, name string) string {
	return filepath.Join(repo.GitDir(), "jp", name)
}

// noteChecked notes which index pre-commit let pass. If a crash loses the note, or cuts it off,
// that costs a look at the next commit: nothing waits for the disk.
func (h Hook) noteChecked() error {
	name := stateFile(h.Repo, checkedFile)
	_ = os.Remove(name) // another user may have made it
	note := func() error {
		f, err := atomicfile.OpenPrivate(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if errors.Is(err, fs.ErrExist) {
			return nil // another process has just made it: one of the two commits costs a look
		}
		if err != nil {
			return err
		}
		_, err = f.WriteString(h.indexState())
		return errors.Join(err, f.Close())
	}
	err := note()
	if errors.Is(err, fs.ErrNotExist) {
		if err = atomicfile.MkdirPrivate(filepath.Dir(name)); err == nil {
			err = note()
		}
	}
	if err != nil {
		return fmt.Errorf("note that the commit was checked: %w", err)
	}
	return nil
}

// TakeChecked reports whether pre-commit looked at the commit that was just made: git has the index
// that it let pass. A commit that was given up leaves its note behind, so the note alone proves
// nothing. Of a commit of some paths git discards the index, so the answer is no. It has to be
// called before anything changes the index.
func (h Hook) TakeChecked() bool {
	name := stateFile(h.Repo, checkedFile)
	noted, err := regular.ReadFile(name, regular.MaxOwn)
	return errors.Join(err, os.Remove(name)) == nil && string(noted) == h.indexState()
}

// indexState identifies the current version of the index, by size and time as git does for files.
// Git renames an index that it made for a commit, which changes neither.
func (h Hook) indexState() string {
	info, err := os.Stat(h.Repo.IndexPath())
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}

// Unchecked looks at the commit at HEAD, at which pre-commit did not, as after git commit
// --no-verify, and returns what is wrong with the conversations that it changes. They are noted, so
// that the next commits name them; those that are complete now are no longer named.
func (h Hook) Unchecked(ctx context.Context) ([]check.Finding, error) {
	paths, err := h.Repo.ChangedPaths(ctx, "HEAD^", "HEAD", conversationsAnywhere, blobsAnywhere)
	if _, ok := errors.AsType[*gitint.ExitError](err); ok {
		return nil, nil // the first commit has no parent
	}
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	head, err := h.Repo.Tree(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	c := newCommit(h, paths)
	var found []check.Finding
	var places []place
	for dir := range c.dirs {
		all, err := c.wrong(ctx, head, dir, func(id events.ID) bool {
			return c.lost || c.dirs[dir][id]
		})
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			if id, err := events.ParseID(f.Conversation); err == nil {
				places = append(places, place{dir, id})
			}
		}
		found = append(found, all...)
	}
	known, err := h.readDangling()
	if err != nil || len(known)+len(places) == 0 {
		return nil, err
	}
	known = slices.DeleteFunc(known, func(p place) bool {
		all := c.dirs[p.dir]
		return all[p.id] || c.lost && all != nil // what is still wrong is among the places
	})
	return found, h.writeDangling(append(known, places...))
}

// wrong returns the errors in a snapshot of a workspace. While a rebase is in progress these are
// not conversations in several directories, which the hook after it unites.
func (c *commit) wrong(
	ctx context.Context, snap gitint.Snapshot, dir string, selects func(events.ID) bool,
) ([]check.Finding, error) {
	found, err := c.check(ctx, check.Git(c.hook.Repo, snap), dir, selects)
	rebases := c.hook.Repo.InProgress("rebase-merge")
	return slices.DeleteFunc(found, func(f check.Finding) bool {
		return f.Severity != check.Error || f.State == check.DuplicateID && rebases
	}), err
}

// dangling returns what was noted of HEAD and would be wrong with the commit that is about to be
// made too. When nothing is left the note is removed.
func (c *commit) dangling(ctx context.Context, noted []place) ([]check.Finding, error) {
	var all []check.Finding
	for _, p := range noted {
		if c.dirs[p.dir][p.id] {
			continue // it is checked with the commit
		}
		found, err := c.wrong(ctx, c.index, p.dir, func(id events.ID) bool { return id == p.id })
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, c.hook.writeDangling(slices.DeleteFunc(noted, func(p place) bool {
		return !c.dirs[p.dir][p.id]
	}))
}

// amend adds the noted conversations, as if the commit changed them: they are part of the commit
// that is replaced.
func (c *commit) amend(noted []place) {
	for _, p := range noted {
		if c.dirs[p.dir] == nil {
			c.dirs[p.dir] = map[events.ID]bool{}
		}
		entries, err := c.index.Entries(p.dir + "/" + workspace.ConversationsDir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			id, ok := workspace.PathIDIn(p.dir, e.Path)
			if ok && id == p.id && strings.HasSuffix(e.Path, "/"+workspace.EventsFile) {
				c.dirs[p.dir][id], c.streams[e.Path] = true, e.OID
			}
		}
	}
}

func (h Hook) readDangling() ([]place, error) {
	data, err := regular.ReadFile(stateFile(h.Repo, danglingFile), regular.MaxOther)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what HEAD lacks: %w", err)
	}
	var all []place
	for line := range strings.SplitSeq(string(data), "\x00") {
		digits, dir, ok := strings.Cut(line, "\t")
		if id, err := events.ParseID(digits); ok && err == nil {
			all = append(all, place{dir, id})
		}
	}
	return all, nil
}

// writeDangling notes places, each once.
func (h Hook) writeDangling(places []place) error {
	name := stateFile(h.Repo, danglingFile)
	if len(places) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what HEAD lacked: %w", err)
		}
		return nil
	}
	var text strings.Builder
	seen := make(map[place]bool)
	for _, p := range places {
		if !seen[p] {
			seen[p] = true
			fmt.Fprintf(&text, "%s\t%s\x00", p.id, p.dir)
		}
	}
	if err := replaceFile(name, text.String()); err != nil {
		return fmt.Errorf("note what HEAD lacks: %w", err)
	}
	return nil
}
