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

// DiffStream writes a stream for git diff, part by part: it may be long. A reference is shown as
// the blob that it names, whose own difference git shows beside it. The metadata with the given
// keys are shown, so that a change of them alone can be seen.
func DiffStream(w io.Writer, stream *events.Stream, metadata ...string) error {
	conv := Conversation{Stream: stream, Contents: named{}}
	_, err := conv.Render(sanitized{w}, Options{
		Format: FormatText, Unnumbered: true, Records: true, Metadata: metadata,
	})
	return err
}

// DiffText writes text that is not a stream for git diff.
func DiffText(w io.Writer, text string) error {
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	_, err := io.WriteString(sanitized{w}, text)
	return err
}

// sanitized is a writer of complete lines of text that git passes to a terminal unchanged.
type sanitized struct{ w io.Writer }

// Write implements [io.Writer].
func (s sanitized) Write(text []byte) (int, error) {
	_, err := io.WriteString(s.w, Sanitize(string(text)))
	return len(text), err
}

// named replaces contents in a diff by their names.
type named struct{}

// Read implements [blobs.Reader].
func (named) Read(ref blobs.Ref) ([]byte, error) {
	return fmt.Appendf(nil, "[%s, sha256:%.12s]", Bytes(ref.Size), ref.Hash), nil
}

// BlobText returns the content of a blob's file if it is text, and else a description.
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

// unzipped returns the content of a gzip file, nil if it is not one, and whether that is
// everything.
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
