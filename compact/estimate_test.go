package compact_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// billed is a conversation whose provider counts more tokens than estimated, by a factor, and 7,000
// more besides the conversation.
type billed struct {
	talk
	recorded bool    // the estimate of each request is recorded too
	scale    float64 // factor by which the provider counts more
}

const besides = 7000

func (k *billed) answer(text string, output int) *billed {
	s := k.stream()
	m, err := compact.HistoryOf(s, compact.ObsoleteOptions{Estimator: compact.Estimator{Scale: 1}})
	if err != nil {
		panic(err)
	}
	guess := 0.0
	for _, n := range m.Sizes {
		guess += n
	}
	usage := fmt.Sprintf(`{"input":%d,"output":%d}`, int(besides+k.scale*guess), output)
	md := events.Metadata{}.With("git_jp_usage", jsontext.Value(usage))
	if k.recorded {
		md = compact.WithSent(md, compact.Sent{At: second(s.Len()), Prefix: "p", Size: int64(guess)})
	}
	k.add(&events.ChatResponse{Text: text}, md)
	return k
}

// paid returns a conversation of some turns in which the same is read again and again.
func paid(turns int, recorded bool, scale float64) *billed {
	k := &billed{recorded: recorded, scale: scale}
	for n := range turns {
		k.turn(fmt.Sprint("q", n))
		k.think(strings.Repeat("hm ", 300))
		k.call("fs_read_file", `{"path":"a.go"}`, strings.Repeat(fmt.Sprint("line ", n, "\n"), 200))
		k.answer(strings.Repeat("done ", 50), 1)
	}
	return k
}

func near(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

// TestACompactionIsGuessedAsItWasReported checks that usage from before a compaction is not used
// for the remaining text, and that later usage is.
func TestACompactionIsGuessedAsItWasReported(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		for _, name := range append(compact.Mechanical(), compact.Auto, compact.Summarize) {
			k := paid(12, recorded, 1.2)
			o := compact.Options{Strategies: []string{name}, KeepLast: 2, Now: second(k.stream().Len())}
			first := run(t, k.stream(), o)
			if r := first.Report; !near(r.TokensBefore, besides+1.2*promptOf(k.stream()), 0.02) {
				t.Errorf("%s: before are %.0f tokens", name, r.TokensBefore)
			}
			if !first.Report.Changed() {
				continue
			}
			if got := run(t, first.Stream, o).Report.TokensBefore; !near(got, first.Report.TokensAfter, 0.01) {
				t.Errorf("%s, recorded %t: %.0f tokens, the report has %.0f of %.0f", name, recorded,
					got, first.Report.TokensAfter, first.Report.TokensBefore)
			}
			later := &billed{recorded: recorded, scale: 1.2}
			later.elems = slices.Collect(func(yield func(*events.Element) bool) {
				for _, e := range first.Stream.All() {
					if !yield(e) {
						return
					}
				}
			})
			for range 12 { // new questions have somewhat more tokens
				later.add(&events.TurnStart{})
				later.elems = append(later.elems, events.NewElement(second(900+len(later.elems)), &events.ChatRequest{Content: strings.Repeat("more ", 400)}, events.Metadata{}))
				later.answer("fine", 1)
			}
			later.elems = restamped(later.elems)
			if got, want := run(t, later.stream(), o).Report.TokensBefore, besides+1.2*promptOf(later.stream()); !near(got, want, 0.02) {
				t.Errorf("%s, recorded %t: later %.0f tokens, want %.0f", name, recorded, got, want)
			}
		}
	}
}

// restamped moves everything that is newer than the compaction after it.
func restamped(all []*events.Element) []*events.Element {
	out := slices.Clone(all)
	for i, e := range out {
		if i > 0 && e.Time().Before(out[i-1].Time()) {
			out[i] = events.NewElement(out[i-1].Time(), e.Event(), e.Metadata())
		}
	}
	return out
}

// promptOf returns the uncalibrated estimate of a conversation.
func promptOf(s *events.Stream) (sum float64) {
	h, err := compact.HistoryOf(s, compact.ObsoleteOptions{Estimator: compact.Estimator{Scale: 1}})
	if err != nil {
		panic(err)
	}
	for _, n := range h.Sizes {
		sum += n
	}
	return sum
}

// TestWhatIsBesideCounts checks that the system prompt and the tools are part of the total: from
// usage, or else from their known size, which also applies if usage is for another text.
func TestWhatIsBesideCounts(t *testing.T) {
	plain := new(talk).turn("q").say("m").stream()
	known := compact.Options{System: 3790, Offered: map[string]int64{"t": 3290}} // 2,000 tokens
	for name, test := range map[string]struct {
		s    *events.Stream
		o    compact.Options
		want float64 // besides the conversation
	}{
		"nothing is known":     {plain, compact.Options{}, 0},
		"known":                {plain, known, 2000},
		"told":                 {paid(4, false, 1.2).stream(), compact.Options{}, besides},
		"told, near the known": {paid(4, false, 1.2).stream(), compact.Options{System: 3790 * 5}, besides},
		"told of other tools":  {paid(4, false, 1.2).stream(), known, 2000},
	} {
		test.o.Now = second(1000)
		s, err := compact.Survey(t.Context(), test.s, test.o)
		if err != nil {
			t.Fatal(err)
		}
		beside := 0.0
		for _, sort := range s.Sorts {
			if sort.Name == "system" || sort.Name == "tools" {
				beside += sort.Tokens
			}
		}
		if !near(beside, test.want, 0.03) || s.Tokens < beside {
			t.Errorf("%s: %.0f tokens of %.0f, want %.0f", name, beside, s.Tokens, test.want)
		}
	}
}

// TestHiddenReasoningCounts checks that reasoning which the provider does not show counts in the
// next prompt as long as it is in the conversation.
func TestHiddenReasoningCounts(t *testing.T) {
	k := &billed{scale: 1.2}
	k.turn("q").think("")
	k.answer("m", 900)
	k.turn("and then?")
	s, err := compact.Survey(t.Context(), k.stream(), compact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reasoning := func(s compact.Stats) (n float64) {
		for _, turn := range s.Turns {
			n += turn.Tokens
		}
		return n
	}
	if n := reasoning(s); n < 900 {
		t.Errorf("%.0f tokens of turns", n)
	}
	out := run(t, k.stream(), compact.Options{Strategies: []string{compact.StripReasoning}, KeepLast: 1})
	if out.Report.TokensSaved < 800 {
		t.Errorf("without it %.0f tokens are saved", out.Report.TokensSaved)
	}
}

// TestTrimmedPromptsAreOfAnotherText checks that a prompt which was recorded before trimming does
// not determine the size of the next one, unless the estimate of its text is recorded.
func TestTrimmedPromptsAreOfAnotherText(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		scale := map[bool]float64{false: 1, true: 1.2}[recorded]
		s := paid(12, recorded, scale).stream()
		for _, c := range s.Calls()[:2] {
			s.Set(c.Response, dedup.WithTrimmed(s.At(c.Response), nil))
		}
		want := besides + scale*promptOf(s)
		if got := run(t, s, compact.Options{KeepLast: 1}).Report.TokensBefore; !near(got, want, 0.04) {
			t.Errorf("recorded %t: %.0f tokens, want %.0f", recorded, got, want)
		}
	}
}

// TestPromptsAfterAnOverlayAreOfItsText checks that a prompt which was recorded after the last
// overlay determines the size of the next one, and that one before it does not.
func TestPromptsAfterAnOverlayAreOfItsText(t *testing.T) {
	k := paid(12, false, 1.2)
	words := "All was read."
	k.add(&events.Compaction{FromTurn: 0, ToTurn: 11, Summary: &words})
	k.turn("and then?")
	unknown := run(t, k.stream(), compact.Options{KeepLast: 1}).Report
	if want := besides + promptOf(k.stream()); !near(unknown.TokensBefore, want, 0.05) {
		t.Errorf("at the overlay %.0f tokens, want %.0f", unknown.TokensBefore, want)
	}
	for range 4 {
		k.scale = 1.6 // it counts more for what it wrote
		k.answer(strings.Repeat("done ", 500), 1)
		k.turn("go on")
	}
	got := run(t, k.stream(), compact.Options{KeepLast: 1}).Report.TokensBefore
	if want := besides + k.scale*promptOf(k.stream()); !near(got, want, 0.04) {
		t.Errorf("after it %.0f tokens, want %.0f", got, want)
	}
}
