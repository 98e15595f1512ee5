package query

import (
	"errors"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// lost reports whether an error says that a content is gone, and not that it could not be
// looked at.
func lost(err error) bool {
	var corrupt *blobs.CorruptError
	var pointer *blobs.PointerError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &corrupt) || errors.As(err, &pointer)
}

// Lost returns the contents of a view that the model would be given and that the store does
// not have.
func Lost(view *events.Stream, rd blobs.Reader) []events.ContentAt {
	var all []events.ContentAt
	for c := range view.Contents() {
		if _, err := c.Content.Bytes(rd); err != nil && lost(err) {
			all = append(all, c)
		}
	}
	return all
}
