package secrets

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Before is what is before a string in JSON, as far as that may say that the string is a secret:
// the name of its member, what is beside it in its object, the strings before it in a list. It is
// told each token in order. One that is nil is told nothing: where nothing is looked for.
type Before struct{ levels []level }

// A level is an object or a list that has not ended.
type level struct {
	list bool
	said []byte // as JSON
	// member is where in said the last name begins; in a list, the last string.
	member int
	// key is set in a list of lines while these are those of a private key.
	key bool
}

// Begin tells that a list or an object begins.
func (b *Before) Begin(list bool) {
	if b != nil {
		b.levels = append(b.levels, level{list: list})
	}
}

// End tells that a list or an object ends.
func (b *Before) End() {
	if b.innermost() != nil {
		b.levels = b.levels[:len(b.levels)-1]
	}
}

// Name tells the name of a member.
func (b *Before) Name(name []byte) {
	if l := b.innermost(); l != nil {
		l.say(name, ':')
	}
}

// Value tells a string after it was looked at.
func (b *Before) Value(s []byte) {
	switch l := b.innermost(); {
	case l == nil:
	case l.list:
		l.say(s, ',')
		l.line(s)
	default:
		l.add(s, ',')
	}
}

// innermost returns the level that began last, or nil.
func (b *Before) innermost() *level {
	if b == nil || len(b.levels) == 0 {
		return nil
	}
	return &b.levels[len(b.levels)-1]
}

// keyHeader stands for the line of a list with which a private key begins.
const keyHeader = dashes + "BEGIN " + "PRIVATE KEY" + dashes

func (l *level) line(s []byte) {
	_, header, begins := bytes.Cut(s, []byte(dashes+"BEGIN "))
	switch {
	case begins && bytes.Contains(header, []byte("PRIVATE KEY")):
		l.key = !bytes.Contains(header, []byte(dashes+"END "))
	case bytes.Contains(s, []byte(dashes+"END ")):
		l.key = false
	}
}

func (l *level) say(s []byte, end byte) {
	l.member = len(l.said)
	l.add(s, end)
}

func (l *level) add(s []byte, end byte) {
	if len(s) > maxName || bytes.ContainsFunc(s, func(r rune) bool {
		return r != ' ' && (r > 0x7e || !isName(byte(r)) && !strings.ContainsRune("/_=@+", r))
	}) {
		s = nil // no name, no option and no command
	}
	if over := len(l.said) - maxBeside; over > maxBeside {
		l.said = append(l.said[:0], l.said[over:]...)
		l.member -= over
	}
	l.said = append(append(append(append(l.said, '"'), s...), '"'), end)
}

// Of returns what is before a string: JSON up to its quote.
func (b *Before) Of(s []byte) string {
	l := b.innermost()
	if l == nil {
		return ""
	}
	n, last := len(b.levels), string(l.said[l.member:])
	switch {
	case l.key:
		return "[\"" + keyHeader + "\","
	case l.list && n > 1 && b.levels[n-2].list && strings.Count(string(l.said), ",") == 1:
		return last // a list of pairs, as headers are
	case l.list && (bytes.HasPrefix(s, []byte("-")) || strings.HasPrefix(last, `"-`)):
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
				b.Name([]byte(s))
				continue
			}
			f(string(d.StackPointer()), b.Of([]byte(s)), s)
			b.Value([]byte(s))
		}
	}
}
