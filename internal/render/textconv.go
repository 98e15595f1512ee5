package render

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// DiffStream writes a stream as git diff is to show it, part by part: it may be long. A reference
// shows as what it names, whose own difference git shows beside it.
func DiffStream(w io.Writer, stream *events.Stream) error {
	conv := Conversation{Stream: stream, Contents: named{}}
	_, err := conv.Render(sanitized{w}, Options{
		Format: FormatText, Unnumbered: true, Records: true,
	})
	return err
}

// DiffText writes what is no stream as git diff is to show it.
func DiffText(w io.Writer, text string) error {
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	_, err := io.WriteString(sanitized{w}, text)
	return err
}

// sanitized is a writer of text, each time of whole lines, that git hands to a terminal as it is.
type sanitized struct{ w io.Writer }

// Write implements [io.Writer].
func (s sanitized) Write(text []byte) (int, error) {
	_, err := io.WriteString(s.w, Sanitize(string(text)))
	return len(text), err
}

// named stands for contents in a diff.
type named struct{}

// Read implements [blobs.Reader].
func (named) Read(ref blobs.Ref) ([]byte, error) {
	return fmt.Appendf(nil, "[%s, sha256:%.12s]", Bytes(ref.Size), ref.Hash), nil
}

// BlobText returns the content of a blob's file if it is text, and else what can be said of it.
func BlobText(data []byte) string {
	content, whole := unzipped(data)
	switch {
	case content == nil:
		return string(data) // a Git LFS pointer, or damaged
	case !whole:
		return fmt.Sprintf("[more than %s]", Bytes(blobs.DefaultMaxBlobBytes))
	case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
		return fmt.Sprintf("[%s of binary content]", Bytes(int64(len(content))))
	}
	return string(content)
}

// unzipped returns what is in a gzip file, nil when it is none, and whether that is all.
func unzipped(data []byte) (content []byte, whole bool) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	content, err = io.ReadAll(io.LimitReader(z, blobs.DefaultMaxBlobBytes+1))
	if err != nil {
		return nil, false
	}
	return content, len(content) <= blobs.DefaultMaxBlobBytes
}
