package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// taught is how many calls are recorded before a guess counts.
const taught = 10

// A guessed has the errors of guesses of tokens, each as a share of the recorded number.
type guessed struct {
	growth    []float64 // of everything after ten calls, one for each conversation
	unlearned []float64 // the same, by the ratios measured elsewhere
	next      []float64 // of each complete next prompt
	compacted []float64 // of a compacted conversation, compared with its report
	covered   int       // next prompts within the reported error
}

// A recorded is a prompt whose size is known from usage.
type recorded struct {
	upto   int // elements
	tokens float64
	guess  float64 // by the measured ratios
}

// recordedOf returns the recorded sizes of a conversation. An agent may remove something from a
// prompt as it continues, which cannot be foreseen: the sizes recorded before are then reduced by
// as much.
func recordedOf(r replayed) ([]recorded, error) {
	plain, err := compact.HistoryOf(r.stream, compact.ObsoleteOptions{
		Estimator: compact.Estimator{Scale: 1},
	})
	if err != nil {
		return nil, err
	}
	var all []recorded
	sum, i := 0.0, 0
	for n, x := range plain.Exchanges {
		for ; i < x.Upto; i++ {
			sum += plain.Sizes[i]
		}
		end := len(plain.Sizes)
		if n+1 < len(plain.Exchanges) {
			end = plain.Exchanges[n+1].Upto
		}
		if prompt := promptIn(r.stream, x.Upto, end); prompt > 0 {
			all = append(all, recorded{x.Upto, prompt, sum})
		}
	}
	return all, nil
}

// promptIn returns the prompt of the answer between two elements, 0 for none.
func promptIn(s *events.Stream, from, to int) float64 {
	for i := from; i < to; i++ {
		if u, ok := compact.UsageOf(s.At(i)); ok && u.Prompt() > 0 {
			return float64(u.Prompt())
		}
	}
	return 0
}

// guesses compares guesses with recorded sizes: for ten calls and more, the guess at that time. Of
// complete prompts only each every-th is guessed, from a history of its own.
func guesses(all []replayed, every int) (g guessed, err error) {
	for _, r := range all {
		calls, err := recordedOf(r)
		if err != nil || len(calls) <= taught {
			if err != nil {
				return g, err
			}
			continue
		}
		at, err := asOf(r.stream, calls[taught].upto)
		if err != nil {
			return g, err
		}
		var grew, guess float64
		for n := taught; n < len(calls); n++ {
			now, before := calls[n], calls[n-1]
			if now.tokens > before.tokens {
				grew, guess = grew+now.tokens-before.tokens, guess+now.guess-before.guess
			}
			if n%every != 0 {
				continue
			}
			if err := g.foresee(r.stream, now); err != nil {
				return g, err
			}
		}
		if grew >= 1000 {
			g.growth = append(g.growth, off(at.Estimator.Growth*guess, grew))
			g.unlearned = append(g.unlearned, off(guess, grew))
		}
		if err := g.compact(r.stream); err != nil {
			return g, err
		}
	}
	return g, nil
}

// asOf returns the history of a conversation up to an element.
func asOf(s *events.Stream, upto int) (compact.History, error) {
	var begun []*events.Element
	for i := range upto {
		begun = append(begun, s.At(i))
	}
	return compact.HistoryOf(events.New(begun...), compact.ObsoleteOptions{})
}

// foresee guesses a prompt from everything that was recorded before it.
func (g *guessed) foresee(s *events.Stream, next recorded) error {
	h, err := asOf(s, next.upto)
	if err != nil {
		return err
	}
	p, _ := h.Pending(false, false)
	fault := off(p.Prompt, next.tokens)
	g.next = append(g.next, fault)
	if fault <= h.Estimator.Whole {
		g.covered++
	}
	return nil
}

// compact compacts a conversation in each way that asks no model, and compares the estimate of the
// result with the report.
func (g *guessed) compact(s *events.Stream) error {
	for _, name := range append(compact.Mechanical(), compact.Auto) {
		o := compact.Options{
			Strategies: []string{name}, KeepCalls: 3, Now: s.At(s.Len() - 1).Time(),
			Window: 200_000, Threshold: 0.5,
		}
		out, err := compact.Run(context.Background(), s, o)
		if err != nil {
			return err
		}
		if !out.Report.Changed() {
			continue
		}
		left, err := compact.Run(context.Background(), out.Stream, o)
		if err != nil {
			return err
		}
		g.compacted = append(g.compacted, off(left.Report.TokensBefore, out.Report.TokensAfter))
	}
	return nil
}

func off(guess, is float64) float64 { return math.Abs(guess-is) / is }

// print prints the errors of guesses beside the goals.
func (g guessed) print(w io.Writer) {
	fmt.Fprintln(w, "| tokens, after ten calls | cases | median | goal | of ten, nine are within | goal |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, row := range []struct {
		name         string
		faults       []float64
		median, most string
	}{
		{"growth of the prompt", g.growth, "5.5 %", "20 %"},
		{"the same, by the ratios measured elsewhere", g.unlearned, "", ""},
		{"the complete next prompt", g.next, "1.5 %", "4 %"},
		{"what a compaction leaves, compared with its report", g.compacted, "", "5 %"},
	} {
		fmt.Fprintf(w, "| %s | %d | %.2f %% | %s | %.2f %% | %s |\n", row.name, len(row.faults),
			100*within(row.faults, 0.5), row.median, 100*within(row.faults, 0.9), row.most)
	}
	fmt.Fprintf(w, "the reported error covers %.1f %% of %d next prompts (goal: 80 %%)\n\n",
		share(g.covered, len(g.next)), len(g.next))
}

// within returns the value that a share of some errors does not exceed.
func within(faults []float64, part float64) float64 {
	if len(faults) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(faults))
	return v[int(math.Ceil(part*float64(len(v))))-1]
}
