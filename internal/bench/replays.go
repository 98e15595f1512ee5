package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// A regime is a way in which providers charge, in units of the price of a token that is read in
// full.
type regime struct {
	name   string
	market compact.Market
}

// regimes returns the seven of the published replay. An entry is gone a little after its time.
func regimes() []regime {
	of := func(write, read float64, minutes int) compact.Market {
		ttl := time.Duration(minutes) * time.Minute
		return compact.Market{
			Input: 1, Read: read, Write: write, TTL: ttl, Gone: ttl + ttl/5, Minimum: 1024,
		}
	}
	return []regime{
		{"Anthropic, 5 minutes", of(1.25, 0.1, 5)},
		{"Anthropic, 1 hour", of(2, 0.1, 60)},
		{"OpenAI 5.6, 30 minutes", of(1.25, 0.1, 30)},
		{"write 1, read 0.1, 10 minutes", of(1, 0.1, 10)},
		{"DeepSeek, a day", of(1, 0.0083, 24*60)},
		{"write 1, read 0.25, 10 minutes", of(1, 0.25, 10)},
		{"no cache", compact.Market{Input: 1, Read: 1, Write: 1}},
	}
}

// A replayed is a conversation with the history of its requests.
type replayed struct {
	name     string
	stream   *events.Stream
	plain    compact.History // without deduplication
	history  compact.History
	contents *contents
}

// The tokens of the system prompt and the tools: those that usage shows, within bounds since an
// agent's first request has more than that, or an assumed number if nothing is recorded.
const (
	leastBase, mostBase = 5_000, 60_000
	assumedBase         = 8_000
)

func newReplayed(name string, s *events.Stream) (replayed, error) {
	r := replayed{name: name, stream: s, contents: contentsOf(s)}
	o := compact.ObsoleteOptions{Stale: func(string) bool { return true }}
	for _, h := range []*compact.History{&r.plain, &r.history} {
		var err error
		if *h, err = compact.HistoryOf(s, o); err != nil {
			return r, fmt.Errorf("replay %s: %w", name, err)
		}
		// Usage was recorded for requests with all content: only those teach something.
		o.Dedup, o.Estimator = arrivals(), r.plain.Estimator
		h.Current = r.contents.tokens
	}
	r.plain.Base = cmp.Or(r.plain.Base, assumedBase)
	r.plain.Base = min(max(r.plain.Base, leastBase), mostBase)
	r.history.Base = r.plain.Base
	return r, nil
}

// arrivals are the defaults of deduplication.
func arrivals() dedup.Options {
	return dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30, Lines: true}
}

// replayedBelow reads the conversations below a directory that have more than one request.
func replayedBelow(dir string) (all []replayed, err error) {
	streams, err := sessions(dir)
	if err != nil {
		return nil, fmt.Errorf("read the sessions of %s: %w", dir, err)
	}
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		r, err := newReplayed(name, streams[name])
		if err != nil {
			return nil, err
		}
		if len(r.history.Exchanges) > 1 {
			all = append(all, r)
		}
	}
	return all, nil
}

// tell prints everything about the conversations below a directory.
func tell(w io.Writer, dir string) error {
	if _, err := replay(w, dir, 1); err != nil {
		return err
	}
	all, err := replayedBelow(dir)
	if err != nil {
		return err
	}
	return curve(w, all)
}

// A verdict has the results of a replay that have goals.
type verdict struct {
	dearer int     // conversations that cost more with the default, over all regimes
	worst  float64 // the largest share by which one costs more with "balanced"
	told   guessed
}

// replay prints what the input of all conversations below a directory would have cost, compared
// with sending everything, and the other figures of the page about performance. Of the prompts it
// guesses each every-th.
func replay(w io.Writer, dir string, every int) (v verdict, err error) {
	all, err := replayedBelow(dir)
	if err != nil {
		return v, err
	}
	requests, unknown := 0, 0
	for _, r := range all {
		requests += len(r.history.Exchanges)
		unknown += r.contents.unknown
	}
	fmt.Fprintf(w, "%d conversations with %d requests; %d changes of files of which the content"+
		" cannot be rebuilt\n\n", len(all), requests, unknown)
	fmt.Fprintln(w, "| prices and lifetime | deduplication | cold | dearer | balanced | worst | eager | bound |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, g := range regimes() {
		row, n, most := total(all, g)
		v.dearer, v.worst = v.dearer+n, max(v.worst, most)
		fmt.Fprintln(w, row)
	}
	fmt.Fprintln(w)
	for _, s := range []compact.Schedule{compact.Cold, compact.Balanced, compact.Eager} {
		n, quoting, removed := quoted(all, s, regimes()[0].market)
		fmt.Fprintf(w, "%s: of %d later edits %d quote what was taken out and is nowhere else (%.1f %%),"+
			" %.1f %% of the results' text taken\n", s, n, quoting, share(quoting, n), 100*removed)
	}
	if err := told(w, all); err != nil {
		return v, err
	}
	v.told, err = guesses(all, every)
	if err == nil && len(v.told.next) > 0 {
		fmt.Fprintln(w)
		v.told.print(w)
	}
	return v, err
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// total returns the row of a regime, the number of conversations that cost more with the default,
// and the largest increase with "balanced".
func total(all []replayed, g regime) (row string, dearer int, worst float64) {
	var never, bound float64
	cost := map[compact.Schedule]float64{}
	for _, r := range all {
		p := g.market.Promised()
		nothing := compact.Replay(r.plain, compact.Never, g.market, p).Units
		never += nothing
		bound += compact.Bound(r.history, g.market, p).Units
		for _, s := range compact.Schedules() {
			units := compact.Replay(r.history, s, g.market, p).Units
			cost[s] += units
			if s == compact.Cold && units > nothing*(1+1e-9) {
				dearer++
			}
			if s == compact.Balanced && nothing > 0 {
				worst = max(worst, units/nothing-1)
			}
		}
	}
	change := func(units float64) string { return fmt.Sprintf("%+.2f %%", 100*(units/never-1)) }
	return fmt.Sprintf("| %s | %s | %s | %d | %s | %+.1f %% | %s | %s |", g.name,
		change(cost[compact.Never]), change(cost[compact.Cold]), dearer, change(cost[compact.Balanced]), 100*worst, change(cost[compact.Eager]), change(bound)), dearer, worst
}

// quoted counts the edits that quote a text which had been removed from the prompt, and is nowhere
// else in it.
func quoted(all []replayed, s compact.Schedule, m compact.Market) (n, quoting int, removed float64) {
	var results, gone int
	for _, r := range all {
		v := newVisible(r)
		h := r.history
		h.Watch = v.watch
		compact.Replay(h, s, m, m.Promised())
		for _, e := range r.contents.edits {
			n++
			if v.lacks(e) {
				quoting++
			}
		}
		for i, text := range v.texts {
			results += len(text)
			if _, out := v.gone[i]; out {
				gone += len(text)
			}
		}
	}
	return n, quoting, float64(gone) / float64(max(results, 1))
}

// visible is the content of a prompt over time.
type visible struct {
	of       replayed
	texts    map[int]string // of results, without numbers of lines
	written  map[int]string // what calls wrote
	gone     map[int]int    // from which element on a result is not sent
	attached map[int][]string
}

func newVisible(r replayed) *visible {
	v := &visible{
		of: r, texts: map[int]string{}, written: map[int]string{}, gone: map[int]int{},
		attached: map[int][]string{},
	}
	for i, e := range r.stream.All() {
		switch ev := e.Event().(type) {
		case *events.ToolCallResponse:
			if text, err := ev.Text(nil); err == nil {
				v.texts[i] = unnumbered(text)
			}
		case *events.ToolCallRequest:
			var args fileArgs
			if json.Unmarshal(ev.Arguments, &args) == nil {
				v.written[i] = args.Content + "\n" + args.New + "\n" + args.Old
				v.written[i] += "\n" + args.Patch
				for _, p := range args.Patterns {
					v.written[i] += "\n" + p.New + "\n" + p.Old
				}
			}
		}
	}
	return v
}

func (v *visible) watch(upto int, gone []int, attached []string) {
	for _, i := range gone {
		v.gone[i] = upto
	}
	for _, key := range attached {
		if text, ok := v.of.contents.current(key, upto); ok {
			v.attached[upto] = append(v.attached[upto], text)
		}
	}
}

// lacks reports whether the text that an edit quotes had been in the prompt and was no longer
// there.
func (v *visible) lacks(e edit) bool {
	was := false
	for i, text := range v.texts {
		if i >= e.element || !strings.Contains(text, e.quoted) {
			continue
		}
		if from, out := v.gone[i]; !out || from >= e.element {
			return false
		}
		was = true
	}
	for i, text := range v.written { // the edit itself is directly before its result
		if i < e.element-1 && strings.Contains(text, e.quoted) {
			return false
		}
	}
	for upto, texts := range v.attached {
		if upto < e.element && slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains(text, e.quoted)
		}) {
			return false
		}
	}
	return was
}

// told prints what deduplication leaves out of results when they arrive.
func told(w io.Writer, all []replayed) error {
	var results, references, lines int64
	for _, r := range all {
		plan, err := dedup.New(r.stream, arrivals(), nil)
		if err != nil {
			return err
		}
		for _, d := range plan.All() {
			if d.Form == dedup.Reference {
				references += d.Saved
			} else {
				lines += d.Saved
			}
		}
		for _, e := range r.stream.All() {
			if result, ok := e.Event().(*events.ToolCallResponse); ok {
				if text, err := result.Text(nil); err == nil {
					results += int64(len(text))
				}
			}
		}
	}
	part := func(n int64) float64 { return 100 * float64(n) / float64(max(results, 1)) }
	_, err := fmt.Fprintf(w, "of %d bytes of results %.2f %% are sent as references, %.2f %% as lines\n",
		results, part(references), part(lines))
	return err
}
