package secrets

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// A Match is a secret in a text.
type Match struct {
	Rule       string
	Start, End int // the range that contains the complete secret
	// Public is the length of the provider's prefix, which may be shown.
	Public int

	index int // of the rule; an earlier rule is more precise
}

// Scan returns the secrets of a text in order. They do not overlap.
func (r *Rules) Scan(text []byte) []Match {
	f := r.filter()
	s := f.scanners.Get().(*scanner)
	defer f.scanners.Put(s)
	s.whole, s.found = len(text), nil
	s.scan(text, identity, 0)
	return united(s.found)
}

// ScanValue is like Scan for a string in JSON: it also finds what is a secret because of what is
// before it, see [Before].
func (r *Rules) ScanValue(before string, text []byte) []Match {
	if before == "" || len(text) > usualWindow {
		return r.Scan(text)
	}
	quote := "\""
	for _, other := range []string{"'", "`"} {
		if bytes.Contains(text, []byte(quote)) {
			quote = other // one that does not end the value
		}
	}
	begin := len(before) + len(quote)
	found := r.Scan(slices.Concat([]byte(before+quote), text, []byte(quote)))
	inside := found[:0]
	for _, m := range found {
		if m.Start < begin {
			m.Public = 0
		}
		m.Start, m.End = max(0, m.Start-begin), min(len(text), m.End-begin)
		if m.Start < m.End {
			inside = append(inside, m)
		}
	}
	return inside
}

// Redact returns the text with a marker in place of each secret, and the secrets. It does not
// modify text.
func (r *Rules) Redact(text []byte) ([]byte, []Match) { return r.RedactExcept("", text, nil) }

// RedactExcept is like Redact for a string in JSON, or for any text if nothing is before it. It
// neither replaces nor returns allowed values.
func (r *Rules) RedactExcept(
	before string, text []byte, allowed func(rule string, value []byte) bool,
) ([]byte, []Match) {
	found := r.ScanValue(before, text)
	if allowed != nil {
		found = slices.DeleteFunc(found, func(m Match) bool {
			return allowed(m.Rule, text[m.Start:m.End])
		})
	}
	if len(found) == 0 {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	at := 0
	for _, m := range found {
		out = append(append(out, text[at:m.Start]...), Marker(m.Rule)...)
		at = m.End
	}
	return append(out, text[at:]...), found
}

// Marker returns the text that replaces a secret.
func Marker(rule string) string { return markerPrefix + rule + "]" }

const markerPrefix = "[redacted:"

// maxLevels is how many levels of escapes and base64 are decoded.
const maxLevels = 3

// A rule may examine effortFree bytes plus effort times the length of the text in vain. Of a rule
// that a workspace adds, the window counts. Of a built-in rule, what it matches and finds
// implausible counts, and after many keywords everything that it examines.
const (
	effort     = 4
	effortFree = 1 << 20
	many       = 1 << 10
)

// A scanner scans one text at a time and the text encoded in it.
type scanner struct {
	*filter
	whole int // length of the text
	found []Match
	views [maxLevels]view
}

// An origin maps a range of the decoded text to a range of the original text.
type origin func(start, end int) (int, int)

func identity(start, end int) (int, int) { return start, end }

func (s *scanner) scan(text []byte, where origin, level int) {
	p := pass{scanner: s, text: text, where: where, level: level}
	s.each(text, p.keyword)
	if level == maxLevels {
		return
	}
	if v := &s.views[level]; v.unescape(text) {
		s.scan(v.plain, func(start, end int) (int, int) {
			return where(v.origins.of(start), v.origins.end(end-1))
		}, level+1)
	}
	eachBase64(text, s.base64, func(plain []byte, origins offsets) {
		s.scan(plain, func(start, end int) (int, int) {
			from, to := origins.of(start/3*4), origins.of((end+2)/3*4-1)+1
			return where(from, min(to, len(text)))
		}, level+1)
	})
}

// A pass scans one level of a text.
type pass struct {
	*scanner
	text  []byte
	where origin
	level int
	// tried has the rules of whose keywords one was examined, by index: few of hundreds.
	tried map[int]examined
}

// An examined is what a pass remembers of a rule.
type examined struct {
	from, next    int // the range of the last match
	failed, spent int // the number of keywords and of bytes that were examined in vain
}

func (p *pass) keyword(rule *compiled, start, end int) {
	e := p.tried[rule.index]
	if start -= rule.lead; start < 0 {
		return
	}
	if start >= e.from && start < e.next || !rule.begins(p.text, start) {
		return
	}
	from, to, ok := rule.match(p.text, start, end, e.failed >= many)
	if !ok && rule.Regex == "" && to <= start {
		return // as at nearly all keywords of nearly all texts, for which nothing is allocated
	}
	if !ok {
		spent := max(0, to-start)
		if rule.added {
			spent, to = rule.within, len(p.text)
		}
		e.failed++
		if e.spent += spent; e.spent > effortFree+effort*p.whole {
			from, ok = start, true
		}
	}
	isFound := ok && to > from
	if isFound {
		e.from, e.next = from, to
	}
	p.remember(rule, e)
	if !isFound {
		return
	}
	for to < len(p.text) && !utf8.RuneStart(p.text[to]) {
		to++
	}
	m := Match{Rule: rule.Name, index: rule.index}
	m.Start, m.End = p.where(from, to)
	if p.level == 0 {
		m.Public = min(rule.Public, to-from)
	}
	p.found = append(p.found, m)
}

func (p *pass) remember(rule *compiled, e examined) {
	if p.tried == nil {
		p.tried = map[int]examined{}
	}
	p.tried[rule.index] = e
}

// united joins matches that overlap. The most precise rule names the result.
func united(found []Match) []Match {
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End),
			cmp.Compare(a.index, b.index))
	})
	out := found[:0]
	for _, m := range found {
		if len(out) == 0 || m.Start >= out[len(out)-1].End {
			out = append(out, m)
			continue
		}
		last := &out[len(out)-1]
		if m.index < last.index {
			last.Rule, last.index = m.Rule, m.index
			if last.Public = 0; m.Start == last.Start {
				last.Public = m.Public
			}
		}
		last.End = max(last.End, m.End)
	}
	return slices.Clip(out)
}
