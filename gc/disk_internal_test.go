package gc

import (
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/blobs"
)

// A faultyFS is a file system in which some opens fail, counted per file from 1.
type faultyFS struct {
	fs.FS
	fault func(name string, look int) error
	short map[string]int // bytes missing at the end of the first reading
	looks map[string]int
}

func (f *faultyFS) Open(name string) (fs.File, error) {
	f.looks[name]++
	if err := f.fault(name, f.looks[name]); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file, err := f.FS.Open(name)
	if cut := f.short[name]; err == nil && cut > 0 && f.looks[name] == 1 {
		info, statErr := file.Stat()
		return &cutFile{file, int(info.Size()) - cut}, statErr
	}
	return file, err
}

// Stat does not count: it is called before a file is opened.
func (f *faultyFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

type cutFile struct {
	fs.File
	left int
}

func (c *cutFile) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.File.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

const (
	oneStream = "conversations/17800000001-one/events.json"
	oneNote   = "conversations/17800000001-one/note.md"
)

// TestUnreadableFiles checks that a file is either read or an obstacle: neither an error nor a
// moment without the file makes the collector ignore it.
func TestUnreadableFiles(t *testing.T) {
	h := blobs.Sum([]byte("kept"))
	always := func(err error) func(int) error { return func(int) error { return err } }
	once := func(err error) func(int) error {
		return func(look int) error {
			if look == 1 {
				return err
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name, file string
		fault      func(look int) error
		obstacle   string // "" if it is read in the end
	}{
		{"permission, of a stream", oneStream, always(syscall.EACCES), "permission denied"},
		{"error, of a stream", oneStream, always(syscall.EIO), "input/output error"},
		{"error, once", oneStream, once(syscall.EIO), "input/output error"},
		{"permission, once", oneStream, once(syscall.EACCES), "permission denied"},
		{"of another file", oneNote, always(syscall.EIO), "input/output error"},
		{"of a conversation", "conversations/17800000001-one", always(syscall.EACCES), "permission"},
		{"of a conversation, once", "conversations/17800000001-one", once(syscall.EIO), ""},
		{"of all", "conversations", always(syscall.EACCES), "permission denied"},
		{"gone and back", oneStream, once(syscall.ENOENT), ""},
		{"directory gone and back", "conversations/17800000001-one", func(look int) error {
			if look <= 2 {
				return syscall.ENOENT
			}
			return nil
		}, ""},
		{"never there", oneStream, always(syscall.ENOENT), "keep changing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := &faultyFS{
				FS: fstest.MapFS{
					oneStream: {Data: []byte("[]")}, oneNote: {Data: []byte(h.String())},
				},
				looks: make(map[string]int),
				fault: func(name string, look int) error {
					if name == tt.file {
						return tt.fault(look)
					}
					return nil
				},
			}
			d := disk{root: "here", references: newReferenceCache(nil, newHashes(), false)}
			if err := d.readFS(t.Context(), files); err != nil {
				t.Fatal(err)
			}
			if tt.obstacle == "" {
				if len(d.obstacles) > 0 || len(d.files) != 2 {
					t.Errorf("obstacles %v, files %v", d.obstacles, d.files)
				}
				return
			}
			if len(d.obstacles) != 1 || d.obstacles[0].Reason != ReasonFiles ||
				!strings.Contains(d.obstacles[0].Detail, tt.obstacle) {
				t.Errorf("obstacles %v, want one with %q", d.obstacles, tt.obstacle)
			}
		})
	}
}

// TestShortRead checks that the beginning of a file is not taken for the complete file.
func TestShortRead(t *testing.T) {
	h := blobs.Sum([]byte("kept"))
	for cut := 1; cut <= len(h.String()); cut++ {
		files := &faultyFS{
			FS:    fstest.MapFS{oneNote: {Data: []byte("see " + h.String())}},
			looks: make(map[string]int), short: map[string]int{oneNote: cut},
			fault: func(string, int) error { return nil },
		}
		numbers := newHashes()
		d := disk{root: "here", references: newReferenceCache(nil, numbers, false)}
		if err := d.readFS(t.Context(), files); err != nil {
			t.Fatal(err)
		}
		if _, ok := numbers.find(h); !ok && len(d.obstacles) == 0 {
			t.Fatalf("without the last %d bytes the file has nothing", cut)
		}
	}
}
