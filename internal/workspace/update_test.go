package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/regular"
)

func appendMessage(text string) func(*Conversation) error {
	return func(c *Conversation) error {
		c.Stream.Append(message(text))
		return nil
	}
}

func TestUpdateThatChangesNothingWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	before := w.snapshot("proj")
	calls := 0
	err := ws.Update(t.Context(), id1, func(c *Conversation) error {
		calls++
		title := c.Title()
		c.Details.Title = &title
		c.BaseConfig = slices.Clone(c.BaseConfig)
		return nil
	})
	if err != nil || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	if err := ws.Rename(t.Context(), id1, "first"); err != nil {
		t.Error(err)
	}
	w.unchanged(before, "proj")
}

func TestUpdateStoresContents(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	before := w.read(dir1 + "/events.json")
	base := w.snapshot(dir1)["base_config.json"]
	ws := w.open()
	err := ws.Update(t.Context(), id1, func(c *Conversation) error {
		c.Stream.Append(withResult("a new result")...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	after := w.read(dir1 + "/events.json")
	for _, text := range []string{"there", "a new result"} {
		hash := blobs.Sum([]byte(text)).String()
		if !strings.Contains(after, hash) || strings.Contains(after, `"`+text+`"`) {
			t.Errorf("content %q stands in\n%s", text, after)
		}
		got, err := ws.Blobs().Read(blobs.RefTo([]byte(text)))
		if err != nil || string(got) != text {
			t.Errorf("stored as %q, %v", got, err)
		}
	}
	head, _, _ := strings.Cut(before, `"tool_call_response"`)
	if !strings.HasPrefix(after, head) {
		t.Errorf("untouched elements were rewritten:\n%s", after)
	}
	if w.snapshot(dir1)["base_config.json"] != base {
		t.Error("base_config.json was written")
	}
	w.noTrash()
}

func TestUpdateOfDetailsLeavesContentsAlone(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	stream := w.snapshot(dir1)["events.json"]
	err := w.open().Update(t.Context(), id1, func(c *Conversation) error {
		c.Details.Labels = map[string]string{"a": "b"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	labelled := strings.Contains(w.read(dir1+"/metadata.json"), `"a"`)
	if w.snapshot(dir1)["events.json"] != stream || !labelled {
		t.Error("the stream was written, or the label was not")
	}
	if got := w.names("proj/.jp/blobs"); !slices.Equal(got, []string{".tmp"}) {
		t.Errorf("blobs are %v", got)
	}
}

func TestInlineFormat(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	if err := ws.Update(t.Context(), id1, appendMessage("one")); err != nil {
		t.Fatal(err)
	}
	w.env.Settings.Format = FormatInline
	ws = w.open()
	if err := ws.Update(t.Context(), id1, appendMessage("two")); err != nil {
		t.Fatal(err)
	}
	// jp decodes dGhlcmU= to "there".
	got := w.read(dir1 + "/events.json")
	if strings.Contains(got, "$blob") || !strings.Contains(got, `"dGhlcmU="`) {
		t.Errorf("the stream is\n%s", got)
	}
}

func TestUpdateThatFailsWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	before := w.snapshot("proj")
	mine := errors.New("mine")
	err := ws.Update(t.Context(), id1, func(c *Conversation) error {
		c.Stream.Append(message("x"))
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("error is %v", err)
	}
	absent := blobs.Refer(blobs.RefTo([]byte("absent")))
	err = ws.Update(t.Context(), id1, func(c *Conversation) error {
		elems := withResult("")
		response := *elems[1].Event().(*events.ToolCallResponse)
		response.Blocks = []events.Block{{Type: events.BlockText, Content: absent}}
		c.Stream.Append(elems[0], elems[1].With(&response))
		return nil
	})
	var dangling *DanglingError
	if !errors.As(err, &dangling) || len(dangling.Refs) != 1 || dangling.Refs[0] != absent.Ref() {
		t.Errorf("error is %v", err)
	}
	for name := range before {
		if strings.HasSuffix(name, ".json") && w.snapshot("proj")[name] != before[name] {
			t.Errorf("%s was written", name)
		}
	}
	var none *NotFoundError
	if err := ws.Update(t.Context(), 5, appendMessage("x")); !errors.As(err, &none) {
		t.Errorf("error is %v", err)
	}
	w.noTrash()
}

// TestDetailsThatAreTooLarge: no save makes a file that cannot be read again.
func TestDetailsThatAreTooLarge(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	name := dir1 + "/metadata.json"
	before := w.read(name)
	long := strings.Repeat("x", regular.MaxSettings)
	for what, err := range map[string]error{
		"an update": ws.UpdateDetails(t.Context(), id1, func(d *events.Details) error {
			d.Title = &long
			return nil
		}),
		"a replacement": ws.Replace(t.Context(), id1, Replacement{
			Name: MetadataFile, Before: []byte(before),
			After: []byte(`{"title":"` + long + `","last_activated_at":"2026-01-01 00:00:00.0"}`),
		}),
	} {
		if !errors.As(err, new(*regular.SizeError)) || w.read(name) != before {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestOldDanglingReferencesDoNotBlock(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ref := fmt.Sprintf(`{"$blob": %q, "size": 5}`, blobs.Sum([]byte("there")))
	dangling := strings.Replace(stream("hello", "there"), `{"text": "there"}`, ref, 1)
	w.write(dir1+"/events.json", dangling)
	if err := w.open().Update(t.Context(), id1, appendMessage("x")); err != nil {
		t.Error(err)
	}
}

func TestDamagedStream(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	w.conversation(live+"17800000000-other", "other")
	w.write(dir1+"/events.json", "[\n  {\"type\": \"turn_start\",,}\n]\n")
	ws := w.open()
	err := ws.Update(t.Context(), id1, appendMessage("x"))
	var se *events.SyntaxError
	const path = ".jp/conversations/17800836875-first/events.json"
	if !errors.As(err, &se) || se.Path != path || se.Element != 0 {
		t.Errorf("error is %v", err)
	}
	if err := ws.Update(t.Context(), 17800000000, appendMessage("x")); err != nil {
		t.Errorf("the other conversation: %v", err)
	}
	if err := ws.Rename(t.Context(), id1, "renamed"); err != nil {
		t.Errorf("renaming: %v", err)
	}
}

func TestTitleRenamesTheDirectory(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	w.write(dir1+"/notes/mine.md", "kept")
	ws := w.open()
	err := ws.Update(t.Context(), id1, func(c *Conversation) error {
		title := "Second Title"
		c.Details.Title = &title
		c.Stream.Append(message("x"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.dirs(); !slices.Equal(got, []string{"17800836875-second-title"}) {
		t.Errorf("directories are %v", got)
	}
	if w.read(live+"17800836875-second-title/notes/mine.md") != "kept" {
		t.Error("the note was lost")
	}
	if err := ws.Rename(t.Context(), id1, ""); err != nil {
		t.Fatal(err)
	}
	if got := w.dirs(); !slices.Equal(got, []string{"17800836875"}) {
		t.Errorf("directories are %v", got)
	}
	w.noTrash()
}

func TestDuplicatesAreKept(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	w.conversation(live+"17800836875-second", "second")
	ws := w.open()
	second := w.snapshot(live + "17800836875-second")
	err := ws.Update(t.Context(), id1, func(c *Conversation) error {
		title := "second"
		c.Details.Title = &title
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.unchanged(second, live+"17800836875-second")
	if got := w.read(dir1 + "/metadata.json"); !strings.Contains(got, `"second"`) {
		t.Errorf("metadata is %s", got)
	}
	_, problems, err := ws.List(ListOptions{})
	if err != nil || len(problems) != 1 || problems[0].String() !=
		".jp/conversations/17800836875-second has the id of "+problems[0].Detail ||
		!strings.HasPrefix(problems[0].Detail, ".jp/conversations/17800836875-") {
		t.Errorf("problems are %v, %v", problems, err)
	}
	var dup *DuplicateError
	for name, err := range map[string]error{
		"archive": apart(ws.Archive(t.Context(), id1)), "remove": ws.Remove(t.Context(), id1, nil),
	} {
		if !errors.As(err, &dup) || len(dup.Paths) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func apart(_ Entry, err error) error { return err }

func TestSavedFilesAreNewerThanUserLocalOnes(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	local := w.withUserLocal() + "/conversations/17800836875-first"
	w.conversation(local, "first")
	future := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, name := range []string{MetadataFile, BaseConfigFile, EventsFile} {
		if err := os.Chtimes(w.path(local+"/"+name), future, future); err != nil {
			t.Fatal(err)
		}
	}
	before := w.snapshot(local)
	if err := w.open().Update(t.Context(), id1, appendMessage("x")); err != nil {
		t.Fatal(err)
	}
	newer := func(name string) bool {
		info, err := os.Stat(w.path(dir1 + "/" + name))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime().After(future)
	}
	if !newer(EventsFile) || newer(MetadataFile) {
		t.Errorf("newer: stream %v, metadata %v", newer(EventsFile), newer(MetadataFile))
	}
	w.unchanged(before, local)
}

func TestUserLocalOnlyConversationsHaveTheirOwnStore(t *testing.T) {
	w := newWorld(t)
	userLocal := w.withUserLocal()
	w.conversation(userLocal+"/conversations/17800836875-first", "first")
	ws := w.open()
	if entries, _, err := ws.List(ListOptions{}); err != nil || len(entries) != 0 {
		t.Errorf("listed without being asked: %v, %v", entries, err)
	}
	entries, _, err := ws.List(ListOptions{Local: true})
	if err != nil || len(entries) != 1 || !entries[0].Local ||
		entries[0].Path != "conversations/17800836875-first" {
		t.Fatalf("%v, %v", entries, err)
	}
	if err := ws.Update(t.Context(), id1, appendMessage("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.BlobsOf(entries[0]).Stat(blobs.Sum([]byte("there"))); err != nil {
		t.Error(err)
	}
	if _, err := ws.Blobs().Stat(blobs.Sum([]byte("there"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("content is in the workspace: %v", err)
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	w := newWorld(t)
	w.conversation(dir1, "first")
	if err := os.Chmod(w.path("proj/.jp"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(w.path("proj/.jp"), 0o755)
	err := w.open().Update(t.Context(), id1, appendMessage("x"))
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error is %v", err)
	}
}

// TestConcurrentUpdatesLoseNothing appends concurrently, each goroutine with its own workspace.
func TestConcurrentUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	const writers, each = 6, 8
	w := newWorld(t)
	w.conversation(dir1, "first")
	var wg sync.WaitGroup
	for i := range writers {
		ws := w.open()
		ws.env.Settings.LockWait = time.Minute
		wg.Go(func() {
			for j := range each {
				text := fmt.Sprintf("%d-%d", i, j)
				if err := ws.Update(t.Context(), id1, appendMessage(text)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	text := w.read(dir1 + "/events.json")
	for i := range writers {
		for j := range each {
			want := fmt.Sprintf(`"%d-%d"`, i, j)
			if !strings.Contains(text, want) {
				t.Errorf("%s was lost", want)
			}
		}
	}
	w.noTrash()
}

// TestACollectorBetweenBlobAndStream removes the blob that a save has just stored, as a sweep may
// that has seen no reference yet.
func TestACollectorBetweenBlobAndStream(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	hash := blobs.Sum([]byte("there"))
	ws.main.hook = func(step atomicfile.Step, name string) error {
		if step == atomicfile.StepRename && strings.HasSuffix(name, EventsFile) {
			return os.Remove(w.path("proj/.jp/blobs/" + hash.Path()))
		}
		return nil
	}
	if err := ws.Update(t.Context(), id1, appendMessage("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Blobs().Read(blobs.RefTo([]byte("there"))); err != nil {
		t.Error(err)
	}
}

// TestACheckoutDuringASave removes the conversation between two of its files.
func TestACheckoutDuringASave(t *testing.T) {
	w := newWorld(t)
	w.conversation(dir1, "first")
	ws := w.open()
	ws.main.hook = func(step atomicfile.Step, name string) error {
		if step == atomicfile.StepCreate && strings.Contains(name, EventsFile) {
			return os.RemoveAll(w.path(dir1))
		}
		return nil
	}
	if err := ws.Update(t.Context(), id1, appendMessage("x")); err != nil {
		t.Fatal(err)
	}
	entries, problems, err := ws.List(ListOptions{})
	if err != nil || len(entries) != 1 || len(problems) != 0 {
		t.Errorf("%v, %v, %v", entries, problems, err)
	}
}
