package gc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"syscall"

	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// quarantined searches the data that other commands quarantined for hashes, because it may be
// restored. It skips the collector's own runs, which have only dead blobs.
func (m *marker) quarantined(ctx context.Context) error {
	p, err := m.o.place()
	if err != nil {
		return err
	}
	root, err := regular.OpenRoot(p.trash)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		m.obstruct(Obstacle{Reason: ReasonIrregular, Root: p.trash, Detail: notDirectory})
		return nil
	case err != nil:
		return err
	}
	defer root.Close() //nolint:errcheck // was only read
	t := &tip{title: "what was quarantined in " + p.trash, kind: tipOther}
	m.tips = append(m.tips, t)
	files := regular.In(root)
	return fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return ctx.Err()
		case err != nil:
			return err
		case e.IsDir():
			if name == "." || path.Dir(name) != "." {
				return ctx.Err()
			}
			ours, err := isRun(files, name)
			if ours {
				return fs.SkipDir
			}
			return cmp.Or(err, ctx.Err())
		case e.Type()&fs.ModeSymlink != 0:
			m.obstruct(Obstacle{
				Reason: ReasonLinked, Root: filepath.Join(p.trash, name),
				Detail: "is a symbolic link: what is behind it is not looked at",
			})
			return ctx.Err()
		case !e.Type().IsRegular():
			m.obstruct(Obstacle{
				Reason: ReasonIrregular, Root: filepath.Join(p.trash, name), Detail: notFile,
			})
			return ctx.Err()
		}
		all, err := hashesIn(files, name)
		if len(all) > 0 {
			found := m.references.number(refs.Mentions{Loose: all})
			t.disk = append(t.disk, diskFile{filepath.Join(p.trash, name), found})
		}
		return err
	})
}

// isRun reports whether a directory, directly in a quarantine, is a run of the collector: it has a
// journal that names it. Data that other commands quarantined can have files of any name, and a
// journal of another version may mean something else.
func isRun(files fs.FS, dir string) (bool, error) {
	data, err := readAll(files, path.Join(dir, journalName), regular.MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var h header
	return json.Unmarshal(data, &h) == nil &&
		h.known() && h.Run == path.Base(dir), nil
}
