package events_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

var noon = time.Date(2026, 5, 29, 12, 0, 0, 0, time.UTC)

func decode(tb testing.TB, text string) *events.Stream {
	tb.Helper()
	s, err := events.Decode([]byte(text))
	if err != nil {
		tb.Fatalf("decode: %v\n%s", err, text)
	}
	return s
}

const handFormatted = "\r\n[ {\"type\":\"chat_request\" , \"x\": 1.50,\r\n" +
	"  \"timestamp\":\"2026-01-01T00:00:00+02:00\",\"content\":\"a\\/b\"} ,\r\n\r\n" +
	"{\"type\":\"new\",\"timestamp\":0}\t]"

func request(text string) *events.Element {
	return events.NewElement(noon, &events.ChatRequest{Content: text}, events.Metadata{})
}

const written = `{
    "timestamp": "2026-05-29 12:00:00.0",
    "type": "chat_request",
    "content": "new"
  }`

func TestStreamEdits(t *testing.T) {
	first, second := handFormatted[3:strings.Index(handFormatted, " ,\r\n\r\n")],
		`{"type":"new","timestamp":0}`
	first = strings.TrimPrefix(first, " ")
	tests := []struct {
		name, in string
		edit     func(s *events.Stream)
		want     string
	}{
		{"append to hand-formatted", handFormatted, func(s *events.Stream) {
			s.Append(request("new"))
		}, "\r\n[ " + first + " ,\r\n\r\n" + second + ",\n  " + written + "\t]"},
		{"insert in hand-formatted", handFormatted, func(s *events.Stream) {
			s.Insert(1, request("new"))
		}, "\r\n[ " + first + " ,\n  " + written + ",\r\n\r\n" + second + "\t]"},
		{"insert first", handFormatted, func(s *events.Stream) {
			s.Insert(0, request("new"))
		}, "\r\n[\n  " + written + ", " + first + " ,\r\n\r\n" + second + "\t]"},
		{"remove first", handFormatted, func(s *events.Stream) {
			s.Remove(0, 1)
		}, "\r\n[\r\n\r\n" + second + "\t]"},
		{"remove last", handFormatted, func(s *events.Stream) {
			s.Remove(1, 1)
		}, "\r\n[ " + first + " \t]"},
		{"remove all", handFormatted, func(s *events.Stream) {
			s.Remove(0, 2)
		}, "\r\n[\t]"},
		{"append and remove again", "[ \n]", func(s *events.Stream) {
			s.Append(request("new"))
			s.Remove(0, 1)
		}, "[ \n]"},
		{"append to empty", "[]", func(s *events.Stream) {
			s.Append(request("new"))
		}, "[\n  " + written + "\n]"},
		{"append to one line", `[{"a":1}]`, func(s *events.Stream) {
			s.Append(request("new"))
		}, "[{\"a\":1},\n  " + written + "\n]"},
		{"append to canonical", "[\n  " + written + "\n]\n", func(s *events.Stream) {
			s.Append(request("new"), request("new"))
		}, "[\n  " + written + ",\n  " + written + ",\n  " + written + "\n]\n"},
		{"set in canonical", "[\n  {\n    \"a\": 1\n  }\n]\n", func(s *events.Stream) {
			s.Set(0, request("new"))
		}, "[\n  " + written + "\n]\n"},
		{"change one member", handFormatted, func(s *events.Stream) {
			s.Set(0, s.At(0).With(&events.ChatRequest{Content: "c"}))
		}, strings.Replace(handFormatted, `"a\/b"`, `"c"`, 1)},
		{"add a member", handFormatted, func(s *events.Stream) {
			s.Set(0, s.At(0).With(&events.ChatRequest{Content: "a/b", Author: "Ada"}))
		}, strings.Replace(handFormatted, `"a\/b"`, `"a\/b","author": "Ada"`, 1)},
		{"change the time", handFormatted, func(s *events.Stream) {
			s.Set(0, s.At(0).WithTime(noon))
		}, strings.Replace(handFormatted, `2026-01-01T00:00:00+02:00`, `2026-05-29 12:00:00.0`, 1)},
		{"change the kind", handFormatted, func(s *events.Stream) {
			s.Set(0, s.At(0).With(&events.ChatResponse{Text: "m"}))
		}, "\r\n[ {\"type\":\"chat_response\" , \"x\": 1.50,\r\n" +
			"  \"timestamp\":\"2026-01-01T00:00:00+02:00\",\"message\": \"m\"} ,\r\n\r\n" +
			second + "\t]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := decode(t, tt.in)
			clone := s.Clone()
			tt.edit(s)
			if got := string(s.Encode()); got != tt.want {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
			if err := events.Valid(s, events.DecodeOptions{}); err != nil {
				t.Error(err)
			}
			if got := string(clone.Encode()); got != tt.in {
				t.Errorf("the edit changed a clone:\n%q", got)
			}
		})
	}
}

func TestNewIsCanonical(t *testing.T) {
	var md events.Metadata
	md = md.WithText("sig", "x").With("n", jsontext.Value("1.50")).WithText("sig", "Eu4")
	hello := blobs.Loaded([]byte("hello\n"))
	summary := "S"
	s := events.New(
		events.NewElement(noon, &events.TurnStart{}, events.Metadata{}),
		events.NewElement(noon.Add(5e8), &events.ChatRequest{
			Content: "Read <b> & \"é\"\u2028", Author: "Ada",
			Schema: jsontext.Value(`{"type":"object"}`),
		}, md),
		events.NewElement(noon, &events.ChatResponse{Form: events.FormReasoning}, md.Without("n")),
		events.NewElement(noon, &events.ToolCallRequest{
			ID: "t", Name: "n", Arguments: jsontext.Value(`{"path":"a.txt","tags":["x",{},1E2]}`),
		}, events.Metadata{}),
		events.NewElement(noon, &events.ToolCallResponse{ID: "t", Blocks: []events.Block{
			{Type: events.BlockText, Content: blobs.Refer(hello.Ref())},
			{Type: events.BlockResource, Resource: &events.Resource{
				URI: "file:///a", MIMEType: "text/plain", Name: "a",
				Content: hello, Formatted: &hello,
			}},
		}}, events.Metadata{}),
		events.NewElement(noon, &events.ConfigDelta{Delta: jsontext.Value(`{"a":1}`)}, md),
		events.NewElement(noon, &events.Compaction{
			ToTurn: 2, Summary: &summary, StripReasoning: true,
			ToolCalls: &events.ToolCallPolicy{Request: true},
		}, md),
	)
	const want = `[
  {
    "timestamp": "2026-05-29 12:00:00.0",
    "type": "turn_start"
  },
  {
    "timestamp": "2026-05-29 12:00:00.5",
    "type": "chat_request",
    "content": "Read <b> & \"é\"` + "\u2028" + `",
    "schema": {
      "type": "object"
    },
    "author": "Ada",
    "metadata": {
      "sig": "RXU0",
      "n": 1.50
    }
  },
  {
    "timestamp": "2026-05-29 12:00:00.0",
    "type": "chat_response",
    "reasoning": "",
    "metadata": {
      "sig": "RXU0"
    }
  },
  {
    "timestamp": "2026-05-29 12:00:00.0",
    "type": "tool_call_request",
    "id": "t",
    "name": "n",
    "arguments": {
      "path": "YS50eHQ=",
      "tags": [
        "eA==",
        {},
        1E2
      ]
    }
  },
  {
    "timestamp": "2026-05-29 12:00:00.0",
    "type": "tool_call_response",
    "id": "t",
    "content": [
      {
        "type": "text",
        "content": {
          "$blob": "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
          "size": 6
        }
      },
      {
        "type": "resource",
        "resource": {
          "uri": "file:///a",
          "mimeType": "text/plain",
          "content": {
            "text": "hello\n"
          },
          "name": "a"
        },
        "formatted": {
          "text": "hello\n"
        }
      }
    ],
    "is_error": false
  },
  {
    "type": "config_delta",
    "timestamp": "2026-05-29 12:00:00.0",
    "delta": {
      "a": 1
    }
  },
  {
    "type": "compaction",
    "timestamp": "2026-05-29 12:00:00.0",
    "from_turn": 0,
    "to_turn": 2,
    "summary": {
      "summary": "S"
    },
    "reasoning": "strip",
    "tool_calls": {
      "policy": "strip",
      "request": true,
      "response": false
    }
  }
]
`
	if got := string(s.Encode()); got != want {
		t.Errorf("got\n%s", got)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	if got := string(events.New().Encode()); got != "[]\n" {
		t.Errorf("an empty stream is %q", got)
	}
}

// A changed block keeps the members that the codec does not know.
func TestBlockEditsKeepUnknownMembers(t *testing.T) {
	s := decode(t, `[{"type":"tool_call_response","timestamp":"2026-01-01 00:00:00.0","id":"a",
"is_error":false,"content":[{"type":"video","x":1e5},{"x":{"y":2.0},"type":"text","text":"old"},
{"type":"resource","resource":{"uri":"u","blob":"AAE=","z":[]},"formatted":"f"}]}]`)
	r := *s.At(0).Event().(*events.ToolCallResponse)
	r.Blocks = append([]events.Block(nil), r.Blocks...)
	r.Blocks[1].Content = blobs.Loaded([]byte("new"))
	res := *r.Blocks[2].Resource
	res.Content = blobs.Loaded([]byte("r"))
	r.Blocks[2].Resource = &res
	s.Set(0, s.At(0).With(&r))
	const want = `"content":[
      {
        "type": "video",
        "x": 1e5
      },
      {
        "x": {
          "y": 2.0
        },
        "type": "text",
        "content": {
          "text": "new"
        }
      },
      {
        "type": "resource",
        "resource": {
          "uri": "u",
          "content": {
            "text": "r"
          },
          "z": []
        },
        "formatted": "f"
      }
    ]}]`
	if got := string(s.Encode()); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

func TestFlattenedConfig(t *testing.T) {
	const text = `[{"type":"config_delta","timestamp":"2025-12-12 00:00:00.0",` +
		`"a":{"b":"c"},"l":[]}]`
	s := decode(t, text)
	d := s.At(0).Event().(*events.ConfigDelta)
	if !d.Flattened || string(d.Delta) != `{"a":{"b":"c"},"l":[]}` {
		t.Fatalf("got %+v", d)
	}
	s.Set(0, s.At(0).WithTime(noon))
	want := strings.Replace(text, "2025-12-12 00", "2026-05-29 12", 1)
	if got := string(s.Encode()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Set(0, s.At(0).With(&events.ConfigDelta{Delta: jsontext.Value(`{"a":1}`)}))
	got := string(s.Encode())
	if strings.Contains(got, `"l"`) || !strings.Contains(got, `"delta": {`) {
		t.Errorf("got %s", got)
	}
}

// Invalid values are written all the same, and refused before they are saved.
func TestValidateRefusesWhatDoesNotRead(t *testing.T) {
	source := jsontext.Value(`{"source":"user"}`)
	empty := events.Block{Type: events.BlockText}
	badBlock := events.Block{Raw: jsontext.Value("x")}
	deep := jsontext.Value(strings.Repeat("[", 130) + strings.Repeat("]", 130))
	for name, ev := range map[string]events.Event{
		"arguments are not JSON":    &events.ToolCallRequest{Arguments: jsontext.Value(`{"a":`)},
		"arguments are a list":      &events.ToolCallRequest{Arguments: jsontext.Value(`[]`)},
		"question without text":     &events.InquiryRequest{Source: source},
		"negative turn":             &events.Compaction{FromTurn: -1},
		"text without content":      &events.ToolCallResponse{Blocks: []events.Block{empty}},
		"deeper than jp reads":      &events.ChatResponse{Form: events.FormData, Data: deep},
		"raw of a block is no JSON": &events.ToolCallResponse{Blocks: []events.Block{badBlock}},
	} {
		s := events.New(events.NewElement(noon, ev, events.Metadata{}))
		if err := s.Validate(); err == nil && name != "raw of a block is no JSON" {
			t.Errorf("%s: saved as\n%s", name, s.Encode())
		}
		s.At(0).Canonical()
		s.At(0).With(ev).WithTime(noon).Sum()
		for range s.Contents() {
			t.Error("a broken element has contents")
		}
	}
}

func TestMetadata(t *testing.T) {
	s := decode(t, `[{"type":"turn_start","timestamp":"2026-01-01 00:00:00.0",
"metadata":{"a" : "Yg==", "l":["Yg==",{"Yg==":"Yg=="}], "plain":"not base64", "n":1.50}}]`)
	md := s.At(0).Metadata()
	if got := fmt.Sprint(md.Keys(), md.Len()); got != "[a l plain n] 4" {
		t.Error(got)
	}
	if v, ok := md.Value("l"); string(v) != `["b",{"Yg==":"b"}]` || !ok {
		t.Errorf("l is %s", v)
	}
	if v, ok := md.Text("plain"); v != "not base64" || !ok {
		t.Errorf("plain is %q", v)
	}
	if _, ok := md.Text("n"); ok {
		t.Error("n is a text")
	}
	if _, ok := md.Value("none"); ok {
		t.Error("there is none")
	}
	changed := md.Without("a").With("git_jp_x", jsontext.Value(`{"t":"s"}`))
	if got := fmt.Sprint(changed.Keys()); got != "[l plain n git_jp_x]" {
		t.Error(got)
	}
	s.Set(0, s.At(0).WithMetadata(changed))
	if got := string(s.Encode()); !strings.Contains(got, `"plain": "not base64",
      "n": 1.50,
      "git_jp_x": {
        "t": "cw=="
      }`) {
		t.Error(got)
	}
	s.Set(0, s.At(0).WithMetadata(events.Metadata{}))
	if got := string(s.Encode()); strings.Contains(got, "metadata") {
		t.Error(got)
	}
}

func TestStripped(t *testing.T) {
	var md events.Metadata
	md = md.WithStripped(events.Resource{URI: "u", Content: blobs.Loaded([]byte("x"))})
	md = md.WithStripped(events.Resource{
		MIMEType: "text/plain", URI: "v", Content: blobs.Loaded([]byte("gone")),
		Raw: jsontext.Value(`{"uri":"v","mimeType":"text/plain","text":"gone","x":1}`),
	})
	v, _ := md.Value("git_jp_stripped")
	const want = `[{"uri":"u"},{"uri":"v","mimeType":"text/plain","x":1}]`
	if got := string(v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	rs := md.Stripped()
	if len(rs) != 2 || rs[1].URI != "v" || !rs[1].Content.IsZero() {
		t.Errorf("got %+v", rs)
	}
}
