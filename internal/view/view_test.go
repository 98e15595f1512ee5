package view_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/gfm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"
)

// A talk makes streams, an event a second.
type talk struct {
	s  *events.Stream
	at time.Time
}

func newTalk() *talk {
	return &talk{events.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (k *talk) add(ev events.Event, md ...events.Metadata) *talk {
	k.at = k.at.Add(time.Second)
	k.s.Append(events.NewElement(k.at, ev, append(md, events.Metadata{})[0]))
	return k
}

func (k *talk) ask(text string) *talk {
	return k.add(&events.TurnStart{}).add(&events.ChatRequest{Content: text, Author: "Ada"})
}

func (k *talk) say(text string) *talk { return k.add(&events.ChatResponse{Text: text}) }

func (k *talk) call(name string, args any, result string, failed bool) *talk {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	at := k.at.String()
	k.add(&events.ToolCallRequest{ID: at, Name: name, Arguments: raw})
	return k.add(&events.ToolCallResponse{ID: at, IsError: failed, Blocks: []events.Block{
		{Type: events.BlockText, Content: blobs.Loaded([]byte(result))},
	}})
}

func (k *talk) conversation(id events.ID) view.Conversation {
	return view.Conversation{Conversation: render.Conversation{ID: id, Stream: k.s}}
}

// page returns the document of a conversation, and its tree.
func page(t *testing.T, d view.Document, all ...view.Conversation) (string, *html.Node) {
	t.Helper()
	var b bytes.Buffer
	if _, err := d.Write(&b, all...); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), root
}

// find returns the nodes of an element with a class, "" for any.
func find(root *html.Node, element, class string) (all []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == element &&
			(class == "" || slices.Contains(strings.Fields(attribute(n, "class")), class)) {
			all = append(all, n)
		}
	}
	return all
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// words returns the text of nodes, white space joined.
func words(all ...*html.Node) string {
	var b strings.Builder
	for _, root := range all {
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				b.WriteString(n.Data + " ")
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// hostile are texts that try to be more than text.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`,
	`</title></style></script><script>alert(1)</script>`, `<style>*{display:none}</style>`,
	`[a](javascript:alert(1)) <javascript:alert(1)> [b](data:text/html,<script>alert(1)</script>)`,
	`![p](https://tracker.example/p.png) ![q](data:image/svg+xml,<svg/onload=alert(1)>)`,
	"[c]: javascript:alert(1)\n\n[c] [JaVa](jAvAsCrIpT:alert(1)) [d](vbscript:x) [e](file:///etc)",
	"<iframe src=https://x.example></iframe>\n\n<a href=javascript:alert(1)>x</a>",
	`' onmouseover='alert(1)`, "\" style=\"position:fixed\" x=\"", "[redacted:\"onx=alert(1)]",
	"```\"><script>alert(1)</script>\ncode\n```", "\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07",
	"<script>alert(1)</script>[redacted:jwt]<img src=x onerror=alert(1)>", "[redacted:<script>alert(1)</script>]",
	"\u202egnp.exe\u2066", "&lt;script&gt;&#60;script&#62;", "{{.}} ${alert(1)} <!-- --> ]]>",
}

// TestHostileConversationsAreText puts hostile texts wherever a conversation has text: the document
// has no element, no attribute and no address but its own.
func TestHostileConversationsAreText(t *testing.T) {
	for _, bad := range hostile {
		k := newTalk().ask(bad)
		k.add(&events.ChatResponse{Form: events.FormReasoning, Text: bad}).say(bad)
		k.call(bad, map[string]any{"path": bad, bad: bad}, bad, false)
		k.call("Edit", map[string]any{"file_path": bad, "old_string": bad, "new_string": "x" + bad}, bad, true)
		k.call("Bash", map[string]any{"command": bad}, "\x1b[31m"+bad+"\x1b[0m", false)
		k.call("Write", map[string]any{"file_path": "a.go", "content": bad}, "```go\n"+bad+"\n```", false)
		k.call("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": bad, "status": bad}}}, bad, false)
		md := events.Metadata{}.WithText(events.MetadataSource, bad).
			WithText(events.MetadataPrefix+"subagent", bad)
		k.add(&events.ToolCallRequest{ID: "s", Name: "Task", Arguments: jsontext.Value("{}")}, md)
		k.add(&events.ToolCallResponse{ID: "s", Blocks: []events.Block{
			{Type: events.BlockImage, MIMEType: bad, Content: blobs.Loaded([]byte{0, 1})},
			{Type: events.BlockImage, MIMEType: "image/png", Content: blobs.Loaded([]byte{0, 1})},
			{Type: events.BlockResource, Resource: &events.Resource{URI: bad, Content: blobs.Loaded([]byte(bad))}},
		}})
		summary := bad
		k.add(&events.Compaction{Summary: &summary}).say(bad)
		quoted, _ := json.Marshal(map[string]string{"text": bad})
		k.add(&events.InquiryRequest{ID: "q", Question: quoted}).ask(bad)
		c := k.conversation(17000000001)
		c.Title, c.Facts = bad, []view.Fact{{Name: bad, Value: bad}}
		text, root := page(t, view.Document{Title: bad}, c)
		checkSafe(t, bad, text, root)
		text, root = page(t, view.Document{Title: bad}, c, c)
		checkSafe(t, bad, text, root)
	}
}

// own are the elements that documents consist of.
var own = strings.Fields("html head meta title style body a div p span b i u br hr em strong code pre " +
	"button input output label article header h1 h2 h3 h4 h5 h6 dl dt dd nav details summary ol ul li " +
	"main section mark img dialog form script table caption tbody thead tr th td svg rect ins del blockquote")

func checkSafe(t *testing.T, bad, text string, root *html.Node) {
	t.Helper()
	scripts := 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "link" && len(n.Attr) == 2 && attribute(n, "rel") == "icon" && attribute(n, "href") == "data:," {
			continue // which fetches nothing
		}
		if !slices.Contains(own, n.Data) {
			t.Errorf("%q made an element %s", bad, n.Data)
		}
		if n.Data == "script" || n.Data == "style" {
			scripts++
			if n.FirstChild == nil || !strings.Contains(text, digest(n.FirstChild.Data)) {
				t.Errorf("%q made a %s that the policy does not name", bad, n.Data)
			}
		}
		for _, a := range n.Attr {
			to := strings.ToLower(a.Val)
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
				t.Errorf("%q made an attribute %s", bad, a.Key)
			case a.Key == "src" && !strings.HasPrefix(to, "data:image/png;base64,"),
				a.Key == "href" && !strings.HasPrefix(to, "#") && !strings.HasPrefix(to, "https://"):
				t.Errorf("%q made %s=%q", bad, a.Key, a.Val)
			}
		}
	}
	if scripts != 2 {
		t.Errorf("%q: got %d scripts and styles, want 2", bad, scripts)
	}
	if strings.ContainsAny(text, "\x1b\u202e\u2066") {
		t.Errorf("%q: a control got into the page", bad)
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// TestHostileTextIsShown verifies that escaping hides nothing: the text can be read.
func TestHostileTextIsShown(t *testing.T) {
	_, root := page(t, view.Document{}, newTalk().ask("<b>a</b> & <!-- c -->\n\n<div>\nd\n</div>").
		say("see <kbd>x</kbd>\n\n[e]: /f 'g'\n\n```go h\ni\n```\n\n```j\n```\n\n"+
			"|k|\n|-|\n|l| m |n|").conversation(1))
	got := words(find(root, "div", "prompt")...) + words(find(root, "div", "answer")...)
	for _, want := range []string{
		"<b> a </b>", "& <!-- c -->", "<div> d </div>", "<kbd> x </kbd>",
		"[e]: /f 'g' go h i j k l m |n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// TestHostileMarkdownIsShown renders texts that would otherwise take so long that the test would
// not end.
func TestHostileMarkdownIsShown(t *testing.T) {
	const size = 1 << 18
	for _, unit := range []string{"[x](", "[redacted:", "x> ", "```js\n'\\\n", "> "} {
		_, root := page(t, view.Document{}, newTalk().ask("q").
			say(strings.Repeat(unit, size/len(unit))).conversation(1))
		got := words(root)
		if want := unit != "x> " && unit != "```js\n'\\\n"; strings.Contains(got, gfm.Short) != want {
			t.Errorf("%q: said that marks are left: %v", unit, !want)
		}
		if n := strings.Count(got, "x"); strings.Contains(unit, "x") && n < size/len(unit) {
			t.Errorf("%q: %d are left", unit, n)
		}
	}
}

// TestCallsTell tests the line of a folded call.
func TestCallsTell(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		name   string
		args   map[string]any
		result string
		failed bool
		want   string
	}{
		{"Bash", map[string]any{"command": "go test ./...", "description": "Test"}, "ok\n", false, "Bash go test ./... 3 bytes"},
		{"Bash", map[string]any{"command": "false"}, "Exit code 1\nno", true, "Bash false failed · exit 1 · 14 bytes"},
		{"shell", map[string]any{"command": []string{"bash", "-lc", "ls -l"}}, "Process exited with code 0", false, "shell ls -l exit 0 · 26 bytes"},
		{"Edit", map[string]any{"file_path": "a.go", "old_string": "a\nb\n", "new_string": "a\nc\nd\n"}, "done", false, "Edit a.go +2 −1"},
		{"fs_modify_file", map[string]any{"path": "a.rs", "patterns": []any{map[string]any{"old": "x", "new": "y"}}}, "", false, "fs_modify_file a.rs +1 −1"},
		{"apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n+z\n*** End Patch"}, "ok", false, "apply_patch a +2 −1"},
		{"Grep", map[string]any{"pattern": "foo", "path": "src"}, "a:1\nb:2\n", false, "Grep foo in src 2 lines"},
		{"Read", map[string]any{"file_path": "b.go"}, long, false, "Read b.go 5.0 kB"},
		{"other", map[string]any{"n": map[string]any{"x": 1}}, "", false, `other {"n":{"x":1}}`},
	} {
		_, root := page(t, view.Document{}, newTalk().ask("q").call(c.name, c.args, c.result, c.failed).
			say("a").conversation(1))
		calls := find(root, "details", "call")
		if len(calls) != 1 {
			t.Fatalf("%s: got %d calls, want 1", c.name, len(calls))
		}
		if got := words(find(calls[0], "summary", "")[0]); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestTurnsAreFocused verifies that a prompt and its last answer are open, and everything between
// them is folded, or left out.
func TestTurnsAreFocused(t *testing.T) {
	k := newTalk().ask("first").say("looking").call("Read", map[string]any{"path": "a"}, "A", false)
	k.add(&events.ChatResponse{Form: events.FormReasoning, Text: "thinking"}).say("found")
	k.ask("second").say("fine")
	for _, focused := range []bool{false, true} {
		_, root := page(t, view.Document{Focused: focused}, k.conversation(1))
		var open []string
		for _, n := range append(find(root, "div", "prompt"), find(root, "div", "answer")...) {
			if n.Parent.Data == "section" {
				open = append(open, words(n))
			}
		}
		slices.Sort(open)
		if want := []string{"fine", "first", "found", "second"}; !slices.Equal(open, want) {
			t.Errorf("focused %v: got %q, want %q", focused, open, want)
		}
		work := find(root, "details", "work")
		switch {
		case focused && len(work) > 0:
			t.Errorf("a focused page has %q", words(work...))
		case !focused && (len(work) != 1 || !strings.HasPrefix(words(work...), "1 call, 1 message, reasoning · 3s looking")):
			t.Errorf("got %q", words(work...))
		}
	}
}

// TestPromptsComeFirst verifies that a turn's settings are folded after its prompt, with the steps
// to the answer, and that the heading of a turn names the model only if it differs from that of the
// conversation.
func TestPromptsComeFirst(t *testing.T) {
	k := newTalk()
	k.add(&events.TurnStart{}).add(&events.ConfigDelta{Delta: jsontext.Value(
		`{"assistant":{"model":{"id":{"provider":"openai","name":"gpt-5"}}}}`)})
	injected := events.Metadata{}.With(events.MetadataInjected, jsontext.Value("true"))
	k.add(&events.ChatRequest{Content: "instructions"}, injected)
	k.add(&events.ChatRequest{Content: "first"}).say("one")
	k.add(&events.TurnStart{}).add(&events.ConfigDelta{Delta: jsontext.Value(
		`{"assistant":{"model":{"id":{"provider":"openai","name":"gpt-5-mini"}}}}`)})
	k.add(&events.ChatRequest{Content: "second"}).say("two")
	_, root := page(t, view.Document{}, k.conversation(1))
	turns := find(root, "section", "turn")
	for i, want := range []string{"prompt work answer", "prompt work answer"} {
		var got []string
		for n := range turns[i].ChildNodes() {
			if c := attribute(n, "class"); c != "" && c != "turn-head" {
				got = append(got, c)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("turn %d: got %q, want %q", i+1, got, want)
		}
	}
	if got := words(find(turns[0], "details", "work")...); !strings.Contains(got, "instructions") {
		t.Errorf("got %q", got)
	}
	first, second := words(find(turns[0], "p", "facts")...), words(find(turns[1], "p", "facts")...)
	if !strings.Contains(first, "openai/gpt-5") || strings.Contains(second, "gpt-5-mini") {
		t.Errorf("got %q and %q", first, second)
	}
}

// TestNothingWasAsked has no outline, since there is no turn.
func TestNothingWasAsked(t *testing.T) {
	k := newTalk().add(&events.ConfigDelta{Delta: jsontext.Value("{}")})
	_, root := page(t, view.Document{}, k.conversation(1))
	if n := len(find(root, "nav", "outline")); n > 0 {
		t.Errorf("got %d outlines", n)
	}
	if got := words(find(root, "div", "main")...); !strings.HasPrefix(got, "Nothing was asked.") {
		t.Errorf("got %q", got)
	}
}

// TestLinksAreKeys verifies that each turn and event has the key of events.Stream.Keys as its
// anchor, once, and that the outline leads there.
func TestLinksAreKeys(t *testing.T) {
	md := events.Metadata{}.WithText(events.MetadataSource, `a b"#<`)
	k := newTalk().ask("q").call("Read", map[string]any{"path": "a"}, "A", false)
	k.add(&events.ChatResponse{Text: "x"}, md).ask("again").say("y")
	_, root := page(t, view.Document{}, k.conversation(1))
	ids := map[string]int{}
	for n := range root.Descendants() {
		if v := attribute(n, "id"); v != "" {
			ids[v]++
		}
	}
	for i, key := range k.s.Keys() {
		want := "e-" + key
		if key == `a b"#<` {
			want = "e-a%20b%22%23%3C"
		}
		if ids[want] != 1 {
			t.Errorf("element %d: got %d anchors %q, want 1", i, ids[want], want)
		}
	}
	for _, a := range find(find(root, "nav", "outline")[0], "a", "") {
		if to := strings.TrimPrefix(attribute(a, "href"), "#"); ids[to] != 1 {
			t.Errorf("the outline leads to %q, which is not there", to)
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %q is there %d times", id, n)
		}
	}
}

// TestHeadingsFollow verifies that no heading of a message skips a level below that of its turn.
func TestHeadingsFollow(t *testing.T) {
	_, root := page(t, view.Document{}, newTalk().ask("### a\n\n##### b\n\n# c\n\n###### d\n\n## e").
		say("# f\n\n#### g").conversation(1))
	last := 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || len(n.Data) != 2 || n.Data[0] != 'h' || n.Data == "hr" {
			continue
		}
		level := int(n.Data[1] - '0')
		if level > last+1 {
			t.Errorf("%s %q follows a heading of level %d", n.Data, words(n), last)
		}
		last = level
	}
}

// TestColoursOfATerminal verifies that colour sequences become classes, and other sequences are
// shown.
func TestColoursOfATerminal(t *testing.T) {
	_, root := page(t, view.Document{}, newTalk().ask("q").call("Bash", map[string]any{"command": "x"},
		"\x1b[1;31mred\x1b[0m plain \x1b[38;5;2mgreen\x1b[39m \x1b[38;2;1;2;3mtrue\x1b[m \x1b[2Kcut", false).
		say("a").conversation(1))
	result := find(root, "div", "result")[0]
	if got := words(result); got != `red plain green true \x1b[2Kcut` {
		t.Errorf("got %q", got)
	}
	for class, want := range map[string]string{"bo": "red", "f1": "red", "f2": "green"} {
		if got := words(find(result, "span", class)...); got != want {
			t.Errorf("%s: got %q, want %q", class, got, want)
		}
	}
}

// TestHonestMarks verifies that a missing blob, a redaction, a compaction and a parallel turn are
// shown.
func TestHonestMarks(t *testing.T) {
	k := newTalk().ask("key [redacted:aws-key] `[redacted:x]` end")
	k.add(&events.ToolCallRequest{ID: "a", Name: "Read", Arguments: jsontext.Value("{}")})
	ref := blobs.Ref{Hash: blobs.Sum([]byte("gone")), Size: 4}
	k.add(&events.ToolCallResponse{ID: "a", Blocks: []events.Block{
		{Type: events.BlockText, Content: blobs.Refer(ref)},
	}})
	summary := "what was **said**"
	k.say("done").add(&events.Compaction{Summary: &summary})
	var b bytes.Buffer
	problems, err := view.Document{}.Write(&b, k.conversation(1))
	if err != nil || len(problems) != 1 {
		t.Fatalf("got problems %v, error %v; want one problem", problems, err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := words(find(find(root, "div", "prompt")[0], "mark", "redacted")...); got != "[redacted:aws-key]" {
		t.Errorf("redactions: got %q", got)
	}
	want := "No content: sha256:" + ref.Hash.String() + ", 4 bytes: it is not in the blob store"
	if got := words(find(root, "p", "absent")...); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := words(find(root, "details", "mark")...); !strings.HasPrefix(got, "Compaction: turns 1..1") ||
		!strings.HasSuffix(got, "what was said") {
		t.Errorf("compaction: got %q", got)
	}
}

// TestFiguresAreReportedOrEstimated distinguishes the two.
func TestFiguresAreReportedOrEstimated(t *testing.T) {
	k := newTalk().ask("q").call("Read", map[string]any{"path": "a"}, strings.Repeat("x", 400), false)
	_, root := page(t, view.Document{}, k.conversation(1))
	if got := words(find(root, "details", "figures")...); !strings.Contains(got, "no answer has recorded usage") ||
		!strings.Contains(got, "Read about 100 in 1 call") {
		t.Errorf("got %q", got)
	}
	usage := jsontext.Value(`{"input": 1000, "output": 200, "cache_read": 3000, "model": "anthropic/claude-sonnet-4-5"}`)
	k.add(&events.ChatResponse{Text: "a"}, events.Metadata{}.With(compact.MetadataUsage, usage))
	prices, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	_, root = page(t, view.Document{Prices: prices}, k.conversation(1))
	if got, want := words(find(root, "details", "figures")...), "4.0k tokens in (75 % from a cache), 200 out, $0.0069"; !strings.Contains(got, "Figures: "+want) || !strings.Contains(got, "Turn 1 "+want) ||
		!strings.Contains(got, "From a cache 3.0k") ||
		!strings.Contains(got, "Read "+want) || !strings.Contains(got, "Results about 100 in 1 result") ||
		strings.Contains(got, "by day") {
		t.Errorf("got %q", got)
	}
}

// TestAnswersAreOpenBeforeRecords verifies that the last answer of a turn is not folded if an agent
// recorded something after it.
func TestAnswersAreOpenBeforeRecords(t *testing.T) {
	k := newTalk().ask("q").call("Read", map[string]any{"path": "a"}, "x", false).say("the answer")
	k.add(&events.ConfigDelta{Delta: jsontext.Value("{}")})
	_, root := page(t, view.Document{}, k.conversation(1))
	for _, work := range find(root, "details", "work") {
		if strings.Contains(words(work), "the answer") {
			t.Error("the answer is folded")
		}
	}
	if got := words(find(root, "div", "answer")...); got != "the answer" {
		t.Errorf("got %q", got)
	}
}

// TestFirstWordsAreAPersons leaves what an agent said in the person's name out of the outline and
// of replaced titles, if a person said something.
func TestFirstWordsAreAPersons(t *testing.T) {
	k := newTalk()
	k.add(&events.TurnStart{})
	injected := events.Metadata{}.With(events.MetadataInjected, jsontext.Value("true"))
	k.add(&events.ChatRequest{Content: "<instructions>"}, injected)
	k.add(&events.ChatRequest{Content: "the question"}).say("a")
	_, root := page(t, view.Document{}, k.conversation(1))
	if got := words(find(root, "nav", "outline")...); !strings.Contains(got, "the question") || strings.Contains(got, "instructions") {
		t.Errorf("outline: got %q", got)
	}
	if got := render.OutlineOf(k.s, nil, 0).First; got != "the question" {
		t.Errorf("first words: got %q", got)
	}
}

// TestTablesHaveNoStyles verifies that columns are aligned by attributes: pages forbid style
// attributes.
func TestTablesHaveNoStyles(t *testing.T) {
	text, root := page(t, view.Document{}, newTalk().ask("q").say("| a | b |\n|--:|:-:|\n| 1 | 2 |\n").conversation(1))
	if strings.Contains(text, "style=") {
		t.Error("the page has an attribute style")
	}
	cells := find(root, "td", "")
	if n := len(cells); n < 2 || attribute(cells[n-2], "align") != "right" || attribute(cells[n-1], "align") != "center" {
		t.Errorf("got %d cells", n)
	}
}

// TestDaysAreTold has a chart by day if there are several.
func TestDaysAreTold(t *testing.T) {
	k := newTalk()
	usage := events.Metadata{}.With(compact.MetadataUsage, jsontext.Value(`{"input": 1000, "output": 200}`))
	for range 2 {
		k.ask("q").add(&events.ChatResponse{Text: "a"}, usage)
		k.at = k.at.Add(24 * time.Hour)
	}
	_, root := page(t, view.Document{}, k.conversation(1))
	got := words(find(root, "details", "figures")...)
	for _, want := range []string{"Tokens by day", "2026-01-01 1.0k tokens in, 200 out", "2026-01-02 1.0k tokens in, 200 out"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestFamiliesCountAnAnswerOnce adds up a conversation, its sub-agent, a fork of it, and a cycle.
func TestFamiliesCountAnAnswerOnce(t *testing.T) {
	usage := events.Metadata{}.With(compact.MetadataUsage, jsontext.Value(`{"input": 1000, "output": 1}`))
	talk := func(id events.ID, labels map[string]string, words ...string) view.Summary {
		k := newTalk()
		for _, w := range words {
			k.ask(w).add(&events.ChatResponse{Text: w}, usage)
		}
		c := &workspace.Conversation{Stream: k.s, Details: &events.Details{Labels: labels}}
		c.ID = id
		return view.Document{}.Summarize(c)
	}
	own, parent := events.LabelSession, events.LabelParent
	all := []view.Summary{
		talk(1, map[string]string{own: "claude-code-a"}, "x", "y"),
		talk(2, map[string]string{own: "claude-code-b", parent: "claude-code-a"}, "b"),
		talk(3, map[string]string{own: "claude-code-c", parent: "claude-code-b"}, "c", "c2", "c3"),
		talk(4, map[string]string{events.LabelSessionOf: "claude-code-a", parent: "claude-code-a"}, "x", "z"),
		talk(5, map[string]string{own: "codex-a", parent: "codex-b"}, "r"),
		talk(6, map[string]string{own: "codex-b", parent: "codex-a"}, "s"),
		talk(7, map[string]string{parent: "claude-code-nowhere"}, "t"),
		talk(8, map[string]string{"agent-import-claude-code-d": "2.10.0123456789abcdef"}, "gone on"),
		talk(9, map[string]string{own: "claude-code-d.z", parent: "claude-code-d"}, "counted"),
	}
	view.Families(all)
	for i, want := range []struct {
		relatives int
		input     int64
		from      string
	}{{3, 7000, ""}, {1, 4000, "1.html"}, {0, 3000, "2.html"}, {0, 2000, "1.html"}, {1, 2000, "6.html"}, {0, 1000, "5.html"}, {0, 1000, ""}, {1, 2000, ""}, {0, 1000, "8.html"}} {
		s := all[i]
		if s.Relatives != want.relatives || s.Family.Input != want.input || s.OriginPage != want.from {
			t.Errorf("%d: got %d relatives, %d tokens, from %q; want %+v", i+1, s.Relatives, s.Family.Input, s.OriginPage, want)
		}
	}
	var list strings.Builder
	if err := (view.Index{Title: "All"}).Write(&list, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"7.0k tokens in, 7 out with 3 sub-agents or forks", "Figures: 12.0k tokens in", `from <a href="1.html">“x”</a>`, `from <a href="8.html">“gone on”</a>`} {
		if !strings.Contains(list.String(), want) {
			t.Errorf("no %q in the list", want)
		}
	}
}

// TestSubagentsAreLinked leads to the conversation that a call started.
func TestSubagentsAreLinked(t *testing.T) {
	md := events.Metadata{}.WithText(events.MetadataPrefix+"subagent", "claude-x")
	k := newTalk().ask("q")
	k.add(&events.ToolCallRequest{ID: "a", Name: "Task", Arguments: jsontext.Value("{}")}, md).say("a")
	link := func(s string) string { return "./" + s + ".html" }
	_, root := page(t, view.Document{Link: link}, k.conversation(1))
	started := find(root, "p", "started")
	if len(started) != 1 || attribute(find(started[0], "a", "")[0], "href") != "./claude-x.html" {
		t.Errorf("got %q", words(started...))
	}
}
