package render

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A Conversation is the input of a rendering.
type Conversation struct {
	ID       events.ID
	Title    string         // "" when it has none
	Stream   *events.Stream // required; the stored one or a projection
	Contents blobs.Reader   // opens references; nil when there is no store
	Agent    string         // from whose session it was imported, "" if from none

	// Origins are the origins of the projection that is Stream. Turns then keep the numbers that
	// they have in the stored stream. nil means that Stream is the stored one.
	Origins []events.Origin
	// Base is the base_config.json, nil when there is none. It has the model of the first turns.
	Base []byte
	// Root is the workspace's directory in URIs for people to follow. An export is made for others
	// and keeps $WORKSPACE.
	Root string
}

// created returns when the conversation began: its id says so, unless it is derived.
func (c *Conversation) created() time.Time {
	if c.ID.IsDerived() && c.Stream.Len() > 0 {
		return c.Stream.At(0).Time()
	}
	return c.ID.Time()
}

// Format is the form of the output.
type Format int

const (
	// FormatText is for people: coloured and wrapped on a terminal, with long results cut. In a
	// file or a pipe texts are complete and unchanged.
	FormatText Format = iota
	// FormatJSONLines is one object a line for each event.
	FormatJSONLines
	// FormatMarkdown is one document for reading elsewhere.
	FormatMarkdown
	// FormatJSON is one document with the same objects as FormatJSONLines.
	FormatJSON
)

// forPrograms reports whether the format is for programs.
func (f Format) forPrograms() bool { return f == FormatJSONLines || f == FormatJSON }

// exports reports whether the format is for sharing.
func (f Format) exports() bool { return f == FormatMarkdown || f == FormatJSON }

// Style chooses which events are shown.
type Style int

const (
	// StyleFull shows everything.
	StyleFull Style = iota
	// StyleBrief shows messages, and one line for each tool call, result, attachment
	// and compaction. No content is opened.
	StyleBrief
	// StyleChat shows the messages of user and model.
	StyleChat
	// StyleUser shows the messages of the user.
	StyleUser
)

// ParseStyle parses the name of a style on the command line.
func ParseStyle(name string) (Style, error) {
	names := []string{StyleFull: "full", StyleBrief: "brief", StyleChat: "chat", StyleUser: "user"}
	if i := slices.Index(names, name); i >= 0 {
		return Style(i), nil
	}
	return 0, fmt.Errorf("%q is not a style: expected user, chat, brief or full", name)
}

// Options choose which parts of a conversation are rendered, and how.
type Options struct {
	Format Format
	Style  Style
	Output Output
	// First and Last are the turns to show, counted from 1, both included; 0 is no bound. In a
	// projection they are numbers of the stored stream.
	First, Last int
	// Records shows people an agent's records without a counterpart, verbatim.
	Records bool
	// Unnumbered leaves out the numbers of turns, for a text that is compared with another one: a
	// turn that is inserted before others then makes no difference to them.
	Unnumbered bool
	// Metadata has the keys of an event's metadata that are shown below it as text for people.
	Metadata []string
	// Full shows long results and arguments completely on a terminal too, and attached content.
	Full bool
	Now  time.Time      // for relative times; zero shows none
	Zone *time.Location // of absolute times for people; nil means UTC
}

// A Problem is content that could not be shown.
type Problem struct {
	Turn    int // counted from 1, 0 outside turns
	Element int
	Call    string // id of the tool call
	Tool    string
	URI     string
	Ref     blobs.Ref
	Err     error // that of the store
}

// Error says which content is concerned, where it belongs, and why it cannot be shown.
func (p Problem) Error() string {
	if p.Turn == 0 {
		return fmt.Sprintf("%s: %s", p.where(), p.fault())
	}
	return fmt.Sprintf("turn %d, %s: %s", p.Turn, p.where(), p.fault())
}

func (p Problem) fault() string {
	return fmt.Sprintf("no content: sha256:%s, %s: %s",
		p.Ref.Hash, Bytes(p.Ref.Size), Reason(p.Err))
}

// Unwrap returns the store's error.
func (p Problem) Unwrap() error { return p.Err }

func (p Problem) where() string {
	switch {
	case p.Call != "" && p.URI != "":
		return fmt.Sprintf("call %s (%s), %s", p.Call, p.Tool, p.URI)
	case p.Call != "":
		return fmt.Sprintf("call %s (%s)", p.Call, p.Tool)
	case p.URI != "":
		return p.URI
	default:
		return fmt.Sprintf("element %d", p.Element)
	}
}

// Render writes c to w. The problems are contents that are shown as a line saying why they are
// absent; the rest is rendered anyway. The error comes from w.
func (c Conversation) Render(w io.Writer, o Options) ([]Problem, error) {
	wk := newWalk(c, o)
	err := wk.run(newFormatter(w, c, o))
	return wk.problems, err
}

// A formatter writes a conversation in one format.
type formatter interface {
	begin(turns int) error
	turn(t turn) error
	item(it item) error
	end() error
}

func newFormatter(w io.Writer, c Conversation, o Options) formatter {
	switch o.Format {
	case FormatJSONLines:
		return &jsonFormatter{w: NewJSONLines(w, o.Output)}
	case FormatMarkdown:
		return &markdownFormatter{w: w, conv: c, opts: o}
	case FormatJSON:
		return &documentFormatter{w: w, conv: c, out: o.Output}
	default:
		return &textFormatter{w: w, conv: c, opts: o}
	}
}
