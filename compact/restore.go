package compact

import (
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// A Fed is an element that refers to another one that may be removed, with the tokens that it gains
// when it is sent with the content instead.
type Fed struct {
	Element int
	Tokens  float64
}

// feeds returns what refers to each place of a stream.
func feeds(plan *dedup.Plan, e Estimator) map[dedup.Place][]Fed {
	all := map[dedup.Place][]Fed{}
	for at, d := range plan.All() {
		for _, to := range d.Referents {
			all[to] = append(all[to], Fed{at.Element, e.tokens(SortRead, d.Saved)})
		}
	}
	return all
}

// fedBy returns what refers to something superseded.
func fedBy(s *events.Stream, all map[dedup.Place][]Fed, f dedup.Superseded) (fed []Fed) {
	for _, at := range placesOf(s, f) {
		fed = append(fed, all[at]...)
	}
	return fed
}

// pays reports whether a trim removes enough compared with the content that is sent again: more
// than twice the largest element that refers to it and is kept.
func (t Trim) pays(stays func(element int) bool) bool {
	most := 0.0
	for _, f := range t.Feeds {
		if stays(f.Element) {
			most = max(most, f.Tokens)
		}
	}
	return t.Tokens > 2*most
}

// restoring returns a function that computes how many tokens more each element of a view has once
// some of the obsolete results are removed, because its references are replaced by content. An
// element that refers to such content again has fewer.
func restoring(
	view *events.Stream, obsolete []dedup.Superseded, trims []Trim, m Measure, o measureOptions,
) func(gone []int) map[int]float64 {
	known := map[string]map[int]float64{}
	return func(gone []int) map[int]float64 {
		gone = slices.Sorted(slices.Values(gone))
		name := fmt.Sprint(gone)
		if more, ok := known[name]; ok {
			return more
		}
		without, left, stubs := view.Clone(), map[int]float64{}, map[int]bool{}
		for _, n := range gone {
			f := obsolete[n]
			if left[f.Element] += trims[n].Tokens; f.Block < 0 {
				stubs[f.Element] = true
				without.Set(f.Element, dedup.WithTrimmed(without.At(f.Element), nil))
				continue
			}
			without.Set(f.Element, dedup.WithTrimmed(without.At(f.Element), nil, f.Block))
		}
		now, err := measure(without, o)
		if err != nil {
			return nil // it could be measured before, so nothing else is needed
		}
		more := map[int]float64{}
		for i, z := range now.Element {
			if g := z.Tokens - m.Element[i].Tokens + left[i]; g != 0 && !stubs[i] {
				more[i] = g
			}
		}
		known[name] = more
		return more
	}
}

// restored returns the result of [History.Restored] for removed trims, or nil if no element refers
// to any of them. Nothing is sent again then; that a later element may now refer to a better source
// is not worth measuring all of them, so a little more may be saved than is said.
func (h History) restored(gone []int) map[int]float64 {
	if h.Restored == nil || !slices.ContainsFunc(gone, func(n int) bool {
		return len(h.Trims[n].Feeds) > 0
	}) {
		return nil
	}
	return h.Restored(gone)
}
