package events

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/go-json-experiment/json/jsontext"
)

// A source is what the value of a member is made of. A change compares sources, so
// that nothing is encoded but what is written: the result of a tool can be long.
type source interface {
	encode() []byte // compact JSON, not nil
	// same reports whether both encode to the same. A wrong no costs a spelling, a
	// wrong yes would lose a change.
	same(other source) bool
}

type textSource string

func (s textSource) encode() []byte { return quoted(string(s)) }

func (s textSource) same(other source) bool { return s == other }

type timeSource time.Time

func (s timeSource) encode() []byte {
	return append(appendTime([]byte{'"'}, time.Time(s)), '"')
}

func (s timeSource) same(other source) bool {
	o, ok := other.(timeSource)
	return ok && time.Time(s).Equal(time.Time(o))
}

type jsonSource jsontext.Value

func (s jsonSource) encode() []byte { return compact(s) }

func (s jsonSource) same(other source) bool {
	o, ok := other.(jsonSource)
	return ok && sameJSON(s, o)
}

// An encodedSource is JSON with its strings in base64.
type encodedSource jsontext.Value

func (s encodedSource) encode() []byte { return compact(encodeStrings(s)) }

func (s encodedSource) same(other source) bool {
	o, ok := other.(encodedSource)
	return ok && sameJSON(s, o)
}

func sameJSON(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(compact(a), compact(b))
}

type contentSource blobs.Content

func (s contentSource) encode() []byte { return encodeContent(blobs.Content(s)) }

func (s contentSource) same(other source) bool {
	o, ok := other.(contentSource)
	return ok && sameContent(blobs.Content(s), blobs.Content(o))
}

// sameContent reports whether both are the same and in the same form.
func sameContent(a, b blobs.Content) bool {
	if a.IsZero() || a.IsRef() || b.IsZero() || b.IsRef() {
		return a == b
	}
	return bytes.Equal(loadedBytes(a), loadedBytes(b))
}

type blocksSource []Block

func (s blocksSource) encode() []byte { return encodeBlocks(s) }

func (s blocksSource) same(other source) bool {
	o, ok := other.(blocksSource)
	if !ok || len(s) != len(o) {
		return false
	}
	for i := range s {
		if s[i].Type != o[i].Type || !sameContent(s[i].Content, o[i].Content) {
			return false
		}
	}
	// What is left are small things, and above all Raw, which can say the same in
	// several ways.
	return slices.EqualFunc(s, o, identicalButContent) || bytes.Equal(s.encode(), o.encode())
}

// identicalButContent compares all of two blocks but their own contents.
func identicalButContent(a, b Block) bool {
	if a.Resource != b.Resource && (a.Resource == nil || b.Resource == nil ||
		!identicalResources(*a.Resource, *b.Resource)) {
		return false
	}
	// DeepEqual must not look into a Content, which may be hashed at the same time.
	a.Content, a.Resource, b.Content, b.Resource = blobs.Content{}, nil, blobs.Content{}, nil
	return reflect.DeepEqual(a, b)
}

type resourcesSource []Resource

func (s resourcesSource) encode() []byte { return encodeResources(s) }

func (s resourcesSource) same(other source) bool {
	o, ok := other.(resourcesSource)
	return ok && (slices.EqualFunc(s, o, identicalResources) || bytes.Equal(s.encode(), o.encode()))
}

func identicalResources(a, b Resource) bool {
	same := sameContent(a.Content, b.Content) && sameContent(formatted(a), formatted(b))
	a.Content, a.Formatted, b.Content, b.Formatted = blobs.Content{}, nil, blobs.Content{}, nil
	return same && reflect.DeepEqual(a, b)
}

// formatted returns the formatted form of a resource, the zero Content when there is
// none.
func formatted(res Resource) blobs.Content {
	if res.Formatted == nil {
		return blobs.Content{}
	}
	return *res.Formatted
}
