package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/git-jp/git-jp/internal/realdata"
)

func TestScanReportsBesideTheEntries(t *testing.T) {
	file := &fstest.MapFile{}
	const c = "a/.jp/conversations/"
	fsys := fstest.MapFS{
		c + "17-x/metadata.json": file, c + "17-x/events.json": file,
		c + "0018/metadata.json": file, c + "0018/events.json": file, c + "0018/notes/x.md": file,
		c + "19/metadata.json":             file,
		c + "20/QUERY_MESSAGE.md":          file,
		c + "21/metadata.json":             file,
		c + "21/messages.json":             file,
		c + "17foo/metadata.json":          file,
		c + "notes/x":                      file,
		c + "-5/x":                         file,
		c + "metadata.json":                file,
		c + ".trash/22/metadata.json":      file,
		c + ".git-jp/23/metadata.json":     file,
		c + ".archive/17-y/metadata.json":  file,
		c + ".archive/17-y/events.json":    file,
		c + ".archive/24-z/metadata.json":  file,
		c + ".archive/24-z/events.json":    file,
		c + "24-z2/metadata.json":          file,
		c + "24-z2/events.json":            file,
		c + "25":                           {Mode: fs.ModeSymlink},
		"b/.jp/conversations/99/meta.json": file,
	}
	entries, problems, err := Scan(fsys, "a/.jp")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		short := strings.TrimPrefix(e.Path, c)
		got = append(got, fmt.Sprint(e.ID.Digits(), " ", short, " ", e.Legacy))
	}
	want := []string{
		"17 17-x false", "17 .archive/17-y false", "18 0018 false", "19 19 false", "21 21 true",
		"24 24-z2 false", "24 .archive/24-z false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("entries are %q", got)
	}
	got = nil
	for _, p := range problems {
		got = append(got, strings.ReplaceAll(p.String(), c, ""))
	}
	slices.Sort(got)
	want = []string{
		"-5 is not a conversation directory",
		".archive/17-y has the id of 17-x",
		".archive/24-z has the id of 24-z2",
		"17foo is not a conversation directory",
		"19 has no events.json",
		"20 has no metadata.json and no events.json",
		"25 is a symbolic link",
		"notes is not a conversation directory",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems are\n%s", strings.Join(got, "\n"))
	}
}

func TestScanWithoutConversations(t *testing.T) {
	entries, problems, err := Scan(fstest.MapFS{"x": {}}, ".jp")
	if err != nil || len(entries)+len(problems) != 0 {
		t.Errorf("got %v, %v, %v", entries, problems, err)
	}
}

func TestScanRealConversations(t *testing.T) {
	dir := realdata.Dir(t, "conversations")
	w := newWorld(t)
	if err := os.RemoveAll(w.path("proj/.jp/conversations")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(w.path("proj/.jp/conversations"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	ws := w.open()
	entries, problems, err := ws.List(ListOptions{Archived: true})
	if err != nil || len(problems) != 0 || len(entries) != 11 {
		t.Fatalf("%d entries, %v, %v", len(entries), problems, err)
	}
	for _, e := range entries {
		c, err := ws.Load(e)
		if err != nil {
			t.Error(err)
			continue
		}
		if c.Stream.Len() == 0 || c.Title() == "" || !slices.Contains(c.Files, EventsFile) {
			t.Errorf("%s: %d elements, %q, %v", e.Dirname, c.Stream.Len(), c.Title(), c.Files)
		}
	}
}

// counter counts opened files and directories.
type counter struct {
	fs.FS
	files, dirs *atomic.Int64
}

func (c counter) Open(name string) (fs.File, error) { c.files.Add(1); return c.FS.Open(name) }

func (c counter) ReadFile(name string) ([]byte, error) {
	c.files.Add(1)
	return fs.ReadFile(c.FS, name)
}

func (c counter) ReadDir(name string) ([]fs.DirEntry, error) {
	c.dirs.Add(1)
	return fs.ReadDir(c.FS, name)
}

func (c counter) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(c.FS, name) }
func (c counter) ReadLink(name string) (string, error)   { return fs.ReadLink(c.FS, name) }

func TestListingOpensNoStream(t *testing.T) {
	t.Parallel()
	n := 1_000
	if os.Getenv("GIT_JP_SOAK") != "" {
		n = 10_000
	}
	w := newWorld(t)
	for i := range n {
		dir := fmt.Sprintf("%s%d-some-title", live, 17_800_000_000+i)
		w.write(dir+"/"+MetadataFile, metadata("some title"))
		w.write(dir+"/"+EventsFile, "this is never read")
	}
	ws := w.open()
	var files, dirs atomic.Int64
	ws.main.fsys = counter{ws.main.fsys, &files, &dirs}
	start := time.Now()
	entries, problems, err := ws.List(ListOptions{})
	if err != nil || len(entries) != n || len(problems) != 0 {
		t.Fatalf("%d entries, %d problems, %v", len(entries), len(problems), err)
	}
	listed := time.Since(start)
	if files.Load() != 0 || dirs.Load() > int64(n)+2 {
		t.Errorf("listing opened %d files and %d directories", files.Load(), dirs.Load())
	}
	for _, e := range entries {
		if _, err := ws.LoadDetails(e); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("listed in %v, with titles in %v", listed, time.Since(start))
	if files.Load() != int64(n) || ws.Blobs().Opens() != 0 {
		t.Errorf("titles opened %d files and %d blobs", files.Load(), ws.Blobs().Opens())
	}
}

func TestLinksAreRefused(t *testing.T) {
	w := newWorld(t)
	w.conversation("outside/17800000000", "secret")
	w.conversation(dir1, "first")
	if err := os.Symlink(w.path("outside/17800000000"), w.path(live+"17800000000")); err != nil {
		t.Skip(err)
	}
	if err := os.Remove(w.path(dir1 + "/events.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../outside/17800000000/events.json",
		w.path(dir1+"/events.json")); err != nil {
		t.Fatal(err)
	}
	ws := w.open()
	entries, problems, err := ws.List(ListOptions{})
	if err != nil || len(entries) != 1 || len(problems) != 2 ||
		problems[0].Kind != Linked || problems[1].Kind != Linked {
		t.Fatalf("%v, %v, %v", entries, problems, err)
	}
	_, err = ws.Load(entries[0])
	if err == nil || !strings.Contains(err.Error(), "events.json: it is not a regular file") {
		t.Errorf("error is %v", err)
	}
	err = ws.Update(t.Context(), 17800000000, func(*Conversation) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "no conversation") {
		t.Errorf("updating through a link: %v", err)
	}
}
