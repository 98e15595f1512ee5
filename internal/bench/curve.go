package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// A point of the curve has how much was removed and how many of the edits after that quote it.
type point struct {
	edits, quoting int
	given, left    int // bytes of results
}

// curve prints how many later edits quote what a compaction removed, and how much that was: each
// conversation is compacted at a quarter, a half and three quarters of its calls.
func curve(w io.Writer, all []replayed) error {
	fmt.Fprintln(w, "\n| compaction | of results' text taken | later edits | that quote what is nowhere else |")
	fmt.Fprintln(w, "|---|---|---|---|")
	for _, o := range []compact.Options{
		{Strategies: []string{compact.DedupTools}},
		{Strategies: []string{compact.TrimSuperseded}},
		{Strategies: []string{compact.Auto}, KeepCalls: 20},
		{Strategies: []string{compact.Auto}, KeepCalls: 3},
		{Strategies: []string{compact.StripToolResults}, KeepCalls: 20},
		{Strategies: []string{compact.StripToolResults}, KeepCalls: 3},
	} {
		name := "`" + o.Strategies[0] + "`"
		if o.KeepCalls > 0 {
			name += fmt.Sprintf(", but for %d calls", o.KeepCalls)
		} else {
			o.KeepCalls = 1
		}
		var p point
		for _, r := range all {
			if err := p.add(r, o); err != nil {
				return fmt.Errorf("compact %s: %w", r.name, err)
			}
		}
		fmt.Fprintf(w, "| %s | %.1f %% | %d | %d (%.1f %%) |\n", name, share(p.given-p.left, p.given),
			p.edits, p.quoting, share(p.quoting, p.edits))
	}
	return nil
}

// add compacts a conversation and looks at the edits after that.
func (p *point) add(r replayed, o compact.Options) error {
	calls, v := r.stream.Calls(), newVisible(r)
	for quarter := 1; quarter < 4; quarter++ {
		if len(calls) < 8 || len(r.contents.edits) == 0 {
			return nil
		}
		cut := calls[len(calls)*quarter/4].Request
		before := r.stream.Clone()
		before.Remove(cut, before.Len()-cut)
		o.Now = before.At(cut - 1).Time()
		out, err := compact.Run(context.Background(), before, o)
		if err != nil {
			return err
		}
		left := newVisible(replayed{stream: out.Stream})
		p.given, p.left = p.given+size(v.texts, cut), p.left+size(left.texts, out.Stream.Len())
		for _, e := range r.contents.edits {
			if e.element <= cut {
				continue
			}
			p.edits++
			if v.quotes(e.quoted, 0, cut) && !left.quotes(e.quoted, 0, out.Stream.Len()) &&
				!v.quotes(e.quoted, cut, e.element-1) {
				p.quoting++
			}
		}
	}
	return nil
}

func size(texts map[int]string, upto int) (n int) {
	for i, text := range texts {
		if i < upto {
			n += len(text)
		}
	}
	return n
}

// quotes reports whether a text is in a result, in a text that a call wrote, or in an attachment
// among the elements between two indexes.
func (v *visible) quotes(text string, from, upto int) bool {
	for i := from; i < upto; i++ {
		if strings.Contains(v.texts[i], text) || strings.Contains(v.written[i], text) {
			return true
		}
		r, ok := v.of.stream.At(i).Event().(*events.ChatRequest)
		if ok && strings.Contains(r.Content, text) {
			return true
		}
	}
	return false
}
