package render

import (
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Visitor gets the parts of a conversation's document, so that a format can have its own package.
type Visitor interface {
	Turn(t Turn) error
	Item(it Item) error
}

// A Turn is the head of a turn.
type Turn struct {
	From     int    // the number of the first turn in the stored stream, counted from 1
	Label    string // "turn 3", or the turns that a summary replaces
	At       time.Time
	Author   string // "" if unknown
	Model    string // "" if unknown
	Parallel string // the turns before it that its author did not know, "" for none
}

// An Item is one element of a stream.
type Item struct {
	Index   int
	Element *events.Element
	Tool    string   // of a result: the name of the tool
	Parts   []Part   // contents of a request or a result
	Beside  []string // what the provider did or cited beside a reply
}

// A Part is one content of a request or a result.
type Part struct {
	URI      string
	Title    string // of a resource, "" if its URI says as much
	MIMEType string
	Size     int64
	Text     string
	Data     []byte // if it is not text
	Absent   string // why there is no content, "" if there is
	Ref      blobs.Ref
	Language string // by the name of the file, as [Tokens] takes it
}

// IsImage reports whether a part is an image of a kind that browsers show.
func (p Part) IsImage() bool { return len(p.Data) > 0 && part{mime: p.MIMEType}.isImage() }

// Visit calls v with the conversation and all content, in the order in which people read it:
// results follow their calls. The problems are contents that are absent; the error comes from v.
func (c Conversation) Visit(v Visitor) ([]Problem, error) {
	w := newWalk(c, Options{Format: FormatMarkdown, Full: true, Records: true})
	err := w.run(visiting{v})
	return w.problems, err
}

// visiting is a formatter that passes everything on.
type visiting struct{ Visitor }

func (visiting) begin(int) error { return nil }
func (visiting) end() error      { return nil }

func (v visiting) turn(t turn) error {
	head := Turn{
		From: t.from, Label: t.label(), At: t.at, Author: t.author, Model: t.model,
	}
	if t.parallel != nil {
		head.Parallel = t.parallel.String()
	}
	return v.Turn(head)
}

func (v visiting) item(it item) error {
	shown := Item{Index: it.index, Element: it.el, Tool: it.tool}
	shown.Parts = append(shown.Parts, lists.Map(it.parts, part.visited)...)
	for _, x := range it.extra {
		shown.Beside = append(shown.Beside, x.label+": "+x.text)
	}
	return v.Item(shown)
}

func (p part) visited() Part {
	out := Part{
		URI: p.uri, Title: p.title, MIMEType: p.mime, Text: p.text, Data: p.data, Ref: p.ref,
		Size: p.ref.Size, Language: p.language(),
	}
	switch p.state {
	case partBroken:
		out.Text, out.Absent = "", p.text
	case partRaw:
		out.Text = p.readable()
	}
	if !p.hasRef {
		out.Size = int64(len(p.text) + len(p.data))
	}
	return out
}

// A TokenKind is the kind of a piece of code.
type TokenKind int

// The kinds of pieces.
const (
	TokenPlain TokenKind = iota
	TokenKeyword
	TokenString
	TokenNumber
	TokenComment
)

// Tokens calls f with the pieces of a line of code, neighbours of one kind together. An unknown
// language gives one plain piece.
func Tokens(language, line string, f func(kind TokenKind, text string)) {
	s, known := syntaxes()[strings.ToLower(language)]
	if !known {
		f(TokenPlain, line)
		return
	}
	for plain := 0; plain < len(line); {
		at, end, kind := s.token(line, plain)
		if at > plain {
			f(TokenPlain, line[plain:at])
		}
		if at == end {
			return
		}
		f(kind, line[at:end])
		plain = end
	}
}

// IsLanguage reports whether [Tokens] knows a language.
func IsLanguage(name string) bool {
	_, known := syntaxes()[strings.ToLower(name)]
	return known
}
