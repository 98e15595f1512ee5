package sessions_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

var (
	session = sessions.Session{
		Name: sessions.Name{Agent: sessions.ClaudeCode, ID: "s1"}, Dir: "/home/ada/proj",
	}
	start = time.Date(2026, 5, 2, 10, 0, 0, 0, time.UTC)
)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// build returns the conversations that tell builds, and their blobs.
func build(
	t *testing.T, o sessions.Options, tell func(*sessions.Builder),
) ([]*sessions.Conversation, sessionstest.Contents) {
	t.Helper()
	kept := sessionstest.Contents{}
	o.Writer = kept
	if o.Root == "" {
		o.Root = session.Dir
	}
	b := sessions.NewBuilder(session, o)
	tell(b)
	all, err := b.Finish(sessions.VersionOf(7, [32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	if err := sessionstest.Check(all, kept); err != nil {
		t.Fatal(err)
	}
	return all, kept
}

// outline describes a conversation, one element a line.
func outline(c *sessions.Conversation) (lines []string) {
	for _, e := range c.Stream.All() {
		line := string(e.Kind())
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			line += " " + ev.Content
		case *events.ChatResponse:
			line += " " + ev.Text
		case *events.ToolCallRequest:
			line += " " + ev.Name + " " + string(ev.Arguments)
		case *events.Compaction:
			line += fmt.Sprintf(" to %d %s", ev.ToTurn, *ev.Summary)
		}
		for _, key := range e.Metadata().Keys() {
			if v, _ := e.Metadata().Value(key); key != sessions.MetadataSource &&
				key != events.MetadataPrefix+"sum" {
				line += " " + strings.TrimPrefix(key, "git_jp_") + "=" + string(v)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestTurns(t *testing.T) {
	none := events.Metadata{}
	all, _ := build(t, sessions.Options{}, func(b *sessions.Builder) {
		b.Model(at(0), "anthropic", "m1")
		b.Injected("i", at(0), "Caveat")
		b.Prompt("a", at(1), "One")
		b.Reasoning("b", at(2), "r1", "Hm", none.WithText("proof", "x"))
		b.Call("c", at(3), "r1", sessions.Call{
			ID: "t1", Name: "Bash", Arguments: jsontext.Value(`"ls"`),
		})
		b.Usage("r1", compact.Usage{Input: 1, Output: 9})
		b.Usage("r1", compact.Usage{Input: 1, Output: 5}) // an earlier figure, reported late
		b.Result("d", at(4), "t1", true, sessions.Block{Text: "no"})
		b.Further("e", at(5), "Also this")
		b.Model(at(6), "anthropic", "m2")
		b.Message("f", at(6), "r2", "Done", none)
		b.Trim([]string{"t1"})
		b.Prompt("g", at(7), "Two")
		b.Message("h", time.Time{}, "r3", "Cut", none)
	})
	want := []string{
		"turn_start",
		"chat_request Caveat injected=true",
		"chat_request One",
		"chat_response Hm proof=\"x\"",
		`tool_call_request Bash {"input":"ls"} usage={"input":1,"output":9}`,
		"tool_call_response " + strings.TrimPrefix(dedup.Trimmed, "git_jp_") + "=true",
		"chat_request Also this",
		"config_delta",
		"chat_response Done",
		"turn_start open=true",
		"chat_request Two",
		"chat_response Cut",
	}
	if diff := cmp.Diff(want, outline(all[0])); diff != "" {
		t.Error(diff)
	}
	first, request := all[0].Stream.At(0), all[0].Stream.At(1)
	if got := request.Time().Sub(first.Time()); got != time.Microsecond {
		t.Errorf("a turn_start is %v before its request, want 1µs", got)
	}
	last := all[0].Stream.At(all[0].Stream.Len() - 1)
	if !last.Time().Equal(at(7)) {
		t.Errorf("what has no time is at %v, want that of what came before", last.Time())
	}
	if got := string(all[0].BaseConfig); !strings.Contains(got, `"name": "m1"`) {
		t.Errorf("base configuration is\n%s", got)
	}
}

func TestRewind(t *testing.T) {
	all, _ := build(t, sessions.Options{}, func(b *sessions.Builder) {
		for i, text := range []string{"One", "Two", "Three"} {
			b.Prompt(text, at(i), text)
		}
		b.Rewind(1, "point")
		b.Prompt("four", at(9), "Four")
		b.Rewind(1, "point")
		b.Prompt("five", at(10), "Five")
	})
	var got [][]string
	for _, c := range all {
		var texts []string
		for _, line := range outline(c) {
			if text, ok := strings.CutPrefix(line, "chat_request "); ok {
				texts = append(texts, text)
			}
		}
		got = append(got, append([]string{c.Name.ID}, texts...))
	}
	want := [][]string{
		{"s1", "One", "Five"}, {"s1@point", "One", "Two", "Three"}, {"s1@point.2", "One", "Four"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompactInATurn(t *testing.T) {
	all, _ := build(t, sessions.Options{}, func(b *sessions.Builder) {
		b.Prompt("a", at(0), "One")
		b.Compact(at(1), "So far", nil)
		b.Message("b", at(2), "r", "On", events.Metadata{})
	})
	want := []string{
		"turn_start", "chat_request One", "compaction to 0 So far",
		"turn_start open=true", "chat_request Continue. split=true", "chat_response On",
	}
	if diff := cmp.Diff(want, outline(all[0])); diff != "" {
		t.Error(diff)
	}
}

// TestCompactKeepsTheEnd checks that a compaction replaces nothing of what the agent still gives the
// model: from the middle of a turn, which becomes two; from a result, together with its call; from
// the beginning of a turn, or its prompt. Going back to the turn goes back to all of it.
func TestCompactKeepsTheEnd(t *testing.T) {
	none := events.Metadata{}
	for from, want := range map[string][]string{
		"two":     {"compaction to 0 So far"},
		"prompt":  {"compaction to 0 So far"},
		"call":    {"turn_start", "chat_request Continue. split=true", "tool_call_request Bash {}", "compaction to 1 So far"},
		"result":  {"turn_start", "chat_request Continue. split=true", "tool_call_request Bash {}", "compaction to 1 So far"},
		"result2": {"turn_start", "chat_request Continue. split=true", "tool_call_request Bash {}", "compaction to 1 So far"},
		"end":     {"turn_start", "chat_request Continue. split=true", "chat_response Done", "compaction to 1 So far"},
		"answer2": {"turn_start", "chat_request Continue. split=true", "chat_response More", "compaction to 0 So far"},
		"nothing": {"compaction to 1 So far"},
		"one":     {},
	} {
		for rewinds := range 3 {
			t.Run(fmt.Sprint(from, rewinds), func(t *testing.T) {
				all, _ := build(t, sessions.Options{}, func(b *sessions.Builder) {
					b.Prompt("one", at(0), "One")
					b.Message("answer", at(1), "r0", "First", none)
					b.Message("answer2", at(1), "r0", "More", none)
					b.Complete()
					first := b.Point()
					b.Injected("two", at(2), "Note")
					b.Prompt("prompt", at(2), "Two")
					b.Message("begin", at(3), "r", "I look", none)
					b.Call("call", at(4), "r", sessions.Call{ID: "1", Name: "Bash"})
					b.Call("call2", at(4), "r", sessions.Call{ID: "2", Name: "Bash"})
					b.Result("result", at(5), "1", false)
					b.Result("result2", at(5), "2", false)
					b.Message("end", at(6), "r2", "Done", none)
					turn := b.Point()
					b.Compact(at(7), "So far", func(key string) bool { return key == from })
					b.Trim([]string{"2"})
					b.Prompt("three", at(8), "Three")
					if rewinds > 0 {
						b.Follow([]int{turn, first}[rewinds-1], "four")
						b.Prompt("four", at(9), "Four")
					}
				})
				got := strings.Join(outline(all[0]), "\n")
				if rewinds > 0 {
					for i, word := range []string{"Four", "One", "More", "Note", "Two", "Done", "So far", "Three"} {
						n := 1
						if i > 2 && rewinds == 2 || word == "Three" || word == "So far" && from == "one" {
							n = 0
						}
						if strings.Count(got, word) != n {
							t.Errorf("%q is not there %d times:\n%s", word, n, got)
						}
					}
					return
				}
				last := max(0, len(want)-1)
				for _, lines := range [][]string{want[:last], want[last:]} {
					if !strings.Contains(got, strings.Join(lines, "\n")) {
						t.Errorf("there is no %q in\n%s", lines, got)
					}
				}
				if n := strings.Count(got, "compaction"); n != min(len(want), 1) {
					t.Errorf("%d compactions:\n%s", n, got)
				}
				if n := strings.Count(got, "turn_start"); n != 3+max(0, len(want)-3) {
					t.Errorf("%d turns:\n%s", n, got)
				}
				if !strings.Contains(got, "tool_call_response trimmed=true") {
					t.Errorf("the result is not trimmed:\n%s", got)
				}
			})
		}
	}
}

// TestRecords checks that records without a counterpart follow the turn to which they belong, as
// many as fit in one blob.
func TestRecords(t *testing.T) {
	all, kept := build(t, sessions.Options{MaxBlob: 40}, func(b *sessions.Builder) {
		b.Record(at(0), "before", []byte(`{"at": "/home/ada/proj/x"}`))
		b.Prompt("a", at(1), "One")
		b.Record(at(2), "in", []byte(`{"n": 1}`))
		b.Record(at(3), "in", []byte(`no JSON`))
		b.Record(at(3), "in", []byte(`{"a": "long enough for a content of its own"}`))
	})
	var got []string
	for _, e := range all[0].Stream.All() {
		content, ok := events.RecordContent(e)
		if !ok {
			got = append(got, string(e.Kind()))
			continue
		}
		text, err := content.Bytes(kept)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	want := []string{
		"{\"at\":\"$WORKSPACE/x\"}\n", "turn_start", "chat_request",
		"{\"n\":1}\n\"no JSON\"\n", "{\"a\":\"long enough for a content of its o", "wn\"}\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"before": 1, "in": 3}, all[0].Report.Records); diff != "" {
		t.Error(diff)
	}
}

// recordsOf returns the lines of the records of a conversation.
func recordsOf(t *testing.T, c *sessions.Conversation, kept sessionstest.Contents) (lines []string) {
	t.Helper()
	for _, e := range c.Stream.All() {
		if content, ok := events.RecordContent(e); ok {
			text, err := content.Bytes(kept)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		}
	}
	return lines
}

// TestBeside checks what is kept of a record that says "One", and of one with JSON in a string.
func TestBeside(t *testing.T) {
	for record, want := range map[string]string{
		`{"a":"One"}`:                                         "",
		`{"a":{"b":["One","Two"]}}`:                           `[{"a.b.1":"Two"}]`,
		`{"a":{"/home/ada":{"x":"Two"}}}`:                     `[{"a.$HOME.x":"Two"}]`,
		`{"a":{"\u00e9\"":"Two"}}`:                            `[{"a.é\"":"Two"}]`,
		`{"\u0069d":"Two"}`:                                   "",
		`{"a":"{\"b\":\"Two\"}"}`:                             `[{"a.b":"Two"}]`,
		`{"a":"\u00a0{\"b\":\"Two\"}"}`:                       `[{"a.b":"Two"}]`,
		`{"a":"{\"b\":\"One\",\"n\":1e5}"}`:                   "",
		`{"a":"{\"b\":\"Two\",\"n\":1e5}"}`:                   `[{"a.b":"Two"}]`,
		`{"a":"{\"b\":\"\\ud83d\\ude00\",\"b\":\"One\"}"}`:    `[{"a.b":"😀"}]`,
		`{"` + strings.Repeat("k", 1000) + `":{"x":["Two"]}}`: `[{"….x.0":"Two"}]`,
	} {
		all, kept := build(t, sessions.Options{}, func(b *sessions.Builder) {
			b.LeaveOut("id")
			b.Telling(at(1), "said", []byte(record), func() { b.Prompt("a", at(1), "One") })
		})
		if got := strings.Join(recordsOf(t, all[0], kept), "\n"); got != want {
			t.Errorf("of %s is kept %s, want %s", record, got, want)
		}
	}
}

// TestBesideIsBounded checks that the texts of a very long turn do not wait for its end.
func TestBesideIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	all, kept := build(t, sessions.Options{}, func(b *sessions.Builder) {
		b.Prompt("a", at(0), "One")
		for i := range 20 {
			line := fmt.Appendf(nil, `{"a":"Text %d %s"}`, i, long)
			b.Telling(at(1), "said", line, func() { b.Message(strconv.Itoa(i), at(1), "", "Two", events.Metadata{}) })
		}
		b.Record(at(2), "last", []byte(`1`))
	})
	lines := recordsOf(t, all[0], kept)
	if i := slices.Index(lines, "1"); len(lines) != 21 || i == 0 || i == 20 {
		t.Errorf("of %d records the last one is number %d", len(lines), i)
	}
}

// TestBesideIsRedacted checks that a text that a record has beside what is told is looked at with
// what is before it there, which alone may say that it is a secret.
func TestBesideIsRedacted(t *testing.T) {
	record := []byte(`{"text":"One","more":{"args":["curl","-u","ada:1"],"env":[{"name":"TOKEN","value":"2"}],` +
		`"j":"{\"password\":\"3\"}"}}`)
	got := map[string]string{}
	o := sessions.Options{Redact: func(at sessions.Place, text []byte, _ map[string]int) []byte {
		got[string(text)] += at.Before
		return text
	}}
	build(t, o, func(b *sessions.Builder) {
		b.Record(at(0), "before", []byte(`["curl","-u","TOKEN"]`))
		b.Telling(at(1), "said", record, func() { b.Prompt("a", at(1), "One") })
	})
	for text, want := range map[string]string{
		"ada:1": `"curl","-u",`, "2": `{"name":"TOKEN","value":`, "3": `"password":`,
	} {
		if !strings.Contains(got[text], want) {
			t.Errorf("before %s is %s, want %s", text, got[text], want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for in, want := range map[string]string{
		"/home/ada/proj":                      "$WORKSPACE",
		"see /home/ada/proj/a.go.":            "see $WORKSPACE/a.go.",
		"/home/ada/proj2/a /home/ada/project": "$HOME/proj2/a $HOME/project",
		"file:///home/ada/proj/a":             "file://$WORKSPACE/a",
		"/home/adam/x /home/ada":              "/home/adam/x $HOME",
		"(/home/ada/proj)":                    "($WORKSPACE)",
		"nothing":                             "nothing",
	} {
		all, _ := build(t, sessions.Options{}, func(b *sessions.Builder) {
			b.Prompt("a", at(0), in)
		})
		if got := outline(all[0])[1]; got != "chat_request "+want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestFiles checks that a read of a file becomes a resource whose content is the file's own text.
func TestFiles(t *testing.T) {
	all, kept := build(t, sessions.Options{}, func(b *sessions.Builder) {
		b.Prompt("a", at(0), "Read")
		b.Call("b", at(1), "r", sessions.Call{ID: "t", Name: "Read"})
		b.Result("c", at(2), "t", false, sessions.Block{
			Text: "3\tx\n", File: &sessions.File{
				Name: "sub/a b.go", Dir: session.Dir, Content: "x\n", First: 3, Lines: 1,
			},
		})
	})
	r := all[0].Stream.At(3).Event().(*events.ToolCallResponse).Blocks[0].Resource
	if want := "file:///$WORKSPACE/sub/a%20b.go#L3-3"; r.URI != want {
		t.Errorf("URI is %q, want %q", r.URI, want)
	}
	content, err := r.Content.Bytes(kept)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := r.Formatted.Bytes(kept)
	if err != nil {
		t.Fatal(err)
	}
	if string(content) != "x\n" || string(shown) != "3\tx\n" {
		t.Errorf("content is %q and shown %q", content, shown)
	}
}

// TestTooLarge checks that the size limit covers many turns, one that does not end, repeated rewinds
// and sub-agents.
func TestTooLarge(t *testing.T) {
	words := strings.Repeat("x", 100)
	for name, test := range map[string]struct {
		tell func(b *sessions.Builder, i int)
		want error
	}{
		"prompts": {func(b *sessions.Builder, i int) {
			b.Prompt(fmt.Sprint(i), at(i), words)
		}, sessions.ErrTooLarge},
		"answers": {func(b *sessions.Builder, i int) {
			b.Message(fmt.Sprint(i), at(i), "r", words, events.Metadata{})
		}, sessions.ErrTooLarge},
		"calls": {func(b *sessions.Builder, i int) {
			b.Call(fmt.Sprint(i), at(i), "r", sessions.Call{ID: "c", Arguments: []byte(`{"a":"` + words + `"}`)})
		}, sessions.ErrTooLarge},
		"rewinds": {func(b *sessions.Builder, i int) {
			b.Prompt(fmt.Sprint(i), at(i), words)
			b.Rewind(min(i, 1), fmt.Sprint(i))
		}, sessions.ErrTooMany},
		"sub-agents": {func(b *sessions.Builder, i int) {
			c := b.Child(session)
			c.Prompt("a", at(i), words)
			c.Complete()
			c.Prompt("b", at(i), words)
			b.Fail(c.Err())
		}, sessions.ErrTooMany},
	} {
		b := sessions.NewBuilder(session, sessions.Options{Writer: sessionstest.Contents{}, MaxStream: 1000})
		told := 0
		for ; told < 1000 && b.Err() == nil; told++ {
			test.tell(b, told)
		}
		if _, err := b.Finish(sessions.Version{}); !errors.Is(err, test.want) || told == 1000 {
			t.Errorf("%s: error is %v after %d, want %v", name, err, told, test.want)
		}
	}
}

// TestManyKeys checks that the number of keys of a session is limited, too.
func TestManyKeys(t *testing.T) {
	b := sessions.NewBuilder(session, sessions.Options{Writer: sessionstest.Contents{}})
	told := 0
	for ; told < 1<<22 && b.Err() == nil; told++ {
		b.Seen(strconv.Itoa(told))
	}
	if !errors.Is(b.Err(), sessions.ErrManyKeys) {
		t.Errorf("after %d keys the error is %v", told, b.Err())
	}
}

// TestIDs pins ids: if the id of a session changed, it would be imported twice.
func TestIDs(t *testing.T) {
	for name, want := range map[sessions.Name][2]events.ID{
		{Agent: sessions.ClaudeCode, ID: "s1"}: {761995399, 2775658870},
		{Agent: sessions.Codex, ID: "s1"}:      {5756797710, 4202171453},
	} {
		if got := name.IDs(); got != want {
			t.Errorf("%s has ids %d, want %d", name, got, want)
		}
		for _, id := range name.IDs() {
			if !id.IsDerived() {
				t.Errorf("%d is not below the ids of clocks", id)
			}
		}
	}
}

func TestLines(t *testing.T) {
	var packed bytes.Buffer
	enc, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = enc.Write([]byte("{}\n[1]\n"))
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", sessions.MaxLine)
	for _, test := range []struct {
		in     string
		until  int64
		want   []string
		length int64
	}{
		{"{}\n{\"a\":1}\n", 0, []string{"{}", `{"a":1}`}, 11},
		{"{}\r\n\n[1]", 0, []string{"{}", "", "[1]"}, 8}, // complete without a line feed
		{"{}\n{\"a\":", 0, []string{"{}"}, 3},            // still being written
		{"{}\n{\"a\":1}\n", 5, []string{"{}"}, 3},
		{"{}\n" + long + "x\n{}\n", 0, []string{"{}", "too long", "{}"}, int64(len(long)) + 8},
		{packed.String(), 0, []string{"{}", "[1]"}, 7},
		{packed.String(), 3, []string{"{}"}, 3},
		{"", 0, nil, 0},
	} {
		lines, err := sessions.NewLines(strings.NewReader(test.in), test.until)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			line, _, err := lines.Next(sessions.Complete)
			var broken *sessions.LineError
			if errors.Is(err, io.EOF) {
				break
			} else if errors.As(err, &broken) {
				line = []byte("too long")
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%.20q: %s", test.in, diff)
		}
		if v := lines.Version(); v.Length != test.length {
			t.Errorf("%.20q: length is %d, want %d", test.in, v.Length, test.length)
		}
		lines.Close()
	}
}

// TestModelIsPure checks that the same session gives the same bytes, whatever the order of map
// iteration.
func TestModelIsPure(t *testing.T) {
	var first []byte
	for range 20 {
		all, _ := build(t, sessions.Options{}, func(b *sessions.Builder) {
			b.Model(at(0), "anthropic", "one")
			b.Prompt("p", at(1), "x")
			b.Model(at(2), "openai", "two")
		})
		if data := all[0].Stream.Encode(); first == nil {
			first = data
		} else if !bytes.Equal(data, first) {
			t.Fatalf("the same session gave\n%s\nand\n%s", first, data)
		}
	}
}
