package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
)

type textconvCmd struct {
	Kind string `arg:"" help:"events or blob."`
	File string `arg:"" help:"The file."`
}

// Run prints a file as git diff is to show it. It reads nothing else: a reference shows as
// what it names, whose own difference git shows beside it. What cannot be read is
// printed as it stands, since git gives up a diff when a conversion fails.
func (c textconvCmd) Run(a *app) error {
	data, err := regular.ReadFile(a.path(c.File), c.limit(a.limits()))
	if over, ok := errors.AsType[*regular.SizeError](err); ok {
		data, err = fmt.Appendf(nil, "[%s]", over), nil // git gives up a diff otherwise
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", c.File, err)
	}
	out := sanitized{a.stdout}
	text := string(data)
	switch c.Kind {
	case "events":
		if stream, err := events.Decode(data); err == nil {
			return printStream(out, stream)
		}
	case "blob":
		text = blobText(data)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = io.WriteString(out, text)
	return err
}

// sanitized is a writer of text, each time of whole lines, that git hands to a terminal as it is.
type sanitized struct{ w io.Writer }

// Write implements [io.Writer].
func (s sanitized) Write(text []byte) (int, error) {
	_, err := io.WriteString(s.w, render.Sanitize(string(text)))
	return len(text), err
}

// limit is how much of a file is converted, whose name is one of git's.
func (c textconvCmd) limit(l regular.Limits) int64 {
	if c.Kind == "events" {
		return l.OfStream()
	}
	return l.OfAny()
}

// printStream writes a stream as people read it, part by part: it may be long.
func printStream(w io.Writer, stream *events.Stream) error {
	conv := render.Conversation{Stream: stream, Contents: named{}}
	_, err := conv.Render(w, render.Options{
		Format: render.FormatText, Unnumbered: true, Records: true,
	})
	return err
}

// named stands for contents in a diff.
type named struct{}

// Read implements blobs.Reader.
func (named) Read(ref blobs.Ref) ([]byte, error) {
	return fmt.Appendf(nil, "[%s, sha256:%.12s]", render.Bytes(ref.Size), ref.Hash), nil
}

// blobText is the content of a blob's file if it is text, and else what can be said of it.
func blobText(data []byte) string {
	content, whole := unzipped(data)
	switch {
	case content == nil:
		return string(data) // a Git LFS pointer, or damaged
	case !whole:
		return fmt.Sprintf("[more than %s]", render.Bytes(blobs.DefaultMaxBlobBytes))
	case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
		return fmt.Sprintf("[%s of binary content]", render.Bytes(int64(len(content))))
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
