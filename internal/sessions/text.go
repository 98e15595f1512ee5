package sessions

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/go-json-experiment/json/jsontext"
)

// A keeper converts the texts of a session to what is stored: text without secrets, blobs. It
// remembers the first error and writes nothing after it.
type keeper struct {
	options Options
	session Session
	places  *places
	report  Report
	told    *int // counts the events of all sessions of the source
	err     error
	key     string          // of the event that is being made
	before  *secrets.Before // of the JSON that is looked at, or nil
	room    []byte          // for a text that is looked at
	plain   []byte          // buffer for the text of a file beside the session
	json    []byte          // buffer for a record
	*ledger
}

// Fail ends the import with an error.
func (k *keeper) Fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// Err returns the error that ended the import, if one did.
func (k *keeper) Err() error { return k.err }

// Held records that the current record waits for a later one.
func (k *keeper) Held() {
	k.later = true
	*k.told++
}

// Leave counts bytes of the current record, all of which is left out.
func (k *keeper) Leave(kind string, bytes int) {
	k.later = true
	k.Drop(kind, bytes)
}

// Drop counts bytes that are left out because they only repeat what is kept.
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

// In records the directory in which something happened, and reports whether that is known and is
// the root or below it. The work of a session outside of the root belongs to it, and the report of
// the import shows it.
func (k *keeper) In(dir string) bool {
	rest, below := strings.CutPrefix(dir, k.options.Root)
	below = below && (rest == "" || rest[0] == '/' || rest[0] == '\\')
	if dir != "" && k.options.Root != "" && !below {
		k.report.Outside[dir]++
	}
	return dir != "" && below || k.options.Root == ""
}

// Text returns text as it is stored: as UTF-8, with placeholders for directories, without secrets.
func (k *keeper) Text(s string) string {
	kept := k.text(s)
	if isSame(kept, k.room) {
		return s
	}
	return string(kept)
}

// text is Text in a buffer that is valid until the next call.
func (k *keeper) text(s string) []byte {
	k.room = append(k.room[:0], s...)
	return k.bytes(k.room)
}

// isSame reports whether both share the same memory.
func isSame(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// bytes is Text for bytes. It returns its argument if nothing changes.
func (k *keeper) bytes(text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return k.valid(text)
}

// valid is bytes for UTF-8.
func (k *keeper) valid(text []byte) []byte {
	before := k.before.Of(text)
	k.say(text)
	return k.after(before, text)
}

// textAfter is Text for a string with what is before it in JSON, but does not remember it.
func (k *keeper) textAfter(before, s string) string {
	return string(k.after(before, []byte(strings.ToValidUTF8(s, "\uFFFD"))))
}

func (k *keeper) after(before string, text []byte) []byte {
	text = k.places.replace(text)
	if k.options.Redact != nil {
		place := Place{Session: k.session.Name, Key: k.key, Before: before}
		text = k.options.Redact(place, text, k.report.Redacted)
	}
	if k.options.Refuse != nil {
		if err := k.options.Refuse(text); err != nil {
			k.Fail(err)
		}
	}
	return text
}

// JSON returns a JSON text in one line whose strings are converted as by [Builder.Text]. Invalid
// JSON is stored as a string.
func (k *keeper) JSON(v []byte) jsontext.Value { return k.appendJSON(nil, v) }

// appendJSON is JSON in a buffer that may be used for it.
func (k *keeper) appendJSON(out []byte, v []byte) jsontext.Value {
	if !jsonspan.IsUsual(v) {
		return k.tokens(v)
	}
	var err error
	defer k.look()()
	out = slices.Grow(out, len(v))
	for i := 0; i < len(v); {
		switch v[i] {
		case ' ', '\n', '\r', '\t':
			i++
		case '"':
			behind := jsonspan.StringEnd(v, i)
			in := v[i+1 : behind-1]
			asWritten := isPlain(in)
			if !asWritten {
				k.room = jsonspan.AppendText(k.room[:0], v[i:behind])
				in = k.room
			}
			kept := k.string(isNameAt(v, behind), in)
			if asWritten && isSame(kept, in) {
				out = append(out, v[i:behind]...)
			} else if out, err = jsontext.AppendQuote(out, kept); err != nil {
				return quote(k.Text(string(v)))
			}
			i = behind
		default:
			switch v[i] {
			case '{', '[':
				k.before.Begin(v[i] == '[')
			case '}', ']':
				k.before.End()
			}
			out = append(out, v[i])
			i++
		}
	}
	return out
}

// look begins to look at what is before each string of JSON, if something may be redacted.
func (k *keeper) look() (end func()) {
	if k.options.Redact != nil {
		k.before = &secrets.Before{}
	}
	return func() { k.before = nil }
}

// string is bytes for a string of JSON, which may be the name of a member.
func (k *keeper) string(isName bool, s []byte) []byte {
	if !isName {
		s = k.bytes(s)
		k.before.Value(s)
		return s
	}
	before := k.before
	k.before = nil
	s = k.bytes(s)
	k.before = before
	before.Name(s)
	return s
}

// isNameAt reports whether the string that ends at i is the name of a member.
func isNameAt(v []byte, i int) bool {
	i = jsonspan.SkipSpace(v, i)
	return i < len(v) && v[i] == ':'
}

// tokens converts JSON that is invalid or unusual.
func (k *keeper) tokens(v []byte) jsontext.Value {
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	dec := jsontext.NewDecoder(bytes.NewReader(v), lax)
	defer k.look()()
	for first := true; first || dec.StackDepth() > 0; first = false {
		t, err := dec.ReadToken()
		switch kind := t.Kind(); {
		case err != nil:
		case kind == '{' || kind == '[':
			k.before.Begin(kind == '[')
		case kind == '}' || kind == ']':
			k.before.End()
		case kind == '"':
			kind, n := dec.StackIndex(dec.StackDepth())
			k.room = append(k.room[:0], t.String()...)
			t = jsontext.String(string(k.string(kind == '{' && n%2 == 1, k.room)))
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

// An Attachment is an image or a file in a request.
type Attachment struct {
	Name     string // of a file, as the agent wrote it; "" if pasted
	Dir      string // the directory to which Name is relative
	MIMEType string
	Content  []byte
}

func (k *keeper) resource(a Attachment) events.Resource {
	k.say([]byte(a.Name))
	k.say([]byte(a.MIMEType))
	r := events.Resource{MIMEType: a.MIMEType}
	if textual(a.MIMEType) {
		a.Content = k.bytes(a.Content)
	} else {
		k.remember(a.Content)
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

// content writes a content, unless it stays in the stream. The caller splits a content that exceeds
// a blob. Content of an event without a key is always written: in a stream it could not be
// recognized as a session's.
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
	Late     Late   // in place of Text, if set
	MIMEType string // of an image or a sound in Data
	Data     []byte
	// File is set if Text shows a file that was read. It has the plain text of the file.
	File *File
}

// A File is a file that a tool read.
type File struct {
	Name, Dir string // as the agent wrote it, and the directory to which it is relative
	Content   string
	Late      Late // in place of Content, if set
	First     int  // the first line that was read, from 1; 0 for the complete file
	Lines     int  // number of lines
}

func (k *keeper) block(block Block) []events.Block {
	k.room = block.Late.append(append(k.room[:0], block.Text...))
	if f := block.File; f != nil {
		k.plain = f.Late.append(append(k.plain[:0], f.Content...))
		if k.fits(len(k.plain), len(k.room)) {
			return []events.Block{k.file(f, k.plain, k.room)}
		}
	}
	if block.MIMEType != "" {
		k.say([]byte(block.MIMEType))
		k.remember(block.Data)
		kind := events.BlockImage
		if strings.HasPrefix(block.MIMEType, "audio/") {
			kind = events.BlockAudio
		}
		return []events.Block{{
			Type: kind, MIMEType: block.MIMEType, Content: k.content(block.Data),
		}}
	}
	var all []events.Block
	for _, part := range k.parts(k.bytes(k.room)) {
		all = append(all, events.Block{Type: events.BlockText, Content: k.content(part)})
	}
	return all
}

// fits reports whether contents of these sizes fit in blobs.
func (k *keeper) fits(sizes ...int) bool {
	return k.options.MaxBlob <= 0 || int64(slices.Max(sizes)) <= k.options.MaxBlob
}

// parts splits a text into blobs, between characters.
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

// file returns a read as a resource: its content is the file's own text, which is the same
// whichever agent read it, and what the model was given is beside it.
func (k *keeper) file(f *File, plain, shown []byte) events.Block {
	k.say([]byte(f.Name))
	plain, shown = k.bytes(plain), k.bytes(shown)
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
