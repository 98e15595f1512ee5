package trust_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/trust"
)

// toolClaim returns the claim of a declared tool.
func toolClaim(t *testing.T, name string, tool trust.Tool) trust.Claim {
	t.Helper()
	value, err := json.Marshal(tool)
	if err != nil {
		t.Fatal(err)
	}
	return trust.Claim{Kind: trust.Process, Key: "conversation.tools." + name, Value: string(value)}
}

func just(change func(*trust.Tool)) trust.Tool {
	t := trust.Tool{
		Source: "local", Command: json.RawMessage(`"just serve {{tool}}"`),
		Line: []string{"just", "serve", "{{tool}}"}, Reaches: []string{"*"},
		Files: map[string]string{"justfile": strings.Repeat("a1", 32)},
	}
	if change != nil {
		change(&t)
	}
	return t
}

func TestToolsAreToldInWords(t *testing.T) {
	claims := []trust.Claim{
		toolClaim(t, "check", just(nil)),
		toolClaim(t, "fmt", just(func(t *trust.Tool) { t.Run = "unattended" })),
		toolClaim(t, "log", just(func(t *trust.Tool) {
			t.Command, t.Line = json.RawMessage(`"just log {{tool.arguments.a}}"`), []string{"just", "log", "{{tool.arguments.a}}"}
			t.Reaches, t.Options = []string{"a"}, json.RawMessage(`{"script":"rm \u202e x"}`)
			t.Answers = json.RawMessage(`{"sure":{"answer":true}}`)
		})),
		toolClaim(t, "git", trust.Tool{
			Command: json.RawMessage(`"git log {{tool.arguments.x}}"`),
			Line:    []string{"git", "log", "{{tool.arguments.x}}"}, Takes: []string{"x"},
			Formatter: json.RawMessage(`"cat"`), Format: "unattended", Access: json.RawMessage(`{"a":1}`),
		}),
		{Kind: trust.Process, Key: "providers.mcp.docs", Value: `{"command":"just","arguments":["serve"],"variables":["TOKEN"]}`},
		toolClaim(t, "crate", trust.Tool{Source: "mcp.docs.crate", Run: "unattended"}),
		{Kind: trust.Process, Key: "editor.cmd", Value: `{"command":"bin/vi","files":{"bin/vi":"a1"}}`},
		{Kind: trust.Path, Key: "editor.dir", Value: `".."`},
		toolClaim(t, "plan", trust.Tool{
			Command: json.RawMessage(`"terraform plan"`), Line: []string{"terraform", "plan"},
		}),
	}
	groups := trust.Groups(claims)
	if len(groups) != 6 {
		t.Fatalf("%d questions", len(groups))
	}
	for i, want := range []string{
		`conversation.tools.* starts a process, 3 tools:
  just serve {{tool}}: 2 tools
    asks before it runs, or as you say yourself: check
    runs without a question: fmt
    starts just; the model's text reaches a shell there: all arguments: all of them
    runs files of this repository, as they are now: justfile (a1a1a1a1a1a1): all of them
  just log {{tool.arguments.a}}: log
    asks before it runs, or as you say yourself
    starts just; the model's text reaches a shell there: a
    runs files of this repository, as they are now: justfile (a1a1a1a1a1a1)
    is given the options {"script":"rm \u202e x"}
    has its questions answered by {"sure":{"answer":true}}
  not covered, and may change without a question: what these files run or include in turn
`, `conversation.tools.git starts a process, 1 tool:
  git log {{tool.arguments.x}}: git
    asks before it runs, or as you say yourself
    starts git; the model's text can be an option of it: x
    shows arguments by cat, without a question
    has access to {"a":1}
`, `MCP server docs starts a process, 2 settings:
  providers.mcp.docs: just serve
    variables ["TOKEN"]
  MCP server docs: crate
    runs without a question
`, `editor.cmd starts a process:
  "bin/vi"
  runs files of this repository, as they are now: bin/vi (a1)
  not covered, and may change without a question: what these files run or include in turn
`, `editor.dir reaches out of the workspace:
  ".."
`, `conversation.tools.plan starts a process, 1 tool:
  terraform plan: plan
    asks before it runs, or as you say yourself
    starts terraform
  not covered, and may change without a question: what terraform looks for in the repository
`,
	} {
		if got := groups[i].String(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// TestAChangeIsAskedWithTheDifference checks that an approval covers everything that decides what a
// tool does, and that a change leads to one question with the difference.
func TestAChangeIsAskedWithTheDifference(t *testing.T) {
	for _, test := range []struct {
		name, want string
		change     func(*trust.Tool)
	}{
		{"an option", `options: was nothing, now {"script":"evil"}`, func(t *trust.Tool) { t.Options = json.RawMessage(`{"script":"evil"}`) }},
		{"an answer", `answers: was nothing, now {"a":{"answer":true}}`, func(t *trust.Tool) { t.Answers = json.RawMessage(`{"a":{"answer":true}}`) }},
		{"a parameter", `parameters: was nothing, now {"a":{}}`, func(t *trust.Tool) { t.Parameters = json.RawMessage(`{"a":{}}`) }},
		{"the command", `command: was just serve {{tool}}, now just evil`, func(t *trust.Tool) { t.Command = json.RawMessage(`"just evil"`) }},
		{"the mode", `run: was nothing, now unattended`, func(t *trust.Tool) { t.Run = "unattended" }},
		{"the formatter", `formatter: was nothing, now evil`, func(t *trust.Tool) { t.Formatter = json.RawMessage(`"evil"`) }},
		{"the source", `source: was local, now builtin`, func(t *trust.Tool) { t.Source = "builtin" }},
		{"a file", `the file justfile has changed`, func(t *trust.Tool) { t.Files = map[string]string{"justfile": "b2"} }},
		{"a file more", `the file .justfile has changed`, func(t *trust.Tool) { t.Files = map[string]string{"justfile": t.Files["justfile"], ".justfile": "b2"} }},
	} {
		a, dev := asker(t, t.TempDir(), "y\n")
		if err := a.Approvals.Approve(now(), toolClaim(t, "check", just(nil)), claim()); err != nil {
			t.Fatal(err)
		}
		changed := toolClaim(t, "check", just(test.change))
		if err := a.Approvals.Allow(changed); err == nil {
			t.Errorf("%s: approved already", test.name)
		}
		if err := a.Allow(changed); err != nil || !strings.Contains(dev.asked.String(), "changed since you approved conversation.tools.check:\n    "+test.want+"\n") {
			t.Errorf("%s: asked %q (%v)", test.name, dev.asked.String(), err)
		}
	}
}

// TestAnAskerAsksAboutTheSet checks that one question covers all tools that start the same program,
// also during a query.
func TestAnAskerAsksAboutTheSet(t *testing.T) {
	first, second := toolClaim(t, "check", just(nil)), toolClaim(t, "fmt", just(nil))
	other := toolClaim(t, "vi", trust.Tool{Line: []string{"vi"}})
	for answer, forever := range map[string]bool{"y\n": true, "o\n": false} {
		a, dev := asker(t, t.TempDir(), answer)
		a.Known = []trust.Claim{first, second, other}
		for _, c := range []trust.Claim{second, first, second} {
			if err := a.Allow(c); err != nil {
				t.Errorf("%q: %v", answer, err)
			}
		}
		if n := strings.Count(dev.asked.String(), "Allow?"); n != 1 || strings.Contains(dev.asked.String(), "vi") {
			t.Errorf("%q: asked %d times: %s", answer, n, dev.asked.String())
		}
		if (a.Approvals.Allow(first) == nil) != forever || a.Approvals.Allow(other) == nil {
			t.Errorf("%q: approved for good: %t", answer, !forever)
		}
	}
}

// TestNoTextOfAClaimIsObeyed shows claims of all kinds whose every text has characters that a
// terminal interprets.
func TestNoTextOfAClaimIsObeyed(t *testing.T) {
	const bad = "x\x1b[2J\u202e\u009b"
	list, raw := []string{bad}, json.RawMessage(`"x\u001b\u202e"`)
	whole := trust.Tool{
		Source: bad, Command: raw, Formatter: raw, Run: bad, Format: bad, Options: raw, Answers: raw,
		Access: raw, Parameters: raw, Line: list, Reaches: list, Takes: list,
		Files: map[string]string{bad: bad},
	}
	other, served := whole, whole
	other.Options, other.Files = json.RawMessage(`{"a":"\u001b"}`), map[string]string{"y\u202e": bad}
	served.Source = "mcp.\x1b\u202e.z"
	server := trust.Claim{
		Kind: trust.Process, Key: "providers.mcp." + bad, Origin: bad,
		Value: `{"command":"c\u202e","arguments":["\u001b"],"files":{"\u001b":"\u202e"},"\u202e":"\u001b"}`,
	}
	broken, setting := server, trust.Claim{Kind: trust.Setting, Key: bad, Value: `"\u001b"`}
	broken.Value = bad
	command := trust.Claim{Kind: trust.Process, Key: "plugins.command." + bad, Value: `{"command":"c\u202e","files":{"\u001b":"\u202e"}}`}
	again := command
	again.Key += "2"
	odd := trust.Claim{Kind: bad, Key: "editor." + bad, Value: bad + strings.Repeat("x", 300) + "\u001b"}
	for _, claims := range [][]trust.Claim{
		{toolClaim(t, bad, whole)},
		{toolClaim(t, bad, whole), toolClaim(t, bad+"2", other)},
		{toolClaim(t, bad, served)},
		{server},
		{broken},
		{setting},
		{setting, {Kind: trust.Setting, Key: bad + "2", Value: bad}},
		{command},
		{command, again},
		{odd},
	} {
		a, dev := asker(t, t.TempDir(), "n\n")
		before := claims[0]
		if tool := toolClaim(t, bad, other); before.Key == tool.Key {
			before.Value = tool.Value
		} else {
			before.Value = bad + "before"
		}
		if err := a.Approvals.Approve(now(), before); err != nil {
			t.Fatal(err)
		}
		a.Known = claims
		last := claims[len(claims)-1]
		err := a.Allow(last)
		if err == nil {
			t.Fatalf("%q is allowed", last.Key)
		}
		if shown := dev.asked.String() + err.Error() + last.Shown() + last.String(); strings.ContainsAny(shown, "\x1b\u202e\u009b") {
			t.Errorf("a terminal obeys %q", shown)
		}
	}
}

// TestAnAskerAsksAboutNothingTwice checks that a question leaves out what is approved and what was
// declined before.
func TestAnAskerAsksAboutNothingTwice(t *testing.T) {
	approved, declined := toolClaim(t, "check", just(nil)), toolClaim(t, "fmt", just(nil))
	later := toolClaim(t, "lint", just(nil))
	a, dev := asker(t, t.TempDir(), "n\ny\n")
	a.Known = []trust.Claim{approved, declined}
	if err := a.Approvals.Approve(now(), approved); err != nil {
		t.Fatal(err)
	}
	if a.Allow(declined) == nil || a.Allow(later) != nil {
		t.Error("the answers were others")
	}
	if asked := dev.asked.String(); strings.Count(asked, "1 tool:") != 2 || strings.Contains(asked, "check") {
		t.Errorf("asked %q", asked)
	}
	if a.Approvals.Allow(declined) == nil {
		t.Error("what was declined is approved with another")
	}
}

// TestFilesOfOnesOwn checks that files that the user committed run without a question, if the rest
// is approved.
func TestFilesOfOnesOwn(t *testing.T) {
	a := open(t, t.TempDir(), workspace())
	var looked []string
	own := true
	a.Own = func(name string) bool { looked = append(looked, name); return own }
	edited := toolClaim(t, "check", just(func(t *trust.Tool) { t.Files = map[string]string{"justfile": "b2"} }))
	if a.Allow(edited) == nil {
		t.Error("a file alone approves a command")
	}
	if err := a.Approve(now(), toolClaim(t, "check", just(nil))); err != nil {
		t.Fatal(err)
	}
	if err := a.Allow(edited); err != nil || strings.Join(looked, " ") != "justfile" {
		t.Errorf("%v, looked at %q", err, looked)
	}
	both := toolClaim(t, "check", just(func(t *trust.Tool) {
		t.Files, t.Options = map[string]string{"justfile": "b2"}, json.RawMessage(`{}`)
	}))
	if a.Allow(both) == nil {
		t.Error("an option was added with the file")
	}
	command := toolClaim(t, "check", just(func(t *trust.Tool) {
		t.Files, t.Command = map[string]string{"justfile": "b2"}, json.RawMessage(`"evil"`)
	}))
	if a.Allow(command) == nil {
		t.Error("the command changed with the file")
	}
	if a.Allow(toolClaim(t, "fmt", just(func(t *trust.Tool) { t.Files = map[string]string{"justfile": "b2"} }))) == nil {
		t.Error("another tool is approved")
	}
	kind := edited
	kind.Kind = trust.EnvVar
	if a.Allow(kind) == nil {
		t.Error("another kind is approved")
	}
	none := func(t *trust.Tool) { t.Files = nil }
	if err := a.Approve(now(), toolClaim(t, "lint", just(none))); err != nil {
		t.Fatal(err)
	}
	if a.Allow(toolClaim(t, "lint", just(nil))) == nil {
		t.Error("a file is approved where none was")
	}
	own = false
	if a.Allow(edited) == nil {
		t.Error("somebody else's change is approved")
	}
	a.Own = nil
	if a.Allow(edited) == nil {
		t.Error("nobody looked")
	}
}

// TestFilesOfAnAlteredApproval checks that the value of an approval counts only with its hash.
func TestFilesOfAnAlteredApproval(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, workspace()).Approve(now(), toolClaim(t, "check", just(nil))); err != nil {
		t.Fatal(err)
	}
	rewrite(t, dir, "just serve {{tool}}", "evil")
	a := open(t, dir, workspace())
	a.Own = func(string) bool { return true }
	evil := toolClaim(t, "check", just(func(t *trust.Tool) {
		t.Files, t.Command = map[string]string{"justfile": "b2"}, json.RawMessage(`"evil"`)
	}))
	if a.Allow(evil) == nil {
		t.Error("an altered value is approved")
	}
}

// rewrite replaces text in the file of approvals.
func rewrite(t *testing.T, dir, from, to string) {
	t.Helper()
	file := filepath.Join(dir, "approvals.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), from, to, 1)
	if text == string(data) {
		t.Fatalf("no %s in %s", from, data)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestApprovalsOfTheFirstVersion checks approvals of version 1, which covered commands only: those
// of tools are dropped, the others stay valid.
func TestApprovalsOfTheFirstVersion(t *testing.T) {
	dir := t.TempDir()
	old := toolClaim(t, "check", just(nil))
	a := open(t, dir, workspace())
	format := old
	format.Kind = trust.Setting
	server := old
	server.Key = "providers.mcp.x"
	if err := a.Approve(now(), claim(), old, format, server); err != nil {
		t.Fatal(err)
	}
	rewrite(t, dir, `"version": 2`, `"version": 1`)
	again := open(t, dir, workspace())
	if again.Allow(claim()) != nil || again.Allow(format) != nil || again.Allow(server) != nil ||
		again.Allow(old) == nil || len(again.List()) != 3 {
		t.Errorf("approvals are %+v", again.List())
	}
	if err := again.Approve(now(), old); err != nil || open(t, dir, workspace()).Allow(old) != nil {
		t.Errorf("approved anew: %v", err)
	}
}

// TestGroupID checks that a group has one id, which changes with another value or another tool.
func TestGroupID(t *testing.T) {
	a := open(t, t.TempDir(), workspace())
	id := func(claims ...trust.Claim) string { return a.GroupID(trust.Groups(claims)[0]) }
	one, two := toolClaim(t, "a", just(nil)), toolClaim(t, "b", just(nil))
	if id(one) != a.ID(one) {
		t.Error("one claim has two ids")
	}
	if id(one, two) == id(one) || id(one, two) == id(one, toolClaim(t, "b", just(func(t *trust.Tool) { t.Run = "unattended" }))) {
		t.Error("two groups have one id")
	}
}

// TestWhatCannotBeCoveredIsNotApproved checks that nobody is asked about a claim whose files could
// change without a question, even if it follows one that was approved.
func TestWhatCannotBeCoveredIsNotApproved(t *testing.T) {
	a := open(t, t.TempDir(), workspace())
	c := trust.Claim{Kind: trust.Process, Key: "editor.cmd", Value: `{"command":"./a","files":{"a":"` + trust.Unbound + `"}}`}
	asker := &trust.Asker{
		Approvals: a, Now: time.Now, Terminal: func() (io.ReadWriteCloser, error) { return nil, errors.New("asked") },
	}
	for name, err := range map[string]error{"Approve": a.Approve(time.Now(), c), "Allow": a.Allow(c), "ask": asker.Allow(c)} {
		if !errors.Is(err, trust.ErrUnbound) || !strings.Contains(err.Error(), "cannot be read: a") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(a.List()); n != 0 {
		t.Errorf("%d approvals", n)
	}
	before := c
	before.Value = strings.Replace(c.Value, trust.Unbound, "e3b0", 1)
	a.Own = func(string) bool { return true }
	if err := errors.Join(a.Approve(time.Now(), before), a.Allow(before)); err != nil {
		t.Error(err)
	}
	if a.Allow(c) == nil {
		t.Error("what is not covered follows what was approved")
	}
}

// TestAClaimIsRenewed checks that the gate sees the claim as it is when the value is opened.
func TestAClaimIsRenewed(t *testing.T) {
	a := open(t, t.TempDir(), workspace())
	c := trust.Claim{Kind: trust.Process, Key: "editor.cmd", Value: "1"}
	now := c
	g := trust.Foreign("v", c).Renewed(func() trust.Claim { return now })
	if err := a.Approve(time.Now(), c); err != nil {
		t.Fatal(err)
	}
	if v, err := g.Open(a); v != "v" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	now.Value = "2"
	if v, err := g.Open(a); v != "" || err == nil {
		t.Errorf("opened %q after a change", v)
	}
}
