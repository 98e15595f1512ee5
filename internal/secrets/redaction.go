package secrets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A Redaction names the ranges of one text of an event that were replaced, as a workspace commits
// it.
type Redaction struct {
	Conversation string  `json:"conversation"` // digits
	Event        string  `json:"event"`        // its key
	Member       string  `json:"member"`       // see [Text]
	Ranges       []Range `json:"ranges"`

	file string // the path that it was read from, "" for a new one
}

// A Range is a range of bytes of the original text.
type Range struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Rule  string `json:"rule"`
	Check string `json:"check"` // of the value

	proven bool // see [Redactions.Prove]
}

// Name returns the path of the entry below the workspace's .jp.
func (r Redaction) Name() string { return cmp.Or(r.file, r.named(r.Encode())) }

func (r Redaction) named(data []byte) string {
	return path.Join(RedactedDir, r.Conversation+"-"+digest(data)+entrySuffix)
}

// Encode returns the content of the entry's file.
func (r Redaction) Encode() []byte { return encode(r) }

// maxRanges is how many ranges an entry has at most, which keeps its file below MaxFile.
const maxRanges = 256

// Parts returns the entry as several that can be read again, in order. It fails if one range with
// the names of its place is too large.
func (r Redaction) Parts() (parts []Redaction, err error) {
	for ranges := range slices.Chunk(r.Ranges, maxRanges) {
		part := r
		part.Ranges = ranges
		if n := len(part.Encode()); n > MaxFile {
			return nil, fmt.Errorf("an entry would have %d bytes, more than %d", n, MaxFile)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// ParseRedaction parses an entry.
func ParseRedaction(name string, data []byte) (Redaction, error) {
	var r Redaction
	if err := parse(data, &r); err != nil {
		return Redaction{}, err
	}
	if name != r.Name() && name != r.named(laidOut(data)) {
		return Redaction{}, ErrName
	}
	r.file = name
	at := 0
	for _, g := range r.Ranges {
		if g.From < at || g.To <= g.From || validName(g.Rule) != nil {
			return Redaction{}, errors.New("its ranges are not in order, or have no rule")
		}
		at = g.To
	}
	return r, nil
}

// laidOut returns a document, of which this version may not know all members, as encode lays it
// out: its layout is no part of what it says.
func laidOut(data []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, bytes.TrimSpace(data), "", "  ") // it was parsed
	return append(b.Bytes(), '\n')
}

// NewRange returns the range of a match in a text.
func NewRange(text []byte, m Match) Range {
	return Range{From: m.Start, To: m.End, Rule: m.Rule, Check: check(text[m.Start:m.End])}
}

// A Replaced is a text that was changed by redactions.
type Replaced struct {
	Element int // index in the original stream
	Event   string
	Member  string
	Values  []Value // of the replaced ranges, in order
	Was, Is []byte
	// Dropped reports that the element was removed, because a signature covers the text.
	Dropped bool
}

// A Value is a text that was redacted, with the range that named it.
type Value struct {
	Range

	Text string
}

// An Applied is the result of applying redactions to a stream.
type Applied struct {
	Stream   *events.Stream // the original stream if nothing matched
	Replaced []Replaced
	// Store holds texts that the stream refers to and that must be stored as blobs.
	Store [][]byte
}

// Redactions holds entries by conversation, event and member. An event whose key is the ID in the
// agent's session is the same event in every conversation that contains it: rewound events also
// have a conversation of their own. So is an event that a fork copied, whose key is made from its
// times. Entries apply in all of these conversations, so each is also kept under everywhere.
type Redactions map[string]map[string]map[string][]Range

// everywhere is the key of entries for any conversation; it is no conversation's digits.
const everywhere = ""

// NewRedactions returns the entries by conversation, event and member.
func NewRedactions(all []Redaction) Redactions {
	rs := Redactions{}
	for _, r := range all {
		rs.Add(r)
	}
	return rs
}

// Add adds an entry.
func (rs Redactions) Add(r Redaction) {
	rs.add(r)
	r.Conversation = everywhere
	rs.add(r)
}

// Of returns the entries of an event of a conversation, by member: those that name the
// conversation, or those of any conversation if there are none or the key comes from an agent's
// session.
func (rs Redactions) Of(id events.ID, e *events.Element, key string) map[string][]Range {
	own := rs[id.Digits()][key]
	if source, ok := e.Metadata().Text(events.MetadataSource); own == nil || ok && source == key {
		return rs[everywhere][key]
	}
	return own
}

// Concern reports whether entries may apply to a stream.
func (rs Redactions) Concern(s *events.Stream) bool {
	return len(rs) > 0 && slices.ContainsFunc(s.Keys(), func(key string) bool {
		return rs[everywhere][key] != nil
	})
}

func (rs Redactions) add(r Redaction) {
	events := rs[r.Conversation]
	if events == nil {
		events = map[string]map[string][]Range{}
		rs[r.Conversation] = events
	}
	if events[r.Event] == nil {
		events[r.Event] = map[string][]Range{}
	}
	joined := append(slices.Clone(events[r.Event][r.Member]), r.Ranges...)
	slices.SortFunc(joined, func(a, b Range) int {
		return cmp.Or(
			cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(a.Rule, b.Rule),
		)
	})
	events[r.Event][r.Member] = slices.Compact(joined)
}

// Apply replaces the secrets that the entries of the conversation name with markers. A text that no
// longer matches an entry is not changed. Content that cannot be read is left as it is.
func (rs Redactions) Apply(
	id events.ID, s *events.Stream, contents blobs.Reader,
) (Applied, error) {
	res := Applied{Stream: s}
	if !rs.Concern(s) {
		return res, nil
	}
	next := s.Clone()
	covered := map[int]bool{} // elements with a range that is, or was, replaced
	for i, key := range s.Keys() {
		named := rs.Of(id, s.At(i), key)
		if named == nil {
			continue
		}
		done, err := res.element(next, i, key, named, contents)
		if err != nil {
			return Applied{}, fmt.Errorf("redact element %d: %w", i, err)
		}
		covered[i] = done
	}
	res.drop(next, covered)
	if len(res.Replaced) > 0 {
		res.Stream = next
	}
	return res, nil
}

// element applies the entries of one event. It reports whether the event has a marker for one of
// them.
func (a *Applied) element(
	s *events.Stream, i int, key string, named map[string][]Range, contents blobs.Reader,
) (covered bool, err error) {
	texts := map[string][]byte{}
	for _, t := range Texts(s.At(i)) {
		ranges := named[t.Member]
		if len(ranges) == 0 {
			continue
		}
		was, err := t.Content.Bytes(contents)
		if err != nil {
			continue // unreadable content is reported elsewhere
		}
		is, values, marked := redactRanges(was, ranges)
		covered = covered || marked
		if len(values) > 0 {
			texts[t.Member] = is
			a.Replaced = append(a.Replaced, Replaced{
				Element: i, Event: key, Member: t.Member, Values: values, Was: was, Is: is,
			})
		}
	}
	if len(texts) == 0 {
		return covered, nil
	}
	e, store, err := Replace(s.At(i), texts)
	if err != nil {
		return false, err
	}
	s.Set(i, e)
	a.Store = append(a.Store, store...)
	return true, nil
}

// redactRanges replaces the ranges whose value still matches its check with markers. Of a proven
// one of which another one replaced a part, as when two people redacted a text on two branches, it
// replaces the rest. The positions are those of the original text.
func redactRanges(text []byte, ranges []Range) (out []byte, values []Value, marked bool) {
	done := replacedIn(text, ranges)
	var counts []Range
	for _, g := range ranges {
		left, part := done.left(text, g)
		switch {
		case left == nil && part: // all of it is replaced
			counts = append(counts, g)
		case left != nil && (part && g.proven || !part && check(left) == g.Check):
			counts = append(counts, g)
			values = append(values, Value{g, string(left)})
		}
	}
	if len(values) == 0 {
		return text, nil, len(done) > 0
	}
	at := 0 // in the original text
	for _, g := range counts {
		from := max(g.From, at)
		if from >= g.To {
			continue
		}
		if from > at {
			out = append(out, text[done.at(at):done.at(from)]...)
		}
		out = append(out, Marker(g.Rule)...)
		at = g.To
	}
	return append(out, text[done.at(at):]...), values, true
}

// Prove remembers which of the ranges were redacted in a stream, or still match it. Another version
// of the stream then also loses what other redactions left of them there.
func (rs Redactions) Prove(id events.ID, s *events.Stream, contents blobs.Reader) {
	if !rs.Concern(s) {
		return
	}
	for i, key := range s.Keys() {
		named := rs.Of(id, s.At(i), key)
		for _, t := range Texts(s.At(i)) {
			if ranges := named[t.Member]; len(ranges) > 0 {
				if text, err := t.Content.Bytes(contents); err == nil {
					prove(text, ranges)
				}
			}
		}
	}
}

func prove(text []byte, ranges []Range) {
	done := replacedIn(text, ranges)
	for _, m := range done {
		ranges[m.of].proven = true
	}
	for i, g := range ranges {
		left, part := done.left(text, g)
		ranges[i].proven = g.proven || !part && left != nil && check(left) == g.Check
	}
}

// markers are the ranges of an original text that markers replace, in order.
type markers []marker

type marker struct {
	of       int // which range
	from, to int // in the original text
	end      int // of the marker
}

// replacedIn returns which of the ranges markers in the text replace. Behind the marker of another
// range, that of a range which begins in that one stands for its rest.
func replacedIn(text []byte, ranges []Range) (done markers) {
	at, end := 0, 0
	for of, g := range ranges {
		from := max(g.From, at)
		i := end + from - at
		if from < g.To && i <= len(text) && bytes.HasPrefix(text[i:], []byte(Marker(g.Rule))) {
			at, end = g.To, i+len(Marker(g.Rule))
			done = append(done, marker{of, from, at, end})
		}
	}
	return done
}

// at returns the position in the text of a position in the original text that no marker replaces.
func (m markers) at(original int) int {
	at, end := 0, 0
	for _, r := range m {
		if r.to <= original {
			at, end = r.to, r.end
		}
	}
	return end + original - at
}

// left returns what the text still has of a range, the first piece of it if a marker is inside, and
// whether markers replace some of it. A range of another text may end behind this one, which has
// nothing of it then.
func (m markers) left(text []byte, g Range) (left []byte, part bool) {
	from, to, end := g.From, g.To, m.at(g.To)
	for _, r := range m {
		switch {
		case r.to <= from || r.from >= to:
		case r.from <= from:
			from, part = r.to, true
		default:
			to, part = r.from, true
		}
		if r.from < g.To && g.To <= r.to {
			end = r.end
		}
	}
	if end > len(text) {
		return nil, false
	}
	if from >= to {
		return nil, part
	}
	return text[m.at(from) : m.at(from)+to-from], part
}

// Original returns the position in the original text of a position in a text with replaced ranges.
func Original(text []byte, ranges []Range, at int) int {
	moved, done, end := 0, 0, 0
	for _, g := range ranges {
		from, rest, marker := g.From+moved, g.To-g.From, Marker(g.Rule)
		if g.From < done {
			from, rest = end, g.To-done
		}
		if rest > 0 && from >= 0 && from < at && from <= len(text) &&
			bytes.HasPrefix(text[from:], []byte(marker)) {
			moved += len(marker) - rest
			done, end = g.To, from+len(marker)
		}
	}
	return at - moved
}

// drop removes reasoning that has become unusable: signed reasoning that was redacted, and
// ciphertext that the model produced after the redacted text in the same turn.
func (a *Applied) drop(s *events.Stream, covered map[int]bool) {
	gone := map[int]bool{}
	turns := s.TurnOf()
	for i := range covered {
		if !covered[i] {
			continue
		}
		if sealed(s.At(i), false) {
			gone[i] = true
		}
		for n := i; n < s.Len() && turns[n] == turns[i]; n++ {
			if sealed(s.At(n), true) {
				gone[n] = true
			}
		}
	}
	for n := range a.Replaced {
		r := &a.Replaced[n]
		r.Dropped = gone[r.Element]
	}
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(gone))) {
		ev, _ := s.At(i).Event().(*events.ChatResponse)
		if !slices.ContainsFunc(a.Replaced, func(r Replaced) bool { return r.Element == i }) {
			a.Replaced = append(a.Replaced, Replaced{
				Element: i, Member: "/reasoning", Was: []byte(ev.Text), Dropped: true,
			})
		}
		s.Remove(i, 1)
	}
}

// sealed reports whether an element is reasoning with ciphertext or, unless ciphertext is set, with
// a signature.
func sealed(e *events.Element, ciphertext bool) bool {
	ev, ok := e.Event().(*events.ChatResponse)
	if !ok || ev.Form != events.FormReasoning {
		return false
	}
	return slices.ContainsFunc(e.Metadata().Keys(), func(key string) bool {
		if ciphertext {
			return isCiphertext(key)
		}
		return isCiphertext(key) || isSignature(key)
	})
}
