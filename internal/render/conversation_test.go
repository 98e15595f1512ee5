package render

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

var update = flag.Bool("update", false, "write the golden files")

// A memory is a store that counts the blobs that are opened.
type memory struct {
	blobs map[blobs.Hash][]byte
	bad   map[blobs.Hash]error
	opens int
}

func (m *memory) put(content string) string {
	ref := blobs.RefTo([]byte(content))
	m.blobs[ref.Hash] = []byte(content)
	return fmt.Sprintf(`{"$blob":"%s","size":%d}`, ref.Hash, ref.Size)
}

func (m *memory) Read(ref blobs.Ref) ([]byte, error) {
	m.opens++
	if err := m.bad[ref.Hash]; err != nil {
		return nil, err
	}
	data, ok := m.blobs[ref.Hash]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: ref.Hash.Path(), Err: fs.ErrNotExist}
	}
	return data, nil
}

func newMemory() *memory {
	return &memory{blobs: map[blobs.Hash][]byte{}, bad: map[blobs.Hash]error{}}
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func decode(t testing.TB, elements ...string) *events.Stream {
	t.Helper()
	s, err := events.Decode([]byte("[" + strings.Join(elements, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample has an event of every kind, in three turns.
func sample(t testing.TB) (Conversation, *memory) {
	m := newMemory()
	missing := blobs.Ref{Hash: blobs.Sum([]byte("missing")), Size: 12345}
	corrupt := blobs.RefTo([]byte("corrupt"))
	m.bad[corrupt.Hash] = &blobs.CorruptError{
		Hash: corrupt.Hash, Reason: "its content has another hash",
	}
	byRef := func(r blobs.Ref) string {
		return fmt.Sprintf(`{"type":"text","content":{"$blob":"%s","size":%d}}`, r.Hash, r.Size)
	}
	long := strings.Repeat("a line of the result\n", 40)
	at := func(minute int, rest string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-02 03:%02d:00.0",%s}`, minute, rest)
	}
	delta := func(minute int, delta string) string {
		return at(minute, `"type":"config_delta","delta":`+delta)
	}
	result := func(minute int, id string, isError bool, blocks ...string) string {
		return at(minute, fmt.Sprintf(`"type":"tool_call_response","id":%q,"content":[%s],`+
			`"is_error":%v`, id, strings.Join(blocks, ","), isError))
	}
	c := Conversation{
		ID: 17838000000, Title: "A *title*: with \"marks\"", Contents: m, Root: "/home/ada/proj",
		Base: []byte(`{"assistant":{"model":{"id":{"provider":"anthropic","name":"sonnet"}}}}`),
	}
	c.Stream = decode(t,
		at(0, `"type":"turn_start"`),
		at(0, `"type":"chat_request","content":"Read **main.rs**, please.\n\n- now",`+
			`"author":"Ada","resources":[{"uri":"file:///$WORKSPACE/src/a.rs",`+
			`"mimeType":"text/x-rust","content":`+m.put("attached")+`}]`),
		at(1, `"type":"chat_response","reasoning":"The user wants\n\n1. a file"`),
		at(1, `"type":"tool_call_request","id":"t1","name":"fs_read","arguments":{"path":"`+
			b64("src/main.rs")+`","n":1}`),
		at(2, `"type":"tool_call_request","id":"t2","name":"run","arguments":{}`),
		result(3, "t1", false, `{"type":"text","content":`+m.put("Here:")+`}`,
			`{"type":"resource","resource":{"uri":"file:///$WORKSPACE/src/main.rs","content":`+
				m.put("raw")+`},"formatted":`+m.put("```rs\n"+long+"```\n")+`}`),
		result(3, "t2", true, byRef(missing), byRef(corrupt)),
		at(4, `"type":"chat_response",`+
			`"message":"It is *fine*.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"`),
		delta(5, `{"assistant":{"model":{"id":{"name":"opus"}}},"style":{"a":1,"b":2,"c":3}}`),
		at(6, `"type":"turn_start"`),
		at(6, `"type":"chat_request","content":"Give me data","schema":{"type":"object"}`),
		at(6, `"type":"inquiry_request","id":"t.q","source":{"source":"user"},`+
			`"question":{"text":"Sure?","answer_type":{"type":"boolean"}}`),
		at(6, `"type":"inquiry_response","id":"t.q","answer":true`),
		at(7, `"type":"chat_response","data":{"ok":true,"list":[1,2]}`),
		`{"type":"compaction","timestamp":"2026-01-02 03:08:00.0","from_turn":0,"to_turn":0,`+
			`"summary":{"summary":"They *read* a file."},"reasoning":"strip",`+
			`"tool_calls":{"policy":"strip","request":true,"response":true}}`,
		`{"type":"future","timestamp":"2026-01-02 03:08:00.0","x":1}`,
		at(9, `"type":"turn_start"`),
		at(9, `"type":"chat_request","content":"`+strings.Repeat("long ", 30)+`"`),
		at(9, `"type":"tool_call_request","id":"t1","name":"image","arguments":{"prompt":"`+
			b64(strings.Repeat("very ", 40))+`"}`),
		result(9, "t1", false,
			`{"type":"image","mimeType":"image/png","content":`+m.put("\x89PNG\x00")+`}`,
			`{"type":"text","content":`+m.put("\x00\x01")+`}`,
			`{"type":"question","text":"Which?"}`),
	)
	return c, m
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), or run with -update\n%s", name, diff)
	}
}

func render(t testing.TB, c Conversation, o Options) (string, []Problem) {
	t.Helper()
	var b strings.Builder
	problems, err := c.Render(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), problems
}

var (
	terminal = Output{Terminal: true, Width: 60}
	noon     = time.Date(2026, 1, 4, 12, 0, 0, 0, time.UTC)
)

func TestRender(t *testing.T) {
	tests := []struct {
		name    string
		options Options
	}{
		{"terminal.txt", Options{Output: terminal, Now: noon}},
		{"colour.txt", Options{Output: Output{Terminal: true, Width: 60, Color: true}}},
		{"whole.txt", Options{Output: terminal, Full: true}},
		{"plain.txt", Options{}},
		{"brief.txt", Options{Output: terminal, Style: StyleBrief}},
		{"chat.txt", Options{Style: StyleChat}},
		{"user.txt", Options{Style: StyleUser}},
		{"lines.jsonl", Options{Format: FormatJSONLines}},
		{"document.json", Options{Format: FormatJSON}},
		{"export.md", Options{Format: FormatMarkdown}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, m := sample(t)
			got, problems := render(t, c, tt.options)
			golden(t, tt.name, got)
			if tt.options.Style == StyleFull {
				wantProblems(t, problems)
			} else if m.opens > 0 || len(problems) > 0 {
				t.Errorf("style %d opened %d contents", tt.options.Style, m.opens)
			}
		})
	}
}

func wantProblems(t *testing.T, problems []Problem) {
	t.Helper()
	if len(problems) != 2 {
		t.Fatalf("problems: %v", problems)
	}
	p := problems[0]
	if p.Turn != 1 || p.Call != "t2" || p.Tool != "run" || p.Ref.Size != 12345 ||
		!errors.Is(p, fs.ErrNotExist) {
		t.Errorf("problem %+v", p)
	}
	if corrupt := new(blobs.CorruptError); !errors.As(problems[1], &corrupt) {
		t.Errorf("problem %+v", problems[1])
	}
}

var (
	_ = json.Valid
	_ = rapid.Check
)

func TestRange(t *testing.T) {
	c, m := sample(t)
	tests := []struct{ first, last, from, to int }{
		{0, 0, 1, 3}, {2, 2, 2, 2}, {2, 0, 2, 3}, {0, 1, 1, 1}, {4, 0, 0, 0},
	}
	for _, tt := range tests {
		m.opens = 0
		out, _ := render(t, c, Options{First: tt.first, Last: tt.last})
		for turn := 1; turn <= 3; turn++ {
			want := turn >= tt.from && turn <= tt.to
			if got := strings.Contains(out, fmt.Sprintf("== turn %d,", turn)); got != want {
				t.Errorf("%d..%d shows turn %d: %v", tt.first, tt.last, turn, got)
			}
		}
		if tt.from == 2 && tt.to == 2 && m.opens > 0 {
			t.Errorf("turn 2 opened %d contents, it has none", m.opens)
		}
	}
}

// In a projection turns keep the numbers of the stored stream.
func TestProjection(t *testing.T) {
	c, _ := sample(t)
	projection := c.Stream.Project()
	c.Stream, c.Origins = projection.Stream, projection.Origins
	out, problems := render(t, c, Options{Output: terminal})
	for _, want := range []string{
		"== turn 1, summary, ", "They *read* a file.", "== turn 2,", "== turn 3,",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if len(problems) > 0 {
		t.Errorf("problems of what was summarised: %v", problems)
	}
	c.Origins = []events.Origin{
		{From: 2, To: 8, Summary: true}, {From: 9, To: 9}, {From: 10, To: 10},
	}
	out, _ = render(t, c, Options{Output: terminal, First: 5, Last: 10})
	if !strings.Contains(out, "== turns 3–9, summary") || !strings.Contains(out, "== turn 10") ||
		strings.Contains(out, "== turn 11") {
		t.Errorf("turns 5 to 10 are\n%s", out)
	}
}

func TestLineEndsOfWindowsInResults(t *testing.T) {
	m := newMemory()
	c := Conversation{ID: 1, Contents: m, Stream: decode(t,
		`{"timestamp":"2026-01-02 03:00:00.0","type":"tool_call_response","id":"t",`+
			`"is_error":false,"content":[{"type":"text","content":`+m.put("a\r\nb\rc\r\n")+`}]}`)}
	shown, _ := render(t, c, Options{Output: terminal})
	if want := "│ a\n│ b\\x0dc\n"; !strings.HasSuffix(shown, want) {
		t.Errorf("a terminal is given %q, want %q at the end", shown, want)
	}
	plain, _ := render(t, c, Options{})
	if want := "a\r\nb\rc\r\n"; !strings.HasSuffix(plain, want) {
		t.Errorf("a file is given %q, want %q at the end", plain, want)
	}
}

// TestNothingIsLeftOutOfQuestionsAndResources has the answers that were offered, and the titles, on
// one line, without marks in Markdown.
func TestNothingIsLeftOutOfQuestionsAndResources(t *testing.T) {
	m := newMemory()
	c := Conversation{ID: 1, Contents: m, Stream: decode(t,
		`{"timestamp":"2026-01-02 03:00:00.0","type":"tool_call_response","id":"t","is_error":false,"content":[`+
			`{"type":"resource","resource":{"uri":"test://r","title":"The <b>\n@ada","mimeType":"a/<b>","text":"cg=="}},`+
			`{"type":"resource_link","uri":"test://l","name":"A name"},`+
			`{"type":"resource_link","uri":"test://same","name":"same"}]}`,
		`{"timestamp":"2026-01-02 03:00:00.0","type":"inquiry_request","id":"t.q","source":{"source":"tool","name":"x"},`+
			`"question":{"text":"Which?","answer_type":{"type":"select","options":["a",{"value":"b"},`+
			`{"value":"c","description":"the rest"}]}}}`)}
	text, _ := render(t, c, Options{})
	markdown, _ := render(t, c, Options{Format: FormatMarkdown})
	for _, want := range []string{
		"test://r (The <b> @ada, ", "test://l (A name)", "test://same\n", "Which? [a, b, c: the rest]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the text:\n%s", want, text)
		}
	}
	if !strings.Contains(markdown, "`test://r` (The") || strings.Contains(markdown, "(The <b>") ||
		strings.Contains(markdown, "a/<b>") {
		t.Errorf("Markdown:\n%s", markdown)
	}
	lines, _ := render(t, c, Options{Format: FormatJSON})
	for _, want := range []string{`"title":"The <b> @ada"`, `"uri":"test://same"}`} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q is not in the JSON:\n%s", want, lines)
		}
	}
}

func TestNoStore(t *testing.T) {
	c, _ := sample(t)
	c.Contents = nil
	out, problems := render(t, c, Options{})
	if len(problems) == 0 || !strings.Contains(out, "it is not in the blob store") {
		t.Errorf("problems %v in\n%s", problems, out)
	}
}

// An export is read without a store, so it has attachments too, and says which one is missing.
func TestExportsHoldAttachments(t *testing.T) {
	m := newMemory()
	lost := `{"$blob":"` + strings.Repeat("ab", 32) + `","size":7}`
	c := Conversation{ID: 1, Contents: m, Stream: decode(t,
		`{"timestamp":"2026-01-02 03:00:00.0","type":"chat_request","content":"x","resources":[`+
			`{"uri":"file:///a","content":`+m.put("within")+`},`+
			`{"uri":"file:///b","content":`+lost+`}]}`)}
	for _, f := range []Format{FormatText, FormatJSONLines, FormatMarkdown, FormatJSON} {
		out, problems := render(t, c, Options{Format: f})
		if !strings.Contains(out, "within") {
			t.Errorf("format %d has no attachment:\n%s", f, out)
		}
		const want = "file:///b: no content: sha256:abababab"
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), want) {
			t.Errorf("format %d: problems %v", f, problems)
		}
	}
	m.opens = 0
	terminal := Options{Output: Output{Terminal: true}}
	if _, problems := render(t, c, terminal); len(problems) > 0 || m.opens > 0 {
		t.Errorf("on a terminal: problems %v, %d opened", problems, m.opens)
	}
}

func TestEmptyStream(t *testing.T) {
	for _, f := range []Format{FormatText, FormatJSONLines, FormatMarkdown, FormatJSON} {
		out, problems := render(t, Conversation{ID: 1, Stream: decode(t)}, Options{Format: f})
		if len(problems) > 0 || f == FormatText && out != "" {
			t.Errorf("format %d: %q, %v", f, out, problems)
		}
		if f == FormatJSON && !json.Valid([]byte(out)) {
			t.Errorf("not JSON: %q", out)
		}
	}
}

// A broken writer ends the work.
func TestWriterErrors(t *testing.T) {
	c, m := sample(t)
	for _, f := range []Format{FormatText, FormatJSONLines, FormatMarkdown, FormatJSON} {
		m.opens = 0
		if _, err := c.Render(brokenWriter{}, Options{Format: f}); !errors.Is(err, ErrPagerQuit) {
			t.Errorf("format %d: err = %v", f, err)
		}
		if m.opens > 0 {
			t.Errorf("format %d: %d contents opened for nobody", f, m.opens)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, ErrPagerQuit }

// Text inside a fence of an export cannot end it.
func TestExportKeepsResultsInTheirFence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"`", "```", "````", "\n", "x", " ", "~~~",
		})).Draw(t, "text"), "")
		lines := strings.Split(fenced(text, ""), "\n")
		for _, line := range lines[1 : len(lines)-1] {
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, lines[0]) {
				t.Fatalf("%q ends the fence %q", line, lines[0])
			}
		}
	})
}
