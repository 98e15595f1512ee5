package gitint

import (
	"io/fs"
	"sync"
)

// Later returns a snapshot that is opened on first use. If that fails it has no file; methods that
// return an error return that one.
func Later(name string, open func() (Snapshot, error)) Snapshot {
	return &later{name, sync.OnceValues(open)}
}

type later struct {
	name string
	open func() (Snapshot, error)
}

// Name implements [Snapshot].
func (l *later) Name() string { return l.name }

// OID implements [Snapshot].
func (l *later) OID(name string) (OID, bool) {
	snap, err := l.open()
	if err != nil {
		return OID{}, false
	}
	return snap.OID(name)
}

// Entries implements [Snapshot].
func (l *later) Entries(dir string) ([]Entry, error) { return opened(l, Snapshot.Entries, dir) }

// Children implements [Snapshot].
func (l *later) Children(dir string) ([]Entry, error) { return opened(l, Snapshot.Children, dir) }

// Open implements [fs.FS].
func (l *later) Open(name string) (fs.File, error) { return opened(l, Snapshot.Open, name) }

// ReadFile implements [fs.ReadFileFS].
func (l *later) ReadFile(name string) ([]byte, error) { return opened(l, Snapshot.ReadFile, name) }

// ReadDir implements [fs.ReadDirFS].
func (l *later) ReadDir(name string) ([]fs.DirEntry, error) {
	return opened(l, Snapshot.ReadDir, name)
}

// opened calls a method of the snapshot.
func opened[T any](
	l *later, method func(Snapshot, string) (T, error), name string,
) (none T, err error) {
	snap, err := l.open()
	if err != nil {
		return none, err
	}
	return method(snap, name)
}
