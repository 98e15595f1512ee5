package gc

import (
	"io/fs"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

const (
	notFile      = "is not a regular file"
	notDirectory = "is not a directory"
)

// misplaced returns what is wrong with the type of an entry below a directory of conversations, ""
// if nothing is. name is its path below that directory, "." for the directory itself. By its name
// an entry should be a stream, a conversation or the archive; if it is something else, the stream
// that was there, and may return, is unknown. What jp moved to its trash may be of any type.
func misplaced(name string, mode fs.FileMode) string {
	if name == trashName || strings.HasPrefix(name, trashName+"/") {
		return ""
	}
	if strings.EqualFold(path.Base(name), workspace.EventsFile) {
		if !mode.IsRegular() {
			return notFile
		}
		return ""
	}
	archive := path.Base(workspace.Archive.Dir())
	_, isConversation := events.ParseDirname(path.Base(name))
	top := path.Dir(name) == "." || path.Dir(name) == archive
	if !mode.IsDir() && (name == "." || name == archive || top && isConversation) {
		return notDirectory
	}
	return ""
}

// misplacedBelow is misplaced for an entry of an index, which has no entries for directories: name
// is its path below a directory .jp.
func misplacedBelow(name string, mode gitint.Mode) string {
	top, below, _ := strings.Cut(name, "/")
	if !strings.EqualFold(top, conversationsName) {
		return ""
	}
	for dir := path.Dir(below); dir != "."; dir = path.Dir(dir) {
		if detail := misplaced(dir, fs.ModeDir); detail != "" {
			return detail
		}
	}
	return misplaced(path.Clean(below), mode.FileMode())
}

// misplaced is the function of this name for what is below the directory of the disk. Below the
// directory of temporary files, conversations are being written.
func (d *disk) misplaced(name string, mode fs.FileMode) string {
	switch {
	case name == conversationsName:
		return misplaced(".", mode)
	case name == tempName && !mode.IsDir():
		return notDirectory
	case strings.HasPrefix(name, tempName+"/"):
		if strings.EqualFold(path.Base(name), workspace.EventsFile) && !mode.IsRegular() {
			return notFile
		}
		return ""
	}
	return misplaced(strings.TrimPrefix(name, conversationsName+"/"), mode)
}
