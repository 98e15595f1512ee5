package query

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// Lost returns the contents of a view that the model would be given and that the store does
// not have.
func Lost(view *events.Stream, rd blobs.Reader) []events.ContentAt {
	var all []events.ContentAt
	for c := range view.Contents() {
		if _, err := c.Content.Bytes(rd); blobs.IsLost(err) {
			all = append(all, c)
		}
	}
	return all
}
