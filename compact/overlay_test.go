package compact_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/go-json-experiment/json/jsontext"
)

func TestParsePolicy(t *testing.T) {
	all := func(s string) string {
		p, err := compact.ParsePolicy(s)
		if err != nil {
			return "!"
		}
		tools := "-"
		if p.Tools != nil {
			tools = fmt.Sprintf("%t,%t,%t", p.Tools.Omit, p.Tools.Request, p.Tools.Response)
		}
		r, ok := new(talk).turn("1").turn("2").turn("3").turn("4").turn("5").stream().ResolveRange(p.From, p.To)
		return fmt.Sprintf("r=%t s=%t t=%s %v %t", p.Reasoning, p.Summarize, tools, r, ok)
	}
	for spec, want := range map[string]string{
		"r":                             "r=true s=false t=- {1 3} true",
		"reasoning+tools":               "r=true s=false t=false,true,true {1 3} true",
		"s:..":                          "r=false s=true t=- {0 4} true",
		"summarize:2":                   "r=false s=true t=- {1 4} true",
		"t=sreq:-2":                     "r=false s=false t=false,true,false {0 3} true",
		"tools=strip-responses+r:2..-2": "r=true s=false t=false,false,true {1 3} true",
		"t=o:9..":                       "r=false s=false t=true,false,false {0 0} false",
		"":                              "!", "x": "!", "r=1": "!", "t=x": "!", "r:0": "!", "strip-reasoning": "!",
	} {
		if got := all(spec); got != want {
			t.Errorf("%q: %s, want %s", spec, got, want)
		}
	}
}

func TestOverlay(t *testing.T) {
	s := worker(4)
	policy := func(spec string) compact.Policy {
		p, err := compact.ParsePolicy(spec)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	o := compact.Overlay{Now: second(100)}
	out, made, err := o.Apply(t.Context(), s, []compact.Policy{
		policy("r+t=omit:1..2"), policy("r:9..9"), policy("s:2..3"),
	})
	if err != nil || len(made) != 2 || out.Len() != s.Len()+2 {
		t.Fatalf("made %d, %v", len(made), err)
	}
	if text := told(out.Project().Stream); !strings.Contains(text, "Extracted by rules") ||
		strings.Contains(text, "q(question 1)") || !strings.Contains(text, "q(question 3)") {
		t.Errorf("projected: %s", text)
	}
	// A summary that overlaps another is extended to cover both.
	out, made, err = o.Apply(t.Context(), out, []compact.Policy{policy("s:3..4")})
	if err != nil || made[0].FromTurn != 1 || made[0].ToTurn != 3 {
		t.Errorf("made %+v, %v", made, err)
	}
	out, gone, err := compact.RemoveOverlay(out, 0)
	if err != nil || len(gone) != 3 || string(out.Encode()) != string(s.Encode()) {
		t.Errorf("undone %d, %v", len(gone), err)
	}
	if _, _, err := compact.RemoveOverlay(out, -1); !errors.Is(err, compact.ErrNoOverlay) {
		t.Errorf("nothing to undo: %v", err)
	}
	_, _, err = compact.Overlay{
		Now: second(100), Summarizer: &scribe{drafts: []compact.Draft{brief(strings.Repeat(long, 9))}},
	}.Apply(t.Context(), s, []compact.Policy{policy("s:1..1")})
	if !errors.Is(err, compact.ErrRefused) {
		t.Errorf("a longer summary: %v", err)
	}
}

// TestVectors writes the overlays of the recorded projections again, from their specifications, and
// compares their projections with the recorded bytes.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(realdata.Dir(t, "vectors", "jp-format.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Project []struct {
			Name        string
			Events, Out json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	written := 0
	for _, v := range vectors.Project {
		s, err := events.Decode(v.Events)
		if err != nil {
			t.Fatal(err)
		}
		want, err := events.Decode(v.Out)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range s.All() {
			if c, ok := e.Event().(*events.Compaction); ok {
				written++
				s.Set(i, rewritten(t, s, e, c))
			}
		}
		if got := canonical(t, s.Project().Stream); got != canonical(t, want) {
			t.Errorf("%s:\n%s\nwant\n%s", v.Name, got, canonical(t, want))
		}
	}
	if written == 0 {
		t.Error("no overlay was written")
	}
}

// canonical returns a stream with one order of members and one spelling of values.
func canonical(t *testing.T, s *events.Stream) string {
	t.Helper()
	v := jsontext.Value(s.Encode())
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// rewritten returns a compaction as [compact.Overlay] writes it.
func rewritten(t *testing.T, s *events.Stream, e *events.Element, c *events.Compaction) *events.Element {
	t.Helper()
	p := compact.Policy{
		Reasoning: c.StripReasoning, Tools: c.ToolCalls, Summarize: c.Summary != nil,
		From: events.AtTurn(c.FromTurn), To: events.AtTurn(c.ToTurn), Ranged: true,
	}
	bare := events.New()
	for _, other := range s.All() {
		if other.Kind() != events.KindCompaction { // so that a summary is not extended
			bare.Append(other)
		}
	}
	o := compact.Overlay{Now: e.Time()}
	if c.Summary != nil {
		o.Summarizer = &scribe{drafts: []compact.Draft{brief(*c.Summary)}}
	}
	_, made, err := o.Apply(t.Context(), bare, []compact.Policy{p})
	if err != nil || len(made) != 1 {
		return e // its turns do not exist, or it is longer than they are
	}
	made[0].Summary = c.Summary // without the requests that our summary repeats
	return events.NewElement(e.Time(), made[0], events.Metadata{})
}
