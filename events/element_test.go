package events_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// Setting a value that is already set returns the same element, for elements of any form.
func TestWithTheSameIsTheElement(t *testing.T) {
	for _, in := range []string{
		`5`, `null`, `"x"`, `[{"type":"turn_start"}]`, `{}`, `{"type":5}`, `{"type":"new","a":1}`,
		`{"type":"config_delta","a":{"b" : 1.50}}`,
		`{"type":"turn_start","timestamp":"0001-01-01 00:00:00","metadata":{}}`,
	} {
		e := decode(t, "["+in+"]").At(0)
		for name, same := range map[string]*events.Element{
			"event": e.With(e.Event()), "metadata": e.WithMetadata(e.Metadata()),
			"time": e.WithTime(e.Time()),
		} {
			if same != e {
				t.Errorf("%s with its own %s is %s", in, name, same.Raw())
			}
		}
	}
	broken := request("not UTF-8: \xff")
	if same := broken.With(broken.Event()); same != broken {
		t.Errorf("%s became %s", broken.Raw(), same.Raw())
	}
}

// An equal event need not be the same one: an event that is built again from the one read, or is
// spelled differently, changes no byte.
func TestWithEqualPartsKeepsTheirBytes(t *testing.T) {
	const in = `[{"type":"tool_call_request", "timestamp":"2026-01-01 00:00:00", "id":"\u0061",` +
		`"name":"n", "arguments":{ "p" : "eA==", "plain":"not base64", "n":1.50 }},` +
		`{"type":"tool_call_response", "timestamp":"2026-01-01 00:00:00", "id":"a",` +
		`"is_error":false, "content":[ {"type":"text", "content":{ "text":"\u0061" }, "x":1.0 } ]}]`
	s := decode(t, in)
	call := *s.At(0).Event().(*events.ToolCallRequest)
	call.Arguments = jsontext.Value(`{"p": "x", "plain": "not base64", "n": 1.50}`)
	r := *s.At(1).Event().(*events.ToolCallResponse)
	r.Blocks = []events.Block{r.Blocks[0]}
	r.Blocks[0].Content = blobs.Loaded([]byte("a"))
	r.Blocks[0].Raw = jsontext.Value(`{"type":"text","content":{"text":"a"},"x":1.0}`)
	s.Set(0, s.At(0).With(&call))
	s.Set(1, s.At(1).With(&r))
	if got := string(s.Encode()); got != in {
		t.Errorf("got\n%s", got)
	}
}

// Changes of parts that are easy to overlook are noticed.
func TestWithSeesEveryDifference(t *testing.T) {
	const in = `[{"type":"tool_call_response","timestamp":"2026-01-01 00:00:00","id":"a",` +
		`"is_error":false,"content":[{"type":"image","data":"YQ==","mimeType":"a/b","x":1},` +
		`{"type":"resource","resource":{"uri":"u","text":"t","annotations":{"a":1}}},` +
		`{"type":"resource_link","uri":"u"}]}]`
	e := decode(t, in).At(0)
	other := blobs.Loaded([]byte("b"))
	for name, edit := range map[string]func(bs []events.Block, r, link *events.Resource){
		"type":      func(bs []events.Block, _, _ *events.Resource) { bs[0].Type = "audio" },
		"MIME type": func(bs []events.Block, _, _ *events.Resource) { bs[0].MIMEType = "a/c" },
		"content":   func(bs []events.Block, _, _ *events.Resource) { bs[0].Content = other },
		"reference": func(bs []events.Block, _, _ *events.Resource) {
			bs[0].Content = blobs.Refer(bs[0].Content.Ref())
		},
		"unknown member": func(bs []events.Block, _, _ *events.Resource) {
			bs[0].Raw = jsontext.Value(`{"type":"image","data":"YQ==","mimeType":"a/b","x":2}`)
		},
		"URI":               func(_ []events.Block, r, _ *events.Resource) { r.URI = "v" },
		"URI of a link":     func(_ []events.Block, _, l *events.Resource) { l.URI = "v" },
		"resource's type":   func(_ []events.Block, r, _ *events.Resource) { r.MIMEType = "a/b" },
		"name":              func(_ []events.Block, r, _ *events.Resource) { r.Name = "n" },
		"title":             func(_ []events.Block, r, _ *events.Resource) { r.Title = "n" },
		"description":       func(_ []events.Block, r, _ *events.Resource) { r.Description = "n" },
		"annotations":       func(_ []events.Block, r, _ *events.Resource) { r.Annotations = nil },
		"resource":          func(_ []events.Block, r, _ *events.Resource) { r.Content = other },
		"formatted":         func(_ []events.Block, r, _ *events.Resource) { r.Formatted = &other },
		"raw of a resource": func(_ []events.Block, r, _ *events.Resource) { r.Raw = nil },
	} {
		r := *e.Event().(*events.ToolCallResponse)
		r.Blocks = append([]events.Block(nil), r.Blocks...)
		res, link := *r.Blocks[1].Resource, *r.Blocks[2].Resource
		r.Blocks[1].Resource, r.Blocks[2].Resource = &res, &link
		edit(r.Blocks, &res, &link)
		if changed := e.With(&r); string(changed.Raw()) == string(e.Raw()) {
			t.Errorf("%s: the change is lost", name)
		}
	}
	r := *e.Event().(*events.ToolCallResponse)
	r.Blocks = append([]events.Block(nil), r.Blocks...)
	r.Blocks[0].Type = events.BlockText
	if err := events.New(e.With(&r)).Validate(); err != nil {
		t.Errorf("an image became a text: %v", err)
	}
	r.Blocks = r.Blocks[:2]
	if changed := e.With(&r); strings.Contains(string(changed.Raw()), "resource_link") {
		t.Error("a block less: the change is lost")
	}
}

// Metadata of the inline form is removed when it no longer matches, and only then.
func TestWithDropsStaleMetadata(t *testing.T) {
	in := `[{"type":"chat_request",` + head + `,"content":"c","metadata":{"k":1,` +
		`"git_jp_resources":[{"uri":"dQ==","text":"YQ=="}]}},{"type":"tool_call_response",` + head +
		`,"id":"a","is_error":false,"content":"YQ==","metadata":{"k":1,` +
		`"git_jp_blocks":[{"type":"dGV4dA==","text":"YQ==","x":1}]}}]`
	s := decode(t, in)
	request := *s.At(0).Event().(*events.ChatRequest)
	result := *s.At(1).Event().(*events.ToolCallResponse)
	request.Content, result.IsError = "d", true
	same := []*events.Element{s.At(0).With(&request), s.At(1).With(&result)}
	want := strings.NewReplacer(`"content":"c"`, `"content":"d"`, "false", "true").Replace(in)
	if got := `[` + string(same[0].Raw()) + `,` + string(same[1].Raw()) + `]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	other := blobs.Loaded([]byte("b"))
	request.Resources = []events.Resource{{URI: "v", Content: other}}
	result.Blocks = []events.Block{{Type: events.BlockText, Content: other}}
	for _, e := range []*events.Element{s.At(0).With(&request), s.At(1).With(&result)} {
		if got := fmt.Sprint(e.Metadata().Keys()); got != "[k]" {
			t.Errorf("metadata has %s", got)
		}
		for c := range events.New(e).Contents() {
			if got := describe(c); !strings.HasSuffix(got, `"b"`) {
				t.Errorf("content is %s", got)
			}
		}
		if err := events.New(e).Validate(); err != nil {
			t.Error(err)
		}
	}
	request.Resources = nil
	if e := s.At(0).With(&request); e.Event().(*events.ChatRequest).Resources != nil {
		t.Errorf("resources stay in %s", e.Raw())
	}
}

// Text that JSON cannot hold is not replaced silently.
func TestValidateRefusesWhatIsNotUTF8(t *testing.T) {
	const bad = "a\xff"
	block := func(b events.Block) events.Event {
		return &events.ToolCallResponse{Blocks: []events.Block{b}}
	}
	resource := func(res events.Resource) events.Event {
		return &events.ChatRequest{Resources: []events.Resource{res}}
	}
	for name, ev := range map[string]events.Event{
		"request":     &events.ChatRequest{Content: bad},
		"author":      &events.ChatRequest{Author: bad},
		"schema":      &events.ChatRequest{Schema: jsontext.Value(`{"` + bad + `":1}`)},
		"message":     &events.ChatResponse{Text: bad},
		"reasoning":   &events.ChatResponse{Form: events.FormReasoning, Text: bad},
		"data":        &events.ChatResponse{Form: events.FormData, Data: jsontext.Value(`"` + bad + `"`)},
		"call":        &events.ToolCallRequest{ID: bad},
		"tool":        &events.ToolCallRequest{Name: bad},
		"argument":    &events.ToolCallRequest{Arguments: jsontext.Value(`{"a":"` + bad + `"}`)},
		"response":    &events.ToolCallResponse{ID: bad},
		"answer":      &events.InquiryResponse{Answer: jsontext.Value(`"` + bad + `"`)},
		"summary":     &events.Compaction{Summary: new(bad)},
		"kind":        &events.Unknown{Type: bad},
		"block":       block(events.Block{Type: bad}),
		"MIME type":   block(events.Block{Type: "image", MIMEType: bad, Content: blobs.Loaded(nil)}),
		"link":        block(events.Block{Type: "resource_link", Resource: &events.Resource{URI: bad}}),
		"URI":         resource(events.Resource{URI: bad}),
		"description": resource(events.Resource{Description: bad}),
	} {
		e := events.NewElement(noon, ev, events.Metadata{})
		if err := events.New(e).Validate(); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s: error %v, element\n%s", name, err, e.Raw())
		}
		e.Canonical()
		e.Sum()
		changed := request("x").With(ev)
		if err := events.New(changed).Validate(); err == nil {
			t.Errorf("%s: changed to\n%s", name, changed.Raw())
		}
		s := events.New(e)
		s.Project()
		s.Sanitize()
		for range s.Contents() {
			t.Errorf("%s: a broken element has contents", name)
		}
		if n, err := s.Inline(memory{}); n != 0 || err != nil {
			t.Errorf("%s: inlined %d: %v", name, n, err)
		}
	}
	e := events.NewElement(noon, &events.Unknown{Type: "tool_call_request"}, events.Metadata{})
	if s := events.New(e); s.Validate() == nil || len(s.Calls()) != 1 {
		t.Error("a kind without what it needs can be saved")
	}
	binary := block(events.Block{Type: "text", Content: blobs.Loaded([]byte(bad))})
	if err := events.New(events.NewElement(noon, binary, events.Metadata{})).Validate(); err != nil {
		t.Errorf("bytes that are no text: %v", err)
	}
}

func TestValidateRefusesBadMetadata(t *testing.T) {
	var md events.Metadata
	for name, md := range map[string]events.Metadata{
		"text":  md.WithText("k", "\xff"),
		"key":   md.WithText("\xff", ""),
		"value": md.With("k", jsontext.Value(`{"a":`)),
		"null":  md.With("k", nil),
		"later": md.With("k", jsontext.Value(`x`)).WithText("l", ""),
	} {
		for how, e := range map[string]*events.Element{
			"new":     events.NewElement(noon, &events.TurnStart{}, md),
			"changed": request("x").WithMetadata(md),
			"both":    request("x").WithMetadata(md).WithTime(noon.Add(1)),
		} {
			if err := events.New(e).Validate(); err == nil {
				t.Errorf("%s, %s: saved as\n%s", name, how, e.Raw())
			}
		}
	}
	kept := md.WithText("k", "old").With("k", jsontext.Value(`x`))
	if v, _ := kept.Text("k"); v != "old" {
		t.Errorf("a value that is no JSON replaced the old one by %q", v)
	}
}

func TestValidateRefusesNoTime(t *testing.T) {
	var zero time.Time
	delta := &events.ConfigDelta{Delta: jsontext.Value(`{}`)}
	undated := decode(t, `[{"type":"config_delta","delta":{}},5]`)
	for name, e := range map[string]*events.Element{
		"event":                 events.NewElement(zero, &events.TurnStart{}, events.Metadata{}),
		"configuration":         events.NewElement(zero, delta, events.Metadata{}),
		"compaction":            events.NewElement(zero, &events.Compaction{}, events.Metadata{}),
		"unknown":               events.NewElement(zero, &events.Unknown{}, events.Metadata{}),
		"event without":         request("x").WithTime(zero),
		"configuration without": events.NewElement(noon, delta, events.Metadata{}).WithTime(zero),
		"from configuration":    undated.At(0).With(&events.TurnStart{}),
		"from a number":         undated.At(1).With(&events.TurnStart{}),
	} {
		if err := events.New(e).Validate(); err == nil || !strings.Contains(err.Error(), "time") {
			t.Errorf("%s: error %v, element\n%s", name, err, e.Raw())
		}
	}
	// An element that was read without a time stays without one.
	changed := undated.At(0).With(&events.ConfigDelta{Delta: jsontext.Value(`{"a":1}`)})
	if err := events.New(changed).Validate(); err != nil {
		t.Error(err)
	}
}

// The text of an element is copied into its bytes and out of them, and scanned nowhere else.
func TestNewElementAllocates(t *testing.T) {
	text := strings.Repeat("what a model says\n", 10_000)
	const runs = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		events.NewElement(time.Unix(0, 0), &events.ChatResponse{Text: text}, events.Metadata{})
	}
	runtime.ReadMemStats(&after)
	if n := int(after.TotalAlloc-before.TotalAlloc) / runs; n > 5*len(text) {
		t.Errorf("%d bytes are allocated for a text of %d", n, len(text))
	}
}
