package llm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gitjp "github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"pgregory.net/rapid"
)

// ends fails a test if f does not return.
func ends(t rapid.TB, f func()) {
	t.Helper()
	late := time.AfterFunc(20*time.Second, func() { panic(t.Name() + " does not end") })
	defer late.Stop()
	f()
}

func TestAssemblerStartsAgain(t *testing.T) {
	ends(t, func() {
		got := told(&llm.Request{}, func(a *llm.Assembler) {
			a.Start(0, llm.PartText, "", "")
			a.Append(0, "one")
			a.Start(0, llm.PartText, "", "")
			a.Append(0, "two")
			a.Start(0, llm.PartCall, "i", "n")
			a.Stop(llm.Stop{Reason: llm.StopTools})
		})
		want := "start 0 0 , more 0 one, end 0 0:one 0, start 1 0 , more 1 two, end 1 0:two 0, " +
			"start 2 3 in, end 2 in{} 0, stop tool_use"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
	})
}

// An assembled is an answer that a consumer assembled from deltas, with the first broken promise.
type assembled struct {
	parts map[int]string // text of the fragments
	ended map[int]string // text of the events
	fault string
	stops int
}

func (s *assembled) take(d llm.Delta, _ error) bool {
	_, begun := s.parts[d.Index]
	_, over := s.ended[d.Index]
	switch d.Kind {
	case llm.DeltaStart:
		if begun {
			s.fault = fmt.Sprintf("part %d starts twice", d.Index)
		}
		s.parts[d.Index] = ""
	case llm.DeltaFragment:
		if !begun || over {
			s.fault = fmt.Sprintf("part %d goes on while it is not open", d.Index)
		}
		s.parts[d.Index] += d.Text
	case llm.DeltaEnd:
		if !begun || over {
			s.fault = fmt.Sprintf("part %d ends while it is not open", d.Index)
		}
		s.ended[d.Index] = ""
		if r, ok := d.Event.(*gitjp.ChatResponse); ok {
			s.ended[d.Index] = r.Text
		}
	case llm.DeltaStop:
		s.stops++
	}
	return true
}

// TestAssemblerAnyOrder checks that, whatever an adapter does in whatever order, an answer ends,
// and text added to an open part is in exactly one part, once.
func TestAssemblerAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { ends(t, func() { assemblerAnyOrder(t) }) })
}

func assemblerAnyOrder(t *rapid.T) {
	s := &assembled{parts: map[int]string{}, ended: map[int]string{}}
	a := llm.NewAssembler(&llm.Request{}, s.take)
	key := rapid.IntRange(-1, 2)
	var said []string
	token := func() string { return fmt.Sprintf("<%d>", len(said)) }
	t.Repeat(map[string]func(*rapid.T){
		"start": func(t *rapid.T) {
			a.Start(key.Draw(t, "key"), llm.PartKind(rapid.IntRange(0, 1).Draw(t, "part")), "", "")
		},
		"append": func(t *rapid.T) {
			k, text := key.Draw(t, "key"), token()
			if a.Started(k) {
				said = append(said, text)
			}
			a.Append(k, text)
		},
		"say": func(t *rapid.T) {
			text := token()
			said = append(said, text)
			a.Say(llm.PartKind(rapid.IntRange(0, 1).Draw(t, "part")), text)
		},
		"end":   func(t *rapid.T) { a.End(key.Draw(t, "key")) },
		"flush": func(t *rapid.T) { a.Flush(rapid.Bool().Draw(t, "cut")) },
		"":      func(t *rapid.T) { checkAssembled(t, s, nil) },
	})
	a.Stop(llm.Stop{Reason: rapid.SampledFrom([]llm.StopReason{
		llm.StopEnd, llm.StopMaxTokens, llm.StopTools,
	}).Draw(t, "stop")})
	checkAssembled(t, s, said)
	if s.stops != 1 || len(s.ended) != len(s.parts) {
		t.Fatalf("%d stops, %d of %d parts ended", s.stops, len(s.ended), len(s.parts))
	}
}

func checkAssembled(t *rapid.T, s *assembled, said []string) {
	if s.fault != "" {
		t.Fatal(s.fault)
	}
	var all strings.Builder
	for i, text := range s.ended {
		if text != s.parts[i] {
			t.Fatalf("part %d ends as %q after %q", i, text, s.parts[i])
		}
		all.WriteString(text)
	}
	for _, token := range said {
		if n := strings.Count(all.String(), token); n != 1 {
			t.Fatalf("%s is said %d times", token, n)
		}
	}
}
