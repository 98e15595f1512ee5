package gitint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/odb"
	"github.com/git-jp/git-jp/gitint/internal/unfinished"
)

// operationDirs have the state of a rebase, an am, a sequence of picks, the notes in conflict, and
// the open conflicts of this program's merge driver.
var operationDirs = [...]string{
	"rebase-merge", "rebase-apply", "sequencer", "NOTES_MERGE_WORKTREE", "jp/conflicts",
}

// sharedDirs are common to all worktrees and have data that git, or a person, may restore: recorded
// resolutions of conflicts, and objects found by fsck.
var sharedDirs = [...]string{"rr-cache", "lost-found"}

// maxOperationFile limits the size of a file of an operation: a mailbox can be large, and a larger
// file is an error.
const maxOperationFile = 256 << 20

// operations adds the files beside HEAD: refs such as MERGE_HEAD, which may have several lines, and
// the state of operations in progress. Everything in the form of an object id counts as one,
// because these files are not all documented.
func (c *rootCollector) operations(ctx context.Context, w Worktree) error {
	entries, err := os.ReadDir(w.GitDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && lookAlike(e.Name()) {
			if err := c.operation(ctx, w, e.Name()); err != nil {
				return err
			}
		}
	}
	dirs := operationDirs[:]
	if w.GitDir == c.repo.commonDir {
		dirs = slices.Concat(dirs, sharedDirs[:])
	}
	for _, dir := range dirs {
		err := gitfile.Walk(ctx, filepath.Join(w.GitDir, filepath.FromSlash(dir)),
			func(name string) error { return c.operation(ctx, w, dir+"/"+name) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *rootCollector) operation(ctx context.Context, w Worktree, name string) error {
	file := filepath.Join(w.GitDir, filepath.FromSlash(name))
	info, err := os.Stat(file)
	if err != nil {
		return ignoreMissing(err)
	}
	if info.Size() > maxOperationFile {
		return fmt.Errorf("%s has %d bytes, more than the limit", file, info.Size())
	}
	data, err := gitfile.Read(file)
	if err != nil {
		return ignoreMissing(err)
	}
	title := Root{Name: name, Worktree: w.Name}.Title()
	c.roots.Files = append(c.roots.Files, RootFile{title, file})
	add := func(id OID) {
		c.add(Root{Kind: RootOperation, Name: name, Worktree: w.Name, OID: id})
	}
	for _, id := range unfinished.IDs(data, 2*c.repo.idSize()) {
		add(id)
	}
	if damage := unfinished.Damage(name, data, 2*c.repo.idSize()); damage != "" {
		c.incomplete(ReasonOperation, title+" "+damage)
	}
	for _, short := range unfinished.Abbreviations(name, data, 2*c.repo.idSize()) {
		ids, doubt, err := c.repo.named(ctx, short)
		if err != nil {
			return err
		}
		for _, id := range ids {
			add(id)
		}
		if doubt != "" {
			c.incomplete(ReasonOperation, fmt.Sprintf("%s names %q%s", title, short.Text, doubt))
		}
	}
	return nil
}

// named returns the objects of an abbreviated id: a commit, or else all with the prefix. doubt says
// why there may be more.
func (r *Repo) named(
	ctx context.Context, short unfinished.Abbreviation,
) (ids []OID, doubt string, err error) {
	id, err := r.revParse(ctx, short.Text+"^{commit}")
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err == nil:
		return []OID{id}, "", nil
	case short.Certain:
		return nil, ", which is not a commit", nil
	}
	ids, hidden, err := r.beginning(ctx, short.Text)
	if hidden != "" {
		doubt = ": " + hidden
	}
	return ids, doubt, err
}

// beginning returns the objects whose ids begin with some digits, readable or not. hidden says why
// there may be more: git skips packs that it cannot open.
func (r *Repo) beginning(
	ctx context.Context, digits string,
) (ids []OID, hidden string, err error) {
	out, hidden, err := r.git.RunWarned(ctx, git.Command{Args: []string{
		"rev-parse", "--disambiguate=" + digits,
	}})
	if err != nil {
		return nil, "", err
	}
	if ids, err = object.ParseIDs(string(out)); err != nil {
		return nil, "", err
	}
	l, err := r.layout(ctx)
	if err == nil && hidden == "" {
		hidden = odb.ClosedIndex(l.objectDirs)
	}
	return ids, hidden, err
}

func (r *Repo) idSize() int {
	if r.objectFormat == "sha256" {
		return object.SHA256Size
	}
	return object.SHA1Size
}
