package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
)

// A stranger is a program that changes files of a conversation without the lock.
type stranger struct {
	*world
	name  string // of the file, in dir1
	from  string
	to    string
	write func(w *world, name, text string)
}

func (s stranger) change() {
	s.Helper()
	// A new title renames the directory.
	found, err := filepath.Glob(s.path(live + id1.String()[len("jp-c"):] + "*/" + s.name))
	if err != nil || len(found) != 1 {
		s.Fatalf("%s: %q, %v", s.name, found, err)
	}
	name := strings.TrimPrefix(filepath.ToSlash(found[0]), filepath.ToSlash(s.dir)+"/")
	before := s.read(name)
	after := strings.Replace(before, s.from, s.to, 1)
	if after == before {
		s.Errorf("%s has no %q", s.name, s.from)
	}
	s.write(s.world, name, after)
}

func inPlace(w *world, name, text string) { w.write(name, text) }

func renamed(w *world, name, text string) {
	w.write(name+".new", text)
	if err := os.Rename(w.path(name+".new"), w.path(name)); err != nil {
		w.Error(err)
	}
}

// sameLook changes a file but keeps its size and time: only its bytes show the change.
func sameLook(w *world, name, text string) {
	info, err := os.Stat(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	w.write(name, text)
	if err := os.Chtimes(w.path(name), info.ModTime(), info.ModTime()); err != nil {
		w.Error(err)
	}
}

func entitle(d *events.Details) {
	title := "ours"
	d.Title = &title
}

// ownChanges are changes of a conversation by this program, and the files afterwards.
var ownChanges = map[string]struct {
	do   func(w *world, ws *Workspace) error
	want string
}{
	"update": {func(w *world, ws *Workspace) error {
		return ws.Update(w.Context(), id1, appendMessage("ours"))
	}, "ours"},
	"update of both": {func(w *world, ws *Workspace) error {
		return ws.Update(w.Context(), id1, func(c *Conversation) error {
			entitle(c.Details)
			return appendMessage("ours")(c)
		})
	}, "ours"},
	"hold": {func(w *world, ws *Workspace) error {
		h, err := ws.Hold(w.Context(), id1)
		if err != nil {
			return err
		}
		return errors.Join(h.Update(appendMessage("ours")), h.Release())
	}, "ours"},
	"details": {func(w *world, ws *Workspace) error {
		return ws.UpdateDetails(w.Context(), id1, func(d *events.Details) error {
			d.Labels = map[string]string{"by": "ours"}
			return nil
		})
	}, "ours"},
}

// TestStrangersAreNotOverwritten changes a file without the lock right before each step of a save,
// one after the other. Both changes must be in the result.
func TestStrangersAreNotOverwritten(t *testing.T) {
	ways := map[string]func(*world, string, string){
		"in place": inPlace, "renamed": renamed, "same look": sameLook,
	}
	for what, own := range ownChanges {
		for way, write := range ways {
			for _, file := range []stranger{
				{name: EventsFile, from: "hello", to: "other"},
				{name: MetadataFile, from: "19:41", to: "19:59"},
			} {
				t.Run(fmt.Sprint(what, " ", way, " ", file.name), func(t *testing.T) {
					meetAtEveryStep(t, own.do, own.want, file, write)
				})
			}
		}
	}
}

func meetAtEveryStep(
	t *testing.T, do func(*world, *Workspace) error, want string,
	file stranger, write func(*world, string, string),
) {
	for at := 1; ; at++ {
		w := newWorld(t)
		w.conversation(dir1, "first")
		file.world, file.write = w, write
		ws := w.open()
		step := 0
		var met string
		ws.main.hook = func(s atomicfile.Step, name string) error {
			if step++; step == at {
				met = fmt.Sprint(s, " ", name)
				file.change()
			}
			return nil
		}
		if err := do(w, ws); err != nil {
			t.Errorf("%s: %v", met, err)
		}
		if met == "" {
			return
		}
		ws.main.hook = nil
		c := loadOnly(t, ws)
		all := string(c.stored.stream) + string(c.stored.details)
		if !strings.Contains(all, file.to) || !strings.Contains(all, want) {
			t.Errorf("%s: %q or %q is lost:\n%s", met, file.to, want, all)
		}
	}
}

// TestRenamedDirectoryIsFollowed renames the directory of a conversation while a file of it is
// written.
func TestRenamedDirectoryIsFollowed(t *testing.T) {
	for _, at := range []atomicfile.Step{atomicfile.StepCreate, atomicfile.StepSync} {
		w := newWorld(t)
		w.conversation(dir1, "first")
		ws := w.open()
		renamed := false
		ws.main.hook = func(s atomicfile.Step, name string) error {
			if s != at || renamed || !strings.Contains(name, EventsFile) {
				return nil
			}
			renamed = true
			return os.Rename(w.path(dir1), w.path(dir1+"-and-more"))
		}
		if err := ws.Update(t.Context(), id1, appendMessage("ours")); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		ws.main.hook = nil
		c := loadOnly(t, ws)
		if !renamed || !strings.HasSuffix(c.Dirname, "-and-more") ||
			!strings.Contains(string(c.stored.stream), "ours") {
			t.Errorf("%s: %s:\n%s", at, c.Dirname, c.stored.stream)
		}
	}
}

func loadOnly(t *testing.T, ws *Workspace) *Conversation {
	t.Helper()
	entries, problems, err := ws.List(ListOptions{})
	if err != nil || len(entries) != 1 || len(problems) != 0 {
		t.Fatalf("%v, %v, %v", entries, problems, err)
	}
	c, err := ws.Load(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestHalfWrittenFilesAreWaitedFor writes a file without the lock in two steps.
func TestHalfWrittenFilesAreWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	h, err := ws.Hold(t.Context(), id1)
	if err != nil {
		t.Fatal(err)
	}
	name := dir1 + "/" + EventsFile
	whole := strings.Replace(w.read(name), "hello", "other", 1)
	w.write(name, whole[:len(whole)/2])
	reads := 0
	ws.main.fsys = readFS{ws.main.fsys, func(opened string) {
		if strings.HasSuffix(opened, EventsFile) {
			if reads++; reads == 2 {
				w.write(name, whole)
			}
		}
	}}
	if err := h.Update(appendMessage("ours")); err != nil {
		t.Fatal(err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
	got := w.read(name)
	if reads < 2 || !strings.Contains(got, "other") || !strings.Contains(got, "ours") {
		t.Errorf("%d reads:\n%s", reads, got)
	}
}

// readFS records which files are opened.
type readFS struct {
	fs.FS

	on func(name string)
}

func (r readFS) Open(name string) (fs.File, error) {
	r.on(name)
	return r.FS.Open(name)
}

func (r readFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.FS, name) }

func (r readFS) ReadLink(name string) (string, error) { return fs.ReadLink(r.FS, name) }

// TestWhoNeverEndsIsToldOf checks that a save gives up, and keeps the other program's content, if
// that writes before each attempt.
func TestWhoNeverEndsIsToldOf(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	n := 0
	ws.main.hook = func(s atomicfile.Step, name string) error {
		if s == atomicfile.StepSync && strings.Contains(name, EventsFile) {
			n++
			w.write(dir1+"/"+EventsFile, stream(fmt.Sprint("theirs ", n), "there"))
		}
		return nil
	}
	err := ws.Update(t.Context(), id1, appendMessage("ours"))
	if !errors.Is(err, atomicfile.ErrChanged) {
		t.Errorf("error %v", err)
	}
	if got := w.read(dir1 + "/" + EventsFile); n < 2 || !strings.Contains(got, fmt.Sprint("theirs ", n)) {
		t.Errorf("%d times:\n%s", n, got)
	}
}
