package query_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/query"
	"pgregory.net/rapid"
)

// strategies draws a stack of strategies.
func strategies() *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.SampledFrom(compact.Names()), 1, 4)
}

// compacted compacts a conversation in any way that its options allow.
func compacted(t *rapid.T, stored *events.Stream) *events.Stream {
	hint := compact.Hint{
		Response: rapid.SampledFrom([]compact.Response{
			"", compact.Keep, compact.Strip, compact.Remove,
		}).Draw(t, "response"),
		Dedup:    rapid.Bool().Draw(t, "dedup"),
		Subsumes: rapid.SampledFrom([]string{"", "exact", "io-content"}).Draw(t, "subsumes"),
	}
	out, err := compact.Run(t.Context(), stored, compact.Options{
		Strategies: strategies().Draw(t, "strategies"),
		KeepLast:   rapid.IntRange(0, 3).Draw(t, "keep last"),
		Now:        time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		Contents:   noBlobs{}, Dedup: options(),
		Hint: func(string) compact.Hint { return hint },
		Classifier: anyTurns(func(n int) bool {
			return rapid.Bool().Draw(t, fmt.Sprint("tangent ", n))
		}),
		Confirm: func(all []compact.Tangent) []compact.Tangent { return all },
		Budget:  int64(rapid.SampledFrom([]int{0, 1, 50, 500}).Draw(t, "budget")),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Stream
}

func options() dedup.Options {
	return dedup.Options{Enabled: true, MinBytes: 30, Lookback: 30, Lines: true}
}

// count is the number of cases to try: few by default, a million in a long run.
func count(t *testing.T, adapters int) int {
	t.Helper()
	if os.Getenv("GIT_JP_SOAK") == "" {
		return 1
	}
	return 1_000_000 / 100 / adapters
}

// TestCompactedConversationsAreTaken compacts arbitrary conversations by arbitrary stacks of
// strategies and sends them, through the real adapters, to the checker of each provider.
func TestCompactedConversationsAreTaken(t *testing.T) {
	all := adapters()
	for name, a := range all {
		t.Run(name, func(t *testing.T) {
			for range count(t, len(all)) {
				rapid.Check(t, func(t *rapid.T) {
					stored := conversation().Draw(t, "conversation")
					before := string(stored.Encode())
					out := compacted(t, stored)
					if string(stored.Encode()) != before {
						t.Fatal("the source was changed")
					}
					holds(t, stored, out)
					request, err := query.Build(source(t, out))
					if err != nil {
						t.Fatalf("%v\n%s\n%s", err, before, out.Encode())
					}
					if _, err := a.send(request); err != nil {
						t.Fatalf("%v\n%s\n%s", err, before, out.Encode())
					}
				})
			}
		})
	}
}

// A fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// holds compares a compacted stream with its source and fails for any fault.
func holds(t fataler, stored, out *events.Stream) {
	t.Helper()
	for _, fault := range faults(stored, out) {
		t.Fatalf("%s\n%s\n%s", fault, stored.Encode(), out.Encode())
	}
}

// faults returns the rules that a compaction broke.
func faults(stored, out *events.Stream) []string {
	var all []string
	if err := out.Validate(); err != nil {
		return []string{err.Error()}
	}
	if again, err := events.Decode(out.Encode()); err != nil || again.Len() != out.Len() {
		return []string{fmt.Sprintf("the stream does not read back: %v", err)}
	}
	for _, q := range out.Inquiries() {
		if q.Open() {
			all = append(all, fmt.Sprintf("inquiry %s is not answered", q.ID))
		}
	}
	all = append(all, configFaults(stored, out)...)
	all = append(all, compactionFaults(out)...)
	all = append(all, pairFaults(stored, out)...)
	return append(all, deliveryFaults(out)...)
}

// configFaults checks that every remaining event has the same configuration as before.
func configFaults(stored, out *events.Stream) []string {
	in := map[*events.Element]string{}
	read := func(s *events.Stream, f func(e *events.Element, config string)) {
		var at []string
		for _, e := range s.All() {
			if d, ok := e.Event().(*events.ConfigDelta); ok {
				at = append(at, string(d.Delta))
			} else if e.Kind().IsEvent() {
				f(e, strings.Join(at, "\n"))
			}
		}
	}
	read(stored, func(e *events.Element, config string) { in[e] = config })
	var all []string
	read(out, func(e *events.Element, config string) {
		if want, ok := in[e]; ok && want != config {
			all = append(all, fmt.Sprintf("%s has the configuration %q, had %q", e.Raw(), config, want))
		}
	})
	return all
}

// pairFaults checks that a call and its result are kept or dropped together.
func pairFaults(stored, out *events.Stream) []string {
	left := map[*events.Element]bool{}
	for _, e := range out.All() {
		left[e] = true
	}
	answered := map[*events.Element]bool{}
	for _, c := range out.Calls() {
		answered[out.At(c.Request)] = !c.Open()
	}
	var all []string
	for _, c := range stored.Calls() {
		if c.Open() {
			continue
		}
		call, result := stored.At(c.Request), stored.At(c.Response)
		if left[result] && !left[call] {
			all = append(all, fmt.Sprintf("the call of %s is gone", result.Raw()))
		}
		if left[call] && !answered[call] {
			all = append(all, fmt.Sprintf("the result of %s is gone", call.Raw()))
		}
	}
	return all
}

// compactionFaults checks that the range of every compaction is of existing turns.
func compactionFaults(out *events.Stream) []string {
	var all []string
	for _, e := range out.All() {
		if c, ok := e.Event().(*events.Compaction); ok && c.FromTurn > c.ToTurn {
			all = append(all, fmt.Sprintf("a compaction of turns %d to %d", c.FromTurn, c.ToTurn))
		}
	}
	return all
}

// deliveryFaults checks that whatever a reference points to is delivered in full in the same
// request.
func deliveryFaults(out *events.Stream) []string {
	view := query.View(out)
	plan, err := dedup.New(view, options(), noBlobs{})
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	for at, d := range plan.All() {
		for _, to := range d.Referents {
			there := resourceAt(view, to)
			if plan.Block(to.Element, to.Block).Form != dedup.Whole || there == nil {
				all = append(all, fmt.Sprintf("%v refers to %v, which is not whole", at, to))
			}
			if d.Form == dedup.Reference && there.Content.Ref() != resourceAt(view, at).Content.Ref() {
				all = append(all, fmt.Sprintf("%v refers to another content", at))
			}
		}
	}
	return all
}

func resourceAt(s *events.Stream, p dedup.Place) *events.Resource {
	switch ev := s.At(p.Element).Event().(type) {
	case *events.ChatRequest:
		if p.Block < len(ev.Resources) {
			return &ev.Resources[p.Block]
		}
	case *events.ToolCallResponse:
		if p.Block < len(ev.Blocks) {
			return ev.Blocks[p.Block].Resource
		}
	}
	return nil
}

// TestSignaturesStay checks that the remaining reasoning is unchanged, byte for byte.
func TestSignaturesStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := conversation().Draw(t, "conversation")
		have := map[*events.Element]bool{}
		for _, e := range stored.All() {
			have[e] = true
		}
		for _, e := range compacted(t, stored).All() {
			r, ok := e.Event().(*events.ChatResponse)
			if ok && r.Form == events.FormReasoning && !have[e] {
				t.Fatalf("reasoning was changed: %s", e.Raw())
			}
		}
	})
}

// TestKeptTurnsStay checks that the last turns do not change, except for what sanitizing repairs.
func TestKeptTurnsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := conversation().Draw(t, "conversation").Sanitize()
		turns := stored.Turns()
		kept := rapid.IntRange(1, len(turns)).Draw(t, "kept")
		out, err := compact.Run(t.Context(), stored, compact.Options{
			Strategies: strategies().Draw(t, "strategies"), KeepLast: kept, Contents: noBlobs{},
			Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Dedup: options(),
			Classifier: anyTurns(func(int) bool { return false }),
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []*events.Element
		answers := map[int]bool{}
		for _, c := range stored.Calls() {
			answers[c.Response] = true
		}
		for i, e := range stored.All() {
			// No model is given a result without a call in its turn.
			stray := e.Kind() == events.KindToolCallResponse && !answers[i]
			if i >= turns[len(turns)-kept].First && e.Kind().IsEvent() && !stray {
				want = append(want, e)
			}
		}
		left := want
		for _, e := range out.Stream.All() {
			if len(left) > 0 && e == left[0] {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			t.Fatalf("%s of the last %d turns changed\n%s\n%s", left[0].Raw(), kept,
				stored.Encode(), out.Stream.Encode())
		}
	})
}

// TestFaultsAreSeen breaks each rule in turn: a check that never fails proves nothing.
func TestFaultsAreSeen(t *testing.T) {
	const file = `{"uri":"file:///$WORKSPACE/a.txt","content":{"text":"a text of more than thirty bytes, twice"}}`
	stored := stream(t,
		`config_delta "delta":{"assistant":{"model":{"id":"a/b"}}}`,
		"turn_start", `chat_request "content":"q","resources":[`+file+`]`,
		`chat_response "reasoning":"hm"`, call("a", "1"),
		`inquiry_request "id":"i","source":{"source":"user"},"question":{"text":"?","answer_type":{"type":"boolean"}}`,
		`inquiry_response "id":"i","answer":true`,
		`tool_call_response "id":"a","is_error":false,"content":[{"type":"resource","resource":`+file+`}]`,
		"turn_start", `chat_request "content":"q"`,
		`compaction "from_turn":0,"to_turn":0,"reasoning":"strip"`,
	)
	if all := faults(stored, stored.Clone()); len(all) != 0 {
		t.Fatalf("the stream itself is at fault: %v", all)
	}
	for name, spoil := range map[string]func(s *events.Stream){
		"a change of configuration goes": func(s *events.Stream) { s.Remove(0, 1) },
		"a change of configuration moves": func(s *events.Stream) {
			e := s.At(0)
			s.Remove(0, 1)
			s.Insert(2, e)
		},
		"an answer to a tool goes":       func(s *events.Stream) { s.Remove(6, 1) },
		"a call goes without its result": func(s *events.Stream) { s.Remove(4, 1) },
		"a result goes without its call": func(s *events.Stream) { s.Remove(7, 1) },
		"a range is turned around": func(s *events.Stream) {
			s.Set(10, s.At(10).With(&events.Compaction{FromTurn: 3, ToTurn: 1, StripReasoning: true}))
		},
		"an element cannot be written": func(s *events.Stream) {
			s.Append(events.NewElement(time.Time{}, &events.TurnStart{}, events.Metadata{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stored.Clone()
			spoil(s)
			if len(faults(stored, s)) == 0 {
				t.Error("nobody noticed")
			}
		})
	}
}

// anyTurns finds tangents at random.
type anyTurns func(n int) bool

func (f anyTurns) Tangents(
	_ context.Context, turns []compact.Digest, _ compact.Digest,
) ([]compact.Tangent, compact.Usage, error) {
	var all []compact.Tangent
	for _, d := range turns {
		if f(d.Turn) {
			all = append(all, compact.Tangent{Turn: d.Turn, Reason: "why not"})
		}
	}
	return all, compact.Usage{}, nil
}

// TestCompactedConversationsMerge checks that one side can compact a conversation that the other
// side continues: the merge succeeds, its stream is valid, and providers accept it.
func TestCompactedConversationsMerge(t *testing.T) {
	all := adapters()
	rapid.Check(t, func(t *rapid.T) {
		base := conversation().Draw(t, "conversation").Sanitize()
		ours, theirs := compacted(t, base), base.Clone()
		w := &writer{t: t, n: 3000}
		w.event("turn_start", "")
		w.event("chat_request", `,"content":"more"`)
		w.say()
		more, err := events.Decode([]byte("[" + strings.Join(w.elems, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range more.All() {
			theirs.Append(e)
		}
		merged, err := threeway.Merge(
			threeway.Side{Stream: base}, threeway.Side{Stream: ours}, threeway.Side{Stream: theirs})
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, base.Encode(), ours.Encode())
		}
		if err := merged.Stream.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, fault := range deliveryFaults(merged.Stream) {
			t.Fatal(fault)
		}
		request, err := query.Build(source(t, merged.Stream))
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(t, "provider")
		if _, err := all[name].send(request); err != nil {
			t.Fatalf("%v\n%s", err, merged.Stream.Encode())
		}
	})
}
