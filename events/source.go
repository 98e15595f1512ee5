package events

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

type textSource string

func (s textSource) Append(dst []byte, _ int) []byte { return jsonspan.Quote(dst, string(s)) }

func (s textSource) Same(other jsonspan.Source) bool { return s == other }

type bytesSource []byte

func (s bytesSource) Append(dst []byte, _ int) []byte { return jsonspan.Quote(dst, s) }

func (s bytesSource) Same(other jsonspan.Source) bool {
	o, ok := other.(bytesSource)
	return ok && bytes.Equal(s, o)
}

// A literalSource is the text of a number or a boolean.
type literalSource string

func (s literalSource) Append(dst []byte, _ int) []byte { return append(dst, s...) }

func (s literalSource) Same(other jsonspan.Source) bool { return s == other }

type timeSource time.Time

func (s timeSource) Append(dst []byte, _ int) []byte {
	return append(AppendTime(append(dst, '"'), time.Time(s)), '"')
}

func (s timeSource) Same(other jsonspan.Source) bool {
	o, ok := other.(timeSource)
	return ok && time.Time(s).Equal(time.Time(o))
}

type jsonSource jsontext.Value

func (s jsonSource) Append(dst []byte, depth int) []byte {
	return jsonspan.AppendIndented(dst, s, depth)
}

func (s jsonSource) Same(other jsonspan.Source) bool {
	o, ok := other.(jsonSource)
	return ok && sameJSON(s, o)
}

// An encodedSource is JSON whose strings are encoded as in an event with metadata md.
type encodedSource struct {
	value jsontext.Value
	md    Metadata
}

func (s encodedSource) Append(dst []byte, depth int) []byte {
	return s.md.appendEncoded(dst, s.value, depth)
}

func (s encodedSource) Same(other jsonspan.Source) bool {
	o, ok := other.(encodedSource)
	return ok && sameJSON(s.value, o.value)
}

func sameJSON(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(jsonspan.Compact(a), jsonspan.Compact(b))
}

type contentSource blobs.Content

func (s contentSource) Append(dst []byte, depth int) []byte {
	return appendContent(dst, blobs.Content(s), depth)
}

func (s contentSource) Same(other jsonspan.Source) bool {
	o, ok := other.(contentSource)
	return ok && sameContent(blobs.Content(s), blobs.Content(o))
}

// sameContent reports whether a and b are the same, in the same form.
func sameContent(a, b blobs.Content) bool {
	if a.IsZero() || a.IsRef() || b.IsZero() || b.IsRef() {
		return a == b
	}
	return bytes.Equal(loadedBytes(a), loadedBytes(b))
}

type blocksSource []Block

func (s blocksSource) Append(dst []byte, depth int) []byte { return appendBlocks(dst, s, depth) }

func (s blocksSource) Same(other jsonspan.Source) bool {
	o, ok := other.(blocksSource)
	if !ok || len(s) != len(o) {
		return false
	}
	for i := range s {
		if s[i].Type != o[i].Type || !sameContent(s[i].Content, o[i].Content) {
			return false
		}
	}
	// The remaining members are small, and above all Raw, which can spell the same value in several
	// ways.
	return slices.EqualFunc(s, o, identicalButContent) ||
		bytes.Equal(encodeBlocks(s), encodeBlocks(o))
}

// identicalButContent compares two blocks except for their own content.
func identicalButContent(a, b Block) bool {
	if a.Resource != b.Resource && (a.Resource == nil || b.Resource == nil ||
		!identicalResources(*a.Resource, *b.Resource)) {
		return false
	}
	// DeepEqual must not look into a Content, which another goroutine may be hashing.
	a.Content, a.Resource, b.Content, b.Resource = blobs.Content{}, nil, blobs.Content{}, nil
	return reflect.DeepEqual(a, b)
}

type resourcesSource []Resource

func (s resourcesSource) Append(dst []byte, depth int) []byte {
	return jsonspan.AppendArray(dst, s, depth, appendResource)
}

func (s resourcesSource) Same(other jsonspan.Source) bool {
	o, ok := other.(resourcesSource)
	return ok && (slices.EqualFunc(s, o, identicalResources) ||
		bytes.Equal(encodeResources(s), encodeResources(o)))
}

type resourceSource Resource

func (s resourceSource) Append(dst []byte, depth int) []byte {
	return appendResource(dst, Resource(s), depth)
}

func (s resourceSource) Same(other jsonspan.Source) bool {
	o, ok := other.(resourceSource)
	return ok && resourcesSource{Resource(s)}.Same(resourcesSource{Resource(o)})
}

func identicalResources(a, b Resource) bool {
	same := sameContent(a.Content, b.Content) && sameContent(formatted(a), formatted(b))
	a.Content, a.Formatted, b.Content, b.Formatted = blobs.Content{}, nil, blobs.Content{}, nil
	return same && reflect.DeepEqual(a, b)
}

// formatted returns the formatted form of a resource, or the zero Content.
func formatted(res Resource) blobs.Content {
	if res.Formatted == nil {
		return blobs.Content{}
	}
	return *res.Formatted
}
