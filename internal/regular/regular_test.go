package regular_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/regular"
)

// TestRead reads regular files, also through a link, and refuses others. It tries a directory; the
// scripts try pipes.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600),
		os.Mkdir(filepath.Join(dir, "other"), 0o700),
		os.Symlink("file", filepath.Join(dir, "link")),
	); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(name string) ([]byte, error){
		"ReadFile": func(name string) ([]byte, error) {
			return regular.ReadFile(filepath.Join(dir, name), 4)
		},
		"Read": func(name string) ([]byte, error) { return regular.Read(regular.Dir(dir), name, 4) },
		"Open": func(name string) ([]byte, error) {
			f, err := regular.Open(regular.Dir(dir), name)
			if err != nil {
				return nil, err
			}
			defer f.Close() // was only read
			data := make([]byte, 4)
			_, err = f.Read(data)
			return data, err
		},
	} {
		for _, tt := range []struct {
			name string
			want error
		}{{"file", nil}, {"link", nil}, {"other", regular.ErrNot}, {"none", fs.ErrNotExist}} {
			data, err := read(tt.name)
			if !errors.Is(err, tt.want) || tt.want == nil && string(data) != "text" {
				t.Errorf("%s(%s) = %q, %v, want %v", name, tt.name, data, err, tt.want)
			}
		}
	}
}

// TestSizes reads files of exactly the limit, of more, and of more than their reported size.
func TestSizes(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for size, fits := range map[int64]bool{0: true, 100: true, 101: false, 3 << 30: false} {
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, size)); err != nil {
			t.Fatal(err)
		}
		data, err := regular.ReadFile(name, 100)
		over := new(regular.SizeError)
		if fits != (err == nil && int64(len(data)) == size) || !fits && (!errors.As(err, &over) || over.Size != size) {
			t.Errorf("%d bytes: read %d, %v", size, len(data), err)
		}
	}
	if data, err := regular.ReadAll(strings.NewReader("12345"), 5); err != nil || len(data) != 5 {
		t.Errorf("read %q, %v", data, err)
	}
	endless := io.MultiReader(strings.NewReader("x"), zeros{})
	if _, err := regular.ReadAll(endless, 1<<20); !errors.As(err, new(*regular.SizeError)) {
		t.Errorf("what does not end: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestLimitsByName(t *testing.T) {
	l := regular.Limits{Stream: 1, Blob: 64}
	for name, want := range map[string]int64{
		".jp/conversations/1/events.json": 1, "x/events.json~": 1, "metadata.json": regular.MaxSettings,
		"a/base_config.json": regular.MaxSettings, ".jp/config.toml": regular.MaxSettings,
		".jp/.id": regular.MaxNote, "x/00/11.blob.gz": 64 + 1 + 64<<10, "x": regular.MaxOther,
	} {
		if got := l.Of(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if (regular.Limits{}).OfStream() != regular.MaxStream {
		t.Error("no default")
	}
}

// TestPatterns tries patterns just within the limits, and just beyond.
func TestPatterns(t *testing.T) {
	rep := strings.Repeat
	for _, tt := range []struct{ plain, intricate string }{
		{rep("a", 1024), rep("a", 1025)},
		{rep("{a,b}", 6), rep("{a,b}", 7)},
		{"{" + rep(",", 63) + "}", "{" + rep(",", 64) + "}"},
		{rep("*a", 8), rep("*a", 9)},
		{rep("**/", 4) + "x", rep("**/", 5) + "x"},
		{"{a,{b,c}}", rep("{a,", 7) + rep("}", 7)},
	} {
		if err := regular.CheckPattern(tt.plain); err != nil {
			t.Errorf("%.40s…: %v", tt.plain, err)
		}
		if err := regular.CheckPattern(tt.intricate); !errors.Is(err, regular.ErrPattern) {
			t.Errorf("%.40s…: %v", tt.intricate, err)
		}
	}
}

// A counted is a file with a reported size that counts its reads.
type counted struct {
	text  string
	said  int64
	reads *int
}

func (c counted) Open(name string) (fs.File, error) {
	return &countedFile{c, strings.NewReader(c.text)}, nil
}

type countedFile struct {
	counted
	*strings.Reader
}

func (f *countedFile) Read(p []byte) (int, error) { *f.reads++; return f.Reader.Read(p) }
func (f *countedFile) Stat() (fs.FileInfo, error) { return saidInfo{size: f.said}, nil }
func (f *countedFile) Close() error               { return nil }

type saidInfo struct {
	fs.FileInfo
	size int64
}

func (saidInfo) Mode() fs.FileMode { return 0 }
func (i saidInfo) Size() int64     { return i.size }

// TestReadAsksOnce checks that a file of the reported size takes one read, and that a file that has
// grown or shrunk since, or that reports no size, is read completely.
func TestReadAsksOnce(t *testing.T) {
	const limit = 16
	for _, tt := range []struct {
		text  string
		said  int64
		reads int
	}{{"text", 4, 1}, {"", 0, 1}, {"text", 0, 4}, {"text", 9, 2}, {"long text", 4, 3}} {
		reads := 0
		data, err := regular.Read(counted{tt.text, tt.said, &reads}, "file", limit)
		if string(data) != tt.text || err != nil || reads != tt.reads {
			t.Errorf("%q said to be %d: %q after %d reads, %v", tt.text, tt.said, data, reads, err)
		}
	}
	var over *regular.SizeError
	_, err := regular.Read(counted{strings.Repeat("x", limit+1), 4, new(int)}, "file", limit)
	if !errors.As(err, &over) {
		t.Errorf("a file that grew over the limit: %v", err)
	}
}
