package importer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
)

// TestWhatAPersonRemovesStaysRemoved removes an event of an import, or the last turn, while the
// session goes on: it does not come back, and what the session says since arrives.
func TestWhatAPersonRemovesStaysRemoved(t *testing.T) {
	seeds := uint64(3)
	if os.Getenv("GIT_JP_SOAK") != "" {
		seeds = 100
	}
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		for seed := range seeds {
			t.Run(fmt.Sprint(agent, seed), func(t *testing.T) {
				s := randomSessionOf(agent, seed, 4+int(seed%12))
				r := rand.New(rand.NewPCG(seed, 7))
				for i := range 5 {
					s.removes(t, r, i%4 == 0)
				}
			})
		}
	}
}

func (s written) removes(t *testing.T, r *rand.Rand, whole bool) {
	t.Helper()
	at := r.IntN(len(s.states))
	w := s.imported(t, s.states[at])
	c := mainOf(t, w)
	from, to := s.choose(c.Stream, r, whole)
	if from == to {
		return
	}
	var gone []string
	for i := from; i < to; i++ {
		gone = append(gone, texts.FindAllString(string(c.Stream.At(i).Raw()), -1)...)
	}
	change(t, w, c.ID, func(c *events.Stream) { c.Remove(from, to-from) })
	kept := sent(mainOf(t, w).Stream) // it may have the result of a call that was removed
	what := fmt.Sprintf("state %d of %d, without %q", at, len(s.states), gone)
	for _, state := range s.states[at+1:] {
		if err := s.tries(t, w, state); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	is := sent(mainOf(t, w).Stream)
	for _, text := range gone {
		if slices.Contains(is, text) && !slices.Contains(kept, text) {
			t.Errorf("%s: %s is back", what, text)
		}
	}
	if whole && !s.appends() {
		return // what is said in the turn since does not arrive
	}
	all := strings.Join(slices.Collect(maps.Values(has(t, w))), "")
	last := fmt.Sprint(s.states[len(s.states)-1])
	for _, text := range texts.FindAllString(last, -1) {
		if !slices.Contains(gone, text) && !regexp.MustCompile(text+`\b`).MatchString(all) {
			t.Errorf("%s: %s is lost", what, text)
		}
	}
}

func (s written) appends() bool { return s.dialect.Appends(sessions.Session{Path: s.path}) }

// choose returns the range of the last turn, or of one event.
func (s written) choose(c *events.Stream, r *rand.Rand, whole bool) (from, to int) {
	all := c.Turns()
	if len(all) == 0 {
		return 0, 0
	}
	last := all[len(all)-1]
	if whole {
		return last.First, c.Len()
	}
	var of []int
	turn := all[r.IntN(len(all))]
	for i := turn.First; i <= turn.Last; i++ {
		e := c.At(i)
		_, result := e.Event().(*events.ToolCallResponse)
		if e.Kind().IsEvent() && texts.Match(e.Raw()) && !result {
			of = append(of, i)
		}
	}
	if len(of) > 1 && turn == last && !s.appends() { // nothing tells the last one from what is new
		of = of[:len(of)-1]
	}
	if len(of) == 0 {
		return 0, 0
	}
	i := of[r.IntN(len(of))]
	return i, i + 1
}
