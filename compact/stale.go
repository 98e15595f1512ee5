package compact

import (
	"maps"
	"slices"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// Work records where the files of a conversation were read, written or attached.
type Work struct {
	starts []int            // elements at which turns begin
	at     map[string][]int // elements, by the key of the file
	writes map[string][]int // those that changed the file
}

// workOf finds the work on files in a stream.
func workOf(s *events.Stream, o ObsoleteOptions) Work {
	rules := o.Rules
	if rules == nil {
		rules = DefaultRules
	}
	w := Work{starts: openings(s), at: map[string][]int{}, writes: map[string][]int{}}
	for _, c := range s.Calls() {
		in := invocation(s, c)
		in.Contents = o.Contents
		shown, changed := filesOf(in, rules(c.Name))
		for _, key := range changed {
			w.writes[key] = append(w.writes[key], c.Response)
		}
		for _, key := range append(shown, changed...) {
			w.at[key] = append(w.at[key], c.Request)
		}
	}
	for i, e := range s.All() {
		if r, ok := e.Event().(*events.ChatRequest); ok {
			for _, a := range r.Resources {
				w.at[a.URI] = append(w.at[a.URI], i)
			}
		}
	}
	return w
}

// filesOf returns the keys of the files that a call is about, whatever its result, and of those
// that it changed.
func filesOf(in dedup.Invocation, rules []dedup.Rule) (shown, changed []string) {
	if key, ok := dedup.FileOf(in); ok {
		shown = append(shown, key)
	}
	for _, r := range rules {
		if r.Changes == nil || in.Result == nil {
			continue
		}
		changed = append(changed, r.Changes(in)...)
		if claims, ok := r.Read(in); ok && len(claims) == 1 {
			shown = append(shown, claims[0].Key)
		}
	}
	return shown, changed
}

// GoesOn reports whether the turn that a request continues has worked on a file or, if the request
// opens a turn, whether the turn before has: a model that continues working on it must not lose it.
func (w Work) GoesOn(key string, upto int, opens bool) bool {
	before := 0
	if opens {
		before = 1
	}
	from := w.turn(upto, before)
	return slices.ContainsFunc(w.at[key], func(i int) bool { return from <= i && i < upto })
}

// turn returns the element at which the turn of a request begins, or an earlier one by the given
// number of turns.
func (w Work) turn(upto, before int) int {
	n, _ := slices.BinarySearch(w.starts, upto)
	if n -= 1 + before; n < 0 {
		return 0
	}
	return w.starts[n]
}

// nextWrite returns the first element after another one that changed a file, or false.
func (w Work) nextWrite(key string, behind int) (int, bool) {
	n := slices.IndexFunc(w.writes[key], func(i int) bool { return i > behind })
	if n < 0 {
		return 0, false
	}
	return w.writes[key][n], true
}

// A Moment describes when a request is made.
type Moment struct {
	Opens bool // it opens a turn
	// Rewrites reports whether the prompt is not cached or does not fit. Only then files are
	// attached between two requests of a turn, because a turn may change a file again and again.
	Rewrites bool
}

// A due holds the possible trims in one request.
type due struct {
	trims    []int              // indexes of the trims
	attached map[string]float64 // tokens of files that have to be attached instead, by key
}

// due returns which trims a request that ends before element upto can do without. Stale reads are
// only trimmed if the work on the file has ended, or if attaching the current file makes the
// request smaller; results with references to them only if that pays.
func (h History) due(trims []Trim, upto int, at Moment) due {
	d := due{attached: map[string]float64{}}
	for n, t := range trims {
		if t.By >= upto {
			continue
		}
		if t.Stale != "" && h.Work.GoesOn(t.Stale, upto, at.Opens) {
			now, ok := h.now(t.Stale, upto, at)
			if !ok {
				continue
			}
			d.attached[t.Stale] = now
		}
		d.trims = append(d.trims, n)
	}
	for before := -1; before != len(d.trims); {
		before = len(d.trims)
		d.keepPaying(trims)
		d.keepSmaller(trims)
	}
	return d
}

// now returns the tokens of a file, if it can be attached to a request.
func (h History) now(key string, upto int, at Moment) (tokens float64, ok bool) {
	if !at.Opens && !at.Rewrites || h.Current == nil {
		return 0, false
	}
	return h.Current(key, upto)
}

// keepPaying drops trims that do not pay.
func (d *due) keepPaying(trims []Trim) {
	gone := lists.Set(lists.Map(d.trims, func(n int) int { return trims[n].Element }))
	d.trims = slices.DeleteFunc(d.trims, func(n int) bool {
		return !trims[n].pays(func(element int) bool { return !gone[element] })
	})
}

// keepSmaller drops trims for which a file would be attached that is not smaller than the removed
// content.
func (d *due) keepSmaller(trims []Trim) {
	goes := map[string]float64{}
	for _, n := range d.trims {
		goes[trims[n].Stale] += trims[n].Tokens
	}
	larger := func(key string) bool {
		now, wanted := d.attached[key]
		return wanted && now >= goes[key]
	}
	d.trims = slices.DeleteFunc(d.trims, func(n int) bool { return larger(trims[n].Stale) })
	maps.DeleteFunc(d.attached, func(key string, _ float64) bool { return larger(key) })
}
