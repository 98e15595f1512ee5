package gc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/spare"
)

// move renames a file. To another file system it copies the file, verifies the copy and makes it
// durable before it removes the file.
func (r *run) move(from, to string) error {
	if err := r.o.step(StepMove, from); err != nil {
		return err
	}
	err := os.Rename(from, to)
	switch {
	case errors.Is(err, syscall.EXDEV):
		return r.copy(from, to)
	case err == nil && isBelow(to, r.dir):
		return atomicfile.Adopt(to)
	default:
		return err
	}
}

// forgetCopy removes the copy of a blob in a lazy clone, which would restore the blob.
func (r *run) forgetCopy(h blobs.Hash) error {
	if r.place.prefix == "" {
		return nil
	}
	return spare.Forget(r.o.Repo.GitDir(), r.place.prefix, h)
}

func (r *run) copy(from, to string) error {
	before, err := os.Lstat(from)
	if err != nil {
		return err
	}
	data, err := regular.ReadFile(from, regular.MaxOwn)
	if err != nil {
		return err
	}
	if err := r.o.step(StepCopy, to); err != nil {
		return err
	}
	if err := r.writeCopy(to, data); err != nil {
		return err
	}
	if err := os.Chtimes(to, before.ModTime(), before.ModTime()); err != nil {
		return err
	}
	copied, err := regular.ReadFile(to, regular.MaxOwn)
	if err != nil {
		return err
	}
	if !bytes.Equal(copied, data) {
		return fmt.Errorf("copy %s: %w", from, io.ErrUnexpectedEOF)
	}
	// A writer may have stamped it meanwhile, because it is about to refer to it.
	if now, err := os.Lstat(from); err != nil || !now.ModTime().Equal(before.ModTime()) {
		return errors.Join(errFresh, err)
	}
	return r.o.remove(from)
}

// writeCopy writes a file below the store or the run.
func (r *run) writeCopy(to string, data []byte) error {
	dir, temp := r.dir, "tmp"
	name, err := filepath.Rel(dir, to)
	if err != nil || !filepath.IsLocal(name) {
		dir, temp = r.place.store, ".tmp"
		if name, err = filepath.Rel(dir, to); err != nil {
			return err
		}
	}
	return atomicfile.WriteIn(dir, filepath.ToSlash(name), data, atomicfile.Options{
		TempDir: temp, Private: dir == r.dir, Hook: r.o.hook(),
	})
}

// stamp sets the time of a file of the run. That of another member of a shared repository is
// replaced by a copy first: only its owner may set its time.
func (r *run) stamp(h blobs.Hash, at time.Time) error {
	if err := r.o.step(StepStamp, r.file(h)); err != nil {
		return err
	}
	err := os.Chtimes(r.file(h), at, at)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	data, err := regular.ReadFile(r.file(h), regular.MaxOwn)
	if err == nil {
		err = r.o.write(r.dir, "files/"+h.String(), data)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(r.file(h), at, at)
}

// errFresh reports that a writer has stamped a blob meanwhile.
var errFresh = errors.New("it was written again")

// restore moves a blob back to its place, unless the same blob is there: a writer may have been
// faster. If something else is there, the blob stays in the run.
func (r *run) restore(i record) error {
	from, to := r.file(i.Hash), r.target(i.Hash)
	if there, err := isThere(from); !there || err != nil {
		return err
	}
	there, err := isThere(to)
	if err != nil {
		return err
	}
	if there {
		if same, err := sameContent(from, to); !same || err != nil {
			return err
		}
		return r.o.remove(from)
	}
	// git and other programs remove the directory while it is empty.
	for range tries {
		if err = r.o.mkdir(filepath.Dir(to)); err == nil {
			err = r.move(from, to)
		}
		if !errors.Is(err, fs.ErrNotExist) || !regular.Exists(from) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("restore blob %s: %w", i.Hash, err)
	}
	return syncDirs(filepath.Dir(to), filepath.Dir(from))
}

const tries = 9

func sameContent(a, b string) (bool, error) {
	one, err := regular.ReadFile(a, regular.MaxOwn)
	if err != nil {
		return false, err
	}
	other, err := regular.ReadFile(b, regular.MaxOwn)
	return bytes.Equal(one, other), err
}

// syncDirs makes renames durable, if the system can.
func syncDirs(dirs ...string) error {
	for _, dir := range dirs {
		d, err := os.Open(dir)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return err
		}
		_ = d.Sync() // not every file system can; the rename happened
		if err := d.Close(); err != nil {
			return err
		}
	}
	return nil
}
