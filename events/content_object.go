package events

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
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
func (r *reader) content(m jsonspan.Member) (blobs.Content, *placedError) {
	sub, err := r.sub(m)
	if err != nil {
		return blobs.Content{}, err
	}
	kind, err := sub.discriminant(m)
	if err != nil {
		return blobs.Content{}, err.in(m.Name)
	}
	var c blobs.Content
	switch kind.Name {
	case "$blob":
		c, err = sub.reference(kind)
	case "text":
		c, err = sub.inlineText(kind)
	default:
		c, err = sub.inlineBinary(kind)
	}
	return c, err.in(m.Name)
}

// discriminant returns the member that determines the form of a content object. Exactly one must be
// present. A "size" beside the other forms is tolerated, since someone who edits a file may leave
// it.
func (r *reader) discriminant(object jsonspan.Member) (jsonspan.Member, *placedError) {
	var kind jsonspan.Member
	for _, m := range r.members {
		switch m.Name {
		case "size":
		case "$blob", "text", "blob":
			if kind.Name != "" {
				return m, errorAt(m.Start, "both %s and %s", kind.Name, m.Name)
			}
			kind = m
		default:
			return m, errorAt(m.Start, "unknown member %s", printable(m.Name))
		}
	}
	if kind.Name == "" {
		return kind, errorAt(object.At, "none of $blob, text, blob")
	}
	return kind, nil
}

func (r *reader) reference(m jsonspan.Member) (blobs.Content, *placedError) {
	v := m.Value(r.raw)
	if !jsonspan.IsString(v) {
		return blobs.Content{}, errorAt(m.At, "$blob: not a string")
	}
	hash, err := blobs.ParseHash(jsonspan.Unquote(v))
	if err != nil {
		shown := printable(jsonspan.Text(v))
		return blobs.Content{}, errorAt(m.At, "$blob: %s is not a SHA-256", shown)
	}
	size, bad := r.size()
	if bad != nil {
		return blobs.Content{}, bad
	}
	return blobs.Refer(blobs.Ref{Hash: hash, Size: size}), nil
}

func (r *reader) size() (int64, *placedError) {
	m, err := r.required("size")
	if err != nil {
		return 0, err
	}
	n, bad := parseSize(m.Value(r.raw))
	if bad == nil {
		bad = r.check(n)
	}
	if bad != nil {
		return 0, errorAt(m.At, "size: %w", bad)
	}
	return n, nil
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
func (r *reader) inlineText(m jsonspan.Member) (blobs.Content, *placedError) {
	if !jsonspan.IsString(m.Value(r.raw)) {
		return blobs.Content{}, errorAt(m.At, "%s: not a string", m.Name)
	}
	return r.loaded(m, jsonspan.Bytes(m.Value(r.raw)))
}

// inlineBinary reads bytes that the stream holds as base64.
func (r *reader) inlineBinary(m jsonspan.Member) (blobs.Content, *placedError) {
	v := m.Value(r.raw)
	if !jsonspan.IsString(v) {
		return blobs.Content{}, errorAt(m.At, "%s: not a string", m.Name)
	}
	b, ok := decodeBase64(standard, jsonspan.Unquote(v))
	if !ok {
		return blobs.Content{}, errorAt(m.At, "%s: not base64", m.Name)
	}
	return r.loaded(m, b)
}

func (r *reader) loaded(m jsonspan.Member, b []byte) (blobs.Content, *placedError) {
	if err := r.check(int64(len(b))); err != nil {
		return blobs.Content{}, errorAt(m.At, "%s: %w", m.Name, err)
	}
	return blobs.Loaded(b), nil
}

// oneContent reads optional content that is either wrapped in "content" or bare, as text or as
// base64, under the given names.
func (r *reader) oneContent(bareText, bareBinary string) (
	blobs.Content, jsonspan.Member, *placedError,
) {
	found, n := r.has([...]string{"content", bareText, bareBinary})
	switch {
	case n == 0:
		return blobs.Content{}, jsonspan.Member{}, nil
	case n > 1:
		return blobs.Content{}, jsonspan.Member{}, errorAt(found[1].Start,
			"both %s and %s", found[0].Name, found[1].Name)
	}
	m := found[0]
	var c blobs.Content
	var err *placedError
	switch m.Name {
	case "content":
		c, err = r.content(m)
	case bareText:
		c, err = r.inlineText(m)
	default:
		c, err = r.inlineBinary(m)
	}
	return c, m, err
}
