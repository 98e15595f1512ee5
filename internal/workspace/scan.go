package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// Scan lists the conversations of a .jp directory in any file system: a working tree, a revision,
// an index. jpDir is the path of .jp in it. The entries are sorted by id, live before archived, and
// include all directories that share an id. Scan only reads the names in a conversation's
// directory, it opens no file. A .jp without conversations has no entries.
func Scan(fsys fs.FS, jpDir string) ([]Entry, []Problem, error) {
	return ScanOf(fsys, jpDir, anyID)
}

func anyID(events.ID) bool { return true }

// ScanOf is Scan limited to the wanted ids.
func ScanOf(fsys fs.FS, jpDir string, wanted func(events.ID) bool) ([]Entry, []Problem, error) {
	s := scanner{fsys: fsys, jpDir: jpDir, wanted: wanted}
	for _, p := range []Partition{Live, Archive} {
		if err := s.partition(p); err != nil {
			return nil, nil, fmt.Errorf("list conversations in %s: %w", jpDir, err)
		}
	}
	slices.SortFunc(s.entries, Entry.compare)
	s.duplicates()
	return s.entries, s.problems, nil
}

var errNotDirectory = errors.New("not a directory")

type scanner struct {
	fsys     fs.FS
	jpDir    string
	wanted   func(events.ID) bool
	entries  []Entry
	problems []Problem
}

func (s *scanner) report(p Problem) { s.problems = append(s.problems, p) }

func (s *scanner) partition(p Partition) error {
	dir := path.Join(s.jpDir, p.Dir())
	switch info, err := fs.Lstat(s.fsys, dir); {
	case isNone(err):
		return nil
	case err != nil:
		return s.unlisted(dir, err)
	case info.Mode().Type() == fs.ModeSymlink:
		s.report(Problem{Kind: Linked, Path: dir})
		return nil
	case !info.IsDir(): // opening a pipe would wait for a writer
		return s.unlisted(dir, errNotDirectory)
	}
	list, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		return s.unlisted(dir, err)
	}
	for _, d := range list {
		if !strings.HasPrefix(d.Name(), ".") {
			s.directory(p, path.Join(dir, d.Name()), d)
		}
	}
	return nil
}

// isNone reports whether an error means that there is no such file, as below a path that is no
// directory.
func isNone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// unlisted reports a partition that cannot be listed as a problem, so that it hides no other. A
// missing object in a snapshot, or a canceled read, is an error.
func (s *scanner) unlisted(dir string, err error) error {
	if _, ok := errors.AsType[syscall.Errno](err); !ok && !errors.Is(err, errNotDirectory) {
		return err
	}
	s.report(Problem{Kind: Unreadable, Path: dir, Err: err})
	return nil
}

// Unlisted returns an error for the first partition that the system refuses to list, for callers
// that must know all conversations.
func Unlisted(problems []Problem) error {
	for _, p := range problems {
		if p.Kind == Unreadable && p.ID == 0 && !errors.Is(p.Err, errNotDirectory) {
			return p.Err
		}
	}
	return nil
}

// directory checks one name below conversations. jp ignores files there.
func (s *scanner) directory(p Partition, at string, d fs.DirEntry) {
	id, ok := events.ParseDirname(d.Name())
	switch {
	case d.Type() == fs.ModeSymlink:
		s.report(Problem{Kind: Linked, Path: at, ID: id})
	case !d.IsDir():
	case !ok:
		s.report(Problem{Kind: Foreign, Path: at})
	case !s.wanted(id):
	default:
		s.conversation(Entry{ID: id, Dirname: d.Name(), Partition: p, Path: at})
	}
}

func (s *scanner) conversation(e Entry) {
	list, err := fs.ReadDir(s.fsys, e.Path)
	if err != nil {
		s.report(Problem{Kind: Unreadable, Path: e.Path, ID: e.ID, Err: err})
		s.entries = append(s.entries, e)
		return
	}
	have := map[string]bool{}
	var names []string
	for _, d := range list {
		names = append(names, d.Name())
		have[d.Name()] = IsManaged(d.Name())
		if have[d.Name()] && d.Type() == fs.ModeSymlink {
			s.report(Problem{Kind: Linked, Path: path.Join(e.Path, d.Name()), ID: e.ID})
		}
	}
	e.Legacy = have[MessagesFile] && !have[EventsFile]
	if have[MetadataFile] || have[EventsFile] || e.Legacy {
		s.entries = append(s.entries, e)
		names = nil
	}
	if missing := missingFiles(have, e.Legacy); len(missing) > 0 {
		detail := strings.Join(missing, " and no ")
		s.report(Problem{Kind: Missing, Path: e.Path, ID: e.ID, Detail: detail, Files: names})
	}
}

// missingFiles names the files that a directory lacks to be a conversation. Conversations from
// before April 2026 have no base_config.json.
func missingFiles(have map[string]bool, legacy bool) []string {
	var missing []string
	if !have[MetadataFile] {
		missing = append(missing, MetadataFile)
	}
	if !have[EventsFile] && !legacy {
		missing = append(missing, EventsFile)
	}
	return missing
}

// duplicates reports every directory but the first of those that share an id.
func (s *scanner) duplicates() {
	var first Entry
	for i, e := range s.entries {
		if i == 0 || e.ID != first.ID {
			first = e
			continue
		}
		s.report(Problem{Kind: Duplicate, Path: e.Path, ID: e.ID, Detail: first.Path})
	}
}

func notRegular(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: regular.ErrNot}
}

// Readable returns an error for a file below the .jp of root that would block a reader: a pipe or
// the like in place of the id, or of a file that git always reads in a directory and for which it
// would wait. It also returns one for a symlink in place of the conversations, which is not
// followed.
func Readable(root string) error {
	id := filepath.Join(root, DirName, IDFile)
	names := []string{IDFile}
	for _, dir := range []string{"", blobs.Dir, ConversationsDir} {
		names = append(names, path.Join(dir, ".gitattributes"), path.Join(dir, ".gitignore"))
	}
	for _, name := range names {
		name = filepath.Join(root, DirName, filepath.FromSlash(name))
		info, err := os.Lstat(name)
		link := err == nil && info.Mode()&fs.ModeSymlink != 0 // git does not follow it
		if err == nil && !info.Mode().IsRegular() && (!link || name == id) {
			return notRegular("read", name)
		}
	}
	dir := filepath.Join(root, DirName, ConversationsDir)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &fs.PathError{Op: "list", Path: dir, Err: ErrLinked}
	}
	return nil
}
