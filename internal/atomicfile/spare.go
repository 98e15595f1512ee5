package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// A Spare makes it cheap to replace a long file again and again, each time by what it begins with
// and something new. The replaced file is kept as a temporary. The next [ReplaceBy] writes to it
// only what differs from its own new content, and exchanges it like a temporary that was written
// completely. So the disk has to write, allocate and free a few pages instead of the file.
//
// Nobody sees a file that is being written: a spare is used only if this program wrote it, no
// program has it open or in memory, and no other name refers to it; until it is complete, a program
// that opens it waits. It is kept only on file systems of which it is known that after the sync of
// a directory no power failure gives a replaced file its name back. In all other cases the whole
// file is written.
//
// The zero Spare is ready to use, for the changes of one file by one goroutine. Each change must
// begin from what the one before wrote, or Remove be called in between. It must be called in the
// end; a process that is killed leaves the spare to the collector.
type Spare struct {
	root *os.Root
	name string
	info fs.FileInfo // after it was compared
	same int         // how many bytes it has in common with the file that replaced it
	made fs.FileInfo // the file that the last change wrote, also if there is no spare
}

// Remove removes the spare.
func (s *Spare) Remove() {
	if s.root != nil {
		if info, err := s.root.Lstat(s.name); err == nil && os.SameFile(info, s.info) {
			_ = s.root.Remove(s.name)
		}
	}
	*s = Spare{}
}

// reuse returns the spare, open for writing, as the temporary of target, and what is left to write
// of data; nil if it cannot be used.
func (w writer) reuse(target string, data content) (*temp, content) {
	if w.opts.Spare == nil || w.opts.Spare.root != w.root {
		return nil, data
	}
	s := *w.opts.Spare
	*w.opts.Spare = Spare{made: s.made}
	same := min(s.same, len(data[0]))
	t := &temp{w: w, name: s.name, target: target}
	perm, chmod := w.modes(target)
	if t.perm = chmod; w.opts.Private {
		t.perm = perm
	}
	if same == 0 || t.perm == 0 || t.reopen(s, same, data.size()) != nil {
		s.Remove()
		return nil, data
	}
	return t, content{data[0][same:], data[1]}
}

// reopen opens the spare where its content ends to be the same.
func (t *temp) reopen(s Spare, same, size int) error {
	f, err := s.root.OpenFile(s.name, os.O_WRONLY|noWait, 0)
	if err != nil {
		return err
	}
	if err := s.open(f, same, size); err != nil {
		return errors.Join(err, f.Close())
	}
	t.file = f
	return nil
}

// open prepares f, if it still is the spare and nobody else uses it, for what follows its first
// same bytes.
func (s Spare) open(f *os.File, same, size int) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !isUnchanged(info, s.info) || !isAlone(f):
		return ErrChanged
	}
	if info.Size() > int64(size) {
		if err := f.Truncate(int64(size)); err != nil {
			return err
		}
	}
	_, err = f.Seek(int64(same), io.SeekStart)
	return err
}

func isUnchanged(now, before fs.FileInfo) bool {
	return os.SameFile(now, before) && now.Size() == before.Size() &&
		now.ModTime().Equal(before.ModTime())
}

// retain makes the replaced file the next spare, if the caller wants one and made the file. It may
// be used only after the directory of the name is synced: before, a power failure could give it
// back its name.
func (t *temp) retain(same int) bool {
	if t.w.opts.Spare == nil || !t.w.syncs() || !isDurable(t.replaced) {
		return false
	}
	info, err := t.replaced.Stat()
	if err != nil || !os.SameFile(info, t.w.opts.Spare.made) {
		return false
	}
	name, err := t.w.unique(t.target, func(to string) error { return t.w.renameNew(t.name, to) })
	if err != nil {
		return false
	}
	t.spare = Spare{root: t.w.root, name: name, info: info, same: same}
	return true
}
