package unfinished

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// foundCommits is where fsck writes the ids of dangling commits.
const foundCommits = "lost-found/commit/"

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

// Damage returns why a file cannot be as git wrote it, or has a part that cannot be read;
// "" if neither. Its lost content may have been the only name of something.
func Damage(name string, data []byte, digits int) string {
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

// IDs returns everything in a text in the form of an object id: that many hexadecimal digits,
// also in upper case if a person wrote them, without another digit on either side.
func IDs(data []byte, digits int) []object.ID {
	var ids []object.ID
	run := 0
	for i := 0; i <= len(data); i++ {
		if i < len(data) && isHex(data[i]) {
			run++
			continue
		}
		if run == digits {
			id, err := object.ParseID(strings.ToLower(string(data[i-run : i])))
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
