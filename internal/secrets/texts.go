package secrets

import (
	"bytes"
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
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		c.text("/content", ev.Content)
		c.json("/schema", ev.Schema, false)
		for i, r := range ev.Resources {
			c.resource("/resources/"+strconv.Itoa(i), "", r)
		}
	case *events.ChatResponse:
		switch ev.Form {
		case events.FormMessage:
			c.text("/message", ev.Text)
		case events.FormReasoning:
			c.text("/reasoning", ev.Text)
		case events.FormData:
			c.json("/data", ev.Data, false)
		}
	case *events.ToolCallRequest:
		c.json("/arguments", ev.Arguments, false)
	case *events.ToolCallResponse:
		for i, b := range ev.Blocks {
			c.block("/content/"+strconv.Itoa(i), b)
		}
	case *events.InquiryRequest:
		c.json("/question", ev.Question, false)
	case *events.InquiryResponse:
		c.json("/answer", ev.Answer, false)
	case *events.ConfigDelta:
		c.json("/delta", ev.Delta, false)
	case *events.Compaction:
		if ev.Summary != nil {
			c.text("/summary/summary", *ev.Summary)
		}
	case *events.Unknown:
		c.json("", e.Raw(), true)
		c.found = slices.DeleteFunc(c.found, func(t Text) bool { return identifies(e, t.Member) })
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

// A collector collects texts.
type collector struct{ found []Text }

func (c *collector) text(member, s string) {
	if s != "" {
		c.found = append(c.found, Text{member, blobs.Loaded([]byte(s))})
	}
}

func (c *collector) content(member string, content blobs.Content) {
	if !content.IsZero() {
		c.found = append(c.found, Text{member, content})
	}
}

// resource collects the texts of a resource; beside is the member that holds its formatted content,
// or "" for the resource itself.
func (c *collector) resource(member, beside string, r events.Resource) {
	c.text(member+"/uri", r.URI)
	c.text(member+"/name", r.Name)
	c.text(member+"/title", r.Title)
	c.text(member+"/description", r.Description)
	if !isMedia(r.MIMEType) {
		c.content(member+"/content", r.Content)
	}
	if r.Formatted != nil {
		if beside == "" {
			beside = member
		}
		c.content(beside+"/formatted", *r.Formatted)
	}
}

func (c *collector) block(member string, b events.Block) {
	switch {
	case b.Type == events.BlockText:
		c.content(member+"/content", b.Content)
	case b.Resource != nil:
		c.resource(member+"/resource", member, *b.Resource)
	case b.Type == events.BlockImage, b.Type == events.BlockAudio:
	default:
		c.json(member, b.Raw, true)
	}
}

func isMedia(mime string) bool {
	kind, _, _ := strings.Cut(mime, "/")
	return (kind == "image" && mime != "image/svg+xml") || kind == "audio" || kind == "video"
}

// json collects the strings of a value and the blobs that it refers to. In a record, whose members
// are defined by others, it leaves out signatures, ciphertext, IDs and hashes.
func (c *collector) json(member string, v jsontext.Value, record bool) {
	if len(v) == 0 {
		return
	}
	_ = rewrite(io.Discard, v, func(pointer string, value jsontext.Value) jsontext.Value {
		s, ok := unquoted(value)
		if !ok {
			return nil
		}
		name := pointer[strings.LastIndexByte(pointer, '/')+1:]
		switch h, err := blobs.ParseHash(s); {
		case err == nil && name == "$blob":
			parent := strings.TrimSuffix(pointer, "/$blob")
			if size, ok := sizeAt(v, jsontext.Pointer(parent)); ok {
				c.content(member+parent, blobs.Refer(blobs.Ref{Hash: h, Size: size}))
			}
		case !record || !exempt(name) || !isCode(s):
			c.text(member+pointer, s)
		}
		return nil
	})
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
		if next := r.json("/metadata/"+escapeName(key), v); !bytes.Equal(v, next) {
			md = md.With(key, next)
		}
	}
	if _, ok := e.Event().(*events.Unknown); ok {
		return r.unknown(e)
	}
	return e.With(r.event(e.Event())).WithMetadata(md).AsRedacted(e), nil
}

// unknown decodes the changed bytes of an element of an unknown kind, because the codec does not
// change these.
func (r *replacer) unknown(e *events.Element) (*events.Element, error) {
	raw := r.json("", e.Raw())
	s, err := events.Decode(slices.Concat([]byte("["), raw, []byte("]")))
	if err != nil {
		return nil, err
	}
	return s.At(0), nil
}

func (r *replacer) event(ev events.Event) events.Event {
	switch ev := ev.(type) {
	case *events.ChatRequest:
		next := *ev
		next.Content = r.text("/content", ev.Content)
		next.Schema = r.json("/schema", ev.Schema)
		next.Resources = slices.Clone(ev.Resources)
		for i := range next.Resources {
			r.resource("/resources/"+strconv.Itoa(i), "", &next.Resources[i])
		}
		return &next
	case *events.ChatResponse:
		next := *ev
		switch ev.Form {
		case events.FormMessage:
			next.Text = r.text("/message", ev.Text)
		case events.FormReasoning:
			next.Text = r.text("/reasoning", ev.Text)
		case events.FormData:
			next.Data = r.json("/data", ev.Data)
		}
		return &next
	case *events.ToolCallRequest:
		next := *ev
		next.Arguments = r.json("/arguments", ev.Arguments)
		return &next
	case *events.ToolCallResponse:
		next := *ev
		next.Blocks = slices.Clone(ev.Blocks)
		for i := range next.Blocks {
			r.block("/content/"+strconv.Itoa(i), &next.Blocks[i])
		}
		return &next
	default:
		return r.rest(ev)
	}
}

// rest handles the kinds of events without content.
func (r *replacer) rest(ev events.Event) events.Event {
	switch ev := ev.(type) {
	case *events.InquiryRequest:
		next := *ev
		next.Question = r.json("/question", ev.Question)
		return &next
	case *events.InquiryResponse:
		next := *ev
		next.Answer = r.json("/answer", ev.Answer)
		return &next
	case *events.ConfigDelta:
		next := *ev
		next.Delta = r.json("/delta", ev.Delta)
		return &next
	case *events.Compaction:
		next := *ev
		if ev.Summary != nil {
			summary := r.text("/summary/summary", *ev.Summary)
			next.Summary = &summary
		}
		return &next
	default:
		return ev
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

func (r *replacer) resource(member, beside string, res *events.Resource) {
	res.URI = r.text(member+"/uri", res.URI)
	res.Name = r.text(member+"/name", res.Name)
	res.Title = r.text(member+"/title", res.Title)
	res.Description = r.text(member+"/description", res.Description)
	res.Content = r.content(member+"/content", res.Content)
	if res.Formatted != nil {
		if beside == "" {
			beside = member
		}
		formatted := r.content(beside+"/formatted", *res.Formatted)
		res.Formatted = &formatted
	}
}

func (r *replacer) block(member string, b *events.Block) {
	switch {
	case b.Type == events.BlockText:
		b.Content = r.content(member+"/content", b.Content)
	case b.Resource != nil:
		res := *b.Resource
		r.resource(member+"/resource", member, &res)
		b.Resource = &res
	case b.Type != events.BlockImage && b.Type != events.BlockAudio:
		b.Raw = r.json(member, b.Raw)
	}
}

// json replaces strings of a value and references in it.
func (r *replacer) json(member string, v jsontext.Value) jsontext.Value {
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

func unquoted(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
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
