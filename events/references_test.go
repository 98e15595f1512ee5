package events_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

func found(refs []events.RefAt) string {
	var s []string
	for _, r := range refs {
		line := fmt.Sprintf("%d %d %s %s%s%s %s %d", r.Element, r.Turn, r.Ref.Hash.String()[:4],
			r.Call, r.Tool, r.Part, r.URI, r.Ref.Size)
		if r.Loose {
			line += " loose"
		}
		s = append(s, line)
	}
	return strings.Join(s, "\n")
}

func TestReferences(t *testing.T) {
	ref := `{"$blob":"` + hash + `","size":6}`
	escaped := `{"\u0073ize":6,"\u0024bl\u006fb":"\u0035` + hash[1:] + `"}`
	in := `[{"type":"future","x":[` + ref + `]},
{"type":"chat_request",` + head + `,"content":"",
 "resources":[{"content":` + ref + `,"uri":"u"}],"more":{"a":` + ref + `}},
{"type":"tool_call_request",` + head + `,"id":"a","name":"cat","arguments":` + ref + `},
{"content":[{"content":` + escaped + `,"\u0074ype":"text"},
 {"type":"video","content":` + ref + `}],"is_error":false,
 "type":"tool_call_resp\u006fnse",` + head + `,"id":"a"},
{"type":"chat_response",` + head + `,"data":{"$blob":"` + hash + `"}},
{"type":"chat_response",` + head + `,"data":{"$blob":"nonsense","size":-1}},
{"type":"chat_response",` + head + `,"message":"{\"$blob\":\"` + hash + `\"}"},
{"type":"tool_call_response",` + head + `,"id":"z","content":"JGJsb2I=","is_error":false}]`
	const want = `0 0 5891   6 loose
1 0 5891 attachment u 6
1 0 5891   6 loose
2 0 5891   6 loose
3 0 5891 acattext  6
3 0 5891 acat  6 loose
4 0 5891   -1 loose`
	refs, err := events.References([]byte(in))
	if got := found(refs); err != nil || got != want {
		t.Errorf("got\n%s\n%v", got, err)
	}
	if got := found(decode(t, in).References()); got != want {
		t.Errorf("of the decoded stream:\n%s", got)
	}
}

// TestReferencesOfAStream: a decoded stream has the same references as its bytes, even if metadata
// of the inline form has other references beside its content.
func TestReferencesOfAStream(t *testing.T) {
	ref := `"$blob":"` + hash + `","size":6`
	resources := `"git_jp_resources":[{"uri":"u","text":"eA=="}]`
	for name, in := range map[string]string{
		"empty":        `[]`,
		"before turns": `[{"type":"future","x":{` + ref + `}},3,[{` + ref + `}]]`,
		"metadata": `[{"type":"chat_request",` + head + `,"content":"",
			"metadata":{` + ref + `,` + resources + `}}]`,
		"metadata of a result": `[ {"type":"tool_call_response",` + head + `,"id":"a","is_error":false,
			"content":"eA==","metadata":{"git_jp_blocks":[{"type":"text","text":"eA=="}],` + ref + `}} ]`,
	} {
		want, err := events.References([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		s, err := events.Decode([]byte(in))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := s.References(); found(got) != found(want) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, found(got), found(want))
		}
	}
}

// TestEveryReferenceIsFound combines references in places that the format defines with loose ones
// in every way: none hides another.
func TestEveryReferenceIsFound(t *testing.T) {
	ref := func(n int) string {
		return fmt.Sprintf(`{"$blob":"%s","size":6}`, blobs.Sum(fmt.Append(nil, n)))
	}
	blocks := []string{
		`{"type":"text","content":` + ref(1) + `}`,
		`{"type":"image","mimeType":"a/b","content":` + ref(2) + `}`,
		`{"type":"resource","resource":{"uri":"u","content":` + ref(3) + `},"formatted":` + ref(4) + `}`,
		`{"type":"video","content":` + ref(5) + `}`,
		`{"type":"text","text":"$blob","more":[` + ref(6) + `]}`,
		`{"type":"text","content":{"\u0024blob":"` + hash + `","size":6}}`,
	}
	for set := range 1 << len(blocks) {
		var chosen []string
		for i, b := range blocks {
			if set>>i&1 == 1 {
				chosen = append(chosen, b)
			}
		}
		for _, beside := range []string{"", `,"beside":` + ref(7)} {
			in := `[{"type":"tool_call_response",` + head + `,"id":"a","is_error":false,"content":[` +
				strings.Join(chosen, ",") + `]` + beside + `}]`
			refs, err := events.References([]byte(in))
			want := strings.Count(in, `blob":"`)
			if err != nil || len(refs) != want {
				t.Errorf("%s: %d references, want %d: %v", in, len(refs), want, err)
			}
		}
	}
}

func TestReferencesRefuse(t *testing.T) {
	for name, in := range map[string]string{
		"empty":          "",
		"blank":          " \n",
		"two values":     "[] []",
		"object":         "{}",
		"truncated":      `[{"a":`,
		"duplicate name": `[{"a":1,"a":2}]`,
		"bad digest":     Text(`"content":{"$blob":"x","size":1}`),
		"negative size":  Text(`"content":{"$blob":"` + hash + `","size":-1}`),
		"two forms":      Text(`"content":{"$blob":"` + hash + `","size":1,"text":"a"}`),
		"merge conflict": "[\n<<<<<<< a\n]",
	} {
		if refs, err := events.References([]byte(in)); err == nil {
			t.Errorf("%s: no error, %d references", name, len(refs))
		}
		o := events.ReferencesOptions{Duplicates: true}
		_, err := events.ReferencesWith([]byte(in), o)
		if (err == nil) != (name == "duplicate name") {
			t.Errorf("%s, with duplicates allowed: %v", name, err)
		}
	}
}

// It is undefined which of two equal names counts, so garbage collection respects both.
func TestDuplicateNamesAreAllCollected(t *testing.T) {
	other := blobs.Sum([]byte("other")).String()
	in := []byte(`[{"type":"turn_start",` + head + `},
{"type":"tool_call_response",` + head + `,"id":"a","is_error":false,
"content":[{"type":"text","content":{"$blob":"` + hash + `","$blob":"` + other + `","size":1}}],
"content":[{"type":"text","content":{"$blob":"` + hash + `","size":2}}]}]`)
	if _, err := events.References(in); err == nil {
		t.Error("strict reading takes duplicate names")
	}
	refs, err := events.ReferencesWith(in, events.ReferencesOptions{Duplicates: true})
	want := "1 0 5891 a  1 loose\n1 0 " + other[:4] + " a  1 loose\n1 0 5891 a  2 loose"
	if got := found(refs); err != nil || got != want {
		t.Errorf("got\n%s\n%v", got, err)
	}
}

func TestRealReferences(t *testing.T) {
	for path, data := range realFiles(t, "events.json") {
		if refs, err := events.References(data); err != nil || len(refs) != 0 {
			t.Errorf("%s: %d references: %v", path, len(refs), err)
		}
		store := memory{}
		s := decode(t, string(data))
		before := s.Clone()
		n, err := s.Externalize(store, events.ExternalizeOptions{Legacy: true})
		if err != nil {
			t.Fatal(err)
		}
		refs, err := events.References(s.Encode())
		if err != nil || len(refs) != n {
			t.Errorf("%s: %d references, want %d: %v", path, len(refs), n, err)
		}
		for _, r := range refs {
			if _, err := store.Read(r.Ref); err != nil || r.Loose || r.Tool == "" {
				t.Errorf("%s: %+v: %v", path, r, err)
			}
		}
		for i, e := range before.All() {
			if !events.Equal(e, s.At(i)) {
				t.Errorf("%s: element %d changed", path, i)
			}
		}
		if _, err := s.Inline(store); err != nil {
			t.Fatal(err)
		}
		same := string(s.Encode()) == string(data)
		if urlSafe := strings.HasPrefix(path, "17671120783"); same == urlSafe {
			t.Errorf("%s: there and back gives the same bytes: %t", path, same)
		}
	}
}

// TestDecodingAllocates counts the allocations for decoding a call and its result beyond those for
// an empty stream: two elements and two events, their texts, the blocks, and the slots of their
// content.
func TestDecodingAllocates(t *testing.T) {
	allocations := func(calls int) float64 {
		var b strings.Builder
		for i := range calls {
			fmt.Fprintf(&b, `%s{"type":"tool_call_request",%s,"id":"call %d",
"name":"cat","arguments":{}},
{"type":"tool_call_response",%s,"id":"call %d","is_error":false,"content":[{"type":"text",
"content":{"$blob":"%s","size":6}}]}`, strings.Repeat(",", min(i, 1)), head, i, head, i, hash)
		}
		data := []byte("[" + b.String() + "]")
		return testing.AllocsPerRun(5, func() {
			if _, err := events.Decode(data); err != nil {
				t.Fatal(err)
			}
		})
	}
	const most = 12
	if each := (allocations(600) - allocations(200)) / 400; each > most {
		t.Errorf("%v allocations for each call, want at most %d", each, most)
	}
}
