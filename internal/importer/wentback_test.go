package importer

import (
	"bytes"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/google/go-cmp/cmp"
)

// TestAnImportThatWentBack merges a branch that went back to an earlier import of a session, as a
// revert of an import does, with one that has more of it: going back removed nothing that the
// session has, so nothing is missing from the middle of it.
func TestAnImportThatWentBack(t *testing.T) {
	for name, data := range map[string][]byte{
		"grown": transcript(), "rewound": rewound(),
		"compacted": bytes.Replace(transcript(),
			[]byte(`"content":"Prompt 2"`), []byte(`"content":"So far."},"isCompactSummary":true,"m":{"x":1`), 1),
	} {
		t.Run(name, func(t *testing.T) {
			all := prefixes(t, data)
			for b := 1; b < len(all); b += 2 {
				for s := 0; s < b; s += 3 {
					for l := b + 1; l < len(all); l += 5 {
						goBack(t, all[b], all[s], all[l])
					}
				}
			}
		})
	}
}

func goBack(t *testing.T, base, short, long *sessions.Conversation) {
	t.Helper()
	for _, sides := range [][2]*sessions.Conversation{{short, long}, {long, short}} {
		r := merged(t, side(base), side(sides[0]), side(sides[1]))
		if got, want := r.Stream.Encode(), long.Stream.Encode(); !bytes.Equal(got, want) {
			t.Fatalf("%s, back from %s, with %s:\n%s\nwant\n%s", short.Version(), base.Version(),
				long.Version(), got, want)
		}
		d := mergedDetails(t, base.Details, sides[0].Details, sides[1].Details)
		if d.Labels[sessions.LabelImport] != long.Version().String() {
			t.Fatalf("the merge has the label %v, want %s", d.Labels, long.Version())
		}
	}
}

func mergedDetails(t *testing.T, base, ours, theirs *events.Details) *events.Details {
	t.Helper()
	data, err := threeway.Metadata(base.Encode(), ours.Encode(), theirs.Encode())
	if err != nil {
		t.Fatal(err)
	}
	d, err := events.DecodeDetails(data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWhatIsRemovedStaysBesideGoingBack checks that turns which a person removed stay removed, on
// the branch that went back and on the other, and that a turn added there stays.
func TestWhatIsRemovedStaysBesideGoingBack(t *testing.T) {
	all := prefixes(t, transcript())
	short, base, long := all[14], all[24], all[len(all)-1]
	without := func(c *sessions.Conversation, turn int) *sessions.Conversation {
		is := *c
		var kept []*events.Element
		for i, of := range c.Stream.TurnOf() {
			if e := c.Stream.At(i); of != turn || !e.Kind().IsEvent() {
				kept = append(kept, e)
			}
		}
		is.Stream = events.New(kept...)
		return &is
	}
	but := func(c *sessions.Conversation, n int) *sessions.Conversation {
		is := *c
		is.Stream = c.Stream.Clone()
		is.Stream.Remove(n, 1)
		return &is
	}
	said := slices.Index(sourceKeys(short.Stream), eventKeys(short.Stream)[1])
	last := short.Stream.TurnOf()[short.Stream.Len()-1]
	for _, tt := range []struct {
		name        string
		short, long *sessions.Conversation
		want        *sessions.Conversation
	}{
		{"first, where it went back", without(short, 0), long, without(long, 0)},
		{"last, where it went back", without(short, last), long, without(long, last)},
		{"an event, where it went back", but(short, said), long, but(long, said)},
		{"after it, on the other side", short, without(long, last+1), without(long, last+1)},
	} {
		want := tt.want.Stream
		for _, sides := range [][2]*sessions.Conversation{{tt.short, tt.long}, {tt.long, tt.short}} {
			got := merged(t, side(base), side(sides[0]), side(sides[1])).Stream
			if !slices.Equal(eventKeys(got), eventKeys(want)) {
				t.Errorf("%s: %s, want %s", tt.name, got.Encode(), want.Encode())
			}
		}
	}
}

// TestAnOverlayBesideGoingBack checks that a compaction which the longer side undid stays undone if
// the side that went back has it.
func TestAnOverlayBesideGoingBack(t *testing.T) {
	all := prefixes(t, transcript())
	overlaid := func(c *sessions.Conversation) threeway.Side {
		s := side(c)
		s.Stream = s.Stream.Clone()
		s.Stream.Append(events.NewElement(c.Details.LastActivatedAt,
			&events.Compaction{StripReasoning: true}, events.Metadata{}))
		return s
	}
	base, short, long := overlaid(all[24]), overlaid(all[14]), side(all[len(all)-1])
	c := short.Stream.At(short.Stream.Len() - 1)
	base.Stream.Set(base.Stream.Len()-1, c)
	got := merged(t, base, short, long).Stream
	if !bytes.Equal(got.Encode(), long.Stream.Encode()) {
		t.Errorf("merged to %s", got.Encode())
	}
}

// TestWhatIsChangedInTheLongerStays merges an import of a complete turn with a longer one, in which
// a person changed what both have from a time at which the turn was open.
func TestWhatIsChangedInTheLongerStays(t *testing.T) {
	all := prefixes(t, transcript())
	said := func(e *events.Element) events.Event {
		if r, ok := e.Event().(*events.ChatResponse); ok && r.Text == "Hm" {
			return &events.ChatResponse{Form: r.Form, Text: "Mine"}
		}
		return nil
	}
	called := func(e *events.Element) events.Event { // base has the usage on it
		if r, ok := e.Event().(*events.ToolCallRequest); ok {
			return &events.ToolCallRequest{ID: r.ID, Name: "Mine"}
		}
		return nil
	}
	for _, change := range []func(*events.Element) events.Event{said, called} {
		base, short, long := side(all[2]), side(all[5]), side(all[11])
		long.Stream = long.Stream.Clone()
		for i, e := range long.Stream.All() {
			if is := change(e); is != nil {
				long.Stream.Set(i, e.With(is))
				break
			}
		}
		for name, revision := range map[string]int{"by this importer": 0, "by an earlier one": 1} {
			base.Source.Version.Revision -= revision
			for _, r := range eitherWay(t, []threeway.Side{base}, short, long) {
				if got, want := r.Stream.Encode(), long.Stream.Encode(); !bytes.Equal(got, want) {
					t.Errorf("%s: %s", name, cmp.Diff(string(want), string(got)))
				}
			}
		}
	}
}

// eventKeys returns the keys of imported events, in order.
func eventKeys(s *events.Stream) (all []string) {
	for i, key := range sourceKeys(s) {
		if key != "" && s.At(i).Kind().IsEvent() {
			all = append(all, key)
		}
	}
	return all
}

// TestTheLabelGoesBackToo checks that the metadata does not say more than the stream has if one side
// went back and the other changed only the title: then the stream is that of the first.
func TestTheLabelGoesBackToo(t *testing.T) {
	all := prefixes(t, transcript())
	short, base := all[14], all[24]
	titled := base.Details.Clone()
	title := "Another"
	titled.Title = &title
	for _, sides := range [][2]*events.Details{{short.Details, titled}, {titled, short.Details}} {
		d := mergedDetails(t, base.Details, sides[0], sides[1])
		if d.Labels[sessions.LabelImport] != short.Version().String() || *d.Title != title ||
			!slices.Equal(d.ImportedTurns(), short.Details.ImportedTurns()) {
			t.Errorf("the merge has %s, want the import of %s", d.Encode(), short.Details.Encode())
		}
	}
}

// TestClockThatWasAhead grows sessions that change in place after the clock of their machine, which
// was a year ahead, is set right: what follows is earlier than what is here, but not older.
func TestClockThatWasAhead(t *testing.T) {
	for name, author := range map[string]func(*desk) author{
		"gemini": agents["gemini, json"], "opencode": agents["opencode"],
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{files: map[string]string{}, wrong: true, n: 14}
			a := author(d)
			a.prompt("First")
			a.answer("Second", true)
			d.wrong = false
			a.prompt("Third")
			a.answer("Fourth", true)
			a.prompt("Fifth")
			s := a.written()
			s.states = d.states
			whole := s.states[len(s.states)-1]
			s.compare(t, "grown", has(t, s.imported(t, whole)), s.imported(t, s.states...))
		})
	}
}
