package blobs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// newStore returns a store that does not exist yet, in a .jp directory that does.
func newStore(t testing.TB, o Options) *Store {
	t.Helper()
	jp := filepath.Join(t.TempDir(), ".jp")
	if err := os.Mkdir(jp, 0o755); err != nil {
		t.Fatal(err)
	}
	return openStore(t, filepath.Join(jp, Dir), o)
}

func openStore(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func withClock() Options { return Options{Now: time.Now} }

func mustWrite(t testing.TB, s interface{ Write([]byte) (Ref, error) }, b []byte) Ref {
	t.Helper()
	ref, err := s.Write(b)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func (s *Store) file(h Hash) string { return filepath.Join(s.dir, filepath.FromSlash(h.Path())) }

// noTemps fails if temporary files are left.
func noTemps(t *testing.T, s *Store) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.dir, tempDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("temporary %s is left", e.Name())
	}
}

func TestStore_roundTrip(t *testing.T) {
	s := newStore(t, withClock())
	for name, content := range vectorContents() {
		ref := mustWrite(t, s, content)
		if ref != RefTo(content) {
			t.Errorf("%s: %v", name, ref)
		}
		if got, err := s.Read(ref); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if err := s.Verify(ref); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		gz, err := os.ReadFile(s.file(ref.Hash))
		if err != nil || !bytes.Equal(gz, Encode(content)) {
			t.Errorf("%s: file of %d bytes, %v", name, len(gz), err)
		}
		if info, err := s.Stat(ref.Hash); err != nil || info.Size() != int64(len(gz)) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	noTemps(t, s)
}

func TestStore_doesNotExist(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "silo", "deep", Dir)
	s := openStore(t, dir, withClock())
	ref := RefTo(hello)
	for range 2 {
		if _, err := s.Read(ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read: %v", err)
		}
		if err := s.Verify(ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Verify: %v", err)
		}
		if _, err := s.Stat(ref.Hash); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat: %v", err)
		}
		for h, err := range s.All() {
			t.Errorf("All: %v, %v", h, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(filepath.Dir(filepath.Dir(dir)))); len(entries) != 0 {
		t.Errorf("reading made %v, %v", entries, err)
	}
	mustWrite(t, s, hello)
	if got, err := s.Read(ref); err != nil || !bytes.Equal(got, hello) {
		t.Errorf("after a write: %q, %v", got, err)
	}
}

func TestStore_closed(t *testing.T) {
	for _, used := range []bool{true, false} {
		s := newStore(t, withClock())
		if used {
			mustWrite(t, s, hello)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if _, err := s.Write(hello); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Write: %v", err)
		}
		if _, err := s.Read(RefTo(hello)); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Read: %v", err)
		}
	}
}

// age makes h's file a year old and returns its time and inode.
func age(t *testing.T, s *Store, h Hash) fs.FileInfo {
	t.Helper()
	old := time.Now().AddDate(-1, 0, 0)
	if err := os.Chtimes(s.file(h), old, old); err != nil {
		t.Fatal(err)
	}
	info, err := s.Stat(h)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestWrite_keepsSoundFile(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	s := newStore(t, Options{Now: func() time.Time { return now }})
	foreign := member(hello, 1, stdHeader) // other bytes, the same content
	for _, file := range [][]byte{Encode(hello), foreign} {
		ref := mustWrite(t, s, hello)
		if err := os.WriteFile(s.file(ref.Hash), file, 0o644); err != nil {
			t.Fatal(err)
		}
		before := age(t, s, ref.Hash)
		mustWrite(t, s, hello)
		after, err := s.Stat(ref.Hash)
		if err != nil || !os.SameFile(before, after) {
			t.Errorf("the file was replaced: %v", err)
		}
		if !after.ModTime().Equal(now) {
			t.Errorf("time %v, want %v", after.ModTime(), now)
		}
		if got, _ := os.ReadFile(s.file(ref.Hash)); !bytes.Equal(got, file) {
			t.Error("the bytes of the file changed")
		}
	}
	noTemps(t, s)
}

// Without a clock, or if the time cannot be set, the file is replaced: garbage collection sees a
// young file in any case.
func TestWrite_freshCopyWithoutClock(t *testing.T) {
	s := newStore(t, Options{})
	ref := mustWrite(t, s, hello)
	before := age(t, s, ref.Hash)
	mustWrite(t, s, hello)
	after, err := s.Stat(ref.Hash)
	if err != nil || !after.ModTime().After(before.ModTime().AddDate(0, 6, 0)) {
		t.Errorf("time %v, %v", after.ModTime(), err)
	}
}

func TestWrite_replacesDamage(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + emptyHex + "\nsize 1\n"
	gz := Encode(hello)
	tests := map[string]func(t *testing.T, file string){
		"empty":         plant(nil),
		"truncated":     plant(gz[:len(gz)-1]),
		"trailing":      plant(append(bytes.Clone(gz), '\n')),
		"other content": plant(Encode([]byte("jello\n"))),
		"longer":        plant(Encode([]byte("hello\nhello\n"))),
		"pointer":       plant([]byte(pointer)),
		"plain":         plant(hello),
		"link": func(t *testing.T, file string) {
			sound := file + ".sound"
			plant(gz)(t, sound)
			if err := errors.Join(os.Remove(file), os.Symlink(filepath.Base(sound), file)); err != nil {
				t.Fatal(err)
			}
		},
		"pipe": func(t *testing.T, file string) {
			if err := errors.Join(os.Remove(file), mkfifo(file)); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, withClock())
			ref := mustWrite(t, s, hello)
			damage(t, s.file(ref.Hash))
			if _, err := s.Read(ref); err == nil {
				t.Fatal("the damage is not seen")
			}
			mustWrite(t, s, hello)
			if got, err := s.Read(ref); err != nil || !bytes.Equal(got, hello) {
				t.Errorf("%q, %v", got, err)
			}
			noTemps(t, s)
		})
	}
}

func plant(b []byte) func(*testing.T, string) {
	return func(t *testing.T, file string) {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWrite_directoryInTheWay(t *testing.T) {
	s := newStore(t, withClock())
	ref := RefTo(hello)
	if err := os.MkdirAll(filepath.Join(s.file(ref.Hash), "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := s.Write(hello)
	if err == nil || !strings.Contains(err.Error(), "write blob "+ref.Hash.String()) {
		t.Errorf("error %v", err)
	}
	var corrupt *CorruptError
	if _, err := s.Read(ref); !errors.As(err, &corrupt) {
		t.Errorf("Read: %v", err)
	}
	noTemps(t, s)
}

func TestStore_errors(t *testing.T) {
	s := newStore(t, withClock())
	const n = 200_000 // more than one buffer
	ref := mustWrite(t, s, random(n))
	var size *SizeError
	for _, tt := range []struct{ size, read, verified int64 }{{5, -1, n}, {n + 1, n, n}} {
		wrong := Ref{ref.Hash, tt.size}
		if _, err := s.Read(wrong); !errors.As(err, &size) || size.Actual != tt.read {
			t.Errorf("Read, size %d: %v", tt.size, err)
		}
		if err := s.Verify(wrong); !errors.As(err, &size) || size.Actual != tt.verified {
			t.Errorf("Verify, size %d: %v", tt.size, err)
		}
	}
	missing := RefTo([]byte("x"))
	_, err := s.Read(missing)
	if !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "read blob "+missing.Hash.String()+": ") {
		t.Errorf("missing: %v", err)
	}
	if strings.Count(err.Error(), missing.Hash.String()) != 1 {
		t.Errorf("the hash stands twice in %q", err)
	}
}

func TestStore_limits(t *testing.T) {
	s := newStore(t, Options{Limits: Limits{MaxBlobBytes: 10}})
	mustWrite(t, s, make([]byte, 10))
	var limit *LimitError
	for name, err := range map[string]error{
		"Write":         second(s.Write(make([]byte, 11))),
		"Batch":         second(s.NewBatch().Write(make([]byte, 11))),
		"Read":          second(s.Read(Ref{Size: 11})),
		"Read negative": second(s.Read(Ref{Size: -1})),
		"Verify":        s.Verify(Ref{Size: 11}),
	} {
		if !errors.As(err, &limit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if limits := (Limits{}); limits.Max() != 50<<20 || limits.Check(50<<20) != nil ||
		limits.Check(50<<20+1) == nil {
		t.Error("the default limit")
	}
	if entries, _ := os.ReadDir(s.dir); len(entries) != 2 {
		t.Errorf("entries %v", entries)
	}
}

func TestStore_opens(t *testing.T) {
	s := newStore(t, withClock())
	ref := mustWrite(t, s, hello) // there is nothing to open
	c := Refer(ref)
	c.Ref()
	c.Size()
	if _, err := s.Stat(ref.Hash); err != nil {
		t.Error(err)
	}
	for range s.All() {
	}
	if got := s.Opens(); got != 0 {
		t.Errorf("%d opens before anything was read", got)
	}
	if b, err := c.Bytes(s); err != nil || !bytes.Equal(b, hello) {
		t.Errorf("%q, %v", b, err)
	}
	mustWrite(t, s, hello)
	if err := s.Verify(ref); err != nil {
		t.Error(err)
	}
	if got := s.Opens(); got != 3 {
		t.Errorf("%d opens, want 3", got)
	}
}

func TestStore_modes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	s := newStore(t, withClock())
	ref := mustWrite(t, s, hello)
	probe := filepath.Join(t.TempDir(), "probe")
	if err := errors.Join(os.Mkdir(probe, 0o755), os.WriteFile(probe+"/f", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{s.file(ref.Hash): probe + "/f", s.dir: probe} {
		g, w := mustStat(t, got), mustStat(t, want)
		if g.Mode() != w.Mode() {
			t.Errorf("%s: mode %v, want %v", got, g.Mode(), w.Mode())
		}
	}
}

func mustStat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// Git removes directories that become empty, and creates them again, while the program runs.
func TestStore_directoriesThatGoAndCome(t *testing.T) {
	for _, depth := range []int{0, 1, 2, 3, 4} { // how much of a1/b2 below .jp/blobs is removed
		s := newStore(t, withClock())
		ref := mustWrite(t, s, hello)
		gone := s.file(ref.Hash)
		for range depth {
			gone = filepath.Dir(gone)
		}
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("depth %d: %v", depth, err)
		}
		other := openStore(t, s.dir, withClock())
		mustWrite(t, other, hello)
		if _, err := s.Read(ref); err != nil {
			t.Errorf("depth %d: made again: %v", depth, err)
		}
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, s, hello)
		if _, err := other.Read(ref); err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

func TestStore_linksOutOfTheStore(t *testing.T) {
	ref := RefTo(hello)
	tests := map[string]string{ // link below .jp, and its target in an intact store outside
		"blobs": "", "blobs/58": "58", "blobs/58/91": "58/91", "blobs/.tmp": ".tmp",
		"blobs/" + ref.Hash.Path(): ref.Hash.Path(),
	}
	for link, target := range tests {
		t.Run(link, func(t *testing.T) {
			outside := openStore(t, filepath.Join(t.TempDir(), Dir), withClock())
			mustWrite(t, outside, hello)
			s := newStore(t, withClock())
			at := filepath.Join(filepath.Dir(s.dir), filepath.FromSlash(link))
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755),
				os.Symlink(filepath.Join(outside.dir, target), at)); err != nil {
				t.Fatal(err)
			}
			if b, err := s.Read(ref); err == nil {
				t.Errorf("read %q through the link", b)
			}
			if err := s.Verify(ref); err == nil {
				t.Error("verified through the link")
			}
			before := listing(t, outside.dir)
			_, err := s.Write([]byte("hello\n"))
			if atBlob := strings.HasSuffix(link, suffix); (err == nil) != atBlob {
				t.Errorf("Write: %v", err)
			}
			if after := listing(t, outside.dir); !slices.Equal(before, after) {
				t.Errorf("outside changed:\n%v\n%v", before, after)
			}
			for h, err := range s.All() {
				if err == nil && link != "blobs/.tmp" && !strings.HasSuffix(link, suffix) {
					t.Errorf("listed %v through the link", h)
				}
			}
		})
	}
}

// listing returns the path, time and inode of everything below dir.
func listing(t *testing.T, dir string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		lines = append(lines, fmt.Sprint(path, info.ModTime(), info.Size()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestAll(t *testing.T) {
	s := newStore(t, withClock())
	var want []Hash
	b := s.NewBatch()
	for i := range 300 {
		want = append(want, mustWrite(t, b, fmt.Append(nil, i)).Hash)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(want, Hash.Compare)
	foreign := []string{
		"README", "5", "zz/00/x", "58/91.txt", "58/9", "58/91/x.blob.gz", "AA/00/x",
		RefTo(nil).Hash.Path() + "/d", ".other/x",
	}
	for _, name := range foreign {
		path := filepath.Join(s.dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []Hash
	var names []string
	for h, err := range s.All() {
		var f *ForeignError
		switch {
		case err == nil:
			got = append(got, h)
		case errors.As(err, &f):
			names = append(names, f.Path)
		default:
			t.Error(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d hashes, want %d, sorted", len(got), len(want))
	}
	wantNames := []string{
		".other", "5", "58/9", "58/91/x.blob.gz", "58/91.txt", "AA", "README",
		RefTo(nil).Hash.Path(), "zz",
	}
	if !slices.Equal(names, wantNames) {
		t.Errorf("foreign %q\nwant    %q", names, wantNames)
	}
	for range s.All() {
		break // must not panic
	}
}

func TestBatch(t *testing.T) {
	s := newStore(t, withClock())
	kept := mustWrite(t, s, []byte("0"))
	before := age(t, s, kept.Hash)
	b := s.NewBatch()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				mustWrite(t, b, fmt.Append(nil, (i*(g+1))%100))
			}
		})
	}
	wg.Wait()
	if _, err := s.Stat(RefTo([]byte("7")).Hash); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("visible before the commit: %v", err)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := s.Verify(RefTo(fmt.Append(nil, i))); err != nil {
			t.Error(err)
		}
	}
	after, err := s.Stat(kept.Hash)
	if err != nil || !os.SameFile(before, after) || !after.ModTime().After(before.ModTime()) {
		t.Errorf("the file that was there: %v, %v", after, err)
	}
	noTemps(t, s)
	dropped := mustWrite(t, b, []byte("dropped"))
	b.Discard()
	if _, err := s.Stat(dropped.Hash); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("visible after Discard: %v", err)
	}
	noTemps(t, s)
	mustWrite(t, b, []byte("dropped")) // the batch must not consider it written
	if err := errors.Join(b.Commit(), s.Verify(dropped), b.Commit()); err != nil {
		t.Error(err)
	}
}

// Each step fails once, with a full disk.
func TestWrite_failureAtEveryStep(t *testing.T) {
	for _, batch := range []bool{false, true} {
		for n := 1; ; n++ {
			s := newStore(t, withClock())
			var mu sync.Mutex // the steps of a batch overlap
			step, name := 0, ""
			s.hook = func(st atomicfile.Step, _ string) error {
				mu.Lock()
				defer mu.Unlock()
				if step++; step == n {
					name = string(st)
					return &fs.PathError{Op: name, Path: "x", Err: syscall.ENOSPC}
				}
				return nil
			}
			err := writeOne(s, batch)
			if name == "" {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, syscall.ENOSPC) ||
				!strings.Contains(err.Error(), "write") && !strings.Contains(err.Error(), "sync") {
				t.Errorf("%s: %v", name, err)
			}
			noTemps(t, s)
			if _, err := s.Read(RefTo(hello)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
			s.hook = nil
			if err := errors.Join(writeOne(s, batch), s.Verify(RefTo(hello))); err != nil {
				t.Errorf("%s: again: %v", name, err)
			}
		}
	}
}

func writeOne(s *Store, batch bool) error {
	if !batch {
		_, err := s.Write(hello)
		return err
	}
	b := s.NewBatch()
	_, err := b.Write(hello)
	return errors.Join(err, b.Commit())
}
