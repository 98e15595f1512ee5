package query_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/workspace"
)

// newCrowded returns a conversation whose results replace nothing and have about 700 tokens each,
// with a model of a small window.
func newCrowded(t *testing.T, window int64, acts ...act) *trimmed {
	k := newTrimmed(t, compact.Never)
	k.model.acts = acts
	k.trim.Window, k.trim.Rules = window, func(string) []dedup.Rule { return nil }
	return k
}

// run runs a turn.
func (k *trimmed) run(t *testing.T, question string) error {
	t.Helper()
	k.at = k.at.Add(time.Minute)
	turn := k.stage.turn(k.model, k.tools)
	turn.Now, turn.Trim, turn.Watch = func() time.Time { return k.at }, k.trim, k
	_, err := turn.Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: question}})
	return err
}

const roomStub = "[compacted] wait: the call was made; what it returned was taken out to make room"

func (k *trimmed) last() string { return said(k.model.asked[len(k.model.asked)-1]) }

// many makes one call in each of n answers.
func many(n int) (all []act) {
	for i := range n {
		all = append(all, calls(fmt.Sprint("c", i)))
	}
	return append(all, say(llm.StopEnd, "done"))
}

// TestOldResultsMakeRoomInMidTurn checks that old results are removed from a turn that would
// overflow the window, never the last three, that reasoning stays, that the record has all of it,
// and that it can be restored.
func TestOldResultsMakeRoomInMidTurn(t *testing.T) {
	k := newCrowded(t, 4500, many(9)...)
	if err := k.run(t, "work"); err != nil {
		t.Fatal(err)
	}
	for n, r := range k.model.asked {
		text := said(r)
		stubs, given := strings.Count(text, roomStub), strings.Count(text, "version ")
		if given < min(n, 3) || stubs+given != n || strings.Count(text, "(hm)") != n {
			t.Errorf("request %d has %d results and %d stubs\n%.600s", n, given, stubs, text)
		}
		for v := max(n-2, 1); v <= n; v++ {
			if !strings.Contains(text, fmt.Sprintf("version %d\n", v)) {
				t.Errorf("request %d lacks version %d", n, v)
			}
		}
	}
	if stubs := strings.Count(said(k.model.asked[6]), roomStub); stubs != 1 {
		t.Errorf("%d results went where one is enough", stubs)
	}
	if strings.Count(k.last(), roomStub) == 0 || len(k.notes) == 0 || !strings.Contains(k.notes[0], "git jp compact --undo") {
		t.Errorf("told %q of\n%s", k.notes, k.last())
	}
	c, err := k.stage.workspace.Load(k.stage.entry)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(k.stage.stored(t), "version "); got != 9 {
		t.Errorf("the record has %d versions", got)
	}
	back, n := dedup.Returned(c.Stream)
	if _, again := dedup.Returned(back); n == 0 || again != 0 {
		t.Errorf("%d results came back, then %d", n, again)
	}
	turn := k.stage.turn(k.model, k.tools)
	turn.Record = copied{back, turn.Record}
	r, _, err := turn.Explain(query.Prompt{Request: &events.ChatRequest{Content: "and now?"}})
	if err != nil || strings.Count(said(r), "version ") != 9 {
		t.Errorf("%d versions are given again, %v", strings.Count(said(r), "version "), err)
	}
}

// TestPinsStayInMidTurn checks that pinned results are not removed to make room.
func TestPinsStayInMidTurn(t *testing.T) {
	k := newCrowded(t, 4500, many(9)...)
	k.tools.slow = func() {
		if k.tools.n != 2 {
			return
		}
		err := k.stage.hold.Update(pinFirst)
		if err != nil {
			t.Error(err)
		}
	}
	if err := k.run(t, "work"); err != nil {
		t.Fatal(err)
	}
	c, err := k.stage.workspace.Load(k.stage.entry)
	if err != nil || !slices.Contains(c.Stream.At(4).Metadata().Keys(), "git_jp_pin") {
		t.Fatalf("nothing is pinned: %v %v", err, c.Stream.At(4).Metadata().Keys())
	}
	if text := k.last(); !strings.Contains(text, "version 1\n") || !strings.Contains(text, roomStub) {
		t.Errorf("sent was\n%s", text)
	}
}

// TestEarlierTurnsAreSummarizedInMidTurn checks that a summary replaces earlier turns if removing
// results is not enough, by an overlay that can be undone.
func TestEarlierTurnsAreSummarizedInMidTurn(t *testing.T) {
	k := newCrowded(t, 0, say(llm.StopEnd, strings.Repeat("a long answer. ", 1000)))
	if err := k.run(t, "the first question"); err != nil {
		t.Fatal(err)
	}
	k.model.acts = append(k.model.acts, many(4)...)
	k.trim.Window = 5000
	if err := k.run(t, "work"); err != nil {
		t.Fatal(err)
	}
	text := k.last()
	if !strings.Contains(text, events.SummaryRequest) || !strings.Contains(text, "the first question") ||
		strings.Count(text, "a long answer") > 500 || strings.Count(text, "version ") < 3 {
		t.Errorf("sent was\n%.3000s", text)
	}
	c, err := k.stage.workspace.Load(k.stage.entry)
	if err != nil {
		t.Fatal(err)
	}
	if _, gone, err := compact.RemoveOverlay(c.Stream, -1); err != nil || len(gone) != 1 {
		t.Errorf("%d compactions, %v", len(gone), err)
	}
}

// TestACrowdedTurnEndsSaved checks that a turn that cannot be made to fit ends with everything
// saved, and names the largest items.
func TestACrowdedTurnEndsSaved(t *testing.T) {
	k := newCrowded(t, 1500, many(5)...)
	err := k.run(t, "work")
	crowded, ok := errors.AsType[*query.CrowdedError](err)
	if !ok || len(crowded.Largest) != 3 || !strings.Contains(err.Error(), "the result of wait (c2)") {
		t.Fatalf("ended with %v", err)
	}
	if got := strings.Count(k.stage.stored(t), "version "); got != 3 || len(k.model.asked) != 3 {
		t.Errorf("the record has %d versions after %d requests", got, len(k.model.asked))
	}
}

// TestTheProviderFindsItTooLarge checks that a request that the provider refuses for its size is
// sent again, smaller, as often as that helps.
func TestTheProviderFindsItTooLarge(t *testing.T) {
	full := func(limit int) act {
		return func(*llm.Assembler) error {
			return &llm.OverflowError{Model: "test/player", Tokens: 8 * limit / 5, Limit: limit}
		}
	}
	acts := many(6)
	acts = append(acts[:6:6], full(2000), acts[6])
	k := newCrowded(t, 0, acts...)
	if err := k.run(t, "work"); err != nil {
		t.Fatal(err)
	}
	if stubs := strings.Count(k.last(), roomStub); stubs == 0 || stubs > 3 {
		t.Errorf("%d results went", stubs)
	}
	k = newCrowded(t, 0, append(many(1)[:1], full(10))...)
	err := k.run(t, "work")
	over, ok := errors.AsType[*llm.OverflowError](err)
	if !ok || over.Limit != 10 || len(k.model.asked) != 2 {
		t.Errorf("after %d requests: %v", len(k.model.asked), err)
	}
}

// pinFirst pins the first call.
func pinFirst(c *workspace.Conversation) error {
	c.Stream, _ = compact.Pin(c.Stream, "c0")
	return nil
}
