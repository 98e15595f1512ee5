package sessions

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A keeper makes what is kept of what a session says: text without its secrets, blobs. It remembers
// the first error and writes nothing after it.
type keeper struct {
	options Options
	session Session
	places  *places
	report  Report
	told    *int // how much was told of all sessions of the source
	err     error
	key     string // of the event that is being made
	room    []byte // for a text that is looked at
	plain   []byte // for the text of a file beside it
}

// Fail ends the import with an error.
func (k *keeper) Fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// Err returns the error that ended the import, if one did.
func (k *keeper) Err() error { return k.err }

// Held says that what is being told waits for what comes next.
func (k *keeper) Held() { *k.told++ }

// Drop counts what is left out because it only repeats what is kept.
func (k *keeper) Drop(kind string, bytes int) {
	k.report.Dropped[kind] += int64(bytes)
	*k.told++
}

// Broken reports a line that could not be read.
func (k *keeper) Broken(number int, err error) {
	*k.told++
	if len(k.report.Broken) < maxBroken {
		k.report.Broken = append(k.report.Broken, BrokenLine{number, err})
	}
}

// Text returns text as it is kept: as UTF-8, with its places, without its secrets.
func (k *keeper) Text(s string) string {
	kept := k.text(s)
	if isSame(kept, k.room) {
		return s
	}
	return string(kept)
}

// text is Text in memory that the next text takes.
func (k *keeper) text(s string) []byte {
	k.room = append(k.room[:0], s...)
	return k.bytes(k.room)
}

// isSame reports whether both are the same memory.
func isSame(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// bytes is Text of bytes, which it returns where they are kept as they are.
func (k *keeper) bytes(text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	text = k.places.replace(text)
	if k.options.Redact != nil {
		text = k.options.Redact(Place{k.session.Name, k.key}, text, k.report.Redacted)
	}
	if k.options.Refuse != nil {
		if err := k.options.Refuse(text); err != nil {
			k.Fail(err)
		}
	}
	return text
}

// JSON returns a JSON text whose strings are as [Builder.Text] keeps them, in one line. What is
// no JSON is kept as a string.
func (k *keeper) JSON(v []byte) jsontext.Value {
	from := space(v, 0)
	end := skip(v, from, 0)
	if end < 0 {
		return k.tokens(v)
	}
	var err error
	out := make(jsontext.Value, 0, end-from)
	for i := from; i < end; {
		switch v[i] {
		case ' ', '\n', '\r', '\t':
			i++
		case '"':
			behind := text(v, i)
			in := v[i+1 : behind-1]
			asWritten := isPlain(in)
			if !asWritten {
				// The error is of what is U+FFFD.
				k.room, _ = jsontext.AppendUnquote(k.room[:0], v[i:behind])
				in = k.room
			}
			kept := k.bytes(in)
			if asWritten && isSame(kept, in) {
				out = append(out, v[i:behind]...)
			} else if out, err = jsontext.AppendQuote(out, kept); err != nil {
				return quote(k.Text(string(v)))
			}
			i = behind
		default:
			out = append(out, v[i])
			i++
		}
	}
	return out
}

// tokens is JSON of what is no JSON, or nests deep.
func (k *keeper) tokens(v []byte) jsontext.Value {
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	dec := jsontext.NewDecoder(bytes.NewReader(v),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for first := true; first || dec.StackDepth() > 0; first = false {
		t, err := dec.ReadToken()
		if err == nil && t.Kind() == '"' {
			t = jsontext.String(k.Text(t.String()))
		}
		if err == nil {
			err = enc.WriteToken(t)
		}
		if err != nil {
			return quote(k.Text(string(v)))
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

func (k *keeper) resource(a Attachment) events.Resource {
	r := events.Resource{MIMEType: a.MIMEType}
	if textual(a.MIMEType) {
		a.Content = k.bytes(a.Content)
	}
	r.Content = k.content(a.Content)
	if a.Name != "" {
		r.URI = k.places.uri(a.Name, a.Dir)
	} else {
		r.URI = "attachment:" + r.Content.Ref().Hash.String()[:hashDigits]
	}
	return r
}

func textual(mime string) bool {
	return mime == "" || strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "json")
}

// content writes a content, unless it stays in the stream. What a blob may not hold is cut by who
// calls. Without a key an event is not known as one of a session once it is in a stream.
func (k *keeper) content(data []byte) blobs.Content {
	if k.key == "" {
		return k.write(data)
	}
	return k.keep(data)
}

// keep writes a content, unless it stays in the stream.
func (k *keeper) keep(data []byte) blobs.Content {
	if events.StaysInline(data) {
		return blobs.Loaded(bytes.Clone(data))
	}
	return k.write(data)
}

func (k *keeper) write(data []byte) blobs.Content {
	if k.err != nil {
		return blobs.Content{}
	}
	ref, err := k.options.Writer.Write(data)
	if err != nil {
		k.Fail(fmt.Errorf("write content: %w", err))
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

func (k *keeper) block(block Block) []events.Block {
	switch {
	case block.File != nil && k.fits(len(block.File.Content), len(block.Text)):
		return []events.Block{k.file(block)}
	case block.MIMEType != "":
		kind := events.BlockImage
		if strings.HasPrefix(block.MIMEType, "audio/") {
			kind = events.BlockAudio
		}
		return []events.Block{{
			Type: kind, MIMEType: block.MIMEType, Content: k.content(block.Data),
		}}
	}
	var all []events.Block
	for _, part := range k.parts(k.text(block.Text)) {
		all = append(all, events.Block{Type: events.BlockText, Content: k.content(part)})
	}
	return all
}

// fits reports whether contents of these sizes may be blobs.
func (k *keeper) fits(sizes ...int) bool {
	return k.options.MaxBlob <= 0 || int64(slices.Max(sizes)) <= k.options.MaxBlob
}

// parts splits what is larger than a blob may be, at the beginning of a character.
func (k *keeper) parts(text []byte) (all [][]byte) {
	for limit := k.options.MaxBlob; limit > 0 && int64(len(text)) > limit; {
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
func (k *keeper) file(block Block) events.Block {
	f := block.File
	k.plain = append(k.plain[:0], f.Content...)
	plain, shown := k.bytes(k.plain), k.text(block.Text)
	r := &events.Resource{URI: k.places.uri(f.Name, f.Dir), Content: k.content(plain)}
	if f.First > 0 && f.Lines > 0 {
		r.URI += fmt.Sprintf("#L%d-%d", f.First, f.First+f.Lines-1)
	}
	if !bytes.Equal(plain, shown) {
		formatted := k.content(shown)
		r.Formatted = &formatted
	}
	return events.Block{Type: events.BlockResource, Resource: r}
}
