package sessions

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// Text returns text as it is kept: as UTF-8, with its places, without its secrets.
func (b *Builder) Text(s string) string { return string(b.bytes([]byte(s))) }

func (b *Builder) bytes(text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	text = b.places.replace(text)
	if b.options.Redact != nil {
		text = b.options.Redact(Place{b.session.Name, b.key}, text, b.report.Redacted)
	}
	if b.options.Refuse != nil {
		if err := b.options.Refuse(text); err != nil {
			b.Fail(err)
		}
	}
	return text
}

// JSON returns a JSON text whose strings are as [Builder.Text] keeps them, in one line. What is
// no JSON is kept as a string.
func (b *Builder) JSON(v []byte) jsontext.Value {
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	dec := jsontext.NewDecoder(bytes.NewReader(v),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for first := true; first || dec.StackDepth() > 0; first = false {
		t, err := dec.ReadToken()
		if err == nil && t.Kind() == '"' {
			t = jsontext.String(b.Text(t.String()))
		}
		if err == nil {
			err = enc.WriteToken(t)
		}
		if err != nil {
			return quote(b.Text(string(v)))
		}
	}
	return bytes.TrimSpace(out.Bytes())
}

// An Attachment is what stands beside a request: an image, a file.
type Attachment struct {
	Name     string // of a file, as the agent wrote it; "" for what was pasted
	Dir      string // that Name is relative to
	MIMEType string
	Content  []byte
}

func (b *Builder) resource(a Attachment) events.Resource {
	r := events.Resource{MIMEType: a.MIMEType}
	if textual(a.MIMEType) {
		a.Content = b.bytes(a.Content)
	}
	r.Content = b.content(a.Content)
	if a.Name != "" {
		r.URI = b.places.uri(a.Name, a.Dir)
	} else {
		r.URI = "attachment:" + r.Content.Ref().Hash.String()[:hashDigits]
	}
	return r
}

func textual(mime string) bool {
	return mime == "" || strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "json")
}

// content writes a content. What a blob may not hold is cut by who calls.
func (b *Builder) content(data []byte) blobs.Content {
	if b.err != nil {
		return blobs.Content{}
	}
	ref, err := b.options.Writer.Write(data)
	if err != nil {
		b.Fail(fmt.Errorf("write content: %w", err))
		return blobs.Content{}
	}
	return blobs.Refer(ref)
}

// A Block is a piece of a tool's result.
type Block struct {
	Text     string
	MIMEType string // of an image or a sound, which Data is then
	Data     []byte
	// File says that Text shows a file that was read: File has the plain text of it.
	File *File
}

// A File is what a tool read.
type File struct {
	Name, Dir string // as the agent wrote it, and what it is relative to
	Content   string
	First     int // the first line that was read, from 1; 0 for the whole file
	Lines     int // how many
}

// Result adds the result of a call.
func (b *Builder) Result(key string, at time.Time, call string, isError bool, blocks ...Block) {
	b.begin(key, at)
	b.report.Results++
	r := &events.ToolCallResponse{ID: call, IsError: isError}
	for _, block := range blocks {
		r.Blocks = append(r.Blocks, b.block(block)...)
	}
	b.add(draft{at: b.moment(at), event: r, md: keyed(events.Metadata{}, key)})
}

func (b *Builder) block(block Block) []events.Block {
	switch {
	case block.File != nil && b.fits(len(block.File.Content), len(block.Text)):
		return []events.Block{b.file(block)}
	case block.MIMEType != "":
		kind := events.BlockImage
		if strings.HasPrefix(block.MIMEType, "audio/") {
			kind = events.BlockAudio
		}
		return []events.Block{{
			Type: kind, MIMEType: block.MIMEType, Content: b.content(block.Data),
		}}
	}
	var all []events.Block
	for _, part := range b.parts(b.bytes([]byte(block.Text))) {
		all = append(all, events.Block{Type: events.BlockText, Content: b.content(part)})
	}
	return all
}

// fits reports whether contents of these sizes may be blobs.
func (b *Builder) fits(sizes ...int) bool {
	return b.options.MaxBlob <= 0 || int64(slices.Max(sizes)) <= b.options.MaxBlob
}

// parts splits what is larger than a blob may be, at the beginning of a character.
func (b *Builder) parts(text []byte) (all [][]byte) {
	for limit := b.options.MaxBlob; limit > 0 && int64(len(text)) > limit; {
		n := int(limit)
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		all = append(all, text[:n])
		text = text[n:]
	}
	return append(all, text)
}

// file returns a read as a resource: the file's own text is its content, which is the same
// whichever agent read it, and what the model was given is beside it.
func (b *Builder) file(block Block) events.Block {
	f := block.File
	plain, shown := b.bytes([]byte(f.Content)), b.bytes([]byte(block.Text))
	r := &events.Resource{URI: b.places.uri(f.Name, f.Dir), Content: b.content(plain)}
	if f.First > 0 && f.Lines > 0 {
		r.URI += fmt.Sprintf("#L%d-%d", f.First, f.First+f.Lines-1)
	}
	if !bytes.Equal(plain, shown) {
		formatted := b.content(shown)
		r.Formatted = &formatted
	}
	return events.Block{Type: events.BlockResource, Resource: r}
}
