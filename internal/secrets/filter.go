package secrets

import (
	"cmp"
	"encoding/binary"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A filter finds keywords by their rarest pair of bytes: it looks up each pair of bytes of the
// text.
type filter struct {
	index    [1 << 16]uint8 // in groups of each pair, in little-endian order
	groups   [][]candidate  // the first is for pairs without keywords
	rules    []*compiled
	base64   int       // the minimum length of a run of base64
	scanners sync.Pool // of *scanner: a tenth of what an import allocated was their views
}

// A candidate is a keyword that contains a pair.
type candidate struct {
	rule    int
	keyword string // in lower case if fold is set
	offset  int    // of the pair in keyword
	fold    bool
}

// A compiled is a rule whose expression is compiled on first use.
type compiled struct {
	Rule
	expr  func() *regexp.Regexp
	index int
}

func newFilter(list []Rule) *filter {
	f := &filter{groups: make([][]candidate, 1), base64: minBase64}
	f.scanners.New = func() any { return &scanner{filter: f} }
	for i, rule := range list {
		rule.within = cmp.Or(rule.within, usualWindow)
		f.rules = append(f.rules, &compiled{rule, sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`\A(?:` + rule.Regex + `)`)
		}), i})
		for _, k := range rule.Keywords {
			f.add(i, k, rule.Fold)
		}
	}
	return f
}

func (f *filter) add(rule int, keyword string, fold bool) {
	if fold {
		keyword = strings.ToLower(keyword)
	}
	c := candidate{rule, keyword, rarest(keyword), fold}
	first, second := keyword[c.offset], keyword[c.offset+1]
	var has []uint8 // the groups of its spellings
	for _, a := range cases(first, fold) {
		for _, b := range cases(second, fold) {
			has = f.group(uint16(a)|uint16(b)<<8, c, has)
		}
	}
}

// group adds a keyword to the group of a pair, unless that is one of those that have it. The
// spellings of a pair without a group get one together. There are at most 256 groups; further pairs
// share the last one, which only costs time.
func (f *filter) group(pair uint16, c candidate, has []uint8) []uint8 {
	g := f.index[pair]
	if g == 0 {
		if g = uint8(len(f.groups) - 1); !slices.Contains(has, g) && g < math.MaxUint8 {
			f.groups, g = append(f.groups, nil), g+1
		}
		f.index[pair] = g
	}
	if slices.Contains(has, g) {
		return has
	}
	f.groups[g] = append(f.groups[g], c)
	return append(has, g)
}

func cases(c byte, fold bool) []byte {
	if upper := c - 'a' + 'A'; fold && c >= 'a' && c <= 'z' {
		return []byte{c, upper}
	}
	return []byte{c}
}

// rarest returns the index in a keyword of the pair of bytes that is rarest in text.
func rarest(keyword string) int {
	at := 0
	for i := 1; i+1 < len(keyword); i++ {
		if frequency(keyword[i], keyword[i+1]) < frequency(keyword[at], keyword[at+1]) {
			at = i
		}
	}
	return at
}

// has reports whether the keyword is in the text at i.
func (c *candidate) has(text []byte, i int) bool {
	if i < 0 || i+len(c.keyword) > len(text) {
		return false
	}
	if !c.fold {
		return string(text[i:i+len(c.keyword)]) == c.keyword
	}
	for n := range len(c.keyword) {
		b := text[i+n]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != c.keyword[n] {
			return false
		}
	}
	return true
}

// each calls found for each keyword in the text, in the order of their rarest pairs.
func (f *filter) each(text []byte, found func(rule *compiled, start, end int)) {
	const block = 7 // pairs in eight bytes
	for i := 0; i+1 < len(text); {
		end := min(i+block, len(text)-1)
		if i+block < len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			if f.index[uint16(w)]|f.index[uint16(w>>8)]|f.index[uint16(w>>16)]|
				f.index[uint16(w>>24)]|f.index[uint16(w>>32)]|f.index[uint16(w>>40)]|
				f.index[uint16(w>>48)] == 0 {
				i = end
				continue
			}
		}
		for ; i < end; i++ {
			group := f.index[binary.LittleEndian.Uint16(text[i:])]
			if group == 0 {
				continue
			}
			for n := range f.groups[group] {
				c := &f.groups[group][n]
				if start := i - c.offset; c.has(text, start) {
					found(f.rules[c.rule], start, start+len(c.keyword))
				}
			}
		}
	}
}
