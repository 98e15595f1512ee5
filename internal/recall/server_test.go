package recall_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/recall"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/web"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A talk is a conversation in memory, of which each turn is a day later.
type talk struct {
	title string
	first time.Time
	asked []string
	wrote string // the file that the call of the last turn writes
	err   error
}

func (k talk) stream() *events.Stream {
	var all []*events.Element
	at := k.first
	add := func(e events.Event) {
		all = append(all, events.NewElement(at, e, events.Metadata{}))
	}
	for i, words := range k.asked {
		at = k.first.AddDate(0, 0, i)
		add(&events.TurnStart{})
		add(&events.ChatRequest{Content: words, Author: "Ada\nobey"})
		if i == len(k.asked)-1 && k.wrote != "" {
			add(&events.ToolCallRequest{
				ID: "a", Name: "Write",
				Arguments: jsontext.Value(fmt.Sprintf(`{"path":%q,"content":"one line\n"}`, k.wrote)),
			})
		}
		add(&events.ChatResponse{Form: events.FormMessage, Text: "answer to " + words})
	}
	return events.New(all...)
}

// talks is a source of conversations with the ids 17000000001, 17000000002 and so on.
type talks []talk

// Entries implements [web.Source].
func (all talks) Entries(context.Context) (entries []web.Entry, err error) {
	for i, k := range all {
		id := talkID(i)
		entries = append(entries, web.Entry{ID: id, Load: func() (*workspace.Conversation, view.Conversation, error) {
			s := k.stream()
			return &workspace.Conversation{Entry: workspace.Entry{ID: id}, Stream: s},
				view.Conversation{Conversation: render.Conversation{ID: id, Title: k.title, Stream: s}}, k.err
		}})
	}
	return entries, nil
}

func talkID(i int) events.ID { return events.ID(17000000001 + i) }

// asks connects to a server, and returns a function that calls a tool.
func asks(t *testing.T, o recall.Options) func(tool string, args map[string]any) string {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	if _, err := recall.New(o).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "x", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return func(tool string, args map[string]any) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*mcp.TextContent).Text
		if result.IsError {
			return "error: " + text
		}
		_, text, _ = strings.Cut(text, "\n\n") // behind the note on what is quoted
		return text
	}
}

// lacks reports the words that are not in a text, and those behind "!" that are, in their order.
func lacks(t *testing.T, what, text string, words ...string) {
	t.Helper()
	at := 0
	for _, w := range words {
		if not, ok := strings.CutPrefix(w, "!"); ok {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q is in\n%s", what, not, text)
			}
			continue
		}
		i := strings.Index(text[at:], w)
		if i < 0 {
			t.Errorf("%s: %q is not in, or too early in\n%s", what, w, text)
			return
		}
		at += i + len(w)
	}
}

func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }

// TestFind checks what selects turns: words, a file and days, each day whole, and that one
// conversation that cannot be read hides no other.
func TestFind(t *testing.T) {
	find := asks(t, recall.Options{Source: talks{
		{title: "old", first: day(1), asked: []string{"alpha", "beta"}, wrote: "main.go"},
		{title: "broken", err: errors.New("it is torn")},
		{title: "new alpha", first: day(5).Truncate(24 * time.Hour), asked: []string{"gamma"}},
	}})
	type args = map[string]any
	const first, last = "jp-c17000000001, 2 turns\n    > old\n", "jp-c17000000003, 1 turn\n    > new alpha\n"
	const torn = "jp-c17000000002 cannot be read: it is torn\n"
	for _, tt := range []struct {
		args args
		want []string
	}{
		{nil, []string{torn, last, first}}, // the latest first
		{args{"words": "alpha"}, []string{torn, last, first, "turn 1, 17000000001.html#e-", "    > alpha\n", "turn 1, ", "> answer to alpha", "!beta"}},
		{args{"words": "beta", "file": "main.go"}, []string{first, "turn 2", "> beta", "!17000000003"}},
		{args{"words": "alpha", "file": "main.go"}, []string{torn, "!turn 1", "!old", "!new"}},
		{args{"file": "main.go"}, []string{first, "turn 2, ", ": wrote\n", "> one line\n", "!17000000003"}},
		{args{"file": "other.go"}, []string{torn, "!old"}},
		{args{"file": "main.go", "since": "2026-01-03"}, []string{torn, "!old"}},
		{args{"words": "alpha", "until": "2026-01-01"}, []string{first, "> alpha", "!17000000003"}},
		{args{"words": "alpha", "until": "2025-12-31"}, []string{torn, "!old", "!new"}},
		{args{"words": "beta", "since": "2026-01-02"}, []string{first, "> beta"}},
		{args{"words": "beta", "since": "2026-01-03"}, []string{torn, "!old"}},
		{args{"since": "2026-01-02", "until": "2026-01-02"}, []string{first, "!new"}},
		{args{"since": "2026-01-05"}, []string{last, "!old"}},
		{args{"since": "1.1.2026"}, []string{`error: "1.1.2026" is not a day such as 2026-01-31`}},
	} {
		lacks(t, fmt.Sprint(tt.args), find("find_conversations", tt.args), tt.want...)
	}
	none := asks(t, recall.Options{Source: talks{}})
	lacks(t, "no conversation", none("find_conversations", nil), "nothing was found\n")
}

// TestHitsAreShort checks that of a long line what is around the words is shown.
func TestHitsAreShort(t *testing.T) {
	for _, pad := range []string{"", "x"} { // one of them splits a letter
		hitIsShort(t, strings.Repeat("före ", 100)+"needle"+pad+strings.Repeat("å", 300))
	}
}

func hitIsShort(t *testing.T, long string) {
	t.Helper()
	find := asks(t, recall.Options{Source: talks{{title: long, first: day(1), asked: []string{long}}}})
	got := find("find_conversations", map[string]any{"words": "needle"})
	lacks(t, "a long line", got, "needle", "… ", " more\n")
	for line := range strings.Lines(got) {
		if len(line) > 320 || strings.ContainsAny(line, "\uFFFD\\") {
			t.Errorf("%d bytes: %q", len(line), line)
		}
	}
}

// TestRead checks which turns are read, and that whatever a conversation says is quoted.
func TestRead(t *testing.T) {
	ask := asks(t, recall.Options{Source: talks{
		{title: "a\nobey title", first: day(1), asked: []string{"one", "two\n\nobey", "  three"}, wrote: "main.go"},
		{err: errors.New("it is torn")},
	}})
	read := func(args map[string]any) string {
		if args["conversation"] == nil {
			args["conversation"] = "jp-c17000000001"
		}
		return ask("read_turns", args)
	}
	type args = map[string]any
	for _, tt := range []struct {
		args args
		want []string
	}{
		{args{}, []string{"3 turns\n    > a obey title\n", "\nturn 1, 17000000001.html#e-", "  Ada obey:\n    > one\n  Answer:\n    > answer to one\n", "turn 2", "    > obey\n", "turn 3", "    > three\n  1 call of tools\n", "> answer to"}},
		{args{"from": 2, "to": 2}, []string{"turn 2", "!turn 1", "!turn 3"}},
		{args{"from": 3, "to": 4}, []string{"turn 3", "!turn 2"}},
		{args{"from": -1, "to": -1}, []string{"turn 1", "turn 3"}},
		{args{"from": 4}, []string{"3 turns", "!turn 1", "!turn 3,"}},
		{args{"full": true, "from": 3}, []string{"turn 3", "main.go", "one line", "!answer to one"}},
		{args{"conversation": "main.go"}, []string{"error: "}},
		{args{"conversation": "jp-c17000000002"}, []string{"error: it is torn"}},
		{args{"conversation": "jp-c17000000009"}, []string{"error: no conversation jp-c17000000009"}},
	} {
		got := read(tt.args)
		lacks(t, fmt.Sprint(tt.args), got, tt.want...)
		for line := range strings.Lines(got) {
			if strings.HasPrefix(strings.TrimSpace(line), "obey") {
				t.Errorf("%v: %q is not quoted", tt.args, line)
			}
		}
	}
}

// TestReadGoesOn checks that what was cut is read in parts from the offsets that are named, without
// a gap, whatever the cut splits.
func TestReadGoesOn(t *testing.T) {
	long := strings.Repeat("ü", 40_000) + "the end"
	ask := asks(t, recall.Options{Source: talks{{title: "a", first: day(1), asked: []string{"s" + long, "next"}}}})
	var all strings.Builder
	for offset, n := 0, 0; ; n++ {
		got := ask("read_turns", map[string]any{"conversation": "jp-c17000000001", "full": true, "offset": offset})
		text, note, cut := strings.Cut(got, "\n… ")
		if strings.ContainsRune(text, '\uFFFD') || len(got) > 30_200 {
			t.Fatalf("%d bytes from %d", len(got), offset)
		}
		all.WriteString(text)
		if !cut {
			break
		}
		was := offset
		_, at, _ := strings.Cut(note, "from offset ")
		if offset, _ = strconv.Atoi(strings.TrimSpace(at)); offset < was+29_000 || n > 9 {
			t.Fatalf("behind %d it goes on from %d", was, offset)
		}
	}
	if n := strings.Count(all.String(), "ü"); n != 80_000 {
		t.Errorf("%d of 80000 letters", n)
	}
	lacks(t, "all", all.String(), "turn 1", "the end", "turn 2", "> next")
}

// TestLines checks what is said about lines, of which turns, and of how many.
func TestLines(t *testing.T) {
	commit, err := gitint.ParseOID("1234567890123456789012345678901234567890")
	if err != nil {
		t.Fatal(err)
	}
	by := func(n int) (turns []blame.Turn) {
		for i := range n {
			turns = append(turns, blame.Turn{ID: talkID(0), Number: i + 1, Key: "k", Wrote: 2, Recorded: i == 0, Prompt: "why", Answer: "so"})
		}
		return turns
	}
	spans := map[string][]blame.Span{
		"none":  nil,
		"new":   {{From: 1, To: 2, Turns: by(6)}},
		"old":   {{From: 3, To: 4, Commit: gitint.BlamedLine{Commit: commit}, Turns: by(5)}},
		"older": {{From: 3, To: 4, Commit: gitint.BlamedLine{Commit: commit}, Cut: true}},
	}
	var from, to int
	ask := asks(t, recall.Options{Source: talks{}, Blame: func(_ context.Context, file string, a, b int) ([]blame.Span, error) {
		from, to = a, b
		if file == "lost" {
			return nil, errors.New("no such file")
		}
		return spans[file], nil
	}})
	for file, want := range map[string][]string{
		"none": {"no line\n"},
		"new": {
			"lines 1 to 2, not committed\n", "  recorded, wrote 2 of them: jp-c17000000001 turn 1, 17000000001.html#e-k\n    > why\n    > so\n",
			"  inferred, wrote 2 of them: ", "turn 5", "  and 1 more turns\n", "!turn 6",
		},
		"old":   {"lines 3 to 4, commit " + commit.String() + "\n", "turn 5", "!more turns", "!in or before"},
		"older": {"lines 3 to 4, in or before commit " + commit.String() + ", with which the history that is here begins\n"},
		"lost":  {"error: no such file"},
	} {
		lacks(t, file, ask("lines_origin", map[string]any{"file": file}), want...)
	}
	for _, tt := range [][4]int{{0, 0, 0, 0}, {7, 0, 7, 7}, {7, 3, 7, 7}, {7, 9, 7, 9}, {0, 9, 0, 9}} {
		ask("lines_origin", map[string]any{"file": "none", "from": tt[0], "to": tt[1]})
		if from != tt[2] || to != tt[3] {
			t.Errorf("lines %d to %d: asked for %d to %d", tt[0], tt[1], from, to)
		}
	}
}

// TestTurnsOfCommits checks that of a commit and a branch only the turns are shown that they added.
func TestTurnsOfCommits(t *testing.T) {
	added := func(_ context.Context, of string) ([]review.Conversation, error) {
		switch of {
		case "lost":
			return nil, errors.New("no such commit")
		case "empty":
			return nil, nil
		}
		title := "of " + of
		s := talk{first: day(1), asked: []string{"one", "two", "three"}}.stream()
		return []review.Conversation{{Turns: []int{0, 2}, Conversation: &workspace.Conversation{
			Entry: workspace.Entry{ID: talkID(0)}, Stream: s, Details: &events.Details{Title: &title},
		}}}, nil
	}
	ask := asks(t, recall.Options{Source: talks{}, Added: added, Review: added})
	for of, want := range map[string][]string{
		"lost":  {"error: no such commit"},
		"empty": {"no turns\n"},
		"main":  {"jp-c17000000001, 3 turns\n    > of main\n", "turn 1, 17000000001.html#e-", "> one", "turn 3", "> three", "!> two"},
	} {
		lacks(t, "commit "+of, ask("find_conversations", map[string]any{"commit": of}), want...)
		lacks(t, "branch "+of, ask("branch_turns", map[string]any{"base": of}), want...)
	}
}
