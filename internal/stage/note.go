package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// noteHeader begins a note, which is <git-dir>/jp/staged. Entries follow, each "<mode>
// <object>\t<path>\x00".
const noteHeader = "git-jp staged 1\n"

const lockSuffix = ".lock"

func notePath(repo *gitint.Repo) string { return stateFile(repo, "staged") }

// readNote returns the entries of the note. A note that cannot be parsed has none: it is of another
// version, or was cut off.
func readNote(repo *gitint.Repo) ([]gitint.Entry, error) {
	data, err := regular.ReadFile(notePath(repo), regular.MaxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read note: %w", err)
	}
	body, ok := bytes.CutPrefix(data, []byte(noteHeader))
	if !ok || len(body) == 0 || body[len(body)-1] != 0 {
		return nil, nil
	}
	var entries []gitint.Entry
	for line := range strings.SplitSeq(string(body[:len(body)-1]), "\x00") {
		e, err := parseNoteLine(line)
		if err != nil {
			return nil, nil // as above
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func parseNoteLine(line string) (gitint.Entry, error) {
	head, name, _ := strings.Cut(line, "\t")
	mode, oid, _ := strings.Cut(head, " ")
	bits, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return gitint.Entry{}, err
	}
	id, err := gitint.ParseOID(oid)
	return gitint.Entry{Path: name, Mode: gitint.Mode(bits), OID: id}, err
}

// addToNote adds these entries to the note.
func addToNote(repo *gitint.Repo, added []gitint.Entry) error {
	known, err := readNote(repo)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(noteHeader)
	for _, e := range known {
		if !slices.Contains(added, e) {
			fmt.Fprintf(&b, "%o %s\t%s\x00", uint32(e.Mode), e.OID, e.Path)
		}
	}
	for _, e := range added {
		fmt.Fprintf(&b, "%o %s\t%s\x00", uint32(e.Mode), e.OID, e.Path)
	}
	if err := replaceFile(notePath(repo), b.String()); err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	return nil
}

func replaceFile(name, content string) error {
	if err := atomicfile.MkdirPrivate(filepath.Dir(name)); err != nil {
		return err
	}
	return atomicfile.WriteIn(filepath.Dir(name), filepath.Base(name), []byte(content),
		atomicfile.Options{TempDir: ".", Private: true})
}

func dropNote(repo *gitint.Repo) error {
	if err := os.Remove(notePath(repo)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop note: %w", err)
	}
	return nil
}

// An indexKind says which index git uses now.
type indexKind int

const (
	// ownIndex is the index of the working tree.
	ownIndex indexKind = iota
	// nextIndex is the lock file of ownIndex, which becomes it if the commit succeeds.
	nextIndex
	// otherIndex is one that git discards, or one of the user.
	otherIndex
)

func ownIndexPath(repo *gitint.Repo) string { return filepath.Join(repo.GitDir(), "index") }

func kindOf(repo *gitint.Repo) indexKind {
	switch own := ownIndexPath(repo); {
	case samePath(repo.IndexPath(), own):
		return ownIndex
	case samePath(repo.IndexPath(), own+lockSuffix):
		return nextIndex
	default:
		return otherIndex
	}
}

// Partial reports whether the commit is one of some paths: git discards its index.
func (h Hook) Partial() bool { return kindOf(h.Repo) == otherIndex }

// samePath compares the directories as files, because a name may lead through a
// link, and the index itself by name, because git replaces it.
func samePath(a, b string) bool {
	if a == b {
		return true
	}
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	dirA, errA := os.Stat(filepath.Dir(a))
	dirB, errB := os.Stat(filepath.Dir(b))
	return errA == nil && errB == nil && os.SameFile(dirA, dirB)
}

// settle applies a note to the indexes, and drops it unless keep is set or an index is locked.
func settle(ctx context.Context, repo *gitint.Repo, keep bool, indexes ...string) error {
	noted, err := readNote(repo)
	if err != nil {
		return err
	}
	if len(noted) > 0 {
		change, err := settlement(ctx, repo, noted)
		if err != nil {
			return err
		}
		for _, index := range indexes {
			change.IndexFile = index
			_, err := repo.Stage(ctx, change)
			if isLocked(err) {
				keep = true
			} else if err != nil {
				return err
			}
		}
	}
	if keep {
		return nil
	}
	return dropNote(repo)
}

// settlement returns the part of a note that still counts: the paths that HEAD got from the
// discarded index. The others were never committed. A path that the working tree does not have was
// removed since, and would come back only to the index.
func settlement(ctx context.Context, repo *gitint.Repo, noted []gitint.Entry) (
	gitint.Change, error,
) {
	change := gitint.Change{KeepExisting: true, LockTimeout: gitint.NoWait}
	head, err := gitint.OrNone(repo.Tree(ctx, "HEAD"))
	if err != nil || head == nil {
		return change, err
	}
	for _, e := range noted {
		if oid, ok := head.OID(e.Path); !ok || oid != e.OID {
			continue
		}
		file := filepath.Join(repo.Root(), filepath.FromSlash(e.Path))
		data, err := regular.ReadFile(file, repo.Limits().Of(e.Path))
		switch {
		case err != nil:
		case repo.HashBlob(data) == e.OID:
			change.Add = append(change.Add, e.Path) // so that git knows the file
		default:
			change.AddObjects = append(change.AddObjects, e)
		}
	}
	return change, nil
}
