package events

import (
	"fmt"
	"strings"
	"testing"
)

// longStream returns a stream of about n elements in turns of ten, with a compaction in every tenth
// turn.
func longStream(tb testing.TB, n int) *Stream {
	tb.Helper()
	var b strings.Builder
	b.WriteString("[\n")
	add := func(i int, kind, members string) {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"timestamp":"2026-01-01 %02d:%02d:%02d.%d","type":%q%s}`,
			i/36000, i/600%60, i/10%60, i%10, kind, members)
	}
	for i := range n {
		id := fmt.Sprintf(`,"id":"call_%d"`, i/2)
		switch i % 10 {
		case 0:
			add(i, "turn_start", "")
		case 1:
			add(i, "chat_request", `,"content":"q"`)
		case 2, 4, 6:
			add(i, "tool_call_request", id+`,"name":"read","arguments":{"p":"eA=="}`)
		case 3, 5, 7:
			add(i, "tool_call_response", id+`,"content":"b2s=","is_error":false`)
		case 8:
			add(i, "chat_response", `,"reasoning":"r"`)
		default:
			if i/10%10 == 9 {
				add(i, "compaction", fmt.Sprintf(`,"from_turn":0,"to_turn":%d,"reasoning":"strip",`+
					`"tool_calls":{"policy":"strip","request":true,"response":true}`, i/10))
			} else {
				add(i, "chat_response", `,"message":"m"`)
			}
		}
	}
	b.WriteString("\n]\n")
	s, err := Decode([]byte(b.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// coveredStream returns a stream of n elements: turns of one request, and as many compactions that
// cover them all.
func coveredStream(tb testing.TB, n int) *Stream {
	tb.Helper()
	var s []*Element
	for i := range n / 3 {
		summary := fmt.Sprint("summary ", i)
		s = append(s,
			NewElement(second(i), &TurnStart{}, Metadata{}),
			NewElement(second(i), &ChatRequest{Content: "q"}, Metadata{}),
			NewElement(second(i), &Compaction{ToTurn: n, Summary: &summary}, Metadata{}))
	}
	return New(s...)
}

// The time for an element must not grow with the stream: compare the metrics of the two sizes.
func BenchmarkSemantics(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		s, covered := longStream(b, n), coveredStream(b, n)
		for _, bench := range []struct {
			name string
			run  func()
		}{
			{"turns", func() { s.Turns() }},
			{"calls", func() { s.Calls() }},
			{"sanitize", func() { s.Sanitize() }},
			{"project", func() { s.Project() }},
			{"fork", func() { s.Fork(ForkOptions{Last: n / 20}) }},
			{"covered", func() { covered.Project() }},
			{"extend", func() { covered.ExtendForSummary(Range{3, 4}) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", bench.name, n), func(b *testing.B) {
				for b.Loop() {
					bench.run()
				}
				perRun := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(perRun/float64(n), "ns/element")
			})
		}
	}
}
