package tool

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// Limits limit the size of results for a model.
type Limits struct {
	Result int // bytes of one result; 0 for [DefaultResultBytes], negative for no limit
	Batch  int // bytes of all results of one batch; 0 for [DefaultBatchBytes]
	Binary int // bytes of images and the like; 0 for [DefaultBinaryBytes]
}

// The default limits.
const (
	DefaultResultBytes = 256 << 10
	DefaultBatchBytes  = 2 << 20
	DefaultBinaryBytes = 10 << 20
)

// share returns the limits for each of n results. They do not depend on the order in which results
// arrive, so that the same results are always cut in the same way.
func (l Limits) share(n int) Limits {
	l.Result = cmp.Or(l.Result, DefaultResultBytes)
	l.Batch = cmp.Or(l.Batch, DefaultBatchBytes)
	l.Binary = cmp.Or(l.Binary, DefaultBinaryBytes)
	if l.Result >= 0 && l.Batch >= 0 {
		l.Result = min(l.Result, l.Batch/max(n, 1))
	}
	return l
}

// Apply returns the result cut to the limits. Text is cut at the end of a line, if possible. The
// content of a resource stays complete, because its identity depends on it; its formatted text for
// the model is cut.
func (l Limits) Apply(r Result) Result {
	left := l.Result
	blocks := make([]events.Block, 0, len(r.Blocks))
	for _, b := range r.Blocks {
		size, text := shown(b)
		switch {
		case !text && l.Binary >= 0 && size > l.Binary:
			b = Text(fmt.Sprintf("[%s of %d bytes is not shown: the limit is %d]",
				b.Type, size, l.Binary))
		case text && l.Result >= 0 && size > left:
			b, left = cut(b, left, l.Result), 0
		case text:
			left -= size
		}
		blocks = append(blocks, b)
	}
	r.Blocks = blocks
	return r
}

// shown returns the size of a block for a model, and whether it is text.
func shown(b events.Block) (size int, text bool) {
	switch b.Type {
	case events.BlockText:
		return int(b.Content.Size()), true
	case events.BlockImage, events.BlockAudio:
		return int(b.Content.Size()), false
	case events.BlockResource:
		if b.Resource == nil {
			return 0, true
		}
		if f := b.Resource.Formatted; f != nil {
			return int(f.Size()), true
		}
		return int(b.Resource.Content.Size()), isText(b.Resource.Content)
	}
	return len(b.Raw), true
}

func isText(c blobs.Content) bool {
	data, err := c.Bytes(nil)
	return err == nil && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// cut returns the block with the first n bytes of its text.
func cut(b events.Block, n, limit int) events.Block {
	switch {
	case b.Type == events.BlockText:
		b.Content, b.Raw = cutContent(b.Content, n, limit), nil
	case b.Type == events.BlockResource && b.Resource != nil:
		res := *b.Resource
		whole := res.Content
		if res.Formatted != nil {
			whole = *res.Formatted
		}
		formatted := cutContent(whole, n, limit)
		res.Formatted, res.Raw = &formatted, nil
		b.Resource, b.Raw = &res, nil
	default:
		b = Text(fmt.Sprintf(
			"[a block of type %s is not shown: the limit of one result is %d bytes]",
			b.Type, limit))
	}
	return b
}

func cutContent(c blobs.Content, n, limit int) blobs.Content {
	data, err := c.Bytes(nil)
	if err != nil {
		return c // a reference, which no tool returns
	}
	head := Head(data, n)
	note := fmt.Sprintf("[cut: %d of %d bytes are not shown; the limit of one result is %d bytes]",
		len(data)-len(head), len(data), limit)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		note = "\n" + note
	}
	return blobs.Loaded(append(bytes.Clone(head), note...))
}

// Head returns at most n bytes of text, cut after a line if that loses at most half, else between
// characters.
func Head(data []byte, n int) []byte {
	if len(data) <= n {
		return data
	}
	head := data[:max(n, 0)]
	if i := bytes.LastIndexByte(head, '\n'); i >= n/2 {
		return head[:i+1]
	}
	for len(head) > 0 && !utf8.RuneStart(data[len(head)]) {
		head = head[:len(head)-1]
	}
	return head
}
