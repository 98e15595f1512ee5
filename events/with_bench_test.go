package events_test

import (
	"bytes"
	"testing"

	"github.com/git-jp/git-jp/events"
)

// longResult returns a response with a result of 100 kB in jp's form or as text.
func longResult(tb testing.TB, legacy bool) *events.Element {
	tb.Helper()
	line := "a line of \"output\", as tools give it\n"
	content := Quote(b64(bytes.Repeat([]byte(line), 100_000/len(line))))
	if !legacy {
		long := Quote(string(bytes.Repeat([]byte(line), 100_000/len(line))))
		content = `[{"type":"text","content":{"text":` + long + `}}]`
	}
	return decode(tb, result(content)).At(1)
}

// The cost of changing an element with a long result: its cheap parts, and the result itself.
func BenchmarkWith(b *testing.B) {
	for form, e := range map[string]*events.Element{
		"legacy": longResult(b, true), "text": longResult(b, false),
	} {
		r := e.Event().(*events.ToolCallResponse)
		failed, stripped := *r, *r
		failed.IsError = true
		stripped.Blocks = decode(b, result(`"b2s="`)).At(1).
			Event().(*events.ToolCallResponse).Blocks
		for _, bench := range []struct {
			name string
			run  func() *events.Element
		}{
			{"nothing", func() *events.Element { return e.With(r) }},
			{"flag", func() *events.Element { return e.With(&failed) }},
			{"time", func() *events.Element { return e.WithTime(noon) }},
			{"result", func() *events.Element { return e.With(&stripped) }},
		} {
			b.Run(form+"/"+bench.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					bench.run()
				}
			})
		}
	}
}

// Everything that a model receives of a conversation whose calls are stripped.
func BenchmarkProjectStripped(b *testing.B) {
	s := decode(b, string(largest(b)))
	s.Append(events.NewElement(noon, &events.Compaction{
		ToTurn: 1000, ToolCalls: &events.ToolCallPolicy{Request: true, Response: true},
	}, events.Metadata{}))
	b.ReportAllocs()
	for b.Loop() {
		s.Project()
	}
}

func BenchmarkExternalize(b *testing.B) {
	s := decode(b, string(largest(b)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Clone().Externalize(discard{}, migrate); err != nil {
			b.Fatal(err)
		}
	}
}
