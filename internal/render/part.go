package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// partState says how much of a part's content is known.
type partState int

const (
	partClosed partState = iota // not opened: no content is shown
	partText
	partBinary
	partBroken // could not be opened: text says why
	partRaw    // a block without content: text is its JSON
)

// A part is one content of a request or a result, ready to be shown.
type part struct {
	kind   events.BlockType
	uri    string
	title  string // of a resource, "" if its URI says as much
	mime   string
	hasRef bool
	ref    blobs.Ref // of the content; its size is known though it is not opened
	state  partState
	text   string
	data   []byte // of a binary part that was opened
	// formatted says that text is what the model was sent in place of the content; beside has that
	// text if a program is given the content as well.
	formatted bool
	beside    *part
}

// parts returns the contents of an event. For a person at a terminal attachments are listed, and
// opened only if the output is to be complete.
func (w *walk) parts(it item) []part {
	switch ev := it.el.Event().(type) {
	case *events.ChatRequest:
		if w.opts.Style == StyleChat || w.opts.Style == StyleUser {
			return nil
		}
		list := make([]part, len(ev.Resources))
		for i := range ev.Resources {
			list[i] = w.attachment(it, &ev.Resources[i])
		}
		return list
	case *events.ToolCallResponse:
		list := make([]part, len(ev.Blocks))
		for i := range ev.Blocks {
			list[i] = w.block(it, ev.ID, &ev.Blocks[i])
		}
		return list
	}
	if it.el.Kind() == events.KindAgentRecord {
		return w.record(it)
	}
	return nil
}

// record returns the content of an agent's record.
func (w *walk) record(it item) []part {
	content, ok := events.RecordContent(it.el)
	if !ok {
		return nil
	}
	p := part{kind: events.BlockText, hasRef: true, ref: content.Ref()}
	return []part{w.load(p, content, Problem{Turn: it.turn.from, Element: it.index})}
}

func (w *walk) resource(r *events.Resource) part {
	p := part{
		kind: events.BlockResource, uri: w.expand(r.URI), mime: r.MIMEType, title: titleOf(r),
	}
	if !r.Content.IsZero() {
		p.hasRef, p.ref = true, r.Content.Ref()
	}
	return p
}

// titleOf returns the title of a resource, "" if its URI says as much.
func titleOf(r *events.Resource) string {
	title := oneLine(cmp.Or(r.Title, r.Name))
	if strings.HasSuffix(r.URI, title) {
		return ""
	}
	return title
}

func (w *walk) attachment(it item, r *events.Resource) part {
	if w.opts.Output.Terminal && !w.opts.Full && !w.opts.Format.forPrograms() &&
		!w.opts.Format.exports() {
		return w.resource(r)
	}
	return w.opened(r, Problem{Turn: it.turn.from, Element: it.index})
}

// opened returns the part of a resource with its content, in the form that the model was sent and,
// for programs, also unchanged.
func (w *walk) opened(r *events.Resource, where Problem) part {
	p := w.resource(r)
	where.URI = r.URI
	if r.Formatted == nil {
		return w.load(p, r.Content, where)
	}
	formatted := w.load(p, *r.Formatted, where)
	formatted.formatted = true
	if !w.opts.Format.forPrograms() {
		return formatted
	}
	p = w.load(p, r.Content, where)
	p.beside = &formatted
	return p
}

func (w *walk) block(it item, call string, b *events.Block) part {
	where := Problem{Turn: it.turn.from, Element: it.index, Call: call, Tool: it.tool}
	p := part{kind: b.Type, mime: b.MIMEType}
	switch {
	case b.Resource != nil:
		return w.opened(b.Resource, where)
	case b.Content.IsZero():
		p.state, p.text = partRaw, compactJSON(b.Raw)
		return p
	default:
		p.hasRef, p.ref = true, b.Content.Ref()
		if w.unread(b) {
			return p
		}
		return w.load(p, b.Content, where)
	}
}

// load opens the content of a part.
func (w *walk) load(p part, content blobs.Content, where Problem) part {
	if w.opts.Style != StyleFull || content.IsZero() {
		return p
	}
	data, err := w.open(content)
	if err != nil {
		where.Ref, where.Err = content.Ref(), err
		w.problems = append(w.problems, where)
		p.state, p.text = partBroken, Reason(err)
		p.hasRef, p.ref = true, where.Ref
		return p
	}
	return p.with(data)
}

// unread reports whether a block's bytes are useless to readers of the format.
func (w *walk) unread(b *events.Block) bool {
	f := w.opts.Format
	switch b.Type {
	case events.BlockImage:
		return !f.forPrograms() && !f.exports()
	case events.BlockAudio:
		return !f.forPrograms()
	default:
		return false
	}
}

func (w *walk) open(c blobs.Content) ([]byte, error) {
	if c.IsRef() && w.conv.Contents == nil {
		return nil, fs.ErrNotExist
	}
	return c.Bytes(w.conv.Contents)
}

// with returns the part showing data.
func (p part) with(data []byte) part {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		p.state, p.text = partText, string(data)
	} else {
		p.state, p.data = partBinary, data
	}
	return p
}

// expand puts the workspace's directory into a URI of one of its files.
func (w *walk) expand(uri string) string {
	const prefix = "file:///$WORKSPACE"
	rest, ok := strings.CutPrefix(uri, prefix)
	if !ok || w.opts.Format.exports() || w.conv.Root == "" || rest != "" && rest[0] != '/' {
		return uri
	}
	root := strings.ReplaceAll(w.conv.Root, `\`, "/")
	if !strings.HasPrefix(root, "/") {
		root = "/" + root // a drive letter
	}
	return "file://" + strings.TrimSuffix(root, "/") + rest
}

// Reason says why content could not be read, by the error of its store.
func Reason(err error) string {
	var corrupt *blobs.CorruptError
	var pointer *blobs.PointerError
	var size *blobs.SizeError
	var away *blobs.NotHereError
	switch {
	case errors.As(err, &away):
		return "it is not on this machine"
	case errors.Is(err, fs.ErrNotExist):
		return "it is not in the blob store"
	case errors.As(err, &corrupt):
		return "its blob is damaged: " + corrupt.Reason
	case errors.As(err, &pointer):
		return "its blob is a Git LFS pointer"
	case errors.As(err, &size):
		return "its blob has another size"
	}
	return err.Error()
}

// placeholder replaces the content of a part that could not be opened.
func (p part) placeholder() string {
	return fmt.Sprintf("[no content: sha256:%s, %s: %s]",
		p.ref.Hash, Count(int(p.ref.Size), "byte"), p.text)
}

// label describes a part, on a separate line.
func (p part) label() string {
	name := p.uri
	if name == "" {
		name = string(p.kind)
	}
	var notes []string
	if p.title != "" {
		notes = append(notes, p.title)
	}
	if p.hasRef {
		notes = append(notes, Bytes(p.ref.Size))
	}
	if p.mime != "" {
		notes = append(notes, p.mime)
	}
	if p.state == partBinary && !p.isImage() {
		notes = append(notes, "binary")
	}
	if len(notes) == 0 {
		return name
	}
	return name + " (" + strings.Join(notes, ", ") + ")"
}

// isImage reports whether a part is an image of a kind that browsers show.
func (p part) isImage() bool {
	switch p.mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	default:
		return false
	}
}

// readable returns the text of a block without content for people.
func (p part) readable() string {
	if p.kind == events.BlockQuestion {
		return "? " + QuestionText([]byte(p.text))
	}
	return p.text
}

// compactJSON returns v without white space; text that is not JSON is unchanged.
func compactJSON(v []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}
