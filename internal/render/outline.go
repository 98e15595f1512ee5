package render

import (
	"strings"

	"github.com/git-jp/git-jp/events"
)

// An Outline is what a list shows of a conversation besides its metadata.
type Outline struct {
	Turns int
	Bytes int64  // of the stream's file
	Model string // the one in force at the end, "" if unknown
	First string // the first words of the first question, on one line
}

// OutlineOf outlines a stream with its base configuration and its size in bytes.
func OutlineOf(s *events.Stream, base []byte, bytes int64) Outline {
	o := Outline{Turns: len(s.Turns()), Bytes: bytes}
	var m model
	person := false // whether a person wrote the first words
	m.apply(base)
	for _, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.ConfigDelta:
			m.apply(ev.Delta)
		case *events.ChatRequest:
			if asked := !Injected(e); ev.Content != "" && (o.First == "" || asked && !person) {
				o.First, person = Clip(Typed(ev.Content)), asked
			}
		}
	}
	o.Model = m.String()
	return o
}

// Injected reports whether an agent made a request in the person's name.
func Injected(e *events.Element) bool {
	v, ok := e.Metadata().Value(events.MetadataInjected)
	return ok && string(v) == "true"
}

// A Listed is a conversation in a list.
type Listed struct {
	Marks, ID, Active, Title, Labels string
	Parent                           string   // from which it was forked, or which started it
	Agent                            string   // from whose session it was imported
	Outline                          *Outline // nil when the stream cannot be read
}

// Name returns the title with the labels, or the first words of an untitled conversation.
func (l Listed) Name() string {
	if l.Title == "" && l.Outline != nil && l.Outline.First != "" {
		return "“" + l.Outline.First + "”" + l.Labels
	}
	return l.Title + l.Labels
}

// List returns a table of conversations. On a narrow terminal it has fewer columns; it has the
// column of parents if a conversation has one.
func List(o Output, list []Listed) *Table {
	t := NewTable(o, Column{}, Column{Head: "ID"}, Column{Head: "ACTIVE", Optional: 1},
		Column{Head: "TURNS", Align: AlignRight, Optional: 2},
		Column{Head: "SIZE", Align: AlignRight, Optional: 4},
		Column{Head: "AGENT", Optional: 5, Sparse: true},
		Column{Head: "MODEL", Shrink: true, Least: 12, Optional: 5},
		Column{Head: "PARENT", Optional: 3, Sparse: true},
		Column{Head: "TITLE", Shrink: true, Least: 20},
		Column{Head: "FIRST WORDS", Shrink: true, Least: 20, Optional: 6, Sparse: true})
	for _, l := range list {
		turns, size, model, first := "-", "-", "-", ""
		if out := l.Outline; out != nil {
			turns, size, model = Number(int64(out.Turns)), Bytes(out.Bytes), shortModel(out.Model)
			if l.Title != "" {
				first = out.First
			}
		}
		t.Row(l.Marks, l.ID, l.Active, turns, size, l.Agent, model, l.Parent, l.Name(), first)
	}
	return t
}

// shortModel leaves the provider out of a model's name.
func shortModel(id string) string {
	if id == "" {
		return "-"
	}
	if _, name, ok := strings.Cut(id, "/"); ok {
		return name
	}
	return id
}
