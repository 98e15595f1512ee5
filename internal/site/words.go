package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/search"
)

// The lengths of a word: a longer one is found by its beginning.
const (
	leastWord = 2
	mostWord  = 32
)

// buckets is how many pieces the index has: a reader fetches those of the words that are typed.
const buckets = 256

// An index has the turns of each word, as sorted numbers. One number identifies a conversation and
// a turn of it.
type index struct {
	words   [buckets]map[string][]int
	changed [buckets]bool
}

// newIndex returns an empty one whose pieces all have to be written.
func newIndex() *index {
	x := new(index)
	for i := range x.changed {
		x.changed[i] = true
	}
	return x
}

// bucketOf returns the piece that a word is in, by its first two letters. The script of the list
// computes the same.
func bucketOf(word string) int {
	runes := []rune(word)
	second := rune(0)
	if len(runes) > 1 {
		second = runes[1]
	}
	return int((runes[0]*31 + second) % buckets)
}

// add adds the words of a conversation, whose number is greater than the numbers of all earlier
// turns.
func (x *index) add(doc int, c render.Conversation) error {
	v := &wordVisitor{x: x, doc: doc, turn: doc}
	_, err := c.Visit(v)
	return err
}

func (x *index) enter(word string, turn int) {
	b := bucketOf(word)
	if x.words[b] == nil {
		x.words[b] = make(map[string][]int)
	}
	turns := x.words[b][word]
	if len(turns) == 0 || turns[len(turns)-1] != turn {
		x.words[b][word] = append(turns, turn)
		x.changed[b] = true
	}
}

// keep removes the turns of all conversations except those that begin at the given numbers and have
// the given lengths.
func (x *index) keep(docs map[int]int) {
	starts := slices.Sorted(maps.Keys(docs))
	isGone := func(turn int) bool {
		i, found := slices.BinarySearch(starts, turn)
		if !found {
			i--
		}
		return i < 0 || turn > starts[i]+docs[starts[i]]
	}
	for b, words := range x.words {
		for w, turns := range words {
			left := slices.DeleteFunc(turns, isGone)
			if len(left) == len(turns) {
				continue
			}
			x.changed[b] = true
			if words[w] = left; len(left) == 0 {
				delete(words, w)
			}
		}
	}
}

// A wordVisitor adds the text of a conversation, in blobs too.
type wordVisitor struct {
	x         *index
	doc, turn int // numbers of the index
}

// Turn implements [render.Visitor].
func (v *wordVisitor) Turn(t render.Turn) error {
	v.turn = v.doc + t.From
	return nil
}

// Item implements [render.Visitor].
func (v *wordVisitor) Item(it render.Item) error {
	switch ev := it.Element.Event().(type) {
	case *events.ChatRequest:
		v.text(ev.Content)
	case *events.ChatResponse:
		v.text(ev.Text)
		v.data(ev.Data)
	case *events.ToolCallRequest:
		v.text(ev.Name)
		v.data(ev.Arguments)
	}
	for _, p := range it.Parts {
		v.text(p.URI)
		v.text(p.Text)
	}
	return nil
}

// data adds the words of a JSON value. In its escaped form the first word of a line would begin
// with an n.
func (v *wordVisitor) data(value []byte) {
	for text := range search.Texts(value) {
		v.text(text)
	}
}

func (v *wordVisitor) text(s string) {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		word = strings.ToLower(word)
		if runes := []rune(word); len(runes) > mostWord {
			word = string(runes[:mostWord])
		} else if len(runes) < leastWord {
			continue
		}
		v.x.enter(word, v.turn)
	}
}

func pieceName(bucket int) string { return fmt.Sprintf("search/%02x.js", bucket) }

// encode returns a piece: a script, since a page that was opened from the disk may not fetch
// anything else.
func (x *index) encode(bucket int) ([]byte, error) {
	said := make(map[string]string, len(x.words[bucket]))
	for w, turns := range x.words[bucket] {
		said[w] = encodeTurns(turns)
	}
	data, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("encode the search index: %w", err)
	}
	return fmt.Appendf(nil, "gitjp(\"%02x\",%s);\n", bucket, data), nil
}

// A digit of the distance between two turns has five bits, the least first. A digit that is not the
// last has a sixth bit set.
const (
	digits    = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	digitBits = 5
	more      = 1 << digitBits
)

// encodeTurns encodes turns in the form that the script reads: most words are in many turns, and
// then close together, so nearly all take one letter.
func encodeTurns(turns []int) string {
	var b []byte
	last := 0
	for _, turn := range turns {
		gap := turn - last
		for ; gap >= more; gap >>= digitBits {
			b = append(b, digits[gap%more+more])
		}
		b, last = append(b, digits[gap]), turn
	}
	return string(b)
}

func decodeTurns(s string) (turns []int, err error) {
	last, gap, shift := 0, 0, 0
	for _, letter := range s {
		v := strings.IndexRune(digits, letter)
		const mostBits = 40
		if v < 0 || shift > mostBits {
			return nil, strconv.ErrSyntax
		}
		gap += v % more << shift
		if shift += digitBits; v < more {
			last += gap
			turns, gap, shift = append(turns, last), 0, 0
		}
	}
	if shift != 0 {
		return nil, strconv.ErrSyntax
	}
	return turns, nil
}

// readIndex reads the pieces of a folder.
func readIndex(root *os.Root) (*index, error) {
	x := new(index)
	for b := range buckets {
		data, err := regular.Read(regular.In(root), pieceName(b), regular.MaxOwn)
		if err != nil {
			return nil, fmt.Errorf("read the search index: %w", err)
		}
		_, data, _ = bytes.Cut(data, []byte(","))
		var said map[string]string
		if err := json.Unmarshal(bytes.TrimSuffix(data, []byte(");\n")), &said); err != nil {
			return nil, fmt.Errorf("read the search index %s: %w", pieceName(b), err)
		}
		x.words[b] = make(map[string][]int, len(said))
		for w, s := range said {
			if x.words[b][w], err = decodeTurns(s); err != nil {
				return nil, fmt.Errorf("read the search index %s: %w", pieceName(b), err)
			}
		}
	}
	return x, nil
}
