package site_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/site"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

// TestIndexOfMadeTextIsSmall verifies that a search index takes a fifth of the text at most, for
// words that are as frequent as those of a language, with names and numbers that occur once.
func TestIndexOfMadeTextIsSmall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.3, 4, 8000)
	text := func(n int) string {
		var b strings.Builder
		for range n {
			if random.IntN(100) == 0 {
				fmt.Fprintf(&b, "%x ", random.Uint32()) // a name that occurs once
				continue
			}
			w := zipf.Uint64()
			fmt.Fprintf(&b, "%s%d ", []string{"word", "index", "of", "the", "file", "line"}[w%6], w)
		}
		return b.String()
	}
	var all []site.Entry
	size := 0
	for i := range 20 {
		s := events.New()
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 20 {
			prompt, answer := text(40), text(300)
			size += len(prompt) + len(answer)
			for _, ev := range []events.Event{
				&events.TurnStart{}, &events.ChatRequest{Content: prompt}, &events.ChatResponse{Text: answer},
			} {
				at = at.Add(time.Second)
				s.Append(events.NewElement(at, ev, events.Metadata{}))
			}
		}
		all = append(all, entryOf(events.ID(17000000001+i), s))
	}
	checkIndex(t, all, size)
}

// TestIndexOfRealTextIsSmall does so with real conversations.
func TestIndexOfRealTextIsSmall(t *testing.T) {
	root := realdata.Dir(t, "conversations")
	files, err := filepath.Glob(filepath.Join(root, "*", "events.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations in %s: %v", root, err)
	}
	var all []site.Entry
	size := 0
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := events.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		e := entryOf(events.ID(17000000001+i), s)
		_, shown, _ := e.Load()
		var text strings.Builder
		if _, err := shown.Render(&text, render.Options{Format: render.FormatMarkdown, Full: true}); err != nil {
			t.Fatal(err)
		}
		size += text.Len()
		all = append(all, e)
	}
	checkIndex(t, all, size)
}

// TestIndexForgetsWhatIsGone updates a site after a conversation grew and another was removed: the
// index equals that of a new site, except for the numbers.
func TestIndexForgetsWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	talk := func(id events.ID, words ...string) site.Entry {
		s := events.New()
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i, w := range words {
			for _, ev := range []events.Event{&events.TurnStart{}, &events.ChatRequest{Content: w}} {
				s.Append(events.NewElement(at.Add(time.Duration(i)*time.Hour), ev, events.Metadata{}))
			}
		}
		return entryOf(id, s)
	}
	build := func(all ...site.Entry) string {
		o := site.Options{Problem: func(err error) { t.Error(err) }}
		if _, err := site.Build(t.Context(), dir, all, o); err != nil {
			t.Fatal(err)
		}
		var words []string
		files, _ := filepath.Glob(filepath.Join(dir, "search", "*.js"))
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			words = append(words, regexp.MustCompile(`"[^",]+":"[^"]+"`).FindAllString(string(data), -1)...)
		}
		slices.Sort(words)
		return strings.Join(words, " ")
	}
	if got, want := build(talk(1, "both one", "both"), talk(2, "both two"), talk(3, "both three")), `"both":"1122" "one":"1" "three":"6" "two":"4"`; got != want {
		t.Errorf("at first: got %s, want %s", got, want)
	}
	// The first grew and has new numbers, the second was removed, the third keeps its numbers.
	if got, want := build(talk(1, "both one", "both", "four"), talk(3, "both three")), `"both":"621" "four":"a" "one":"8" "three":"6"`; got != want {
		t.Errorf("then: got %s, want %s", got, want)
	}
	if got, want := build(talk(1, "both one", "both", "four"), talk(3, "both three"), talk(4, strings.Repeat("x ", 50)+"zz")), `"both":"621" "four":"a" "one":"8" "three":"6" "zz":"c"`; got != want {
		t.Errorf("at last: got %s, want %s", got, want)
	}
}

// TestIndexHasWordsOfCalls checks the words at the beginning of a line of an argument, before which
// JSON writes a letter.
func TestIndexHasWordsOfCalls(t *testing.T) {
	dir := t.TempDir()
	s := events.New()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, ev := range []events.Event{
		&events.TurnStart{}, &events.ChatRequest{Content: "q"},
		&events.ToolCallRequest{ID: "a", Name: "write", Arguments: []byte(`{"text":"one\ntwo\tthree"}`)},
		&events.ToolCallResponse{ID: "a"},
		&events.ChatResponse{Form: events.FormData, Data: []byte(`{"say":"four\nfive"}`)},
	} {
		at = at.Add(time.Second)
		s.Append(events.NewElement(at, ev, events.Metadata{}))
	}
	o := site.Options{Problem: func(err error) { t.Error(err) }}
	if _, err := site.Build(t.Context(), dir, []site.Entry{entryOf(1, s)}, o); err != nil {
		t.Fatal(err)
	}
	var words []string
	files, _ := filepath.Glob(filepath.Join(dir, "search", "*.js"))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"(\w+)":"`).FindAllStringSubmatch(string(data), -1) {
			words = append(words, m[1])
		}
	}
	slices.Sort(words)
	if got, want := strings.Join(words, " "), "five four one say text three two write"; got != want {
		t.Errorf("the index has %s, want %s", got, want)
	}
}

func entryOf(id events.ID, s *events.Stream) site.Entry {
	return site.Entry{ID: id, Load: func() (*workspace.Conversation, view.Conversation, error) {
		conv := &workspace.Conversation{Stream: s, Details: &events.Details{}}
		conv.ID = id
		return conv, view.Conversation{
			Conversation: render.Conversation{ID: id, Stream: s},
		}, nil
	}}
}

// checkIndex makes a site and measures its index: none of it is in the list, which a browser reads
// before the first word is typed.
func checkIndex(t *testing.T, all []site.Entry, text int) {
	t.Helper()
	dir := t.TempDir()
	_, err := site.Build(t.Context(), dir, all, site.Options{
		Title: "All", Problem: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	size, pieces, largest := 0, 0, int64(0)
	err = filepath.WalkDir(filepath.Join(dir, "search"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size, pieces, largest = size+int(info.Size()), pieces+1, max(largest, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of text, %d of index (%.1f %%) in %d pieces, the largest %d", text, size,
		100*float64(size)/float64(text), pieces, largest)
	const fifth = 5
	if size*fifth > text || size == 0 {
		t.Errorf("the index has %d bytes, more than a fifth of %d bytes of text", size, text)
	}
	list, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil || strings.Contains(string(list), `src="search/`) {
		t.Errorf("the list reads the index at once: %v", err)
	}
}
