package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
)

// What a word is: a longer one is found by its beginning.
const (
	leastWord = 2
	mostWord  = 32
)

// buckets is how many pieces the index has: a reader fetches those of the words that are typed.
const buckets = 256

// places are turns of conversations by the numbers of these.
type places map[int][]int

// An index has the places of each word.
type index struct {
	words   [buckets]map[string]places
	changed [buckets]bool
}

// newIndex returns an empty one of which every piece is to be written.
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

// add enters the words of a conversation.
func (x *index) add(doc int, c render.Conversation) error {
	v := &wordVisitor{x: x, doc: doc}
	_, err := c.Visit(v)
	return err
}

func (x *index) enter(word string, doc, turn int) {
	b := bucketOf(word)
	if x.words[b] == nil {
		x.words[b] = make(map[string]places)
	}
	p := x.words[b][word]
	if p == nil {
		p = places{}
		x.words[b][word] = p
	}
	if turns := p[doc]; len(turns) == 0 || turns[len(turns)-1] != turn {
		p[doc] = append(turns, turn)
		x.changed[b] = true
	}
}

// drop removes conversations.
func (x *index) drop(docs map[int]bool) {
	for b, words := range x.words {
		for w, p := range words {
			for doc := range p {
				if docs[doc] {
					delete(p, doc)
					x.changed[b] = true
				}
			}
			if len(p) == 0 {
				delete(words, w)
			}
		}
	}
}

// A wordVisitor enters what a conversation says, in blobs too.
type wordVisitor struct {
	x         *index
	doc, turn int
}

// Turn implements [render.Visitor].
func (v *wordVisitor) Turn(t render.Turn) error {
	v.turn = t.From
	return nil
}

// Item implements [render.Visitor].
func (v *wordVisitor) Item(it render.Item) error {
	switch ev := it.Element.Event().(type) {
	case *events.ChatRequest:
		v.text(ev.Content)
	case *events.ChatResponse:
		v.text(ev.Text)
		v.text(string(ev.Data))
	case *events.ToolCallRequest:
		v.text(ev.Name)
		v.text(string(ev.Arguments))
	}
	for _, p := range it.Parts {
		v.text(p.URI)
		v.text(p.Text)
	}
	return nil
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
		v.x.enter(word, v.doc, v.turn)
	}
}

func pieceName(bucket int) string { return fmt.Sprintf("search/%02x.js", bucket) }

// encode returns a piece: a script, since a page that was opened from the disk may fetch nothing
// else.
func (x *index) encode(bucket int) ([]byte, error) {
	said := make(map[string]string, len(x.words[bucket]))
	for w, p := range x.words[bucket] {
		said[w] = p.String()
	}
	data, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("encode the search index: %w", err)
	}
	return fmt.Appendf(nil, "gitjp(\"%02x\",%s);\n", bucket, data), nil
}

// String writes places as the script reads them.
func (p places) String() string {
	docs := make([]int, 0, len(p))
	for doc := range p {
		docs = append(docs, doc)
	}
	slices.Sort(docs)
	const base = 36
	var b []byte
	for i, doc := range docs {
		if i > 0 {
			b = append(b, ';')
		}
		b = append(strconv.AppendInt(b, int64(doc), base), ':')
		for j, turn := range p[doc] {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(turn), base)
		}
	}
	return string(b)
}

func parsePlaces(s string) (places, error) {
	const base, bits = 36, 32
	p := places{}
	for piece := range strings.SplitSeq(s, ";") {
		doc, turns, _ := strings.Cut(piece, ":")
		n, err := strconv.ParseInt(doc, base, bits)
		if err != nil {
			return nil, err
		}
		for t := range strings.SplitSeq(turns, ",") {
			turn, err := strconv.ParseInt(t, base, bits)
			if err != nil {
				return nil, err
			}
			p[int(n)] = append(p[int(n)], int(turn))
		}
	}
	return p, nil
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
		x.words[b] = make(map[string]places, len(said))
		for w, s := range said {
			if x.words[b][w], err = parsePlaces(s); err != nil {
				return nil, fmt.Errorf("read the search index %s: %w", pieceName(b), err)
			}
		}
	}
	return x, nil
}
