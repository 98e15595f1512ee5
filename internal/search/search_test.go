package search_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/search"
	"github.com/google/go-cmp/cmp"
)

// store is a reader with some blobs that counts its reads.
type store struct {
	known map[blobs.Hash]string
	reads int
}

func (s *store) Read(ref blobs.Ref) ([]byte, error) {
	s.reads++
	text, ok := s.known[ref.Hash]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func conversation(t *testing.T) (*events.Stream, *store) {
	t.Helper()
	result := "package main\n\nfunc openIndex() {}\n"
	ref := blobs.RefTo([]byte(result))
	b64 := base64.StdEncoding.EncodeToString
	src := fmt.Sprintf(`[
  {"timestamp":"2026-01-01 00:00:01.0","type":"turn_start"},
  {"timestamp":"2026-01-01 00:00:02.0","type":"chat_request","content":"Where do we open\nthe Index?"},
  {"timestamp":"2026-01-01 00:00:03.0","type":"chat_response","reasoning":"look for index"},
  {"timestamp":"2026-01-01 00:00:04.0","type":"tool_call_request","id":"a","name":"fs_read_file","arguments":{"path":%q}},
  {"timestamp":"2026-01-01 00:00:05.0","type":"tool_call_response","id":"a","content":[{"type":"text","content":{"$blob":%q,"size":%d}}],"is_error":false},
  {"timestamp":"2026-01-01 00:00:06.0","type":"tool_call_request","id":"b","name":"old","arguments":{}},
  {"timestamp":"2026-01-01 00:00:07.0","type":"tool_call_response","id":"b","content":%q,"is_error":false},
  {"timestamp":"2026-01-01 00:00:08.0","type":"chat_response","message":"In openIndex."}
]`, b64([]byte("index.go")), ref.Hash, ref.Size, b64([]byte("the old index")))
	s, err := events.Decode([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s, &store{known: map[blobs.Hash]string{ref.Hash: result}}
}

func find(t *testing.T, q search.Query) (found []string, reads int) {
	t.Helper()
	s, r := conversation(t)
	p, err := search.Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	hits, problems := p.Stream(s, r)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	for _, h := range hits {
		for _, l := range h.Lines {
			mark := "c"
			if l.Match {
				mark = "m"
			}
			found = append(found, fmt.Sprintf("%s:%s:%d:%s:%s", h.Scope, h.Where, l.Number, mark, l.Text))
		}
	}
	return found, r.reads
}

func TestFindsInBlobsAndBase64(t *testing.T) {
	found, _ := find(t, search.Query{Pattern: "index"})
	want := []string{
		"user::2:m:the Index?",
		"reasoning::1:m:look for index",
		`tool-call:fs_read_file:1:m:fs_read_file {"path":"index.go"}`,
		"tool-result:fs_read_file:3:m:func openIndex() {}",
		"tool-result:old:1:m:the old index",
		"assistant::1:m:In openIndex.",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// TestFindsWhatJSONEscapes checks that a text is found as the model wrote it.
func TestFindsWhatJSONEscapes(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	s, err := events.Decode([]byte(fmt.Sprintf(`[
  {"timestamp":"2026-01-01 00:00:01.0","type":"tool_call_request","id":"a","name":"run","arguments":{"command":%q,"n":1}},
  {"timestamp":"2026-01-01 00:00:02.0","type":"chat_response","data":{"say":"a \\ b\nsecond \u0022x\""}}
]`, b64([]byte("echo \"hello\" && \\\ncat 'x'")))))
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		`echo "hello"`: `tool-call:1:echo "hello" && \`,
		`cat 'x'`:      `tool-call:1:run {"command":"echo \"hello\" && \\\ncat 'x'","n":1}`,
		`second "x"`:   `structured:2:second "x"`,
		`a \ b`:        `structured:1:a \ b`,
	} {
		p, err := search.Compile(search.Query{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		hits, _ := p.Stream(s, &store{})
		got := ""
		for _, h := range hits {
			for _, l := range h.Lines {
				got += fmt.Sprintf("%s:%d:%s", h.Scope, l.Number, l.Text)
			}
		}
		if got != want {
			t.Errorf("%q finds %s, want %s", pattern, got, want)
		}
	}
}

func TestSmartCaseMindsUpperCase(t *testing.T) {
	found, _ := find(t, search.Query{Pattern: "Index?"})
	if diff := cmp.Diff([]string{"user::2:m:the Index?"}, found); diff != "" {
		t.Error(diff)
	}
}

func TestScopesKeepBlobsShut(t *testing.T) {
	found, reads := find(t, search.Query{
		Pattern: "index", Scopes: []search.Scope{search.Reasoning},
	})
	if diff := cmp.Diff([]string{"reasoning::1:m:look for index"}, found); diff != "" {
		t.Error(diff)
	}
	if reads != 0 {
		t.Errorf("%d contents were read for a scope that has none", reads)
	}
}

func TestContextLinesAreNotRepeated(t *testing.T) {
	found, _ := find(t, search.Query{Pattern: `package|open(Index\()`, Regexp: true, Context: 2})
	want := []string{
		"tool-result:fs_read_file:1:m:package main",
		"tool-result:fs_read_file:2:c:",
		"tool-result:fs_read_file:3:m:func openIndex() {}",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

func TestMissingContentIsReportedAndTheRestSearched(t *testing.T) {
	s, _ := conversation(t)
	p, err := search.Compile(search.Query{Pattern: "index"})
	if err != nil {
		t.Fatal(err)
	}
	hits, problems := p.Stream(s, &store{})
	if len(hits) != 5 {
		t.Errorf("got %d hits, want the 5 that need no blob", len(hits))
	}
	if len(problems) != 1 || !errors.Is(problems[0], fs.ErrNotExist) || problems[0].Turn != 0 {
		t.Errorf("problems = %v, want the missing blob of turn 1", problems)
	}
}

func TestCompileRefusesWhatCannotMatch(t *testing.T) {
	for _, q := range []search.Query{{}, {Pattern: "(", Regexp: true}} {
		if _, err := search.Compile(q); err == nil {
			t.Errorf("Compile(%+v) succeeded", q)
		}
	}
}

func TestCompileSaysWhatIsWrongWithThePattern(t *testing.T) {
	_, err := search.Compile(search.Query{Pattern: "a(", Regexp: true})
	const want = `compile pattern "a(": missing closing )`
	if err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}
