package events

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestGivenReadsBack compares new elements that were not read back with what their bytes say.
func TestGivenReadsBack(t *testing.T) {
	given := drawn{}
	rapid.Check(t, func(t *rapid.T) {
		for range 300 {
			checkGiven(t, given)
		}
	})
	for _, part := range []any{
		TurnStart{},
		ChatRequest{},
		ChatResponse{},
		ToolCallRequest{},
		ToolCallResponse{},
		Block{},
		Resource{},
	} {
		of := reflect.TypeOf(part)
		if !given[of.Name()] {
			t.Errorf("each %s was read back", of.Name())
		}
		for field := range of.Fields() {
			name := of.Name() + "." + field.Name
			if given[name] == slices.Contains(readBack, name) {
				t.Errorf("%s was kept: %v", name, given[name])
			}
		}
	}
}

// readBack has the fields that may have JSON of someone else: an element with one is read back.
var readBack = []string{
	"ChatRequest.Schema", "ChatRequest.Resources", "ChatResponse.Data", "Block.Raw",
	"Resource.Annotations", "Resource.Raw",
}

// A drawn set has the types and fields of events that were not read back, if they were not zero.
type drawn map[string]bool

// see visits an event and changes all of it, as its owner may do.
func (d drawn) see(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			d.see(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			d.see(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[blobs.Content]() {
			v.SetZero()
			return
		}
		d[v.Type().Name()] = true
		for field, value := range v.Fields() {
			name := v.Type().Name() + "." + field.Name
			d[name] = d[name] || !value.IsZero()
			d.see(value)
			value.SetZero()
		}
	case reflect.Uint8:
		v.SetUint('!')
	}
}

// checkGiven compares one new element, and changes the event that it was made of if that was not
// read back.
func checkGiven(t *rapid.T, given drawn) {
	d := &givenDraw{t}
	ev, md := d.event(), d.metadata()
	at := time.Date(d.pick(1, 2026, 9999), 5, 29, 12, 0, 0, d.pick(0, 1, 120_000_000), time.Local)
	e := NewElement(at, ev, md)
	read := built(e.raw, at, ev, md)
	if !e.unplaced {
		return
	}
	given.see(reflect.ValueOf(ev))
	if e.err != nil || read.err != nil {
		t.Fatalf("%s is broken: %v, %v", e.raw, e.err, read.err)
	}
	if e.kind != read.kind || !reflect.DeepEqual(e.time, read.time) || e.largest != read.largest ||
		e.view != read.view {
		t.Fatalf("%+v is read as %+v", e, read)
	}
	if got, want := e.meta.Keys(), read.meta.Keys(); !slices.Equal(got, want) {
		t.Fatalf("metadata %q is read as %q", got, want)
	}
	for _, key := range e.meta.Keys() {
		is, _ := e.meta.Value(key)
		was, _ := read.meta.Value(key)
		if string(is) != string(was) {
			t.Fatalf("metadata %s is read as %s", is, was)
		}
	}
	for i, s := range slices.Concat(e.slots, e.placed()) {
		want := read.slots[i%len(read.slots)]
		if i < len(e.slots) {
			want.offset = 0
		}
		if !sameContent(s.content, want.content) || s.part != want.part || s.uri != want.uri ||
			s.offset != want.offset || s.legacy != want.legacy {
			t.Fatalf("slot %+v of %s is read as %+v", s, e.raw, want)
		}
	}
	if len(e.slots) != len(read.slots) {
		t.Fatalf("%d contents of %s are read as %d", len(e.slots), e.raw, len(read.slots))
	}
	if got, want := withoutForm(e.event), withoutForm(read.event); !reflect.DeepEqual(got, want) {
		t.Fatalf("%#v is read as %#v", got, want)
	}
}

// withoutForm returns an event without what its element was read from, and with the bytes of
// contents in place of what caches their hashes.
func withoutForm(ev Event) any {
	r, ok := ev.(*ToolCallResponse)
	if !ok {
		return ev
	}
	all := []any{r.ID, r.IsError}
	for _, b := range r.Blocks {
		all = append(all, b.Type, b.MIMEType, b.Content.IsRef(), b.Content.Ref())
		if x := b.Resource; x != nil {
			all = append(all, x.URI, x.MIMEType, x.Name, x.Title, x.Description, x.Content.IsRef(),
				x.Content.Ref(), x.Annotations, formatted(*x).IsRef(), formatted(*x).Ref())
		}
	}
	return all
}

type givenDraw struct{ *rapid.T }

func (d *givenDraw) pick(all ...int) int { return rapid.SampledFrom(all).Draw(d.T, "number") }

func (d *givenDraw) text() string {
	return rapid.SampledFrom([]string{
		"", "a", "é\n\"\\/<", "YWJj", "\x00\u2028", "\xff", strings.Repeat("0", 64),
		`{"$blob":"` + strings.Repeat("a", 64) + `","size":1}`,
	}).Draw(d.T, "text")
}

func (d *givenDraw) json() jsontext.Value {
	return rapid.SampledFrom([]jsontext.Value{
		nil, jsontext.Value(`{}`), jsontext.Value(`{"a": [1e5,"x\/\u0041"], "\u0062":"YWJj"}`),
		jsontext.Value(`{"a":{"b":["c",null,true,-0.5]}}`), jsontext.Value(`[1]`), jsontext.Value(`1`),
		jsontext.Value(` {"a":1,"b":"` + strings.Repeat("f", 64) + `"}`), jsontext.Value(`{"a":1,"a":2}`),
		jsontext.Value(`{`),
	}).Draw(d.T, "json")
}

func (d *givenDraw) content() blobs.Content {
	if rapid.Bool().Draw(d.T, "reference") {
		return blobs.Refer(blobs.RefTo([]byte(d.text())))
	}
	return rapid.SampledFrom([]blobs.Content{
		{},
		blobs.Loaded([]byte(d.text())), blobs.Refer(blobs.Ref{Size: -1}), blobs.Loaded(nil),
		blobs.Refer(blobs.Ref{}),
	}).Draw(d.T, "content")
}

func (d *givenDraw) block() Block {
	b := Block{
		Type: rapid.SampledFrom([]BlockType{
			BlockText, BlockResource, BlockResource, BlockImage, BlockAudio, BlockQuestion, BlockResourceLink, "x",
		}).Draw(d.T, "type"),
		Content: d.content(),
	}
	if d.pick(0, 1) == 1 {
		b.MIMEType = d.text()
	}
	if d.pick(0, 9) == 9 {
		b.Raw = d.json()
	}
	if b.Type == BlockResource || d.pick(0, 9) == 9 {
		b.Resource = &Resource{URI: d.text(), Content: d.content(), Name: d.text(), MIMEType: d.text()}
		b.Resource.Title, b.Resource.Description = d.text(), d.text()
		if d.pick(0, 9) == 9 {
			b.Resource.Annotations = d.json()
		}
		if d.pick(0, 1) == 1 {
			b.Resource.Formatted = new(d.content())
		}
		if d.pick(0, 2) > 0 {
			b.MIMEType, b.Content = "", blobs.Content{}
		}
	}
	return b
}

func (d *givenDraw) event() Event {
	switch d.pick(0, 1, 2, 3, 4, 5) {
	case 0:
		return &TurnStart{}
	case 1:
		r := &ChatRequest{Content: d.text(), Author: d.text()}
		if d.pick(0, 1) == 1 {
			r.Schema = d.json()
			r.Resources = []Resource{{URI: "a", Content: d.content()}}
		}
		return r
	case 2:
		r := &ChatResponse{Form: Form(d.pick(0, 1, 2, 3)), Text: d.text()}
		if d.pick(0, 9) == 9 {
			r.Data = d.json()
		}
		return r
	case 3:
		return &ToolCallRequest{ID: d.text(), Name: d.text(), Arguments: d.json()}
	case 4:
		return &ConfigDelta{Delta: d.json()}
	}
	r := &ToolCallResponse{ID: d.text(), IsError: rapid.Bool().Draw(d.T, "error")}
	for range d.pick(0, 1, 1, 2, 3) {
		r.Blocks = append(r.Blocks, d.block())
	}
	return r
}

func (d *givenDraw) metadata() (md Metadata) {
	if d.pick(0, 1) == 1 {
		md = (Metadata{}).AsImported()
	}
	for range d.pick(0, 1, 2) {
		key := rapid.SampledFrom([]string{
			MetadataSource, "a", metadataBlocks, metadataResources, "é\"",
		}).Draw(d.T, "key")
		if v := d.json(); v != nil && d.pick(0, 1) == 1 {
			md = md.With(key, v)
		} else {
			md = md.WithText(key, d.text())
		}
	}
	return md
}

// TestImportedMetadata compares the bytes of elements whose metadata was begun in the form of
// imports with those of others, with and without a source.
func TestImportedMetadata(t *testing.T) {
	for _, keys := range [][]string{{"a"}, {"a", MetadataSource}, {"a", MetadataSource, "b"}, {}} {
		for _, text := range []string{"x", "YWJj", "é\"", strings.Repeat("YWJj", 100)} {
			var raw [2]string
			for i, md := range []Metadata{{}, (Metadata{}).AsImported()} {
				md = md.With("json", jsontext.Value(`{"x":["y","YWJj"]}`))
				for _, key := range keys {
					md = md.WithText(key, text)
				}
				raw[i] = string(NewElement(time.Unix(0, 0), &ChatResponse{}, md).Raw())
			}
			if raw[0] != raw[1] {
				t.Errorf("%s is written %s", raw[0], raw[1])
			}
		}
	}
}

// TestLongBase64IsText checks that a string which a reader would decode is recognized if the part of
// it that is decoded first ends within a character.
func TestLongBase64IsText(t *testing.T) {
	for before := range 140 {
		text := strings.Repeat("a", before) + strings.Repeat("é€😀", 20)
		if s := base64.StdEncoding.EncodeToString([]byte(text)); !decodes([]byte(s)) {
			t.Errorf("base64 of a text of %d bytes is plain", len(text))
		}
	}
}
