package gitint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/odb"
)

// operationDirs have the state of a rebase, an am, a sequence of picks, and the open conflicts of
// this program's merge driver.
var operationDirs = [...]string{"rebase-merge", "rebase-apply", "sequencer", "jp/conflicts"}

// sharedDirs are common to all worktrees and have data that git, or a person, may restore: recorded
// resolutions of conflicts, and objects found by fsck.
var sharedDirs = [...]string{"rr-cache", "lost-found"}

// foundCommits is where fsck writes the ids of dangling commits.
const foundCommits = "lost-found/commit/"

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
	for _, id := range idsIn(data, 2*c.repo.idSize()) {
		add(id)
	}
	if damage := operationDamage(name, data, 2*c.repo.idSize()); damage != "" {
		c.incomplete(ReasonOperation, title+" "+damage)
	}
	for _, short := range shortIDs(name, string(data), 2*c.repo.idSize()) {
		ids, doubt, err := c.repo.named(ctx, short)
		if err != nil {
			return err
		}
		for _, id := range ids {
			add(id)
		}
		if doubt != "" {
			c.incomplete(ReasonOperation, fmt.Sprintf("%s names %q%s", title, short.text, doubt))
		}
	}
	return nil
}

// named returns the objects of an abbreviated id: a commit, or else all with the prefix. doubt says
// why there may be more.
func (r *Repo) named(ctx context.Context, short shortID) (ids []OID, doubt string, err error) {
	id, err := r.revParse(ctx, short.text+"^{commit}")
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err == nil:
		return []OID{id}, "", nil
	case short.certain:
		return nil, ", which is not a commit", nil
	}
	ids, hidden, err := r.beginning(ctx, short.text)
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
	if ids, err = object.ParseIDs(out); err != nil {
		return nil, "", err
	}
	l, err := r.layout(ctx)
	if err == nil && hidden == "" {
		hidden = odb.ClosedIndex(l.objectDirs)
	}
	return ids, hidden, err
}

// stoppedSHA has the commit at which a rebase stopped, which some versions of git abbreviate.
const stoppedSHA = "rebase-merge/stopped-sha"

const hexDigits = "0123456789abcdef"

// idFiles are the files in which every line begins with an object id, with whether one may be
// empty: if a branch has no commit yet, or a fetch begins.
var idFiles = map[string]bool{
	"ORIG_HEAD": false, "MERGE_HEAD": false, "CHERRY_PICK_HEAD": false, "REVERT_HEAD": false,
	"REBASE_HEAD": false, "BISECT_HEAD": false, "FETCH_HEAD": true, "AUTO_MERGE": false,
	"BISECT_EXPECTED_REV": false, "MERGE_AUTOSTASH": false, "NOTES_MERGE_PARTIAL": false,
	"rebase-merge/onto": false, "rebase-merge/orig-head": false,
	"rebase-merge/squash-onto": false, "rebase-merge/autostash": false,
	"rebase-merge/amend": false, stoppedSHA: false, "rebase-apply/orig-head": false,
	"rebase-apply/onto": false, "rebase-apply/original-commit": false,
	"rebase-apply/autostash": false, "rebase-apply/abort-safety": true, "sequencer/head": false,
	"sequencer/abort-safety": true,
}

// operationDamage returns why a file cannot be as git wrote it, or has a part that cannot be read;
// "" if neither. Its lost content may have been the only name of something.
func operationDamage(name string, data []byte, digits int) string {
	if damage := patchDamage(name, data); damage != "" {
		return damage
	}
	mayBeEmpty, isIDs := idFiles[name]
	isIDs = isIDs || strings.HasPrefix(name, foundCommits)
	switch {
	case isTodo(name) && bytes.IndexByte(data, 0) >= 0:
		return "has zero bytes"
	case isTodo(name) && len(data) > 0 && data[len(data)-1] != '\n':
		return "ends within a line"
	case !isIDs || mayBeEmpty && len(data) == 0:
		return ""
	case len(data) == 0:
		return "is empty"
	}
	for line := range bytes.Lines(data) {
		id, _, _ := bytes.Cut(bytes.TrimRight(line, "\n"), []byte("\t"))
		isShort := name == stoppedSHA && len(id) < digits && len(id) > 0
		if len(id) != digits && !isShort || len(bytes.Trim(id, hexDigits)) > 0 {
			return fmt.Sprintf("has the line %.80q, which does not begin with an object id", line)
		}
	}
	return ""
}

func (r *Repo) idSize() int {
	if r.objectFormat == "sha256" {
		return object.SHA256Size
	}
	return object.SHA1Size
}

// idsIn returns everything in a text in the form of an object id: that many hexadecimal digits,
// also in upper case if a person wrote them, without another digit on either side.
func idsIn(data []byte, digits int) []OID {
	var ids []OID
	run := 0
	for i := 0; i <= len(data); i++ {
		if i < len(data) && isHex(data[i]) {
			run++
			continue
		}
		if run == digits {
			id, err := ParseOID(strings.ToLower(string(data[i-run : i])))
			if err == nil && !id.IsZero() {
				ids = append(ids, id)
			}
		}
		run = 0
	}
	return ids
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}
