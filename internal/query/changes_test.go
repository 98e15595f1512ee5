package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/query"
	"pgregory.net/rapid"
)

// spelled returns options that leave URIs unchanged.
func spelled() dedup.Options {
	o := options()
	o.URI = func(uri string) string { return uri }
	return o
}

// changesOf formats changes: the text before, the text after, and the strategies.
func changesOf(t *testing.T, stored *events.Stream, stages ...compact.Stage) []string {
	t.Helper()
	changes, err := query.Changes(stored, stages, spelled(), noBlobs{})
	if err != nil {
		t.Fatal(err)
	}
	side := func(text *string) string {
		if text == nil {
			return "-"
		}
		return fmt.Sprintf("%.12q", *text)
	}
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%d-%d %s%s%s: %s → %s by %s", c.From, c.To, c.What, c.Call, c.URI,
			side(c.Was), side(c.Is), strings.Join(c.By, "+")))
	}
	return all
}

// TestChanges checks the change that is reported for each piece that a compaction changes or
// removes.
func TestChanges(t *testing.T) {
	long := strings.Repeat("a line of a file\n", 20)
	read := func(id, path, text string) []string { return []string{call(id, path), result(id, text)} }
	for name, c := range map[string]struct {
		elems      []string
		strategies []string
		want       []string
	}{
		"a body goes after the reasoning, and the rest stays": {
			slices.Concat([]string{
				"turn_start", `chat_request "content":"q"`,
				`chat_response "reasoning":"hm"`,
			}, read("a", "x", long),
				[]string{`chat_response "message":"m"`}),
			[]string{compact.StripReasoning, compact.StripToolResults},
			[]string{
				`1-1 reasoning: "hm" → - by strip-reasoning`,
				`1-1 resulta: "a line of a " → "[compacted] " by strip-tool-results`,
			},
		},
		"by two steps": {
			slices.Concat([]string{"turn_start", `chat_request "content":"q"`}, read("a", "x", long),
				[]string{`chat_response "message":"m"`}),
			[]string{compact.StripToolResults, compact.Summarize},
			[]string{
				`1-1 question: "q" → - by summarize`,
				`1-1 calla: "read {\"path\"" → - by summarize`,
				`1-1 resulta: "a line of a " → - by strip-tool-results+summarize`,
				`1-1 answer: "m" → - by summarize`,
				`1-1 summary: - → "Extracted by" by summarize`,
			},
		},
		"a reference that would speak of nothing is the content again": {
			slices.Concat([]string{
				"turn_start", `chat_request "content":"q","resources":[` +
					`{"uri":"file:///$WORKSPACE/x","content":{"text":"` + strings.ReplaceAll(long, "\n", `\n`) + `"}}]`,
				`chat_response "message":"m"`, "turn_start", `chat_request "content":"r","resources":[` +
					`{"uri":"file:///$WORKSPACE/x","content":{"text":"` + strings.ReplaceAll(long, "\n", `\n`) + `"}}]`,
				`chat_response "message":"n"`,
			}),
			[]string{"keep 1", compact.StripAttachments},
			[]string{
				`1-1 attachmentfile:///$WORKSPACE/x: "a line of a " → "[attachment " by strip-attachments`,
				`2-2 attachmentfile:///$WORKSPACE/x: "The content " → "a line of a " by strip-attachments`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			stored, o := stream(t, c.elems...), compact.Options{Strategies: c.strategies, Dedup: options()}
			if o.Strategies[0] == "keep 1" {
				o.KeepLast, o.Strategies = 1, o.Strategies[1:]
			}
			out, err := compact.Run(t.Context(), stored, o)
			if err != nil {
				t.Fatal(err)
			}
			if got := changesOf(t, stored, out.Stages...); !slices.Equal(got, c.want) {
				t.Errorf("changed is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestChangesOfTheSameInstant checks that of two pieces with the same time, the removed one is
// reported.
func TestChangesOfTheSameInstant(t *testing.T) {
	stored := stream(t, "turn_start", `chat_request "content":"q"`, `chat_response "message":"one"`,
		`chat_response "message":"two"`)
	first := stored.At(2)
	at := events.NewElement(first.Time(), &events.ChatResponse{Text: "two"}, events.Metadata{})
	stored.Set(3, at)
	later := stored.Clone()
	later.Remove(2, 1)
	want := []string{`1-1 answer: "one" → - by x`}
	got := changesOf(t, stored, compact.Stage{By: "x", Stream: later})
	if !slices.Equal(got, want) {
		t.Errorf("changed is %q, want %q", got, want)
	}
	if got := changesOf(t, later, compact.Stage{By: "x", Stream: later}); len(got) > 0 {
		t.Errorf("nothing changed, and %q is told", got)
	}
}

// TestChangesAreWhole draws conversations and compactions: the view before, with all reported
// changes applied, is the view afterwards.
func TestChangesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := conversation().Draw(t, "conversation")
		out, err := compact.Run(t.Context(), stored, compact.Options{
			Strategies: strategies().Draw(t, "strategies"), Contents: noBlobs{}, Dedup: options(),
			KeepLast: rapid.IntRange(0, 2).Draw(t, "keep last"), Classifier: anyTurns(func(int) bool { return true }),
			Confirm: func(all []compact.Tangent) []compact.Tangent { return all },
		})
		if err != nil {
			t.Fatal(err)
		}
		changes, err := query.Changes(stored, out.Stages, spelled(), noBlobs{})
		if err != nil {
			t.Fatal(err)
		}
		left := givenTexts(t, stored)
		for _, c := range changes {
			if len(c.By) == 0 {
				t.Fatalf("nobody did %+v", c)
			}
			if c.Was != nil {
				left[*c.Was]--
			}
			if c.Is != nil {
				left[*c.Is]++
			}
		}
		for text, n := range givenTexts(t, out.Stream) {
			left[text] -= n
		}
		for text, n := range left {
			if n != 0 {
				t.Fatalf("%d too many of %q\n%s\n%s", n, text, stored.Encode(), out.Stream.Encode())
			}
		}
	})
}

// givenTexts counts the texts in the view of a stream.
func givenTexts(t *rapid.T, stored *events.Stream) map[string]int {
	p, err := query.Given(stored, spelled(), noBlobs{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(c blobs.Content) string {
		data, err := c.Bytes(noBlobs{})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	resource := func(r *events.Resource) string {
		if r.Formatted != nil {
			return read(*r.Formatted)
		}
		return read(r.Content)
	}
	all := map[string]int{}
	for _, e := range p.Stream.All() {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			if ev.Content != events.SummaryRequest {
				all[ev.Content]++
			}
			for i := range ev.Resources {
				all[resource(&ev.Resources[i])]++
			}
		case *events.ChatResponse:
			all[ev.Text+string(ev.Data)]++
		case *events.ToolCallRequest:
			all[ev.Name+" "+string(ev.Arguments)]++
		case *events.ToolCallResponse:
			var texts []string
			for _, b := range ev.Blocks {
				if b.Resource != nil {
					texts = append(texts, resource(b.Resource))
				} else {
					texts = append(texts, read(b.Content))
				}
			}
			all[strings.Join(texts, "\n")]++
		}
	}
	return all
}
