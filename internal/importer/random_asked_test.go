package importer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/workspace"
)

// asks appends a turn of a person's own to the conversation of a session.
func asks(t *testing.T, w *workspace.Workspace, text string, at time.Time) {
	t.Helper()
	err := w.Update(t.Context(), mainOf(t, w).ID, func(c *workspace.Conversation) error {
		c.Stream.Append(
			events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
			events.NewElement(at.Add(time.Microsecond), &events.ChatRequest{Content: text}, events.Metadata{}),
			events.NewElement(at.Add(time.Second), &events.ChatResponse{Form: events.FormMessage, Text: "It is."},
				events.Metadata{}),
		)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// without returns the texts that a model is sent of a session, without the turns of persons.
func without(w *workspace.Conversation, texts ...string) (all []string) {
	s := w.Stream.Clone()
	turns, own := s.TurnOf(), map[int]bool{}
	for i, e := range s.All() {
		if q, ok := e.Event().(*events.ChatRequest); ok && slices.Contains(texts, q.Content) {
			own[turns[i]] = true
		}
	}
	for i, e := range s.All() {
		if !own[turns[i]] && e.Kind().IsEvent() {
			all = append(all, string(e.Raw()))
		}
	}
	return all
}

// TestRandomSessionsAskedBetween has two people ask in a session between imports of it, on branches
// that they merge: what they asked is there once, and so is all of the session.
func TestRandomSessionsAskedBetween(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("GIT_JP_SOAK") != "" {
		seeds = 200
	}
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		for seed := range seeds {
			t.Run(fmt.Sprint(agent, seed), func(t *testing.T) {
				s := randomSessionOf(agent, seed, 4+int(seed%12))
				if s.says == nil {
					return
				}
				s.asked(t, rand.New(rand.NewPCG(seed, 7)))
			})
		}
	}
}

func (s written) asked(t *testing.T, r *rand.Rand) {
	n := len(s.states)
	at := [3]int{1 + r.IntN(n), 1 + r.IntN(n), 1 + r.IntN(n)}
	slices.Sort(at[:])
	b, o, l := s.states[at[0]-1], s.states[at[1]-1], s.states[at[2]-1]
	all := randomImports{nil, s.imported(t, b), s.imported(t, b), s.imported(t, b)}
	day := time.Date(2026, 5, 3, 10, 0, 0, 0, time.UTC)
	asks(t, all.short, "Mine", day)
	s.brings(t, all.short, o)
	asks(t, all.long, "Yours", day.Add(time.Hour))
	s.brings(t, all.long, l)
	if lost := lostBy(t, all.merge(t)); len(lost) > 0 {
		t.Errorf("merged, it lost %s", lost)
	}
	whole := s.states[n-1]
	s.brings(t, all.long, whole)
	got, want := mainOf(t, all.long), mainOf(t, s.imported(t, whole))
	for _, text := range []string{"Mine", "Yours"} {
		if c := strings.Count(string(got.Stream.Encode()), `"content": "`+text+`"`); c != 1 {
			t.Errorf("%s is there %d times", text, c)
		}
	}
	have, once := without(got, "Mine", "Yours"), without(want)
	for _, e := range once {
		if !strings.Contains(e, "turn_start") && !slices.Contains(have, e) {
			t.Errorf("it lacks %s", e)
		}
	}
	for _, e := range have {
		if !strings.Contains(e, "turn_start") && !slices.Contains(once, e) {
			t.Errorf("it has too much: %s", e)
		}
	}
}

// TestAnEditOfTheRewoundIsLost has a merge leave out the edit of a turn that was rewound: the
// conversation of that turn does not have it.
func TestAnEditOfTheRewoundIsLost(t *testing.T) {
	m, w := gittest.Repo(t), newWorkspace(t)
	lines := strings.SplitAfter(string(rewound()), "\n")
	grows(t, w, ofClaude, []byte(strings.Join(lines[:4], "")))
	commit(t, m, w, "base")
	m.Run("checkout", "-q", "-b", "theirs")
	long := newWorkspace(t)
	grows(t, long, ofClaude, rewound())
	commit(t, m, long, "theirs")
	m.Run("checkout", "-q", "main")
	c := mainOf(t, w)
	err := w.Update(t.Context(), c.ID, func(c *workspace.Conversation) error {
		last := c.Stream.Len() - 2
		c.Stream.Set(last, c.Stream.At(last).With(&events.ChatRequest{Content: "Mine"}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, m, w, "ours")
	m.Run("merge", "-q", "-s", "ours", "--no-commit", "theirs")
	commit(t, m, long, "merge")
	if lost := lostBy(t, m); len(lost) != 1 || !strings.Contains(lost[0], "Mine") {
		t.Errorf("lost: %s", lost)
	}
}
