package secrets

import (
	"bytes"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// Copies finds copies of conversations that have redactions if the copies' agents use other event
// keys. It recognizes the redacted text by the text around it.
type Copies struct {
	of map[blobs.Hash][]*known // by the hash of their longer texts
	in []*known
}

// A known is a conversation that may have copies.
type known struct {
	id   events.ID
	gaps []gap
}

// A gap is a redacted text without its redacted ranges. If the event was removed, only the ranges
// are known.
type gap struct {
	event  string
	member string
	values []Value // which the text still has
	ranges []Range
	lost   bool
	text   []byte // without the ranges
	parts  []part
}

// A part is one range with the text before it and the text after it, up to the next range.
type part struct {
	Range

	before, after []byte
}

const (
	// longText is the length in bytes from which two conversations do not share a text by chance.
	longText = 16
	// minAround and maxAround are how many bytes around a range are compared, at least and at most.
	minAround, maxAround = 8, 32
)

// Conversations yields the digits of the conversations that entries name.
func (rs Redactions) Conversations() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, digits := range slices.Sorted(maps.Keys(rs)) {
			if digits != everywhere && !yield(digits) {
				return
			}
		}
	}
}

// Know adds a conversation that entries name. Its texts may be redacted already or not yet.
func (c *Copies) Know(rs Redactions, id events.ID, s *events.Stream, contents blobs.Reader) {
	k := &known{id: id}
	c.in = append(c.in, k)
	here := map[string]map[string][]byte{} // by event and member
	var records []string
	for i, key := range s.Keys() {
		here[key] = map[string][]byte{}
		if s.At(i).Kind() == events.KindAgentRecord {
			records = append(records, key)
		}
		for _, t := range Texts(s.At(i)) {
			text, err := t.Content.Bytes(contents)
			if err == nil {
				here[key][t.Member] = text
				c.add(k, text)
			}
		}
	}
	named := rs[id.Digits()]
	for _, key := range slices.Sorted(maps.Keys(named)) {
		for _, member := range slices.Sorted(maps.Keys(named[key])) {
			text, ok := here[key][member]
			g := newGap(member, named[key][member], text, !ok)
			g.event = key
			k.gaps = append(k.gaps, g)
			for _, record := range records { // its key changes as its turn grows
				if text := here[record][member]; !ok && bytes.Contains(text, []byte(markerPrefix)) {
					k.gaps = append(k.gaps, newGap(member, named[key][member], text, false))
				}
			}
		}
	}
}

// KnowVersion is Know for another version of a conversation that is looked through itself. Only the
// texts that entries name are read.
func (c *Copies) KnowVersion(
	rs Redactions, id events.ID, s *events.Stream, contents blobs.Reader,
) {
	k := &known{id: id}
	c.in = append(c.in, k)
	for i, key := range s.Keys() {
		named := rs[id.Digits()][key]
		if len(named) == 0 {
			continue
		}
		for _, t := range Texts(s.At(i)) {
			if ranges := named[t.Member]; len(ranges) > 0 {
				if text, err := t.Content.Bytes(contents); err == nil {
					g := newGap(t.Member, ranges, text, false)
					g.event = key
					k.gaps = append(k.gaps, g)
				}
			}
		}
	}
}

// add records a text of a conversation.
func (c *Copies) add(k *known, text []byte) {
	if len(text) < longText {
		return
	}
	if c.of == nil {
		c.of = map[blobs.Hash][]*known{}
	}
	if h := blobs.Sum(text); !slices.Contains(c.of[h], k) {
		c.of[h] = append(c.of[h], k)
	}
}

func newGap(member string, ranges []Range, text []byte, lost bool) gap {
	g := gap{member: member, ranges: ranges, lost: lost}
	g.text, g.values, _ = redactRanges(text, ranges)
	rest := g.text
	done := 0
	for _, r := range ranges {
		overlaps := r.From < done
		if r.To <= done {
			continue // it has no marker
		}
		before, after, ok := bytes.Cut(rest, []byte(Marker(r.Rule)))
		if !ok {
			break
		}
		done, rest = r.To, after
		if overlaps {
			continue
		}
		until, _, _ := bytes.Cut(after, []byte(markerPrefix))
		g.parts = append(g.parts, part{
			r, before[max(0, len(before)-maxAround):], until[:min(len(until), maxAround)],
		})
	}
	return g
}

// Concern reports whether a stream may belong to a copy.
func (c *Copies) Concern(s *events.Stream) bool { return len(c.copied(s)) > 0 }

// copied returns the conversations that a stream may be a copy of: it shares one of their longer
// texts, in any event, or its first turn has text that was redacted in them.
func (c *Copies) copied(s *events.Stream) map[*known]bool {
	all, turns := map[*known]bool{}, s.TurnOf()
	if len(c.in) == 0 {
		return all
	}
	for i, e := range s.All() {
		for _, t := range Texts(e) {
			for _, k := range c.of[t.Content.Ref().Hash] {
				all[k] = true
			}
			text, err := t.Content.Bytes(nothing{})
			for _, k := range c.in {
				if err == nil && turns[i] == 0 && len(k.in(t.Member, text, false)) > 0 {
					all[k] = true
				}
			}
		}
	}
	return all
}

// nothing is a reader that finds no content.
type nothing struct{}

func (nothing) Read(blobs.Ref) ([]byte, error) { return nil, fs.ErrNotExist }

// Of returns entries for the text in a copy that was redacted in a known conversation: a text that
// is otherwise identical, or a text of an event that was removed there. Of a conversation itself,
// whose own entries name its events, only records, which grow, are compared with all of it, and
// each other text, which someone may have edited, with other versions of the same text.
func (c *Copies) Of(id events.ID, s *events.Stream, contents blobs.Reader) (all []Redaction) {
	of := c.copied(s)
	for i, key := range s.Keys() {
		// A record of the conversation itself is compared as a copy is.
		itself := func(k *known) bool {
			return k.id == id && s.At(i).Kind() != events.KindAgentRecord
		}
		for _, t := range Texts(s.At(i)) {
			like := lists.Filter(c.in, func(k *known) bool {
				return !itself(k) && of[k] || itself(k) && k.names(key, t.Member)
			})
			if len(like) == 0 {
				continue
			}
			text, err := t.Content.Bytes(contents)
			if err != nil {
				continue // unreadable content is reported elsewhere
			}
			done := false
			for _, k := range like {
				var ranges []Range
				switch {
				case !itself(k):
					ranges = k.in(t.Member, text, true)
				case !done:
					done, ranges = true, c.edited(id, key, t.Member, text)
				}
				if len(ranges) > 0 {
					all = append(all, Redaction{
						Conversation: id.Digits(), Event: key, Member: t.Member, Ranges: ranges,
					})
				}
			}
		}
	}
	return all
}

// in returns the ranges of a text that were redacted in the known conversation.
func (k *known) in(member string, text []byte, related bool) (all []Range) {
	for _, g := range k.gaps {
		if g.is(member, text, related) {
			all = append(all, g.ranges...)
			continue
		}
		for _, p := range g.parts {
			all = append(all, p.in(text)...)
		}
	}
	return all
}

// names reports whether a text was redacted in the known conversation.
func (k *known) names(event, member string) bool {
	return slices.ContainsFunc(k.gaps, func(g gap) bool {
		return g.event == event && g.member == member
	})
}

// edited returns the ranges of another version of a text that has, somewhere else, what was
// redacted. Where known versions have the values, only these count: a check is a byte, which one of
// some hundred other texts in the same place has.
func (c *Copies) edited(id events.ID, event, member string, text []byte) (all []Range) {
	var parts []part
	values := map[string]Value{}
	for _, k := range c.in {
		for _, g := range k.gaps {
			if k.id != id || g.event != event || g.member != member {
				continue
			}
			for _, v := range g.values {
				values[v.Text] = v
			}
			parts = append(parts, g.parts...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		if len(v.Text) < LeastText {
			continue
		}
		for _, m := range ValueRules(v.Rule, v.Text).Scan(text) {
			if !inMarker(text, m) {
				all = append(all, NewRange(text, m))
			}
		}
	}
	if len(values) > 0 {
		return all
	}
	for _, p := range parts {
		all = append(all, p.in(text)...)
	}
	return all
}

// inMarker reports whether a match is a part of what replaced a secret.
func inMarker(text []byte, m Match) bool {
	i := bytes.LastIndex(text[:m.Start+1], []byte(markerPrefix[:1]))
	if i < 0 || !bytes.HasPrefix(text[i:], []byte(markerPrefix)) {
		return false
	}
	end := bytes.IndexByte(text[i:], ']')
	return end >= 0 && m.End <= i+end+1
}

// is reports whether a text is the gap's text before its redaction. An event that was removed, such
// as reasoning whose signature covered redacted text, has no text left; only its checks can be
// compared, and they are short.
func (g *gap) is(member string, text []byte, related bool) bool {
	is, values, _ := redactRanges(text, g.ranges)
	if g.lost {
		return related && member == g.member && len(values) == len(g.ranges) &&
			(member == "/reasoning" || len(values) > 1)
	}
	said := len(g.text)
	for _, p := range g.parts {
		said -= len(Marker(p.Rule))
	}
	return bytes.Equal(is, g.text) && len(values) > 0 && (related || said >= minAround)
}

// in returns the places in a text at which the range is surrounded by the same text.
func (p *part) in(text []byte) (all []Range) {
	n := p.To - p.From
	if len(p.before)+len(p.after) < minAround {
		return nil
	}
	anchor, ahead := p.before, len(p.before)
	if len(p.after) > len(p.before) {
		anchor, ahead = p.after, -n
	}
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], anchor)
		if i < 0 {
			return all
		}
		at += i
		from := at + ahead
		if from < len(p.before) || from+n > len(text) ||
			!bytes.HasSuffix(text[:from], p.before) || !bytes.HasPrefix(text[from+n:], p.after) ||
			check(text[from:from+n]) != p.Check {
			continue
		}
		all = append(all, Range{From: from, To: from + n, Rule: p.Rule, Check: p.Check})
	}
}
