package events_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"pgregory.net/rapid"
)

// skims checks the result of Skim for a stream, and returns whether it has one.
func skims(tb rapid.TB, data []byte) bool {
	tb.Helper()
	found, ok := events.Skim(data)
	if !ok {
		if found != nil {
			tb.Fatalf("%q: %+v of what was not skimmed", data, found)
		}
		return false
	}
	s, err := events.DecodeWith(data, events.DecodeOptions{MaxBlobBytes: -1})
	if err != nil {
		tb.Fatalf("%q: skimmed, and does not decode: %v", data, err)
	}
	if want := s.References(); !slices.Equal(found, want) {
		tb.Fatalf("%q: skimmed %+v, decoded %+v", data, found, want)
	}
	loose, err := events.ReferencesWith(data, events.ReferencesOptions{
		DecodeOptions: events.DecodeOptions{MaxBlobBytes: -1}, Duplicates: true,
	})
	if err != nil || !slices.Equal(found, loose) {
		tb.Fatalf("%q: skimmed %+v, searched %+v, %v", data, found, loose, err)
	}
	for i, e := range s.All() {
		if err := e.Loadable(); err != nil || e.Kind() == "" {
			tb.Fatalf("%q: element %d of kind %q: %v", data, i, e.Kind(), err)
		}
	}
	if in, _ := s.Incomplete(); len(in.Calls) > 0 {
		tb.Fatalf("%q: skimmed, with open calls %+v", data, in.Calls)
	}
	return true
}

// usual returns a stream with everything that Skim accepts.
func usual() string {
	ref := func(n int) string {
		return fmt.Sprintf(`{"$blob":"%s","size":6}`, blobs.Sum(fmt.Append(nil, n)))
	}
	return ` [{"type":"config_delta",` + head + `,"delta":{"a":[1.5,-0,"é\u0041\n",{"b":null}]}},
{"type":"turn_start",` + head + `},
{"type":"chat_request",` + head + `,"content":"q\u0000","author":"a","schema":{},
 "metadata":{"a":"YQ=="},"resources":[{"uri":"u","content":` + ref(1) + `},{"uri":"v","text":""},
 {"uri":"w","mimeType":"a/b","annotations":{}}]},
{"type":"chat_response",` + head + `,"reasoning":"r"},
{"type":"tool_call_request",` + head + `,"id":"a","name":"cat","arguments":{"path":"eA=="}},
{"type":"tool_call_request",` + head + `,"id":"b","name":"ls"},
{"type":"tool_call_request",` + head + `,"id":"a","name":"dog"},
{"type":"tool_call_response",` + head + `,"id":"b","content":"eA==","is_error":true},
{"type":"tool_call_response",` + head + `,"id":"a","is_error":false,"content":[
 {"type":"text","content":` + ref(2) + `},{"type":"text","text":"t"},{"type":"resource",
 "resource":{"uri":"x","content":` + ref(3) + `}},{"type":"text","content":{"text":"t","size":9}}]},
{"type":"tool_call_response",` + head + `,"id":"a","is_error":false,"content":[
 {"type":"text","content":` + ref(2) + `}]},
{"type":"inquiry_request",` + head + `,"id":"i","source":{"name":"n","source":"user"},
 "question":{"text":"q","answer_type":{"type":"boolean"},"default":null}},
{"type":"inquiry_response",` + head + `,"id":"i","answer":true},
{"type":"tool_call_response",` + head + `,"id":"of none","is_error":false,"content":[
 {"type":"text","content":` + ref(4) + `}]},
{"type":"chat_response",` + head + `,"data":[true,false]},
{"type":"chat_response",` + head + `,"message":"m"}
] `
}

func TestSkimKnowsWhatIsUsual(t *testing.T) {
	for _, in := range []string{"[]", usual(), result(`"aGVsbG8K"`)} {
		if !skims(t, []byte(in)) {
			t.Errorf("not skimmed: %s", in)
		}
	}
}

// TestSkimLeavesWhatIsUnusual adds something unusual to a usual stream, or replaces a part of it.
func TestSkimLeavesWhatIsUnusual(t *testing.T) {
	ref := `{"$blob":"` + hash + `","size":6}`
	for _, change := range [][2]string{
		{`"r"`, `"r","more":` + ref},
		{`"r"`, `"$blob"`},
		{`"author"`, `"\u0061uthor"`},
		{`"id":"b","name"`, `"id":"b","id":"b","name"`},
		{`"size":9`, `"size":9,"other":1`},
		{`"name":"ls"`, `"name":5`},
		{`"q\u0000"`, `[]`},
		{`"q\u0000"`, "\"\xff\""},
		{`"q\u0000"`, `"\ud800"`},
		{`"q\u0000"`, `"\x"`},
		{`"q\u0000"`, "\"\t\""},
		{`"q\u0000"`, `"`},
		{`-0`, `-`},
		{`-0`, `01`},
		{`-0`, `1.`},
		{`-0`, `1e5`},
		{`-0`, strings.Repeat("9", 400)},
		{`-0`, strings.Repeat("[", 200) + strings.Repeat("]", 200)},
		{`null`, `nul`},
		{`] `, `]]`},
		{`] `, `,] `},
		{`-0`, `-0 0`},
		{`"author":"a"`, `"author" "a"`},
		{`{"b":null}`, `{"b":null,}`},
		{`"turn_start"`, `"turn_start","id":"a"`},
		{`"message":"m"`, `"message":5`},
		{`"of none","is_error":false`, `"of none"`},
		{`[true`, `[tru`},
		{`{"uri":"w",`, `{`},
		{`"chat_response",` + head + `,"data"`, `"future",` + head + `,"data"`},
		{head + `,"id":"b","name"`, `"id":"b","name"`},
		{`"is_error":true`, `"is_error":0`},
		{`"is_error":true`, `"is_error":null`},
		{`"metadata":{"a":"YQ=="}`, `"metadata":[]`},
		{`{"type":"text","text":"t"}`, `{"type":"image","data":"AA=="}`},
		{`{"type":"text","text":"t"}`, `{"text":"t","type":"text"}`},
		{`{"type":"text","text":"t"}`, `{"type":"text","text":"t","content":{"text":"u"}}`},
		{`{"type":"text","text":"t"}`, `{"type":"text"}`},
		{`{"type":"text","text":"t"}`, `"t"`},
		{`{"type":"text","text":"t"}`, `{"type":"resource","resource":{"uri":"u"},"formatted":"f"}`},
		{`"answer":true`, `"no":true`},
		{`"source":"user"`, `"no":"user"`},
		{`"text":"q"`, `"no":""`},
		{`{"type":"boolean"}`, `"boolean"`},
		{`{"type":"boolean"}`, `{"type":true}`},
		{`"id":"b","content"`, `"id":"c","content"`},
		{`{"uri":"v","text":""}`, `{"uri":"v","blob":""}`},
	} {
		in := strings.Replace(usual(), change[0], change[1], 1)
		if in == usual() || skims(t, []byte(in)) {
			t.Errorf("%s in place of %s: it was skimmed", change[1], change[0])
		}
	}
}

func TestSkimAgreesWithDecoding(t *testing.T) {
	skimmed, all := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		data := []byte(rapid.SampledFrom(append(seeds(), usual())).Draw(rt, "base"))
		for range rapid.IntRange(0, 3).Draw(rt, "edits") {
			if len(data) > 0 {
				from := rapid.IntRange(0, len(data)-1).Draw(rt, "from")
				at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
				n := rapid.IntRange(1, 40).Draw(rt, "n")
				part := slices.Clone(data[from:min(from+n, len(data))])
				data = slices.Replace(data, at, min(at+n, len(data)), part...)
			}
		}
		all++
		if skims(rt, data) {
			skimmed++
		}
	})
	property(t, false, func(g generator) {
		text, _ := g.stream()
		skims(g, []byte(text))
	})
	if skimmed == 0 || skimmed == all {
		t.Errorf("%d of %d streams were skimmed", skimmed, all)
	}
}

func FuzzSkim(f *testing.F) {
	for _, s := range append(seeds(), usual()) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { skims(t, data) })
}

func TestRealStreamsAreSkimmed(t *testing.T) {
	for path, data := range realFiles(t, "events.json") {
		s := decode(t, string(data))
		if _, err := s.Externalize(memory{}, events.ExternalizeOptions{Legacy: true}); err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{data, s.Encode()} {
			if !skims(t, in) {
				t.Errorf("%s: not skimmed", path)
			}
		}
	}
}

// TestSkimmingAllocates counts the allocations for a call and its result beyond those for a stream:
// the id and the name of the tool.
func TestSkimmingAllocates(t *testing.T) {
	allocations := func(calls int) float64 {
		var b strings.Builder
		for i := range calls {
			fmt.Fprintf(&b, `%s{"type":"tool_call_request",%s,"id":"call %d","name":"cat","arguments":{}},
{"type":"tool_call_response",%s,"id":"call %d","is_error":false,"content":[{"type":"text",
"content":{"$blob":"%s","size":6}}]}`, strings.Repeat(",", min(i, 1)), head, i, head, i, hash)
		}
		data := []byte("[" + b.String() + "]")
		return testing.AllocsPerRun(5, func() {
			if _, ok := events.Skim(data); !ok {
				t.Fatal("not skimmed")
			}
		})
	}
	const most = 2.1
	if each := (allocations(600) - allocations(200)) / 400; each > most {
		t.Errorf("%v allocations for each call, want at most %v", each, most)
	}
}
