package sessions

import (
	"bytes"
	"encoding/base64"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/go-json-experiment/json/jsontext"
)

// A ledger has the texts that a conversation says, and those of records of which it is not known
// yet whether it says them: an agent writes some texts twice, in either order.
type ledger struct {
	seed    maphash.Seed
	said    [2]map[uint64]struct{} // sums of texts and their lines; the older ones are forgotten
	waiting []unsaid
	waits   int             // size of what is waiting, approximately
	full    func()          // called when that is very much
	left    map[string]bool // names of members that are left out
	later   bool            // the current record waits for another one, or is left out
	each    finder          // for all records, since it has memory
}

// An unsaid has the texts of a record that the conversation does not say so far.
type unsaid struct {
	kind  string
	texts []part
}

// between separates the names in a path: they have full stops themselves.
const between = "\x00"

// A part is a text of a record, and the names of the members in which it is. What is before it
// there may say that it is a secret, see [secrets.Before].
type part struct{ path, before, text string }

const (
	// maxSaid limits what is remembered, to some megabytes.
	maxSaid = 1 << 17
	// maxWaiting limits the memory for texts that wait for the end of a turn.
	maxWaiting = 16 << 20
	// maxPath limits a path, which each text of a record repeats.
	maxPath = 200
	// partSize is what a part takes beside its strings.
	partSize = 64
)

func newLedger() *ledger {
	return &ledger{
		seed: maphash.MakeSeed(), said: [2]map[uint64]struct{}{{}, {}},
	}
}

// say remembers that the conversation has a text, and with it the strings of JSON.
func (l *ledger) say(text []byte) {
	if l.lines(text) && isJSON(text) {
		each := finder{known: func(text []byte) bool {
			l.lines(text)
			return !isJSON(text)
		}}
		each.find(text)
	}
}

// lines remembers a text, and then its lines: one that is among the newer sums is not new.
func (l *ledger) lines(text []byte) (isNew bool) {
	if isNew = l.remember(text); isNew {
		for line := range bytes.SplitSeq(text, []byte{'\n'}) {
			l.remember(line)
		}
	}
	return isNew
}

// remember remembers a text or a line by a sum with a random seed: that another one is taken for
// one of all that are remembered has a probability of 1 in 2^46.
func (l *ledger) remember(text []byte) (isNew bool) {
	if len(l.said[0]) >= maxSaid {
		l.said[0], l.said[1] = map[uint64]struct{}{}, l.said[0]
	}
	before := len(l.said[0])
	l.said[0][l.sum(text)] = struct{}{}
	return len(l.said[0]) > before
}

func (l *ledger) remembers(text []byte) bool {
	sum := l.sum(text)
	_, now := l.said[0][sum]
	_, before := l.said[1][sum]
	return now || before
}

func (l *ledger) sum(text []byte) uint64 { return maphash.Bytes(l.seed, bytes.TrimSpace(text)) }

// says reports whether the conversation has a text, all its lines, since agents join and cut texts,
// or the bytes that it encodes.
func (l *ledger) says(text []byte) bool {
	if l.remembers(text) {
		return true
	}
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		if len(bytes.TrimSpace(line)) > 0 && !l.remembers(line) {
			return l.encodes(text)
		}
	}
	return true
}

// encodes reports whether the conversation has the picture or the file in a text, or in a data URL.
func (l *ledger) encodes(text []byte) bool {
	if url, ok := bytes.CutPrefix(text, []byte("data:")); ok {
		_, text, _ = bytes.Cut(url, []byte{','})
	}
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	return err == nil && len(bytes.TrimSpace(data)) > 0 && (l.remembers(data) || l.says(data))
}

// LeaveOut names members whose texts are not kept where the conversation does not say them.
func (l *ledger) LeaveOut(names ...string) { l.left = lists.Set(names) }

// Said records that a text is a part of others that are added.
func (l *ledger) Said(text string) { l.say([]byte(text)) }

// proven is Said for what proves reasoning, whether or not that is kept.
func (l *ledger) proven(md events.Metadata) {
	for _, key := range md.Keys() {
		if text, ok := md.Text(key); ok {
			l.Said(text)
		}
	}
}

// Beside keeps the texts of a record that the conversation does not say when the turn ends, or when
// very much waits for that.
func (l *ledger) Beside(kind string, record jsontext.Value) {
	if isValid(record) {
		l.beside(kind, record)
	} else if !l.says(record) {
		l.wait(kind, part{text: string(record)})
	}
}

// beside is Beside for JSON that is valid, but may have names twice and invalid UTF-8.
func (l *ledger) beside(kind string, record []byte) {
	isUnsaid := false
	each := &l.each
	each.left, each.known, each.before = l.left, l.says, nil
	each.tell = func(_, _ string, _ []byte) { isUnsaid = true }
	if each.find(record); !isUnsaid {
		return
	}
	var texts []part
	each.tell = func(path, before string, text []byte) {
		texts = append(texts, part{path, before, string(text)})
	}
	each.before = &secrets.Before{}
	each.find(record)
	l.wait(kind, texts...)
}

func (l *ledger) wait(kind string, texts ...part) {
	l.waiting = append(l.waiting, unsaid{kind, texts})
	for _, p := range texts {
		l.waits += len(p.path) + len(p.before) + len(p.text) + partSize
	}
	if l.waits > maxWaiting {
		l.full()
	}
}

// tellUnsaid keeps the waiting texts that the conversation does not say.
func (b *Builder) tellUnsaid() {
	for _, u := range b.waiting {
		var rest []map[string]string
		for _, p := range u.texts {
			if !b.says([]byte(p.text)) {
				rest = append(rest, b.asKept(p))
			}
		}
		if rest != nil {
			b.Record(time.Time{}, u.kind+"/beside", Marshal(rest))
		}
	}
	clear(b.waiting)
	b.waiting, b.waits = b.waiting[:0], 0
}

// asKept returns a text as it is kept. Each name is looked at alone: one that follows it would hide
// a directory. It is not said: the number of an element may be a text elsewhere.
func (k *keeper) asKept(p part) map[string]string {
	names := strings.Split(p.path, between)
	for i, name := range names {
		names[i] = k.textAfter("", name)
	}
	k.Said(p.text)
	return map[string]string{strings.Join(names, "."): k.textAfter(p.before, p.text)}
}

// A finder finds the strings in JSON, also in JSON in a string.
type finder struct {
	left   map[string]bool        // names of members in which it does not look
	known  func(text []byte) bool // if set, says which strings are not told
	tell   func(path, before string, text []byte)
	before *secrets.Before
	steps  []step
	room   []byte // for a string with escapes
}

// A step is the name of a member, or the number of an element, in which a string is.
type step struct {
	name   []byte
	number int
}

// find looks in valid JSON, which may have any space around it.
func (f *finder) find(v []byte) { f.value(bytes.TrimSpace(v), 0) }

// value looks in the value at v[i], and returns the index after it.
func (f *finder) value(v []byte, i int) int {
	switch v[i] {
	case '"':
		end := jsonspan.StringEnd(v, i)
		f.text(v[i:end])
		return end
	case '{', '[':
		return f.container(v, i)
	}
	return jsonspan.ValueEnd(v, i)
}

func (f *finder) container(v []byte, i int) int {
	isObject, depth := v[i] == '{', len(f.steps)
	defer func() { f.steps = f.steps[:depth] }()
	f.before.Begin(!isObject)
	defer f.before.End()
	f.steps = append(f.steps, step{})
	for i = jsonspan.SkipSpace(v, i+1); v[i] != '}' && v[i] != ']'; {
		at := i
		if isObject {
			end := jsonspan.StringEnd(v, i)
			f.steps[depth].name = jsonspan.Unquote(v[i:end])
			at = jsonspan.SkipSpace(v, jsonspan.SkipSpace(v, end)+1)
			f.before.Name(f.steps[depth].name)
		}
		if f.left[string(f.steps[depth].name)] {
			i = jsonspan.ValueEnd(v, at)
		} else {
			i = f.value(v, at)
		}
		f.steps[depth].number++
		if i = jsonspan.SkipSpace(v, i); v[i] == ',' {
			i = jsonspan.SkipSpace(v, i+1)
		}
	}
	return i + 1
}

func (f *finder) text(quoted []byte) {
	text := quoted[1 : len(quoted)-1]
	if !isPlain(text) {
		f.room = jsonspan.AppendText(f.room[:0], quoted)
		text = f.room
	}
	defer f.before.Value(text)
	switch {
	case f.known != nil && f.known(text):
	case isJSON(text):
		inner := finder{left: f.left, known: f.known, tell: f.tell, steps: f.steps}
		if f.before != nil {
			inner.before = &secrets.Before{}
		}
		inner.find(text)
	default:
		f.tell(f.path(), f.before.Of(text), text)
	}
}

// path returns the steps to a string, without the outer ones of a very long way.
func (f *finder) path() string {
	var all []string
	size := 0
	for _, s := range slices.Backward(f.steps) {
		if size += len(s.name) + 1; size > maxPath {
			all = append(all, "…")
			break
		}
		if s.name == nil {
			all = append(all, strconv.Itoa(s.number))
		} else {
			all = append(all, string(s.name))
		}
	}
	slices.Reverse(all)
	return strings.Join(all, between)
}

// isJSON reports whether a text is an object or a list.
func isJSON(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && isValid(text)
}

// isValid reports whether a text is JSON in which a finder can look.
func isValid(v jsontext.Value) bool {
	return jsonspan.IsUsual(v) ||
		v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
