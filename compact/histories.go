package compact

import (
	"slices"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// Histories reads the history of a stream in parts that end at its compaction overlays: requests
// that were sent before an overlay had everything that it hides from then on.
func Histories(s *events.Stream, o ObsoleteOptions) ([]History, error) {
	var all []History
	from := 0
	for i := range s.Len() + 1 {
		if i < s.Len() && s.At(i).Kind() != events.KindCompaction {
			continue
		}
		part := s.Clone()
		part.Remove(i, part.Len()-i)
		h, err := HistoryOf(part, o)
		if err != nil {
			return nil, err
		}
		behind := map[*events.Element]bool{} // the last overlay, which changes none of these
		for n := from; n < i; n++ {
			behind[s.At(n)] = true
		}
		view := dedup.Trim(part.Project().Stream)
		h.Exchanges = slices.DeleteFunc(h.Exchanges, func(x Exchange) bool {
			return !behind[view.At(x.Upto)]
		})
		if len(h.Exchanges) > 0 || i == s.Len() && all == nil {
			all = append(all, h)
		}
		from = i
	}
	return all, nil
}

// ReplayAll is [Replay] of one history after the other.
func ReplayAll(all []History, s Schedule, m Market, p Provider) (c Cost) {
	for _, h := range all {
		one := Replay(h, s, m, p)
		c.USD, c.Units, c.Sent = c.USD+one.USD, c.Units+one.Units, c.Sent+one.Sent
		c.Calls, c.Rewrites = c.Calls+one.Calls, c.Rewrites+one.Rewrites
		c.Trimmed, c.Attached = c.Trimmed+one.Trimmed, c.Attached+one.Attached
	}
	return c
}
