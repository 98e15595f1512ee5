package gitint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// operationDirs hold the state of a rebase, an am, a sequence of picks, and of a driver of
// ours whose conflict is open.
var operationDirs = [...]string{"rebase-merge", "rebase-apply", "sequencer", "jp/conflicts"}

// maxOperationFile bounds what is read of a file of an operation: a mailbox can be large,
// and one that is larger is an error.
const maxOperationFile = 256 << 20

// operations adds what lies beside HEAD: refs such as MERGE_HEAD, which may have several
// lines, and the state of operations in progress. Whatever has the form of an object
// id there is taken for one, because nothing documents all of these files.
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
	for _, dir := range operationDirs {
		err := walkFiles(ctx, filepath.Join(w.GitDir, filepath.FromSlash(dir)),
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
		return fmt.Errorf("%s has %d bytes, more than are looked at", file, info.Size())
	}
	data, err := os.ReadFile(file)
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
		// While an editor has the list, git has shortened the names in it.
		id, err := c.repo.revParse(ctx, short+"^{commit}")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.incomplete(ReasonOperation, fmt.Sprintf("%s names %q", title, short))
			continue
		}
		add(id)
	}
	return nil
}

// stoppedSHA names the commit at which a rebase stopped, as some versions of git write it by
// less than a whole id.
const stoppedSHA = "rebase-merge/stopped-sha"

const hexDigits = "0123456789abcdef"

// idFiles are the files in which every line begins with the id of an object, and whether one
// may be empty: where a branch has no commit yet, or a fetch begins.
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

// operationDamage says why a file cannot be as git wrote it; "" if it can. What it held may
// have been the only name of something.
func operationDamage(name string, data []byte, digits int) string {
	mayBeEmpty, isIDs := idFiles[name]
	switch {
	case isTodo(name) && bytes.IndexByte(data, 0) >= 0:
		return "has zero bytes"
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
		return sha256Size
	}
	return sha1Size
}

// idsIn returns what has the form of an object id in a text: so many hexadecimal digits
// in lower case, with others on neither side.
func idsIn(data []byte, digits int) []OID {
	var ids []OID
	run := 0
	for i := 0; i <= len(data); i++ {
		if i < len(data) && isHex(data[i]) {
			run++
			continue
		}
		if run == digits {
			if id, err := ParseOID(string(data[i-run : i])); err == nil && !id.IsZero() {
				ids = append(ids, id)
			}
		}
		run = 0
	}
	return ids
}

func isHex(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' }

func isTodo(name string) bool {
	switch name {
	case "rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup",
		"rebase-merge/done", "sequencer/todo":
		return true
	}
	return false
}

// picks are the commands of a list that name a commit.
var picks = [...]string{
	"p", "pick", "revert", "r", "reword", "e", "edit", "s", "squash", "f", "fixup",
	"m", "merge",
}

// shortIDs returns the commits that a file names by less than a whole id.
func shortIDs(name, text string, digits int) []string {
	var named []string
	switch {
	case name == stoppedSHA:
		named = strings.Fields(text)
	case isTodo(name):
		named = picked(text)
	}
	return slices.DeleteFunc(named, func(id string) bool {
		return len(id) >= digits || id == "" || strings.Trim(id, hexDigits) != ""
	})
}

// picked returns what a list of picks names.
func picked(todo string) []string {
	var named []string
	for line := range strings.Lines(todo) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !slices.Contains(picks[:], fields[0]) {
			continue
		}
		switch {
		case fields[1] != "-C" && fields[1] != "-c":
			if !strings.HasPrefix(fields[0], "m") { // a merge of labels, which are refs
				named = append(named, fields[1])
			}
		case len(fields) > 2:
			named = append(named, fields[2])
		}
	}
	return named
}
