package llmtest

import (
	"fmt"
	"iter"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
)

// A Transcript is a complete answer.
type Transcript struct {
	Deltas []llm.Delta
	Ends   []llm.Delta // with an event
	Usage  llm.Usage
	Stop   llm.Stop
	Err    error
	// Faults are violations of the order that [llm.Delta] promises.
	Faults []string
}

// Text returns the messages, without reasoning and calls.
func (t Transcript) Text() string {
	var b strings.Builder
	for _, d := range t.Ends {
		if r, ok := d.Event.(*events.ChatResponse); ok && r.Form == events.FormMessage {
			b.WriteString(r.Text)
		}
	}
	return b.String()
}

// Calls returns the calls.
func (t Transcript) Calls() []*events.ToolCallRequest {
	var calls []*events.ToolCallRequest
	for _, d := range t.Ends {
		if c, ok := d.Event.(*events.ToolCallRequest); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Collect reads a stream to its end.
func Collect(stream iter.Seq2[llm.Delta, error]) Transcript {
	var t Transcript
	g := grammar{open: map[int]llm.PartKind{}, used: map[int]bool{}, said: map[int]string{}}
	for d, err := range stream {
		if err != nil {
			t.Err = err
			continue
		}
		t.Deltas = append(t.Deltas, d)
		g.read(d)
		switch d.Kind {
		case llm.DeltaEnd:
			if d.Event != nil {
				t.Ends = append(t.Ends, d)
			}
		case llm.DeltaUsage:
			t.Usage = t.Usage.Add(d.Usage)
		case llm.DeltaStop:
			t.Stop = d.Stop
		}
	}
	if t.Err == nil && !g.stopped {
		g.fault("the stream ends without a stop")
	}
	t.Faults = g.faults
	return t
}

// A grammar checks deltas by the rules of package llm.
type grammar struct {
	open    map[int]llm.PartKind
	used    map[int]bool
	said    map[int]string
	stopped bool
	faults  []string
}

func (g *grammar) fault(format string, args ...any) {
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

func (g *grammar) read(d llm.Delta) {
	if g.stopped {
		g.fault("a delta after the stop: %+v", d)
	}
	part, open := g.open[d.Index]
	switch d.Kind {
	case llm.DeltaStart:
		if g.used[d.Index] {
			g.fault("part %d starts twice", d.Index)
		}
		g.open[d.Index], g.used[d.Index] = d.Part, true
	case llm.DeltaFragment:
		if !open || part != d.Part || d.Text == "" {
			g.fault("a fragment of part %d out of place: %+v", d.Index, d)
		}
		g.said[d.Index] += d.Text
	case llm.DeltaEnd:
		if !open || part != d.Part {
			g.fault("part %d ends out of place", d.Index)
		}
		delete(g.open, d.Index)
		g.end(d)
	case llm.DeltaStop:
		g.stopped = true
		if len(g.open) > 0 {
			g.fault("parts are open at the stop: %v", g.open)
		}
	}
}

// end checks that the event has the text of the fragments.
func (g *grammar) end(d llm.Delta) {
	said := g.said[d.Index]
	switch ev := d.Event.(type) {
	case *events.ChatResponse:
		if ev.Form != events.FormData && ev.Text != said {
			g.fault("part %d ends as %q after %q", d.Index, ev.Text, said)
		}
	case *events.ToolCallRequest:
		if d.Part != llm.PartCall {
			g.fault("part %d ends as a call", d.Index)
		}
	}
}
