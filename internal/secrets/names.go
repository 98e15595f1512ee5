package secrets

import (
	"bytes"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// Scanned returns the texts of an element in which secrets are looked for: those that [Texts]
// returns, and the names of members in JSON, which can be no more than found. The member of a name
// is that of its value with "~" behind it.
func Scanned(e *events.Element) []Text {
	n := &namer{}
	if _, ok := e.Event().(*events.Unknown); ok {
		n.json("", e.Raw(), true)
	} else {
		visitEvent(e.Event(), n)
	}
	for _, key := range e.Metadata().TextKeys() {
		if v, ok := e.Metadata().Value(key); ok {
			n.json("/metadata/"+escapeName(key), v, true)
		}
	}
	return slices.Concat(Texts(e), n.found)
}

// ScannedDocument is [Scanned] for another file of a conversation.
func ScannedDocument(data []byte) []Text {
	n := &namer{}
	n.json("", data, false)
	return slices.Concat(DocumentTexts(data), n.found)
}

// A namer collects the names of members.
type namer struct{ found []Text }

func (n *namer) text(_, was string) string { return was }

func (n *namer) content(_ string, was blobs.Content) blobs.Content { return was }

func (n *namer) json(member string, v jsontext.Value, _ bool) jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return v
		}
		kind, count := d.StackIndex(d.StackDepth())
		if kind != '{' || count%2 == 0 || t.Kind() != '"' {
			continue
		}
		if name := t.String(); len(name) >= minValue {
			n.found = append(n.found, Text{
				Member:  member + string(d.StackPointer()) + "~",
				Content: blobs.Loaded([]byte(name)),
			})
		}
	}
}
