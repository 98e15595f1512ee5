package compact_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// A scribe writes summaries from a script, and records the prompts.
type scribe struct {
	drafts []compact.Draft
	shown  []compact.Passage
}

func (s *scribe) Name() string { return "test/scribe" }

func (s *scribe) Summarize(
	_ context.Context, p compact.Passage,
) (compact.Draft, compact.Usage, error) {
	s.shown = append(s.shown, p)
	d := s.drafts[min(len(s.shown), len(s.drafts))-1]
	return d, compact.Usage{Input: 100, Output: 10, Model: "scribe"}, nil
}

func brief(text string) compact.Draft { return compact.Draft{Summary: text} }

// working returns a conversation with facts that a summary must not lose.
func working() *talk {
	return new(talk).turn("fix it").think("hm").
		call("fs_read_file", `{"path":"src/read.go"}`, long).
		call("fs_modify_file", `{"path":"src/a.go","patterns":[]}`, "done").
		call("fs_create_file", `{"path":"src/b.go","content":"x"}`, "!no").
		call("git_commit", `{"message":"m"}`, "[main 1a2b3c4d] m").
		say("Made it.\n\n- [x] write it\n- [ ] Test it\n").
		turn("what is 0123456789 and deadbeef?").say("Numbers of 7f00ba4 are done.")
}

func summarize(t *testing.T, s *events.Stream, w compact.Summarizer, o compact.Options) *compact.Result {
	t.Helper()
	o.Strategies, o.Summarizer, o.KeepLast = []string{compact.Summarize}, w, 1
	return run(t, s, o)
}

func TestFacts(t *testing.T) {
	s := working().stream()
	var all []*events.Element
	for _, e := range s.All() {
		all = append(all, e)
	}
	f := compact.FactsOf(all, nil)
	if !slices.Equal(f.Paths, []string{"src/a.go"}) || !slices.Equal(f.Tasks, []string{"Test it"}) ||
		!slices.Equal(f.Commits, []string{"1a2b3c4d", "7f00ba4"}) {
		t.Errorf("facts are %+v", f)
	}
	if got := f.Missing("In src/a.go, at 1a2b3c4 and 7f00ba4, remains: test  it"); len(got) != 0 {
		t.Errorf("missing %q", got)
	}
}

func TestSummary(t *testing.T) {
	s := working().delta(`{"a":1}`).turn("go on").stream()
	w := &scribe{drafts: []compact.Draft{{
		Summary: "Made it in 1a2b3c4.", Files: []string{"src/a.go"}, Tasks: []string{"Test it"},
	}}}
	got := summarize(t, s, w, compact.Options{KeepLast: 1})
	step := got.Report.Steps[0]
	if len(w.shown) != 2 || !slices.Equal(w.shown[1].Missing, []string{"7f00ba4"}) || w.shown[1].Draft == nil {
		t.Fatalf("asked %d times, missing %v", len(w.shown), w.shown[len(w.shown)-1].Missing)
	}
	if len(step.Notes) != 1 || !strings.Contains(step.Notes[0], "refused: it lacks 7f00ba4") {
		t.Errorf("notes are %q", step.Notes)
	}
	if step.Usage.Input != 200 || step.Usage.Output != 20 {
		t.Errorf("usage is %+v", step.Usage)
	}
	if got.Report.Changed() {
		t.Error("a refused summary changed the conversation")
	}
	w.shown = nil
	w.drafts[0].Summary += " And 7f00ba4."
	got = summarize(t, s, w, compact.Options{})
	want := "T q([Summary of previous conversation]) m(Made it in 1a2b3c4. And 7f00ba4.\n\n" +
		"Active files:\n\n- src/a.go\n\nOpen tasks:\n\n- Test it" + repeated("fix it", "what is 0123456789 and deadbeef?") +
		") D{\"a\":1} T q(go on)"
	if told(got.Stream) != want {
		t.Errorf("got %s", told(got.Stream))
	}
	if !w.shown[0].Live {
		t.Error("what is sent now could have been summarized where it stands")
	}
	mark, ok := compact.SummaryOf(got.Stream.At(2))
	if !ok || mark.Model != "test/scribe" || mark.Usage.Input != 100 || mark.Events != 15 {
		t.Errorf("the mark is %+v", mark)
	}
	if elems, ok := mark.Find(s); !ok || len(elems) != 15 {
		t.Errorf("what it replaced is found: %t, %d", ok, len(elems))
	}
	if _, ok := mark.Find(new(talk).turn("other").stream()); ok {
		t.Error("it is found where it is not")
	}
}

// TestSummariesAreOfWhatWasSaid checks that a summary is never made from a summary, nor from a
// stream that other strategies changed.
func TestSummariesAreOfWhatWasSaid(t *testing.T) {
	source := new(talk).turn("one").call("fs_read_file", `{"path":"a"}`, long).say("first").
		turn("two").stream()
	w := &scribe{drafts: []compact.Draft{brief("S1")}}
	first := run(t, source, compact.Options{
		Strategies: []string{compact.StripToolResults, compact.Summarize}, Summarizer: w, KeepLast: 1,
	}).Stream
	if text := told(events.New(w.shown[0].Events...)); !strings.Contains(text, long) || w.shown[0].Live {
		t.Errorf("summarized was %s", text)
	}
	next := first.Clone()
	for _, e := range new(talk).say(strings.Repeat("second ", 200)).turn("three").elems {
		next.Append(e)
	}
	w = &scribe{drafts: []compact.Draft{brief("S2")}}
	lost := summarize(t, next, w, compact.Options{})
	if got := told(lost.Stream); !strings.Contains(got, "m(S1"+repeated("one")+"\n\nS2"+repeated("two")+")") {
		t.Errorf("the first summary is not carried over: %s", got)
	}
	if text := told(events.New(w.shown[0].Events...)); strings.Contains(text, "S1") {
		t.Errorf("a summary was summarized: %s", text)
	}
	w = &scribe{drafts: []compact.Draft{brief("S2")}}
	found := summarize(t, next, w, compact.Options{
		Raw: func(s compact.Summary) ([]*events.Element, bool) { return s.Find(source) },
	})
	if got := told(found.Stream); !strings.Contains(got, "m(S2"+repeated("one", "two")+")") {
		t.Errorf("got %s", got)
	}
	if text := told(events.New(w.shown[0].Events...)); !strings.Contains(text, long) || strings.Contains(text, "S1") {
		t.Errorf("summarized was %s", text)
	}
}

func TestSummariesThatAreRefused(t *testing.T) {
	s := new(talk).turn("q").say("m").turn("q").stream()
	for name, d := range map[string]compact.Draft{
		"it is not smaller": brief(strings.Repeat("long ", 500)), "it is empty": brief(" \n"),
	} {
		got := summarize(t, s, &scribe{drafts: []compact.Draft{d}}, compact.Options{})
		if notes := got.Report.Steps[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], name) ||
			got.Report.Changed() {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

// TestSummaryWithoutTurnStarts checks that the turns that are kept stay separate turns.
func TestSummaryWithoutTurnStarts(t *testing.T) {
	s := new(talk).ask("1").say(long).ask("2").say("m").stream()
	got := summarize(t, s, &scribe{drafts: []compact.Draft{brief("S")}}, compact.Options{})
	if want := "T q([Summary of previous conversation]) m(S" + repeated("1") + ") T q(2) m(m)"; told(got.Stream) != want {
		t.Errorf("got %s", told(got.Stream))
	}
}

// repeated returns requests as a summary repeats them.
func repeated(requests ...string) string {
	text := "\n\nWhat the user asked, word for word:"
	for _, r := range requests {
		text += "\n\n> " + r
	}
	return text
}

// TestSummariesRepeatRequests checks that a summary has the requests of people word for word, up to
// 2,000 characters, whoever writes it.
func TestSummariesRepeatRequests(t *testing.T) {
	s := new(talk).turn("never\npush").say(long + long).turn(strings.Repeat("é", 2001)).say(long + long).
		turn("go on").stream()
	got := told(summarize(t, s, &scribe{drafts: []compact.Draft{brief("S")}}, compact.Options{}).Stream)
	if want := "m(S" + repeated("never\n> push", strings.Repeat("é", 2000)+"…") + ")"; !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestExtractive(t *testing.T) {
	s := working().turn("go on").stream()
	got := summarize(t, s, nil, compact.Options{}).Stream
	r, _ := got.At(2).Event().(*events.ChatResponse)
	for _, want := range []string{
		"without a language model", "- fix it → Made it.", "src/a.go", "1a2b3c4d", "7f00ba4", "Test it",
	} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is not in %q", want, r.Text)
		}
	}
	k := new(talk)
	for n := range 600 {
		k.turn(fmt.Sprintf("question %d %s", n, long)).say(long)
	}
	many := summarize(t, k.turn("go on").stream(), nil, compact.Options{})
	r, _ = many.Stream.At(2).Event().(*events.ChatResponse)
	extract, words, _ := strings.Cut(r.Text, repeated())
	if !many.Report.Changed() || len(extract) > 20_000 || !strings.Contains(extract, "more turns") {
		t.Errorf("of 600 turns there are %d bytes", len(extract))
	}
	if n := strings.Count(words, "\n\n> question "); n != 600 {
		t.Errorf("of 600 questions there are %d", n)
	}
}

// finder always finds the same tangents.
type finder struct {
	found []compact.Tangent
	asked []compact.Digest
}

func (f *finder) Tangents(
	_ context.Context, turns []compact.Digest, last compact.Digest,
) ([]compact.Tangent, compact.Usage, error) {
	f.asked = append(slices.Clone(turns), last)
	return f.found, compact.Usage{Input: 7}, nil
}

func TestTangents(t *testing.T) {
	s := new(talk).turn("one").call("x", "{}", "y").say("a").turn("two").say("b").turn("three").say("c").
		delta("{}").turn("four").stream()
	f := &finder{found: []compact.Tangent{{Turn: 2, Reason: "off"}, {Turn: 1, Reason: "off"}, {Turn: 9}, {Turn: 4}}}
	o := compact.Options{Strategies: []string{compact.ClassifyTangents}, KeepLast: 1, Classifier: f}
	listed := run(t, s, o)
	step := listed.Report.Steps[0]
	if len(step.Tangents) != 2 || step.Tangents[0].Title != "two" || listed.Report.Changed() || len(step.Notes) != 2 {
		t.Errorf("listed %+v", step)
	}
	if len(f.asked) != 4 || f.asked[0].Tools[0] != "x" || f.asked[0].Answer != "a" || f.asked[3].Request != "four" {
		t.Errorf("asked about %+v", f.asked)
	}
	o.Confirm = func(all []compact.Tangent) []compact.Tangent { return all[:1] }
	want := "T q(one) +c1 -c1(y) m(a) T q(three) m(c) D{} T q(four)"
	if got := told(run(t, s, o).Stream); got != want {
		t.Errorf("got %s", got)
	}
}
