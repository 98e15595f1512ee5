package quarantine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/google/go-cmp/cmp"
)

const id = events.ID(17000000001)

func at(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func result(id string, c blobs.Content) *events.ToolCallResponse {
	return &events.ToolCallResponse{ID: id, Blocks: []events.Block{{Type: events.BlockText, Content: c}}}
}

// conversation returns a stream with two results in a store, and the same stream without the first.
func conversation(t *testing.T) (was, is *events.Stream, store *blobs.Store) {
	t.Helper()
	store, err := blobs.Open(filepath.Join(t.TempDir(), "blobs"), blobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	was = events.New()
	for n, text := range []string{"first", "second"} {
		ref, err := store.Write([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		call := &events.ToolCallRequest{ID: text, Name: "x", Arguments: []byte("{}")}
		was.Append(events.NewElement(at(2*n), call, events.Metadata{}),
			events.NewElement(at(2*n+1), result(text, blobs.Refer(ref)), events.Metadata{}))
	}
	is = was.Clone()
	is.Remove(0, 2)
	return was, is, store
}

func TestRoundTrip(t *testing.T) {
	was, is, store := conversation(t)
	q := quarantine.Quarantine{Dir: filepath.Join(t.TempDir(), "jp", "trash")}
	a, err := q.Put(quarantine.Change{ID: id, At: at(9), Was: was, Is: is, Contents: store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(a.Dir(), "events.json")); err != nil {
		t.Error(err)
	}
	copies := q.Copies(id)
	if len(copies) != 1 || !copies[0].At.Equal(at(9)) || len(q.Copies(id+1)) != 0 {
		t.Fatalf("copies are %+v", copies)
	}
	var contents []string
	err = copies[0].Contents(func(b []byte) error { contents = append(contents, string(b)); return nil })
	if err != nil || len(contents) != 1 || contents[0] != "first" {
		t.Errorf("contents are %q, %v", contents, err)
	}
	later := events.NewElement(at(10), &events.TurnStart{}, events.Metadata{})
	is.Append(later)
	back, err := copies[0].Restored(is)
	if err != nil || back.Len() != was.Len()+1 || !events.Equal(back.At(back.Len()-1), later) ||
		!events.Equal(back.At(0), was.At(0)) {
		t.Errorf("restored: %v, %v", back, err)
	}
	if _, err := copies[0].Restored(was); !errors.Is(err, quarantine.ErrNone) {
		t.Errorf("a change that is undone already gives %v", err)
	}
	// A copy of an older version has no result.
	if err := os.Remove(filepath.Join(a.Dir(), "result.json")); err != nil {
		t.Fatal(err)
	}
	other := was.Clone()
	other.Set(0, later)
	old := q.Copies(id)[0]
	if back, err := old.Restored(is); err != nil || back.Len() != was.Len()+1 {
		t.Errorf("restored without a result: %v, %v", back, err)
	}
	if _, err := old.Restored(was); !errors.Is(err, quarantine.ErrNone) {
		t.Errorf("a change that is undone already gives %v", err)
	}
	for _, now := range []*events.Stream{other, events.New(later)} {
		if _, err := old.Restored(now); !isChanged(err) {
			t.Errorf("a change since gives %v", err)
		}
	}
	// What files of a later version mean is not known.
	manifest := filepath.Join(a.Dir(), "aside.json")
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"version":1`), []byte(`"version":2`), 1)
	if err := os.WriteFile(manifest, data, 0o600); err != nil || len(q.Copies(id)) != 0 {
		t.Errorf("a later version's copies are %+v, %v", q.Copies(id), err)
	}
}

// TestChangedSince checks which changes an undo keeps beside what it restores, and which stop it.
func TestChangedSince(t *testing.T) {
	was, is, store := conversation(t)
	start := events.NewElement(at(-2), &events.TurnStart{}, events.Metadata{})
	ask := events.NewElement(at(-1), &events.ChatRequest{Content: "q"}, events.Metadata{})
	for _, s := range []*events.Stream{was, is} {
		s.Insert(0, ask)
		s.Insert(0, start)
	}
	second := func(text string) *events.Element {
		r := result("second", blobs.Refer(blobs.RefTo([]byte(text))))
		return events.NewElement(at(3), r, events.Metadata{})
	}
	short := second("short")
	is.Set(3, short)
	q := quarantine.Quarantine{Dir: filepath.Join(t.TempDir(), "jp", "trash")}
	if _, err := q.Put(quarantine.Change{ID: id, At: at(9), Was: was, Is: is, Contents: store}); err != nil {
		t.Fatal(err)
	}
	kept := q.Copies(id)[0]
	mark := events.Metadata{}.With(events.MetadataPrefix+"pin", []byte(`"turn"`))
	inner := events.NewElement(at(4), &events.ChatResponse{Form: events.FormMessage, Text: "a"},
		events.Metadata{})
	now := is.Clone()
	now.Set(1, ask.WithMetadata(mark))
	now.Insert(4, inner)
	back, err := kept.Restored(now)
	if err != nil {
		t.Fatal(err)
	}
	want := was.Clone()
	want.Set(1, ask.WithMetadata(mark))
	want.Insert(6, inner)
	if diff := cmp.Diff(raws(want), raws(back)); diff != "" {
		t.Errorf("a pin and an event within the turn are not kept: %s", diff)
	}
	for name, e := range map[string]*events.Element{
		"shortened otherwise": second("other"),
		"redacted":            short.WithMetadata(events.Metadata{}.With(events.MetadataRedacted, []byte("true"))),
	} {
		now := is.Clone()
		now.Set(3, e)
		if _, err := kept.Restored(now); !isChanged(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	shorter := is.Clone()
	shorter.Remove(3, 1)
	if _, err := kept.Restored(shorter); !isChanged(err) {
		t.Errorf("what was shortened is removed: %v", err)
	}
	long, now := was.Clone(), was.Clone()
	now.Set(1, ask.WithMetadata(mark))
	now.Set(5, short)
	was.Set(5, short)
	if _, err := q.Put(quarantine.Change{ID: id, At: at(10), Was: long, Is: was, Contents: store}); err != nil {
		t.Fatal(err)
	}
	if back, err = q.Copies(id)[0].Restored(now); err != nil || !events.Equal(back.At(5), long.At(5)) {
		t.Errorf("a result that was shortened, and a pin: %v", err)
	}
	now, pinned := is.Clone(), ask.WithMetadata(mark)
	other := events.Metadata{}.With(events.MetadataPrefix+"pin", []byte(`"other"`))
	was.Set(1, ask.WithMetadata(other))
	is.Set(1, ask.WithMetadata(other))
	now.Set(1, pinned)
	if _, err := q.Put(quarantine.Change{ID: id, At: at(11), Was: was, Is: is, Contents: store}); err != nil {
		t.Fatal(err)
	}
	back, err = q.Copies(id)[0].Restored(now)
	if err != nil || string(back.At(1).Raw()) != string(pinned.Raw()) {
		t.Errorf("a pin that was changed: %v", err)
	}
}

// TestMarkOfACompaction checks that an undo removes the mark that the compaction left on the first
// event, whatever else was noted there since, and keeps one that was there before.
func TestMarkOfACompaction(t *testing.T) {
	note := func(e *events.Element, key, value string) *events.Element {
		return e.WithMetadata(e.Metadata().With(events.MetadataPrefix+key, []byte(value)))
	}
	start := events.NewElement(at(1), &events.TurnStart{}, events.Metadata{})
	ask := events.NewElement(at(2), &events.ChatRequest{Content: "q"}, events.Metadata{})
	answer := events.NewElement(at(3), &events.ChatResponse{Form: events.FormMessage, Text: "a"}, events.Metadata{})
	marked := note(ask, "compacted", `"a"`)
	for name, tt := range map[string]struct{ was, is, now, want *events.Element }{
		"pinned":       {ask, marked, note(marked, "pin", `"turn"`), note(ask, "pin", `"turn"`)},
		"of before":    {marked, marked, note(marked, "pin", `"turn"`), note(marked, "pin", `"turn"`)},
		"dedup":        {ask, note(marked, "dedup", "[0]"), note(note(marked, "dedup", "[0]"), "pin", `"turn"`), note(note(ask, "dedup", "[0]"), "pin", `"turn"`)},
		"of another":   {ask, marked, note(ask, "compacted", `"b"`), note(ask, "compacted", `"b"`)},
		"marked again": {marked, note(ask, "compacted", `"b"`), note(note(ask, "compacted", `"b"`), "pin", `"turn"`), note(marked, "pin", `"turn"`)},
	} {
		t.Run(name, func(t *testing.T) {
			q := quarantine.Quarantine{Dir: t.TempDir()}
			_, err := q.Put(quarantine.Change{
				ID: id, At: at(9), Was: events.New(start, tt.was, answer), Is: events.New(start, tt.is),
			})
			if err != nil {
				t.Fatal(err)
			}
			now := events.New(start, tt.now)
			back, err := q.Copies(id)[0].Restored(now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(raws(events.New(start, tt.want, answer)), raws(back)); diff != "" {
				t.Error(diff)
			}
			// A copy of an older version has no result to merge with.
			if err := os.Remove(filepath.Join(q.Copies(id)[0].Dir, "result.json")); err != nil {
				t.Fatal(err)
			}
			now.Set(0, events.NewElement(at(0), &events.TurnStart{}, events.Metadata{}))
			if _, err := q.Copies(id)[0].Restored(now); !isChanged(err) {
				t.Errorf("without a result: %v", err)
			}
		})
	}
}

// TestSavedResult checks that a compaction whose inline content a save moved to the store is undone
// exactly: a merge may change the order of elements that are not events.
func TestSavedResult(t *testing.T) {
	read := func(first, content string) *events.Stream {
		s, err := events.Decode([]byte(`[
  {"type": "config_delta", "timestamp": "2026-01-01 00:00:00.2", "delta": {"x": 1}},
  {"type": "future", "timestamp": "2026-01-01 00:00:00.1"},
  {"timestamp": "2026-01-01 00:00:01.0", "type": "turn_start"},
  {"timestamp": "2026-01-01 00:00:02.0", "type": "chat_request", "content": "q"},` + first + `
  {"timestamp": "2026-01-01 00:00:04.0", "type": "tool_call_request", "id": "a", "name": "x", "arguments": {}},
  {"timestamp": "2026-01-01 00:00:05.0", "type": "tool_call_response", "id": "a", "is_error": false,
   "content": [{"type": "text", "content": ` + content + `}]}
]`))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	inline := `{"text": "a"}`
	was := read(`{"timestamp": "2026-01-01 00:00:03.0", "type": "chat_response", "reasoning": "r"},`, inline)
	q := quarantine.Quarantine{Dir: t.TempDir()}
	if _, err := q.Put(quarantine.Change{ID: id, At: at(9), Was: was, Is: read("", inline)}); err != nil {
		t.Fatal(err)
	}
	ref := blobs.RefTo([]byte("a"))
	now := read("", fmt.Sprintf(`{"$blob": %q, "size": %d}`, ref.Hash, ref.Size))
	back, err := q.Copies(id)[0].Restored(now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(raws(was), raws(back)); diff != "" {
		t.Error(diff)
	}
}

func isChanged(err error) bool {
	_, ok := errors.AsType[*quarantine.ChangedError](err)
	return ok
}

func raws(s *events.Stream) (all []string) {
	for _, e := range s.All() {
		all = append(all, string(e.Raw()))
	}
	return all
}

// TestACopyThatIsNotWhole checks that a crash leaves nothing that is taken for a copy, and that
// missing content is no obstacle.
func TestACopyThatIsNotWhole(t *testing.T) {
	was, is, store := conversation(t)
	q := quarantine.Quarantine{Dir: t.TempDir()}
	empty, err := blobs.Open(filepath.Join(t.TempDir(), "blobs"), blobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := q.Put(quarantine.Change{ID: id, At: at(9), Was: was, Is: is, Contents: empty})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.Dir(), "compacted.json")); err != nil {
		t.Fatal(err)
	}
	if got := q.Copies(id); len(got) != 0 {
		t.Errorf("copies are %+v", got)
	}
	_ = store
}

// TestNamed checks that metadata and the name of the directory are kept, and that a change which was
// stopped and made again has the same result as the whole one.
func TestNamed(t *testing.T) {
	was, is, store := conversation(t)
	q := quarantine.Quarantine{Dir: t.TempDir()}
	after := quarantine.Naming{Metadata: []byte("is\n"), Dirname: "1-is"}
	for n, from := range []*events.Stream{was, is} {
		named := &quarantine.Named{
			Was: quarantine.Naming{Metadata: []byte("was\n"), Dirname: "1-was"}, Is: after,
		}
		if _, err := q.Put(quarantine.Change{
			Kind: quarantine.Redacted, ID: id, At: at(n), Was: from, Is: is, Contents: store,
			Named: named,
		}); err != nil {
			t.Fatal(err)
		}
	}
	all := q.CopiesOf(quarantine.Redacted, id)
	if len(all) != 2 || !all[0].SameResult(all[1]) || !all[0].At.After(all[1].At) {
		t.Fatalf("got %+v, want two with the same result", all)
	}
	for _, c := range all {
		if n := c.Named; n == nil || string(n.Was.Metadata) != "was\n" || n.Was.Dirname != "1-was" ||
			string(n.Is.Metadata) != "is\n" || n.Is.Dirname != "1-is" {
			t.Errorf("got %+v", n)
		}
	}
	if !q.Has([]byte("was\n")) || q.Has([]byte("wax\n")) || q.Has([]byte("is\n")) {
		t.Error("the quarantine does not know which files it has")
	}
	if _, err := os.Stat(filepath.Join(all[0].Dir, "result.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a redaction made is kept too: %v", err)
	}
	n := 2
	for name, to := range map[string]quarantine.Naming{
		"name": {Metadata: after.Metadata, Dirname: "1-other"}, "metadata": {Metadata: []byte("other\n"), Dirname: after.Dirname},
	} {
		n++
		if _, err := q.Put(quarantine.Change{
			Kind: quarantine.Redacted, ID: id, At: at(n), Was: was, Is: is, Contents: store,
			Named: &quarantine.Named{Is: to},
		}); err != nil {
			t.Fatal(err)
		}
		if c := q.CopiesOf(quarantine.Redacted, id)[0]; c.SameResult(all[0]) {
			t.Errorf("another %s is the same result", name)
		}
	}
	other := is.Clone()
	other.Set(0, was.At(0))
	if _, err := q.Put(quarantine.Change{
		Kind: quarantine.Redacted, ID: id, At: at(5), Was: was, Is: other, Contents: store,
		Named: &quarantine.Named{Is: after},
	}); err != nil {
		t.Fatal(err)
	}
	if c := q.CopiesOf(quarantine.Redacted, id)[0]; c.SameResult(all[0]) {
		t.Error("other events are the same result")
	}
	if _, err := q.Put(quarantine.Change{ID: id, At: at(3), Was: was, Is: is, Contents: store}); err != nil {
		t.Fatal(err)
	}
	if c := q.Copies(id)[0]; c.Named != nil || c.SameResult(all[0]) {
		t.Errorf("a change of the stream alone is %+v", c.Named)
	}
}
