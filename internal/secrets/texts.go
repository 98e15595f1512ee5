package secrets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Text is a text of an element that can contain a secret.
type Text struct {
	// Member names the text in the element, as defined in docs/format.md.
	Member string
	// Before is what is before the text in JSON, see [Before]: the text may be a secret because of
	// it.
	Before string
	// Content is the text, which may be in a blob.
	Content blobs.Content
}

// DocumentTexts returns the texts of another file of a conversation.
func DocumentTexts(data []byte) []Text {
	c := collector{}
	c.json("", data, false)
	return c.found
}

// Texts returns the texts of an element: messages, calls, results and their descriptions. It leaves
// out signatures, ciphertext, IDs, hashes and images in the places where the format defines them.
func Texts(e *events.Element) []Text {
	c := collector{}
	if _, ok := e.Event().(*events.Unknown); ok {
		c.json("", e.Raw(), true)
		c.found = slices.DeleteFunc(c.found, func(t Text) bool { return identifies(e, t.Member) })
	} else {
		visitEvent(e.Event(), &c)
	}
	for _, key := range e.Metadata().TextKeys() {
		if v, ok := e.Metadata().Value(key); ok && !exempt(key) {
			c.json("/metadata/"+escapeName(key), v, true)
		}
	}
	return c.found
}

// identifies reports whether a member identifies an element of another version. With another kind,
// time or agent session it would be a different element.
func identifies(e *events.Element, member string) bool {
	switch member {
	case "/type", "/timestamp":
		return true
	case "/agent":
		return e.Kind() == events.KindAgentRecord
	default:
		return false
	}
}

// A visitor is shown the texts of an event, each with its member, and returns what is to be in its
// place.
type visitor interface {
	text(member, was string) string
	content(member string, was blobs.Content) blobs.Content
	// json is shown a value with any number of texts. In a record, the members are defined by
	// others.
	json(member string, was jsontext.Value, record bool) jsontext.Value
}

// A collector collects texts and changes none.
type collector struct{ found []Text }

func (c *collector) text(member, s string) string {
	return c.behind("", member, s)
}

func (c *collector) behind(before, member, s string) string {
	if s != "" {
		c.found = append(c.found, Text{
			Member: member, Before: before, Content: blobs.Loaded([]byte(s)),
		})
	}
	return s
}

func (c *collector) content(member string, content blobs.Content) blobs.Content {
	if !content.IsZero() {
		c.found = append(c.found, Text{Member: member, Content: content})
	}
	return content
}

func isMedia(mime string) bool {
	kind, _, _ := strings.Cut(mime, "/")
	return (kind == "image" && mime != "image/svg+xml") || kind == "audio" || kind == "video"
}

// json collects the strings of a value and the blobs that it refers to. In a record, whose members
// are defined by others, it leaves out signatures, ciphertext, IDs and hashes.
func (c *collector) json(member string, v jsontext.Value, record bool) jsontext.Value {
	eachString(v, func(pointer, before, s string) {
		name := pointer[strings.LastIndexByte(pointer, '/')+1:]
		if name == "$blob" {
			if h, err := blobs.ParseHash(s); err == nil {
				parent := strings.TrimSuffix(pointer, "/$blob")
				if size, ok := sizeAt(v, jsontext.Pointer(parent)); ok {
					c.content(member+parent, blobs.Refer(blobs.Ref{Hash: h, Size: size}))
				}
				return
			}
		}
		if !record || !exempt(name) || !isCode(s) {
			c.behind(before, member+pointer, s)
		}
	})
	return v
}

// sizeAt returns the size in a reference, which is next to its hash.
func sizeAt(v jsontext.Value, parent jsontext.Pointer) (int64, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return 0, false
		}
		if t.Kind() == '0' && d.StackPointer() == parent.AppendToken("size") {
			n, err := strconv.ParseInt(t.String(), 10, 64)
			return n, err == nil && n >= 0
		}
	}
}

// exempt reports whether a member of this name holds a signature, ciphertext, an ID or a hash.
func exempt(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"uuid", "hash", "sha"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return isSignature(name) || isCiphertext(name) || name == "data" ||
		strings.HasSuffix(name, "id")
}

func isSignature(name string) bool { return strings.Contains(name, "signature") }

func isCiphertext(name string) bool {
	return strings.Contains(name, "encrypted") || strings.Contains(name, "redacted_thinking")
}

// isCode reports whether a value has the form of base64, an ID or a hash.
func isCode(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r > 0x7f || !isBase64(byte(r)) && !strings.ContainsRune("=.:", r)
	}) < 0
}

// Replace returns the element with some of the texts that [Texts] returned replaced, by member. It
// also returns the replaced texts that are referred to by a member of a later version; the caller
// must store them.
func Replace(e *events.Element, texts map[string][]byte) (*events.Element, [][]byte, error) {
	r := replacer{texts: texts, used: map[string]bool{}}
	out, err := r.element(e)
	if err != nil {
		return nil, nil, fmt.Errorf("replace text of an event: %w", err)
	}
	if len(r.used) < len(texts) {
		return nil, nil, fmt.Errorf("replace text of an event: it has %d of %d texts",
			len(r.used), len(texts))
	}
	return out, r.store, nil
}

// A replacer replaces texts of an element.
type replacer struct {
	texts map[string][]byte
	used  map[string]bool
	store [][]byte
}

func (r *replacer) element(e *events.Element) (*events.Element, error) {
	md := e.Metadata()
	for _, key := range md.Keys() {
		v, _ := md.Value(key)
		if next := r.json("/metadata/"+escapeName(key), v, true); !bytes.Equal(v, next) {
			md = md.With(key, next)
		}
	}
	if _, ok := e.Event().(*events.Unknown); ok {
		return r.unknown(e)
	}
	return e.With(visitEvent(e.Event(), r)).WithMetadata(md).AsRedacted(e), nil
}

// unknown decodes the changed bytes of an element of an unknown kind, because the codec does not
// change these.
func (r *replacer) unknown(e *events.Element) (*events.Element, error) {
	raw := r.json("", e.Raw(), true)
	s, err := events.Decode(slices.Concat([]byte("["), raw, []byte("]")))
	if err != nil {
		return nil, err
	}
	return s.At(0), nil
}

// visitEvent returns an event with the texts that the visitor returns.
func visitEvent(ev events.Event, v visitor) events.Event {
	switch ev := ev.(type) {
	case *events.ChatRequest:
		next := *ev
		next.Content = v.text("/content", ev.Content)
		next.Schema = v.json("/schema", ev.Schema, false)
		next.Resources = slices.Clone(ev.Resources)
		for i := range next.Resources {
			visitResource("/resources/"+strconv.Itoa(i), "", &next.Resources[i], v)
		}
		return &next
	case *events.ChatResponse:
		next := *ev
		switch ev.Form {
		case events.FormMessage:
			next.Text = v.text("/message", ev.Text)
		case events.FormReasoning:
			next.Text = v.text("/reasoning", ev.Text)
		case events.FormData:
			next.Data = v.json("/data", ev.Data, false)
		}
		return &next
	case *events.ToolCallRequest:
		next := *ev
		next.Arguments = v.json("/arguments", ev.Arguments, false)
		return &next
	case *events.ToolCallResponse:
		next := *ev
		next.Blocks = slices.Clone(ev.Blocks)
		for i := range next.Blocks {
			visitBlock("/content/"+strconv.Itoa(i), &next.Blocks[i], v)
		}
		return &next
	default:
		return visitRest(ev, v)
	}
}

// visitRest handles the kinds of events without content.
func visitRest(ev events.Event, v visitor) events.Event {
	switch ev := ev.(type) {
	case *events.InquiryRequest:
		next := *ev
		next.Question = v.json("/question", ev.Question, false)
		return &next
	case *events.InquiryResponse:
		next := *ev
		next.Answer = v.json("/answer", ev.Answer, false)
		return &next
	case *events.ConfigDelta:
		next := *ev
		next.Delta = v.json("/delta", ev.Delta, false)
		return &next
	case *events.Compaction:
		next := *ev
		if ev.Summary != nil {
			summary := v.text("/summary/summary", *ev.Summary)
			next.Summary = &summary
		}
		return &next
	default:
		return ev
	}
}

// visitResource changes a resource; beside is the member that holds its formatted content, or ""
// for the resource itself.
func visitResource(member, beside string, res *events.Resource, v visitor) {
	res.URI = v.text(member+"/uri", res.URI)
	res.Name = v.text(member+"/name", res.Name)
	res.Title = v.text(member+"/title", res.Title)
	res.Description = v.text(member+"/description", res.Description)
	if !isMedia(res.MIMEType) {
		res.Content = v.content(member+"/content", res.Content)
	}
	if res.Formatted != nil {
		beside = cmp.Or(beside, member)
		formatted := v.content(beside+"/formatted", *res.Formatted)
		res.Formatted = &formatted
	}
}

func visitBlock(member string, b *events.Block, v visitor) {
	switch {
	case b.Type == events.BlockText:
		b.Content = v.content(member+"/content", b.Content)
	case b.Resource != nil:
		res := *b.Resource
		visitResource(member+"/resource", member, &res, v)
		b.Resource = &res
	case b.Type != events.BlockImage && b.Type != events.BlockAudio:
		b.Raw = v.json(member, b.Raw, true)
	}
}

func (r *replacer) text(member, was string) string {
	if now, ok := r.texts[member]; ok {
		r.used[member] = true
		return string(now)
	}
	return was
}

func (r *replacer) content(member string, was blobs.Content) blobs.Content {
	if now, ok := r.texts[member]; ok && !was.IsZero() {
		r.used[member] = true
		return blobs.Loaded(now)
	}
	return was
}

// json replaces strings of a value and references in it.
func (r *replacer) json(member string, v jsontext.Value, _ bool) jsontext.Value {
	touched := false
	for name := range r.texts {
		touched = touched || name == member || strings.HasPrefix(name, member+"/")
	}
	if !touched || len(v) == 0 {
		return v
	}
	var out bytes.Buffer
	if err := rewrite(&out, v, func(pointer string, value jsontext.Value) jsontext.Value {
		return r.scalar(member+pointer, value)
	}); err != nil {
		return v
	}
	return jsontext.Value(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// scalar returns the replacement of a value, or nil to keep it.
func (r *replacer) scalar(member string, value jsontext.Value) jsontext.Value {
	if now, ok := r.texts[member]; ok {
		r.used[member] = true
		return quotedValue(string(now))
	}
	parent := member[:strings.LastIndexByte(member, '/')+1]
	now, ok := r.texts[strings.TrimSuffix(parent, "/")]
	switch {
	case !ok:
		return nil
	case strings.HasSuffix(member, "/$blob"):
		r.used[strings.TrimSuffix(parent, "/")] = true
		r.store = append(r.store, now)
		return quotedValue(blobs.Sum(now).String())
	case strings.HasSuffix(member, "/size") && value.Kind() == '0':
		return strconv.AppendInt(nil, int64(len(now)), 10)
	default:
		return nil
	}
}

func quotedValue(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, s) // invalid UTF-8 is replaced
	return b
}

func escapeName(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// rewrite writes a value, replacing the scalars for which f returns a value. Names and numbers keep
// their spelling.
func rewrite(
	w io.Writer, v jsontext.Value, f func(pointer string, value jsontext.Value) jsontext.Value,
) error {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	e := jsontext.NewEncoder(w, jsontext.PreserveRawStrings(true))
	for {
		if kind := d.PeekKind(); strings.IndexByte("{}[]", byte(kind)) >= 0 {
			t, err := d.ReadToken()
			if err == nil {
				err = e.WriteToken(t)
			}
			if err != nil {
				return err
			}
			continue
		}
		value, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if parent, n := d.StackIndex(d.StackDepth()); parent != '{' || n%2 == 0 {
			if next := f(string(d.StackPointer()), value); next != nil {
				value = next
			}
		}
		if err := e.WriteValue(value); err != nil {
			return err
		}
	}
}
