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
func (l *later) Entries(dir string) ([]Entry, error) {
	snap, err := l.open()
	if err != nil {
		return nil, err
	}
	return snap.Entries(dir)
}

// Children implements [Snapshot].
func (l *later) Children(dir string) ([]Entry, error) {
	snap, err := l.open()
	if err != nil {
		return nil, err
	}
	return snap.Children(dir)
}

// Open implements [fs.FS].
func (l *later) Open(name string) (fs.File, error) {
	snap, err := l.open()
	if err != nil {
		return nil, err
	}
	return snap.Open(name)
}

// ReadFile implements [fs.ReadFileFS].
func (l *later) ReadFile(name string) ([]byte, error) {
	snap, err := l.open()
	if err != nil {
		return nil, err
	}
	return snap.ReadFile(name)
}

// ReadDir implements [fs.ReadDirFS].
func (l *later) ReadDir(name string) ([]fs.DirEntry, error) {
	snap, err := l.open()
	if err != nil {
		return nil, err
	}
	return snap.ReadDir(name)
}
