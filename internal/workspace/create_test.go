package workspace

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

func details(title string) *events.Details {
	return &events.Details{Title: &title, LastActivatedAt: id1.Time()}
}

func TestCreate(t *testing.T) {
	w := newWorld(t)
	w.env.Now = func() time.Time { return id1.Time().Add(99 * time.Millisecond) }
	ws := w.open()
	e, err := ws.Create(t.Context(), &NewConversation{
		Details: details("A Title"), Stream: events.New(withResult("some result")...),
		Files: map[string][]byte{"notes/a.md": []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.ID != id1 || e.Path != ".jp/conversations/17800836875-a-title" {
		t.Errorf("entry is %+v", e)
	}
	c, err := ws.Load(e)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"base_config.json", "events.json", "metadata.json", "notes/a.md"}
	if !slices.Equal(c.Files, want) || string(c.BaseConfig) != "{}\n" || c.Title() != "A Title" {
		t.Errorf("conversation is %v, %q, %q", c.Files, c.BaseConfig, c.Title())
	}
	if _, err := ws.Blobs().Read(blobs.RefTo([]byte("some result"))); err != nil {
		t.Error(err)
	}
	w.noTrash()
}

// TestCreateWithAClockThatWasNotSet looks for a conversation that was made before 1970.
func TestCreateWithAClockThatWasNotSet(t *testing.T) {
	w := newWorld(t)
	w.env.Now = func() time.Time { return time.Unix(-3600, 0) }
	ws := w.open()
	for range 2 {
		e, err := ws.Create(t.Context(), &NewConversation{Details: details("x")})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := ws.Find(e.ID.String(), FindOptions{}); err != nil || found.Path != e.Path || e.ID.IsDerived() {
			t.Errorf("made %+v, found %+v, %v", e, found, err)
		}
	}
}

func TestCreateFindsAFreeID(t *testing.T) {
	w := newWorld(t)
	w.env.Now = id1.Time
	userLocal := w.withUserLocal()
	w.conversation(live+"17800836875", "")
	w.conversation(live+".archive/17800836876-x", "x")
	w.conversation(userLocal+"/conversations/17800836877-x", "x")
	w.conversation(userLocal+"/conversations/.archive/17800836878-x", "x")
	ws := w.open()
	unlock, err := ws.Lock(t.Context(), 17800836879)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ws.Create(t.Context(), &NewConversation{Details: details("")})
	if err != nil || e.ID != 17800836880 {
		t.Errorf("id is %v, %v", e.ID, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	before := w.snapshot("proj/.jp/conversations")
	_, err = ws.Create(t.Context(), &NewConversation{Details: details(""), ID: id1})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("a taken id: %v", err)
	}
	w.unchanged(before, "proj/.jp/conversations")
}

func TestConcurrentCreatesCollideNever(t *testing.T) {
	t.Parallel()
	const n = 24
	w := newWorld(t)
	w.env.Now = id1.Time
	var wg sync.WaitGroup
	for range n {
		ws := w.open()
		wg.Go(func() {
			_, err := ws.Create(t.Context(), &NewConversation{Details: details("x")})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, problems, err := w.open().List(ListOptions{})
	if got := w.dirs(); len(got) != n || len(problems) != 0 || err != nil {
		t.Errorf("%d directories, %v, %v", len(got), problems, err)
	}
	w.noTrash()
}

func TestCreateKeepsAConfigurationInTheStream(t *testing.T) {
	w := newWorld(t)
	delta := &events.ConfigDelta{Delta: []byte("{}")}
	config := events.NewElement(id1.Time(), delta, events.Metadata{})
	e, err := w.open().Create(t.Context(), &NewConversation{
		Details: details("x"), Stream: events.New(config),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(w.path(live + e.Dirname + "/base_config.json"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("base_config.json: %v", err)
	}
}

func TestCreateLocalMakesTheUserLocal(t *testing.T) {
	w := newWorld(t)
	ws := w.open()
	e, err := ws.Create(t.Context(), &NewConversation{Details: details("x"), Local: true})
	if err != nil || !e.Local {
		t.Fatal(e, err)
	}
	if link, err := os.Readlink(w.path("data/workspace/proj-otvo8/storage")); err != nil ||
		link != w.path("proj/.jp") {
		t.Errorf("storage leads to %s, %v", link, err)
	}
	if got := w.dirs(); len(got) != 0 {
		t.Errorf("the workspace has %v", got)
	}
	local := FindOptions{ListOptions: ListOptions{Local: true}}
	if found, err := w.open().Find(e.ID.String(), local); err != nil || found != e {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestCreateLocalWithoutPlace(t *testing.T) {
	w := newWorld(t)
	w.write("proj/.jp/.id", "")
	_, err := w.open().Create(t.Context(), &NewConversation{Details: details("x"), Local: true})
	if !errors.Is(err, errNoID) {
		t.Errorf("error is %v", err)
	}
}

func TestCreateThatFailsLeavesNothing(t *testing.T) {
	w := newWorld(t)
	absent := blobs.Refer(blobs.RefTo([]byte("absent")))
	elems := withResult("")
	response := *elems[1].Event().(*events.ToolCallResponse)
	response.Blocks = []events.Block{{Type: events.BlockText, Content: absent}}
	n := &NewConversation{
		Details: details("x"), Stream: events.New(elems[0], elems[1].With(&response)),
	}
	ws := w.open()
	var dangling *DanglingError
	if _, err := ws.Create(t.Context(), n); !errors.As(err, &dangling) {
		t.Errorf("error is %v", err)
	}
	n.AllowDangling = true
	n.Files = map[string][]byte{"../x": nil}
	if _, err := ws.Create(t.Context(), n); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
	if got := w.dirs(); len(got) != 0 {
		t.Errorf("made %v", got)
	}
	w.noTrash()
	n.Files = nil
	if e, err := ws.Create(t.Context(), n); err != nil || !strings.HasSuffix(e.Dirname, "-x") {
		t.Errorf("with dangling references allowed: %v, %v", e, err)
	}
}

// TestCreateWaits checks that creating a given id waits for a process that has it locked.
func TestCreateWaits(t *testing.T) {
	w := newWorld(t)
	ws, unlock := w.open(), mustLock(t, w.open())
	ended := make(chan error)
	go func() {
		time.Sleep(2 * lockPoll)
		ended <- unlock()
	}()
	e, err := ws.Create(t.Context(), &NewConversation{Details: details(""), ID: id1})
	if err != nil || e.ID != id1 {
		t.Errorf("created %v, %v", e, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
