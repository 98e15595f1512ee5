package events

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
)

// encodeContent returns the content object of c: a reference, or the text or binary form for
// content in memory.
func encodeContent(c blobs.Content) []byte { return appendContent(nil, c, jsonspan.Compacted) }

func appendContent(dst []byte, c blobs.Content, depth int) []byte {
	if c.IsZero() {
		return dst
	}
	var fs [2]jsonspan.Field
	if c.IsRef() {
		ref := c.Ref()
		fs = [...]jsonspan.Field{
			stringField("$blob", ref.Hash.String()),
			literalField("size", strconv.FormatInt(ref.Size, 10)),
		}
	} else if b := bytesSource(loadedBytes(c)); utf8.Valid(b) {
		fs[0] = jsonspan.Field{Name: "text", From: b}
	} else {
		fs[0] = jsonspan.Field{Name: "blob", Value: appendBase64(nil, b)}
	}
	return jsonspan.AppendObject(dst, fs[:], depth)
}

// loadedBytes returns the bytes of content that is in memory.
func loadedBytes(c blobs.Content) []byte {
	b, _ := c.Bytes(nil) // only reading a reference can fail
	return b
}

// content reads the content object that is m's value.
func (r *reader) content(m jsonspan.Member) (c blobs.Content) {
	sub := r.sub(m)
	r.in(m.Name, func() {
		switch kind := sub.discriminant(m); kind.Name {
		case "$blob":
			c = sub.reference(kind)
		case "text":
			c = sub.inlineText(kind)
		case "blob":
			c = sub.inlineBinary(kind)
		}
	})
	return c
}

// discriminant returns the member that determines the form of a content object. Exactly one must be
// present. A "size" beside the other forms is tolerated, since someone who edits a file may leave
// it.
func (r *reader) discriminant(object jsonspan.Member) (kind jsonspan.Member) {
	for _, m := range r.members {
		switch m.Name {
		case "size":
		case "$blob", "text", "blob":
			if kind.Name != "" {
				r.fail(m.Start, "both %s and %s", kind.Name, m.Name)
			}
			kind = m
		default:
			r.fail(m.Start, "unknown member %s", printable(m.Name))
		}
	}
	if kind.Name == "" {
		r.fail(object.At, "none of $blob, text, blob")
	}
	return kind
}

func (r *reader) reference(m jsonspan.Member) blobs.Content {
	v := m.Value(r.raw)
	if !jsonspan.IsString(v) {
		r.fail(m.At, "$blob: not a string")
		return blobs.Content{}
	}
	hash, err := blobs.ParseHash(jsonspan.Unquote(v))
	if err != nil {
		r.fail(m.At, "$blob: %s is not a SHA-256", printable(jsonspan.Text(v)))
	}
	return blobs.Refer(blobs.Ref{Hash: hash, Size: r.size()})
}

func (r *reader) size() int64 {
	m := r.required("size")
	n, bad := parseSize(m.Value(r.raw))
	if bad == nil {
		bad = r.check(n)
	}
	if bad != nil {
		r.fail(m.At, "size: %w", bad)
	}
	return n
}

// parseSize parses a size in bytes.
func parseSize(v []byte) (int64, error) {
	n, err := strconv.ParseUint(string(v), 10, 63)
	if err != nil {
		return 0, errors.New(printable(string(v)) + " is not a number of bytes")
	}
	return int64(n), nil
}

// inlineText reads text that the stream holds itself.
func (r *reader) inlineText(m jsonspan.Member) blobs.Content {
	if !jsonspan.IsString(m.Value(r.raw)) {
		r.fail(m.At, "%s: not a string", m.Name)
		return blobs.Content{}
	}
	return r.loaded(m, jsonspan.Bytes(m.Value(r.raw)))
}

// inlineBinary reads bytes that the stream holds as base64.
func (r *reader) inlineBinary(m jsonspan.Member) blobs.Content {
	v := m.Value(r.raw)
	if !jsonspan.IsString(v) {
		r.fail(m.At, "%s: not a string", m.Name)
		return blobs.Content{}
	}
	b, ok := decodeBase64(standard, jsonspan.Unquote(v))
	if !ok {
		r.fail(m.At, "%s: not base64", m.Name)
	}
	return r.loaded(m, b)
}

func (r *reader) loaded(m jsonspan.Member, b []byte) blobs.Content {
	if err := r.check(int64(len(b))); err != nil {
		r.fail(m.At, "%s: %w", m.Name, err)
	}
	return blobs.Loaded(b)
}

// oneContent reads optional content that is either wrapped in "content" or bare, as text or as
// base64, under the given names.
func (r *reader) oneContent(bareText, bareBinary string) (blobs.Content, jsonspan.Member) {
	found, n := r.has([...]string{"content", bareText, bareBinary})
	if n > 1 {
		r.fail(found[1].Start, "both %s and %s", found[0].Name, found[1].Name)
	}
	switch m := found[0]; {
	case n != 1:
		return blobs.Content{}, m
	case m.Name == "content":
		return r.content(m), m
	case m.Name == bareText:
		return r.inlineText(m), m
	default:
		return r.inlineBinary(m), m
	}
}
