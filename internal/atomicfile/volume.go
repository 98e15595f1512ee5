package atomicfile

import "os"

// A Volume is a file system that can make durable at once what was written to it. That costs less
// than syncing many files one by one, and has to wait for what other programs wrote.
type Volume struct{ dir *os.File }

// OpenVolume returns the volume of a directory, nil where files must be synced one by one. It
// comes before what is written: Sync reports only what failed since.
func OpenVolume(root *os.Root) *Volume {
	if dir := openVolume(root); dir != nil {
		return &Volume{dir}
	}
	return nil
}

// Sync makes everything durable.
func (v *Volume) Sync() error { return syncVolume(v.dir) }

// Close releases the volume, which may be nil.
func (v *Volume) Close() error {
	if v == nil {
		return nil
	}
	return v.dir.Close()
}

// OpenDir makes a directory below root, with the directory of temporaries, which must be in it,
// durable unless they are there, and opens it. Each step below it walks from there.
func OpenDir(root *os.Root, dir string, opts Options) (*os.Root, error) {
	w := writer{root: root, opts: opts}
	if _, err := root.Lstat(opts.TempDir); err != nil {
		if err := w.mkdirAllSync(opts.TempDir); err != nil {
			return nil, err
		}
	}
	return root.OpenRoot(dir)
}
