package redact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/spare"
)

// conflictsDir has the notes about conflicts, below the state of a worktree. They are closed when
// the conflict is decided with this program, and only then.
const conflictsDir = "conflicts"

// cacheDir has what was read from objects of git, with the names of attachments.
const cacheDir = "cache"

// forgetCache removes what the cache has of the versions before a redaction. It can be deleted at
// any time. What is read from history later is cached again, as history has it.
func (t Tracked) forgetCache() error {
	return os.RemoveAll(filepath.Join(t.Repo.Dir(), cacheDir))
}

// state searches what this program keeps about the repository outside of the working tree, apart
// from what redactions quarantined: an undo may bring it back, whichever command made the copy.
func (l *look) state() {
	done := l.compacted()
	done[spare.Dir(l.Repo.GitDir())] = true // searched with the store
	done[filepath.Join(l.Repo.Dir(), cacheDir)] = true
	if len(l.unmerged) > 0 {
		done[filepath.Join(l.Repo.GitDir(), "jp", conflictsDir)] = true // the sides are named
	}
	for _, dir := range []string{
		l.Repo.Dir(), filepath.Join(l.Repo.GitDir(), "jp"), l.Quarantine.Dir,
		filepath.Join(l.Workspace.Dir(), blobs.Dir, tempDir, "trash"),
	} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case d == nil || errors.Is(err, fs.ErrNotExist): // it is not there
				return nil
			case err != nil:
				return err
			case d.IsDir() && (done[name] || l.isOther(name)):
				return fs.SkipDir
			case d.IsDir():
				done[name] = true
			case d.Type().IsRegular():
				l.stateFile(name)
			}
			return nil
		})
		if err != nil {
			l.left.Unread++
		}
	}
}

// isOther reports whether a directory is quarantined by a redaction, or for another workspace.
func (l *look) isOther(dir string) bool {
	if strings.HasPrefix(filepath.Base(dir), string(quarantine.Redacted)+"-") {
		return true
	}
	_, err := os.Lstat(filepath.Join(dir, quarantine.ManifestFile))
	return err == nil && !l.items[dir]
}

func (l *look) stateFile(name string) {
	data, err := regular.ReadFile(name, regular.MaxOwn)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.left.Unread++
		}
		return
	}
	text, _ := unzipped(data, l.Repo.Limits().OfAny()) // none if it is no blob
	if l.has(data) || l.has(text) || l.target.isIn(blobs.Sum(text), text) {
		copied := strings.Contains(filepath.ToSlash(name), "/trash/")
		l.add(Place{Path: name, Copied: copied, Noted: !copied})
	}
}

// compacted searches the copies from before compactions: undoing one restores text that was not in
// the conversation when it was redacted, and that no entry names. It returns their directories.
func (l *look) compacted() map[string]bool {
	done := map[string]bool{}
	items, err := l.Quarantine.Items()
	if err != nil {
		l.left.Unread++
	}
	unknown, err := l.Quarantine.Unknown()
	if err != nil {
		l.left.Unread++
	}
	for _, dir := range unknown {
		done[dir] = true
		l.add(Place{Path: dir, Copied: true, Unread: true})
	}
	l.items = map[string]bool{}
	for _, item := range items {
		l.items[item.Dir()] = true
		if !item.Kind.HasUndo() {
			continue
		}
		done[item.Dir()] = true
		kept, err := item.Copy()
		has := err == nil && l.has(kept.Stream.Encode())
		if err == nil {
			err = kept.Contents(func(content []byte) error {
				has = has || l.has(content)
				return nil
			})
		}
		if has || err != nil {
			l.add(Place{Path: item.Dir(), Copied: true, Unread: !has})
		}
	}
	return done
}
