package events

import (
	"encoding/base64"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
)

// encodeContent returns the content object: a reference, or for content in memory
// the text or binary form.
func encodeContent(c blobs.Content) []byte {
	if c.IsZero() {
		return nil
	}
	if c.IsRef() {
		ref := c.Ref()
		return object([]field{
			stringField("$blob", ref.Hash.String()),
			{name: "size", value: strconv.AppendInt(nil, ref.Size, 10)},
		})
	}
	b := loadedBytes(c)
	if utf8.Valid(b) {
		return object([]field{{name: "text", value: quoted(b)}})
	}
	return object([]field{{name: "blob", value: appendBase64(nil, b)}})
}

// loadedBytes returns the bytes of content that is in memory.
func loadedBytes(c blobs.Content) []byte {
	b, _ := c.Bytes(nil) // only reading a reference can fail
	return b
}

// content reads the content object that is m's value.
func (r *reader) content(m member) (blobs.Content, *placedError) {
	sub, err := r.sub(m)
	if err != nil {
		return blobs.Content{}, err
	}
	kind, err := sub.discriminant(m)
	if err != nil {
		return blobs.Content{}, err.in(m.name)
	}
	var c blobs.Content
	switch kind.name {
	case "$blob":
		c, err = sub.reference(kind)
	case "text":
		c, err = sub.inlineText(kind)
	default:
		c, err = sub.inlineBinary(kind)
	}
	return c, err.in(m.name)
}

// discriminant returns the one member that says which form a content object has. A
// size is tolerated beside the others, since an editor of a file may leave it.
func (r *reader) discriminant(object member) (member, *placedError) {
	var kind member
	for _, m := range r.members {
		switch m.name {
		case "size":
		case "$blob", "text", "blob":
			if kind.name != "" {
				return m, errorAt(m.start, "both %s and %s", kind.name, m.name)
			}
			kind = m
		default:
			return m, errorAt(m.start, "unknown member %s", printable(m.name))
		}
	}
	if kind.name == "" {
		return kind, errorAt(object.at, "none of $blob, text, blob")
	}
	return kind, nil
}

func (r *reader) reference(m member) (blobs.Content, *placedError) {
	v := m.value(r.raw)
	if !isString(v) {
		return blobs.Content{}, errorAt(m.at, "$blob: not a string")
	}
	hash, err := blobs.ParseHash(text(v))
	if err != nil {
		return blobs.Content{}, errorAt(m.at, "$blob: %s is not a SHA-256", printable(text(v)))
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
	n, bad := parseSize(m.value(r.raw))
	if bad == nil {
		bad = r.check(n)
	}
	if bad != nil {
		return 0, errorAt(m.at, "size: %w", bad)
	}
	return n, nil
}

// parseSize reads a number of bytes.
func parseSize(v []byte) (int64, error) {
	n, err := strconv.ParseUint(string(v), 10, 63)
	if err != nil {
		return 0, errors.New(printable(string(v)) + " is not a number of bytes")
	}
	return int64(n), nil
}

// inlineText reads a text that stands in the stream.
func (r *reader) inlineText(m member) (blobs.Content, *placedError) {
	if !isString(m.value(r.raw)) {
		return blobs.Content{}, errorAt(m.at, "%s: not a string", m.name)
	}
	return r.loaded(m, []byte(text(m.value(r.raw))))
}

// inlineBinary reads bytes that stand in the stream as base64.
func (r *reader) inlineBinary(m member) (blobs.Content, *placedError) {
	v := m.value(r.raw)
	if !isString(v) {
		return blobs.Content{}, errorAt(m.at, "%s: not a string", m.name)
	}
	b, ok := decodeBase64(base64.StdEncoding, unquote(v))
	if !ok {
		return blobs.Content{}, errorAt(m.at, "%s: not base64", m.name)
	}
	return r.loaded(m, b)
}

func (r *reader) loaded(m member, b []byte) (blobs.Content, *placedError) {
	if err := r.check(int64(len(b))); err != nil {
		return blobs.Content{}, errorAt(m.at, "%s: %w", m.name, err)
	}
	return blobs.Loaded(b), nil
}

// oneContent reads the content that stands either wrapped in "content" or bare, as
// text or as base64, under the given names. There may be none.
func (r *reader) oneContent(bareText, bareBinary string) (blobs.Content, member, *placedError) {
	found := r.has("content", bareText, bareBinary)
	switch {
	case len(found) == 0:
		return blobs.Content{}, member{}, nil
	case len(found) > 1:
		return blobs.Content{}, member{}, errorAt(found[1].start,
			"both %s and %s", found[0].name, found[1].name)
	}
	m := found[0]
	var c blobs.Content
	var err *placedError
	switch m.name {
	case "content":
		c, err = r.content(m)
	case bareText:
		c, err = r.inlineText(m)
	default:
		c, err = r.inlineBinary(m)
	}
	return c, m, err
}
