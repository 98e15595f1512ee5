package workspace

import (
	"path"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// RemovedDir is below .jp and has a file for each removed conversation that names its session.
const RemovedDir = "sessions/removed"

// RemovedPath returns the file, below .jp, that says that the conversation of a session was
// removed.
func RemovedPath(id events.ID) string {
	return path.Join(RemovedDir, events.Dirname(id, "")+".json")
}

// PathDir returns the directory .jp in which a path of a repository lies: the outermost of several.
// It is false for a path that lies in none.
func PathDir(name string) (dir string, ok bool) {
	before, _, ok := strings.Cut("/"+name, "/"+DirName+"/")
	return strings.TrimPrefix(before+"/"+DirName, "/"), ok
}

// PathID returns the conversation whose directory contains a path of a repository, archived ones
// too.
func PathID(name string) (events.ID, bool) {
	dir, ok := PathDir(name)
	if !ok {
		return 0, false
	}
	return PathIDIn(dir, name)
}

// PathIDIn is [PathID] for one directory .jp.
func PathIDIn(dir, name string) (events.ID, bool) {
	_, id, ok := pathIn(dir, name)
	return id, ok
}

// PathDirIn returns the directory of the conversation that PathIDIn returns.
func PathDirIn(dir, name string) (string, bool) {
	at, _, ok := pathIn(dir, name)
	return at, ok
}

func pathIn(dir, name string) (at string, id events.ID, ok bool) {
	rest, ok := strings.CutPrefix(name, dir+"/"+ConversationsDir+"/")
	if !ok {
		return "", 0, false
	}
	rest = strings.TrimPrefix(rest, strings.TrimPrefix(archiveDir, ConversationsDir+"/")+"/")
	dirname, below, ok := strings.Cut(rest, "/")
	if !ok || strings.HasPrefix(dirname, ".") {
		return "", 0, false
	}
	id, ok = events.ParseDirname(dirname)
	return name[:len(name)-len(below)-1], id, ok
}

// BlobPath returns the path of a blob below a directory .jp.
func BlobPath(dir string, h blobs.Hash) string { return path.Join(dir, blobs.Dir, h.Path()) }
