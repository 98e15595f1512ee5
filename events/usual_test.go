package events

import (
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestPropertyUsualEvents verifies that no element of an event that cannot be written passes for
// usual JSON, wherever its text or JSON is wrong.
func TestPropertyUsualEvents(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "said", "é\n\"", "\x00", "\xff", "a\xed\xa0\x80"})
	values := rapid.SampledFrom([]string{
		`{}`, `{"a":["\u0041",-0.5]}`, `{"a":1e400}`, `{"a":1,"a":2}`, `{"a":`, "{\"a\":\"\xff\"}", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := func() string { return texts.Draw(t, "text") }
		value := func() jsontext.Value { return jsontext.Value(values.Draw(t, "value")) }
		block := Block{
			Type: BlockType(text()), MIMEType: text(), Content: blobs.Loaded([]byte(text())),
		}
		if rapid.Bool().Draw(t, "resource") {
			block.Type, block.Resource = BlockResource, &Resource{
				URI: text(), MIMEType: text(), Name: text(), Title: text(), Description: text(),
				Content: blobs.Loaded([]byte(text())),
			}
			if rapid.Bool().Draw(t, "annotated") {
				block.Resource.Annotations = value()
			}
		}
		for _, ev := range []Event{
			&ChatRequest{Content: text(), Author: text()},
			&ChatRequest{Schema: value()},
			&ChatResponse{Form: FormReasoning, Text: text()},
			&ChatResponse{Form: FormData, Data: value()},
			&ToolCallRequest{ID: text(), Name: text(), Arguments: value()},
			&ToolCallResponse{ID: text(), Blocks: []Block{block}},
		} {
			md := Metadata{}.WithText("k", text())
			raw := NewElement(time.Unix(5, 0), ev, md).Raw()
			if md.err == nil && writesUsual(ev, md) && !jsonspan.IsUsual(raw) {
				t.Errorf("%#v is not usual: %s", ev, raw)
			}
		}
	})
}

// TestUsualEventsAreFound verifies that a usual event is not read once more.
func TestUsualEventsAreFound(t *testing.T) {
	for _, ev := range []Event{
		&ChatRequest{Content: "a"}, &ChatResponse{Text: "a"},
		&ToolCallRequest{ID: "a", Arguments: jsontext.Value(`{"a":1}`)},
		&ToolCallResponse{ID: "a", Blocks: []Block{{
			Type: BlockResource, Resource: &Resource{URI: "a", Content: blobs.Loaded([]byte("\xff"))},
		}}},
	} {
		if !writesUsual(ev, Metadata{}.WithText(MetadataSource, "a")) {
			t.Errorf("%T is not usual", ev)
		}
	}
}
