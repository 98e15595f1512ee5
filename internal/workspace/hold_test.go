package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
)

func TestHoldKeepsOthersOut(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	h, err := ws.Hold(t.Context(), id1)
	if err != nil {
		t.Fatal(err)
	}
	w.env.Settings.LockWait = 0
	other := w.open()
	var held *LockedError
	if err := other.Update(t.Context(), id1, appendMessage("no")); !errors.As(err, &held) {
		t.Errorf("update: %v", err)
	}
	if _, err := other.Hold(t.Context(), id1); !errors.As(err, &held) {
		t.Errorf("hold: %v", err)
	}
	for _, text := range []string{"one", "two"} {
		if err := h.Update(appendMessage(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if err := other.Update(t.Context(), id1, appendMessage("three")); err != nil {
		t.Error(err)
	}
	after := w.read(dir1 + "/events.json")
	one, two, three := strings.Index(after, "one"), strings.Index(after, "two"), strings.Index(after, "three")
	if one < 0 || two < one || three < two {
		t.Errorf("got\n%s", after)
	}
}

func TestHoldKeepsWhatAFailedChangeDid(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	h, err := w.open().Hold(t.Context(), id1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Release() }()
	before := w.read(dir1 + "/events.json")
	failed := errors.New("on purpose")
	err = h.Update(func(c *Conversation) error {
		c.Stream.Append(message("no"))
		title := "no"
		c.Details.Title = &title
		return failed
	})
	if !errors.Is(err, failed) || w.read(dir1+"/events.json") != before {
		t.Errorf("got %v", err)
	}
	if err := h.Update(appendMessage("yes")); err != nil {
		t.Fatal(err)
	}
	if after := w.read(dir1 + "/events.json"); strings.Contains(after, `"no"`) || h.Conversation().Title() == "no" {
		t.Errorf("a change that failed was saved:\n%s", after)
	}
}

// TestHoldSeesWhatOthersWrote changes files without the lock, as git does.
func TestHoldSeesWhatOthersWrote(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	h, err := w.open().Hold(t.Context(), id1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Release() }()
	if err := h.Update(appendMessage("ours")); err != nil {
		t.Fatal(err)
	}
	name := dir1 + "/events.json"
	w.write(name, strings.Replace(w.read(name), "ours", "theirs", 1))
	if err := h.Update(appendMessage("more")); err != nil {
		t.Fatal(err)
	}
	if after := w.read(name); !strings.Contains(after, "theirs") || !strings.Contains(after, "more") {
		t.Errorf("got\n%s", after)
	}
}

func TestHoldFollowsATitle(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	h, err := w.open().Hold(t.Context(), id1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Release() }()
	title := "another name"
	err = h.Update(func(c *Conversation) error { c.Details.Title = &title; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Update(appendMessage("here")); err != nil {
		t.Fatal(err)
	}
	if got := w.read("proj/" + h.Conversation().Path + "/events.json"); !strings.Contains(got, "here") {
		t.Errorf("got\n%s", got)
	}
}

// TestHoldSavesWithoutLookingBack counts the allocations of a save: the bytes of the stream, which
// are encoded once, grow with its length, but the number of allocations does not.
func TestHoldSavesWithoutLookingBack(t *testing.T) {
	saves := func(n int) float64 {
		h := newHold(t)
		defer func() { _ = h.Release() }()
		fill(t, h, n)
		return testing.AllocsPerRun(10, func() {
			if err := h.Update(appendMessage("one more")); err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := saves(10), saves(2000); long > short+20 {
		t.Errorf("a save allocates %v times after 10 events and %v times after 2,000", short, long)
	}
}

// TestHoldSavesInTheSameMemory counts the bytes that a save allocates: they do not include the
// stream, which is encoded in the buffer of the save before the last.
func TestHoldSavesInTheSameMemory(t *testing.T) {
	each := func(n int) uint64 {
		h := newHold(t)
		defer func() { _ = h.Release() }()
		fill(t, h, n)
		save := func() {
			if err := h.Update(appendMessage("one more")); err != nil {
				t.Fatal(err)
			}
		}
		save() // grows the buffer
		const saves = 10
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range saves {
			save()
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / saves
	}
	short, long := each(300), each(3000) // files of 200 kB and of 2 MB
	if t.Logf("%d and %d bytes", short, long); long > short+16<<10 {
		t.Errorf("a save allocates %d bytes after 300 events and %d after 3,000", short, long)
	}
}

// TestHoldWritesOnlyWhatIsNew counts the files that saves create: from the third on they write
// to the file that the one before replaced, unless another program changed it, and the end of the
// hold leaves none.
func TestHoldWritesOnlyWhatIsNew(t *testing.T) {
	h := newHold(t)
	fill(t, h, 100)
	s := h.workspace.storeOf(h.current.Entry)
	name := s.path(h.current.Entry, EventsFile)
	created := 0
	s.hook = func(step atomicfile.Step, _ string) error {
		if step == atomicfile.StepCreate {
			created++
		}
		return nil
	}
	save := func() []byte {
		if err := h.Update(appendMessage("one more")); err != nil {
			t.Fatal(err)
		}
		data, err := s.read(name)
		if err != nil || !bytes.Equal(data, h.current.Stream.Encode()) {
			t.Fatalf("what is stored is not what was saved: %v", err)
		}
		return data
	}
	temporaries := func() int {
		left, err := fs.ReadDir(s.fsys, tempDir)
		if err != nil {
			t.Fatal(err)
		}
		return len(left)
	}
	save()
	save()
	if temporaries() == 0 {
		t.Skip("this system keeps no spare")
	}
	for round := range 2 {
		created = 0
		for range 5 {
			save()
		}
		if created != round { // after a change by another program
			t.Errorf("round %d: %d files were created", round, created)
		}
		changed := bytes.Replace(save(), []byte("one more"), []byte("another"), 1)
		if err := s.root.WriteFile(name, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		created = 0
		if data := save(); !bytes.Contains(data, []byte("another")) || created != 1 {
			t.Errorf("round %d: %d files were created after a change", round, created)
		}
	}
	if err := h.Release(); err != nil || temporaries() != 0 {
		t.Errorf("%d temporaries are left, error %v", temporaries(), err)
	}
}

// TestHoldKeepsItsMemoryApart fails a save, and checks that the file on disk is still recognized.
func TestHoldKeepsItsMemoryApart(t *testing.T) {
	h := newHold(t)
	defer func() { _ = h.Release() }()
	s := h.workspace.storeOf(h.current.Entry)
	for i := range 6 {
		failed := errors.New("on purpose")
		s.hook = func(atomicfile.Step, string) error { return failed }
		err := h.Update(appendMessage("lost " + strings.Repeat("x", 100*i)))
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		s.hook = nil
		data, err := s.read(s.path(h.current.Entry, EventsFile))
		if err != nil || !bytes.Equal(data, h.current.stored.stream) {
			t.Fatalf("save %d: what is stored is not what is known of it: %v", i, err)
		}
		if err := h.Update(appendMessage(fmt.Sprint("kept ", i))); err != nil {
			t.Fatal(err)
		}
		data, err = s.read(s.path(h.current.Entry, EventsFile))
		if err != nil || strings.Contains(string(data), "lost") ||
			strings.Count(string(data), "kept") != i+1 || !bytes.Equal(h.current.Stream.Encode(), data) {
			t.Fatalf("save %d: %v\n%s", i, err, data)
		}
	}
}

// TestHoldKeepsWhatItRead shortens a stream whose elements share memory with the file that was
// read.
func TestHoldKeepsWhatItRead(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	if err := w.open().Update(t.Context(), id1, func(c *Conversation) error {
		for i := range 100 {
			c.Stream.Append(message(fmt.Sprint("message ", i)))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	h, err := w.open().Hold(t.Context(), id1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Release() }()
	for range 40 {
		want := h.current.Stream.Clone()
		want.Remove(1, 2)
		err := h.Update(func(c *Conversation) error { c.Stream.Remove(1, 2); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if got := w.read(dir1 + "/events.json"); got != string(want.Encode()) ||
			!json.Valid([]byte(got)) {
			t.Fatalf("got\n%s", got)
		}
	}
}

// TestHoldFindsWhatIsMissing removes a content while the conversation is held: an existing
// reference is kept, another event with the same reference is accepted, and a new reference to a
// missing content is refused.
func TestHoldFindsWhatIsMissing(t *testing.T) {
	h := newHold(t)
	defer func() { _ = h.Release() }()
	fill(t, h, 10)
	s := h.workspace.storeOf(h.current.Entry)
	if err := s.root.RemoveAll(blobs.Dir); err != nil {
		t.Fatal(err)
	}
	again := h.current.Stream.At(1)
	err := h.Update(func(c *Conversation) error { c.Stream.Append(again); return nil })
	if err != nil {
		t.Errorf("a reference that stood in the stream: %v", err)
	}
	nowhere := blobs.Refer(blobs.RefTo([]byte("nowhere")))
	err = h.Update(func(c *Conversation) error {
		c.Stream.Insert(3, resultOf(nowhere))
		return nil
	})
	var missing *DanglingError
	if !errors.As(err, &missing) || len(missing.Refs) != 1 {
		t.Errorf("a reference to nothing: %v", err)
	}
}

// BenchmarkHoldUpdate measures saving one event of a long conversation, half of whose events refer
// to contents.
func BenchmarkHoldUpdate(b *testing.B) {
	for _, n := range []int{50, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := newHold(b)
			defer func() { _ = h.Release() }()
			fill(b, h, n)
			for b.Loop() {
				if err := h.Update(appendMessage("one more")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill appends n events, half of them with a content.
func fill(b testing.TB, h *Hold, n int) {
	b.Helper()
	err := h.Update(func(c *Conversation) error {
		for i := range n / 2 {
			content := blobs.Loaded(fmt.Appendf(nil, "content %d", i))
			c.Stream.Append(message(strings.Repeat("word ", 100)), resultOf(content))
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func newHold(b testing.TB) *Hold {
	b.Helper()
	root := b.TempDir()
	env := Env{Getenv: func(string) string { return "" }, Now: time.Now, Dir: root}
	if _, err := Init(root, env); err != nil {
		b.Fatal(err)
	}
	w, err := Open(root, env)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = w.Close() })
	e, err := w.Create(b.Context(), &NewConversation{Details: &events.Details{LastActivatedAt: time.Now()}})
	if err != nil {
		b.Fatal(err)
	}
	h, err := w.Hold(b.Context(), e.ID)
	if err != nil {
		b.Fatal(err)
	}
	return h
}

func resultOf(content blobs.Content) *events.Element {
	return events.NewElement(time.Unix(1, 0), &events.ToolCallResponse{
		ID: "a", Blocks: []events.Block{{Type: events.BlockText, Content: content}},
	}, events.Metadata{})
}
