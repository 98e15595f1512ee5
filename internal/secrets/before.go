package secrets

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Before is what is before a string in JSON, as far as that may say that the string is a secret:
// the name of its member, what is beside it in its object, the strings before it in a list. It is
// told each token in order.
type Before struct{ levels []level }

// A level is an object or a list that has not ended.
type level struct {
	list bool
	said []byte // as JSON
	// member is where in said the last name begins; in a list, the last string.
	member int
}

// Begin tells that a list or an object begins.
func (b *Before) Begin(list bool) {
	b.levels = append(b.levels, level{list: list})
}

// End tells that a list or an object ends.
func (b *Before) End() { b.levels = b.levels[:max(0, len(b.levels)-1)] }

// Name tells the name of a member.
func (b *Before) Name(name string) {
	if n := len(b.levels); n > 0 {
		b.levels[n-1].say(name, ':')
	}
}

// Value tells a string after it was looked at.
func (b *Before) Value(s string) {
	n := len(b.levels)
	switch {
	case n == 0:
	case b.levels[n-1].list:
		b.levels[n-1].say(s, ',')
	default:
		b.levels[n-1].add(s, ',')
	}
}

func (l *level) say(s string, end byte) {
	l.member = len(l.said)
	l.add(s, end)
}

func (l *level) add(s string, end byte) {
	if len(s) > maxName || strings.ContainsFunc(s, func(r rune) bool {
		return r != ' ' && (r > 0x7e || !isName(byte(r)) && !strings.ContainsRune("/_=@+", r))
	}) {
		s = "" // no name, no option and no command
	}
	if over := len(l.said) - maxBeside; over > maxBeside {
		l.said = append(l.said[:0], l.said[over:]...)
		l.member -= over
	}
	l.said = append(append(append(append(l.said, '"'), s...), '"'), end)
}

// Of returns what is before a string: JSON up to its quote.
func (b *Before) Of(s string) string {
	n := len(b.levels)
	if n == 0 {
		return ""
	}
	l := &b.levels[n-1]
	last := string(l.said[l.member:])
	switch {
	case l.list && (strings.HasPrefix(s, "-") || strings.HasPrefix(last, `"-`)):
		return string(l.said)
	case l.list:
		return b.above(n - 1)
	case isValueName(strings.Trim(last, `":`)):
		return b.above(n-1) + "{" + string(l.said)
	}
	return last
}

// above returns the name of the member to which a level belongs.
func (b *Before) above(n int) string {
	for n--; n >= 0; n-- {
		if l := b.levels[n]; !l.list {
			return string(l.said[l.member:])
		}
	}
	return ""
}

// eachString calls f with each string of a value that is no name.
func eachString(v jsontext.Value, f func(pointer, before, s string)) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	var b Before
	for {
		t, err := d.ReadToken()
		if err != nil {
			return
		}
		switch kind := t.Kind(); kind {
		case '{', '[':
			b.Begin(kind == '[')
		case '}', ']':
			b.End()
		case '"':
			s := t.String()
			if parent, n := d.StackIndex(d.StackDepth()); parent == '{' && n%2 == 1 {
				b.Name(s)
				continue
			}
			f(string(d.StackPointer()), b.Of(s), s)
			b.Value(s)
		}
	}
}
