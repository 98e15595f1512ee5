package secrets_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/go-json-experiment/json/jsontext"
)

// TestCopies checks that a copy is recognized by the text around a redaction, and that the redacted
// text is found in it, also in reasoning that was removed from the original.
func TestCopies(t *testing.T) {
	const word = "tulip-4711"
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	stream := func(key, asked string) *events.Stream {
		element := func(n string, e events.Event) *events.Element {
			at = at.Add(time.Second)
			md := events.Metadata{}.WithText(events.MetadataSource, key+n)
			if r, ok := e.(*events.ChatResponse); ok && r.Form == events.FormReasoning {
				md = md.With("anthropic_thinking_signature", jsontext.Value(`"c2ln"`))
			}
			return events.NewElement(at, e, md)
		}
		return events.New(
			element("1", &events.ChatRequest{Content: asked}),
			element("2", &events.ChatResponse{Form: events.FormReasoning, Text: "They keep " + word}),
			element("3", &events.ChatResponse{Form: events.FormMessage, Text: word}),
		)
	}
	s, rs := stream("a", "What is it that you keep?"), secrets.Redactions{}
	for i, member := range []string{"", "/reasoning", "/message"} {
		text := map[string]string{"/reasoning": "They keep " + word, "/message": word}[member]
		if from := strings.Index(text, word); from >= 0 {
			m := secrets.Match{Start: from, End: from + len(word), Rule: "word"}
			rs.Add(secrets.Redaction{
				Conversation: "17", Event: s.Keys()[i], Member: member,
				Ranges: []secrets.Range{secrets.NewRange([]byte(text), m)},
			})
		}
	}
	done, err := rs.Apply(17, s, nil)
	if err != nil || done.Stream.Len() != 2 {
		t.Fatal(done, err)
	}
	var copies secrets.Copies
	copies.Know(rs, 17, done.Stream, nil)
	for asked, want := range map[string]int{"What is it that you keep?": 2, "What is it?": 0} {
		other := stream("b", asked)
		if got := copies.Of(18, other, nil); len(got) != want || copies.Concern(other) != (want > 0) {
			t.Errorf("%s: %v", asked, got)
		}
	}
	if got := copies.Of(17, stream("b", "What is it that you keep?"), nil); len(got) > 0 {
		t.Errorf("of itself: %v", got)
	}
}

// TestEditedTexts checks that what was redacted is found in another place of the same text, by a
// version that has it and by one that has it no more, and in no other text.
func TestEditedTexts(t *testing.T) {
	const word, text = "tulip-4711", "they keep the tulip-4711 in a box"
	stream := func(first, second string) *events.Stream {
		at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
		return events.New(
			events.NewElement(at, &events.ChatRequest{Content: first}, events.Metadata{}),
			events.NewElement(at.Add(time.Second), &events.ChatRequest{Content: second}, events.Metadata{}),
		)
	}
	was, rs := stream(text, "x"), secrets.Redactions{}
	from := strings.Index(text, word)
	m := secrets.Match{Start: from, End: from + len(word), Rule: "word"}
	rs.Add(secrets.Redaction{
		Conversation: "17", Event: was.Keys()[0], Member: "/content",
		Ranges: []secrets.Range{secrets.NewRange([]byte(text), m)},
	})
	done, err := rs.Apply(17, was, nil)
	if err != nil || len(done.Replaced) != 1 {
		t.Fatal(done, err)
	}
	for _, tt := range []struct {
		version *events.Stream
		edited  string
		want    int
	}{
		{was, "well, " + text, 1},
		{done.Stream, "well, " + text, 1},
		{was, "a " + word, 1},
		{done.Stream, "a " + word, 0},
		{was, "nothing of it", 0},
		{was, "well, they keep the " + likeness(word) + " in a box", 0},
		{done.Stream, "well, they keep the " + likeness(word) + " in a box", 1}, // nothing tells them apart
		{was, "[redacted:" + word + "]", 0},
	} {
		var copies secrets.Copies
		copies.KnowVersion(rs, 17, tt.version, nil)
		if got := copies.Of(17, stream(tt.edited, text), nil); len(got) != tt.want {
			t.Errorf("%s: %v", tt.edited, got)
		}
	}
}

// likeness returns another text with the check of a text.
func likeness(text string) string {
	check := secrets.NewRange([]byte(text), secrets.Match{End: len(text)}).Check
	for n := 0; ; n++ {
		other := fmt.Sprintf("%0*d", len(text), n)
		if secrets.NewRange([]byte(other), secrets.Match{End: len(other)}).Check == check {
			return other
		}
	}
}

// TestRepeatedTexts checks that a text that was redacted often is looked for once.
func TestRepeatedTexts(t *testing.T) {
	const word, often = "tulip-4711", 100
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	said := func(text string) *events.Stream {
		return events.New(events.NewElement(at, &events.ChatRequest{Content: text}, events.Metadata{}))
	}
	text := strings.Repeat(word+" and ", often)
	was, rs := said(text), secrets.Redactions{}
	var ranges []secrets.Range
	for i := range often {
		from := i * len(word+" and ")
		m := secrets.Match{Start: from, End: from + len(word), Rule: "word"}
		ranges = append(ranges, secrets.NewRange([]byte(text), m))
	}
	rs.Add(secrets.Redaction{Conversation: "17", Event: was.Keys()[0], Member: "/content", Ranges: ranges})
	var copies secrets.Copies
	copies.KnowVersion(rs, 17, was, nil)
	copies.KnowVersion(rs, 17, said(text+"more"), nil)
	n := 0
	for _, r := range copies.Of(17, said("well, "+text), nil) {
		n += len(r.Ranges)
	}
	if n != often {
		t.Errorf("%d ranges, want %d", n, often)
	}
}
