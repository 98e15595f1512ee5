package compact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"pgregory.net/rapid"
)

// recorded returns a stream as an agent's session has it, a letter for each element: q begins a
// turn, t is text, c a call, r the result of the first call without one. Usage is with the capital
// letters, and what follows a dot was not imported.
func recorded(letters string) *events.Stream {
	k, open := new(talk), []string(nil)
	own := false
	for _, c := range letters {
		md := events.Metadata{}
		if !own && c != 'q' {
			md = md.WithText(events.MetadataSource, fmt.Sprint("k", len(k.elems)))
		}
		if c < 'a' {
			md = compact.WithUsage(md, compact.Usage{Input: 9, Output: 1})
		}
		switch own = c == '.'; strings.ToLower(string(c)) {
		case "q":
			k.turn("q")
		case "t":
			k.add(&events.ChatResponse{Text: "t"}, md)
		case "c":
			open = append(open, fmt.Sprint("c", len(k.elems)))
			k.add(&events.ToolCallRequest{ID: open[len(open)-1], Name: "Bash"}, md)
		case "r":
			if len(open) > 0 {
				k.add(&events.ToolCallResponse{ID: open[0]}, md)
				open = open[1:]
			}
		}
	}
	return k.stream()
}

// TestResultsComeBehindAllCallsOfAnAnswer checks in which order a model was sent what an agent
// recorded, and how many requests that took.
func TestResultsComeBehindAllCallsOfAnAnswer(t *testing.T) {
	for letters, want := range map[string]struct {
		order    string
		requests int
	}{
		"":               {"", 0},
		"qT":             {"qqT", 1},
		"qcrCrT":         {"qqcCrrT", 2},
		"qcrcrCrCrT":     {"qqccCrrrCrT", 3},
		"qcrCrcrCrT":     {"qqcCrrcCrrT", 3},
		"qtcrcrCrqT":     {"qqtccCrrrqqT", 2},
		"qCrCrT":         {"qqCrCrT", 3},   // two answers
		"qcrtCrT":        {"qqcrtCrT", 3},  // text begins an answer
		"qcrcr":          {"qqcrcr", 2},    // usage is not known
		"qcrcrqT":        {"qqcrcrqqT", 3}, // nor in that turn
		"qcr.Cr":         {"qqcrCr", 2},    // said here
		"q.cr.Cr":        {"qqcrCr", 2},
		"qcCrrT":         {"qqcCrrT", 2}, // together already
		"qccrrcrCrTqcrC": {"qqcccCrrrrTqqcCr", 3},
	} {
		s := recorded(letters)
		var got []string
		for i, e := range compact.InOrder(s) {
			if s.At(i) != e {
				t.Fatalf("%s: %d is another element", letters, i)
			}
			got = append(got, letterOf(e))
		}
		h, err := compact.HistoryOf(s, compact.ObsoleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(got, ""); all != want.order || len(h.Exchanges) != want.requests {
			t.Errorf("%s: %s, %d requests, want %s, %d", letters, all, len(h.Exchanges),
				want.order, want.requests)
		}
	}
}

func letterOf(e *events.Element) string {
	c := map[events.Kind]string{
		events.KindTurnStart: "q", events.KindChatRequest: "q", events.KindChatResponse: "t",
		events.KindToolCallRequest: "c", events.KindToolCallResponse: "r",
	}[e.Kind()]
	if _, ok := compact.UsageOf(e); ok {
		return strings.ToUpper(c)
	}
	return c
}

// TestOrderLosesNothing checks that each element comes once, no result before its call, and that
// the order of what is in order stays.
func TestOrderLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("qtTcC")), 0, 30, -1).Draw(t, "letters")
		for range strings.Count(strings.ToLower(letters), "c") {
			at := rapid.IntRange(0, len(letters)).Draw(t, "at")
			letters = letters[:at] + "r" + letters[at:]
		}
		s := recorded(letters)
		var all []int
		for i := range compact.InOrder(s) {
			all = append(all, i)
		}
		sorted := slices.Sorted(slices.Values(all))
		if len(all) != s.Len() || len(slices.Compact(sorted)) != s.Len() {
			t.Fatalf("%v", all)
		}
		for _, c := range s.Calls() {
			if !c.Open() && slices.Index(all, c.Response) < slices.Index(all, c.Request) {
				t.Fatalf("the result %d is before its call: %v", c.Response, all)
			}
		}
		n := 0
		for i := range compact.InOrder(events.New(lists.Map(all, s.At)...)) {
			if i != n {
				t.Fatalf("the order changes again at %d: %v", n, all)
			}
			n++
		}
	})
}

// atOnce adds a thought and two calls of one answer, with results as an agent records them, and the
// usage of the answer.
func (k *talk) atOnce(result string, u compact.Usage) *talk {
	of := func() events.Metadata {
		return events.Metadata{}.WithText(events.MetadataSource, fmt.Sprint("k", len(k.elems)))
	}
	k.add(&events.ChatResponse{Form: events.FormReasoning}, of())
	for n, text := range []string{result, "done"} {
		md := of()
		if n == 1 {
			md = compact.WithUsage(md, u)
		}
		id := fmt.Sprint("c", len(k.elems))
		k.add(&events.ToolCallRequest{ID: id, Name: "Bash"}, md)
		k.add(&events.ToolCallResponse{ID: id, Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(text)),
		}}}, of())
	}
	return k
}

// TestUsageOfCallsThatWereMadeAtOnce checks that usage tells of the prompt before all calls of an
// answer, and that hidden reasoning of an answer is found by all of them.
func TestUsageOfCallsThatWereMadeAtOnce(t *testing.T) {
	k := new(talk).turn("q")
	for range 12 {
		input := besides + 1.2*promptOf(k.stream())
		k.atOnce(strings.Repeat("a line\n", 400), compact.Usage{Input: int64(input), Output: 1})
	}
	s := k.stream()
	got, want := run(t, s, compact.Options{KeepLast: 1}).Report.TokensBefore, besides+1.2*promptOf(s)
	if !near(got, want, 0.01) {
		t.Errorf("%.0f tokens, want %.0f", got, want)
	}
	k = new(talk).turn("q").atOnce("done", compact.Usage{Input: 9, Output: 900})
	if got := promptOf(k.stream()); got < 900 || got > 1000 {
		t.Errorf("with hidden reasoning of 900 tokens %.0f", got)
	}
}
