package workspace

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"

	"github.com/git-jp/git-jp/internal/regular"
)

// otherDir is a second directory of id1.
const otherDir = live + "17800836875-other"

// doubleWorld has id1 twice, each with a turn and a file of its own, and a user-local copy.
func doubleWorld(t *testing.T) *world {
	w := newWorld(t)
	w.conversation(w.withUserLocal()+"/conversations/.archive/17800836875-first", "first")
	w.conversation(dir1, "first")
	w.write(dir1+"/own.txt", "own")
	w.conversation(otherDir, "other")
	w.write(otherDir+"/EXTRA.md", "extra")
	w.write(otherDir+"/own.txt", "another")
	w.write(otherDir+"/below/own.txt", "own")
	w.write(dir1+"/below/own.txt", "beside")
	return w
}

// aside is the quarantine of a test, by path.
type aside map[string]string

func (a aside) keep(c *Conversation, read func(string) ([]byte, error)) error {
	for _, name := range c.Files {
		data, err := read(name)
		if err != nil {
			return err
		}
		a[c.Path+"/"+name] = string(data)
	}
	return nil
}

// uniter merges all directories into the one titled other, with a new element.
func (a aside) uniter(all []*Conversation) (Union, error) {
	keep := slices.IndexFunc(all, func(c *Conversation) bool { return c.Title() == "other" })
	if keep < 0 {
		keep = slices.IndexFunc(all, func(c *Conversation) bool { return c.Title() == "both" })
	}
	c := all[keep]
	title := "both"
	c.Details.Title = &title
	if c.Stream.Len() == 4 {
		c.Stream.Append(withResult("new")...)
	}
	return Union{Keep: keep, Quarantine: a.keep}, nil
}

func TestUnite(t *testing.T) {
	w := doubleWorld(t)
	ws := w.open()
	kept := aside{}
	e, err := ws.Unite(t.Context(), id1, kept.uniter)
	if err != nil {
		t.Fatal(err)
	}
	if e.Path != ".jp/conversations/17800836875-both" {
		t.Errorf("it stays in %s", e.Path)
	}
	w.united("done", kept)
	if len(kept) != 5 {
		t.Errorf("quarantined: %v", slices.Sorted(maps.Keys(kept)))
	}
	// With one directory there is nothing to unite.
	if _, err := ws.Unite(t.Context(), id1, func([]*Conversation) (Union, error) {
		return Union{}, errors.New("was called")
	}); err != nil {
		t.Error(err)
	}
}

// TestUniteTakesALongerName unites a file whose copy of an earlier union someone edited.
func TestUniteTakesALongerName(t *testing.T) {
	w := doubleWorld(t)
	name := "own.txt~" + blobs.Sum([]byte("own")).String()
	edited := name[:len("own.txt~")+12]
	w.write(otherDir+"/"+edited, "edited")
	e, err := w.open().Unite(t.Context(), id1, aside{}.uniter)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{edited: "edited", name: "own"} {
		if got := w.read("proj/" + e.Path + "/" + name); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// TestUniteLeavesLinks checks that a directory with a symlink is not removed, and that nothing else
// is changed.
func TestUniteLeavesLinks(t *testing.T) {
	w := doubleWorld(t)
	ws := w.open()
	link := filepath.Join(w.dir, filepath.FromSlash(dir1), "link")
	if err := os.Symlink("own.txt", link); err != nil {
		t.Skip(err)
	}
	before := w.snapshot("proj")
	if _, err := ws.Unite(t.Context(), id1, aside{}.uniter); !errors.Is(err, regular.ErrNot) {
		t.Errorf("got %v", err)
	}
	w.unchanged(before, "proj")
}

// united checks that there is one directory with everything.
func (w *world) united(what string, kept aside) {
	w.Helper()
	ws := w.open()
	entries, problems, err := ws.List(ListOptions{Archived: true})
	if err != nil || len(entries) != 1 || len(problems) > 0 {
		w.Fatalf("%s: %v, %v, %v", what, entries, problems, err)
	}
	c, err := ws.Load(entries[0])
	if err != nil {
		w.Fatalf("%s: %v", what, err)
	}
	if n := c.Stream.Len(); n != 6 || !slices.Contains(c.Files, "EXTRA.md") {
		w.Errorf("%s: %d elements and %v", what, n, c.Files)
	}
	for name, want := range map[string]string{
		"own.txt": "another", "own.txt~" + blobs.Sum([]byte("own")).String()[:12]: "own",
		"below/own.txt": "own", "below/own.txt~" + blobs.Sum([]byte("beside")).String()[:12]: "beside",
	} {
		if got := w.read("proj/" + c.Path + "/" + name); got != want {
			w.Errorf("%s: %s has %q, want %q", what, name, got, want)
		}
	}
	if own := kept[".jp/conversations/17800836875-first/own.txt"]; own != "own" {
		w.Errorf("%s: the file that both have is aside as %q", what, own)
	}
	if copies, err := ws.Copies(id1); err != nil || len(copies) != 2 || copies[1].Partition != Live {
		w.Errorf("%s: the user-local copy is in %v, %v", what, copies, err)
	}
}

// TestUniteMayFailAnywhere checks that after any failed step each directory is complete or in the
// quarantine, and that uniting again completes it.
func TestUniteMayFailAnywhere(t *testing.T) {
	broken := errors.New("broken")
	w := doubleWorld(t)
	ws := w.open()
	steps := interrupt(ws, -1, nil)
	if _, err := ws.Unite(t.Context(), id1, aside{}.uniter); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= *steps; i++ {
		w := doubleWorld(t)
		ws := w.open()
		interrupt(ws, i, func() error { return broken })
		kept := aside{}
		if _, err := ws.Unite(t.Context(), id1, kept.uniter); !errors.Is(err, broken) {
			t.Errorf("step %d: %v", i, err)
		}
		what := fmt.Sprintf("step %d of %d", i, *steps)
		w.nothingLost(what, kept)
		for _, s := range ws.stores() {
			s.hook = func(atomicfile.Step, string) error { return nil }
		}
		if _, err := ws.Unite(t.Context(), id1, kept.uniter); err != nil {
			t.Fatalf("again after %s: %v", what, err)
		}
		w.settled(what, kept)
	}
	if *steps < 10 {
		t.Errorf("there are %d steps", *steps)
	}
}

// nothingLost checks that the content of each directory exists or is in the quarantine.
func (w *world) nothingLost(what string, kept aside) {
	w.Helper()
	ws := w.open()
	entries, err := ws.main.find(id1)
	if err != nil {
		w.Fatal(err)
	}
	titles := map[string]bool{}
	for _, e := range entries {
		c, err := ws.Load(e)
		if err != nil {
			w.Errorf("%s: %v", what, err)
			continue
		}
		titles[c.Title()] = true
	}
	if !titles["first"] && kept[".jp/conversations/17800836875-first/events.json"] == "" {
		w.Errorf("%s: first is neither there nor aside: %v", what, titles)
	}
	if !titles["other"] && !titles["both"] {
		w.Errorf("%s: the one that stays is gone: %v", what, titles)
	}
}

// settled is united for a run that may have found only one directory: an error after the removal of
// the last one loses nothing.
func (w *world) settled(what string, kept aside) {
	w.Helper()
	ws := w.open()
	entries, problems, err := ws.List(ListOptions{Archived: true})
	if err != nil || len(entries) != 1 || len(problems) > 0 {
		w.Fatalf("%s: %v, %v, %v", what, entries, problems, err)
	}
	c, err := ws.Load(entries[0])
	if err != nil || c.Stream.Len() != 6 || !slices.Contains(c.Files, "EXTRA.md") {
		w.Errorf("again after %s: %+v, %v", what, c, err)
	}
	if kept[".jp/conversations/17800836875-first/events.json"] == "" {
		w.Errorf("again after %s: first is not aside", what)
	}
}

// TestReplaceWhatIsGone checks that a missing file can be replaced, and a symlink cannot.
func TestReplaceWhatIsGone(t *testing.T) {
	for _, name := range []string{MetadataFile, EventsFile, BaseConfigFile} {
		w := newWorld(t)
		w.conversation(dir1, "first")
		want := w.read(dir1 + "/" + name)
		if err := os.Remove(w.path(dir1 + "/" + name)); err != nil {
			t.Fatal(err)
		}
		if err := w.open().Replace(t.Context(), id1, Replacement{
			Name: name, After: []byte(want),
		}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// Inline content is moved to the store by the save, as always.
		if got := w.read(dir1 + "/" + name); got != want && !strings.Contains(got, `"hello"`) {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestReplaceInAnotherDirectory checks that of directories that share an id the named one is
// changed, and none if it is gone.
func TestReplaceInAnotherDirectory(t *testing.T) {
	w := doubleWorld(t)
	ws := w.open()
	before := w.read(otherDir + "/" + EventsFile)
	r := Replacement{
		Name: EventsFile, Before: []byte(before), After: []byte(stream("changed", "x")),
		Path: ".jp/conversations/17800836875-other",
	}
	if err := ws.Replace(t.Context(), id1, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.read(otherDir+"/"+EventsFile), `"changed"`) ||
		strings.Contains(w.read(dir1+"/"+EventsFile), `"changed"`) {
		t.Error("the wrong one was changed")
	}
	r.Path = ".jp/conversations/17800836875-nowhere"
	if err := ws.Replace(t.Context(), id1, r); !errors.Is(err, ErrMeanwhile) {
		t.Errorf("of one that is gone: %v", err)
	}
}

// TestCreateBeside checks that a user-local copy blocks a creation unless Beside is set.
func TestCreateBeside(t *testing.T) {
	w := newWorld(t)
	w.conversation(w.withUserLocal()+"/conversations/17800836875-first", "first")
	ws := w.open()
	n := &NewConversation{ID: id1, Details: details("made"), Stream: events.New(withResult("x")...)}
	if _, err := ws.Create(t.Context(), n); err == nil {
		t.Error("the id is taken")
	}
	n.Beside = true
	if e, err := ws.Create(t.Context(), n); err != nil || e.Local {
		t.Errorf("beside: %v, %v", e, err)
	}
	if _, err := ws.Create(t.Context(), n); err == nil {
		t.Error("the workspace has it now")
	}
}
