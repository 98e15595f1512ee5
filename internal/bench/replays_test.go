package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
	gocmp "github.com/google/go-cmp/cmp"
)

// TestTheDefaultCostsNoRealConversationMore verifies the promise of the default on conversations of
// this program and on sessions of an agent, in each regime, the bound of "balanced" and the goals
// of estimates, for every fourth prompt if there is no time for all. With -v it prints the tables of
// the page about performance.
func TestTheDefaultCostsNoRealConversationMore(t *testing.T) {
	every := 4
	if os.Getenv("GIT_JP_SOAK") != "" {
		every = 1
	}
	for _, dir := range []string{realdata.Dir(t, "conversations"), realdata.Dir(t, "agents", "claude-code")} {
		var out strings.Builder
		v, err := replay(&out, dir, every)
		if t.Log(out.String()); err != nil || v.dearer > 0 {
			t.Errorf("the default makes %d conversations dearer, %v", v.dearer, err)
		}
		if v.worst > 0.08 {
			t.Errorf("balanced makes one dearer by %.1f %%", 100*v.worst)
		}
		v.told.holdTo(t)
		if strings.Count(out.String(), "%") < 50 {
			t.Errorf("printed %s", out.String())
		}
	}
}

// holdTo compares guesses with their goals, if enough was recorded to judge them by.
func (g guessed) holdTo(t *testing.T) {
	t.Helper()
	if len(g.growth) < 20 {
		return
	}
	for _, row := range []struct {
		name   string
		faults []float64
		part   float64
		most   float64
	}{
		{"half of growth", g.growth, 0.5, 0.055},
		{"growth", g.growth, 0.9, 0.20},
		{"learned growth", g.growth, 0.9, within(g.unlearned, 0.9) + 0.003},
		{"half of the next prompts", g.next, 0.5, 0.015},
		{"the next prompt", g.next, 0.9, 0.04},
		{"what a compaction leaves", g.compacted, 0.9, 0.05},
	} {
		if got := within(row.faults, row.part); got > row.most {
			t.Errorf("%s is guessed with an error of %.2f %%, want at most %.2f %%",
				row.name, 100*got, 100*row.most)
		}
	}
	if got := share(g.covered, len(g.next)); got < 80 {
		t.Errorf("the reported error covers %.1f %% of the next prompts, want 80 %%", got)
	}
}

const session = `{"type":"user","uuid":"1","sessionId":"s","cwd":"/r","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"change it"}}
{"type":"assistant","uuid":"2","timestamp":"2026-01-01T00:00:02Z","message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"r","name":"Read","input":{"file_path":"/r/a"}}],"usage":{"input_tokens":9,"output_tokens":1}}}
{"type":"user","uuid":"3","timestamp":"2026-01-01T00:00:03Z","message":{"content":[{"type":"tool_result","tool_use_id":"r","content":"     1→one\n     2→two\n"}]},"toolUseResult":{"type":"text","file":{"filePath":"/r/a","content":"one\ntwo\n","numLines":2,"startLine":1,"totalLines":2}}}
{"type":"assistant","uuid":"4","timestamp":"2026-01-01T00:00:04Z","message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"x","name":"Bash","input":{}}]}}
{"type":"user","uuid":"5","timestamp":"2026-01-01T00:00:05Z","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"done"}],"is_error":true}]}}
{"type":"assistant","uuid":"6","timestamp":"2026-01-01T00:00:06Z","message":{"id":"m2","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"e","name":"Edit","input":{"file_path":"/r/a","old_string":"two","new_string":"2"}}]}}
{"type":"user","uuid":"7","timestamp":"2026-01-01T00:00:07Z","message":{"content":[{"type":"tool_result","tool_use_id":"e","content":"The file was updated."}]}}
{"type":"user","uuid":"7","message":{"content":"again"}}
{"type":"assistant","uuid":"8","isSidechain":true,"message":{"id":"m3","content":"aside"}}
{"type":"system","subtype":"compact_boundary","uuid":"9"}
{"type":"user","uuid":"9b","isCompactSummary":true,"timestamp":"2026-01-01T00:00:59Z","message":{"content":"It was changed."}}
{"type":"user","uuid":"10","timestamp":"2026-01-01T00:01:00Z","message":{"content":"and now?"}}
`

// readSessions reads the sessions of agents with some texts, in their order.
func readSessions(t *testing.T, texts ...string) (all []*events.Stream) {
	t.Helper()
	dir := t.TempDir()
	for n, text := range texts {
		name := filepath.Join(dir, fmt.Sprintf("%d1111111-2222-4333-8444-555555555555.jsonl", n))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := sessions(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if err := read[name].Validate(); err != nil {
			t.Error(err)
		}
		all = append(all, read[name])
	}
	return all
}

// TestSessions tests how sessions of agents become conversations: the session in parts between its
// compactions, sub-agents, and nothing that is no event.
func TestSessions(t *testing.T) {
	short := map[events.Kind]string{
		events.KindTurnStart: "turn", events.KindChatRequest: "asks", events.KindChatResponse: "says",
		events.KindToolCallRequest: "calls", events.KindToolCallResponse: "result",
	}
	var got []string
	for _, s := range readSessions(t, session, codexSession) {
		var kinds []string
		for _, e := range s.All() {
			kinds = append(kinds, cmp.Or(short[e.Kind()], string(e.Kind())))
		}
		got = append(got, strings.Join(kinds, " "))
	}
	want := []string{
		"turn asks calls result calls result says calls result turn asks",
		"turn asks says turn asks", // with the summary
		"turn asks says",           // the sidechain
		"turn asks calls result calls result calls",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestContents verifies that files are rebuilt from reads, writes and edits, and that the cases
// where that is impossible are counted.
func TestContents(t *testing.T) {
	s := readSessions(t, session)[0]
	c := contentsOf(s)
	if text, ok := c.current("file:///$WORKSPACE/a", 5); !ok || text != "one\ntwo\n" {
		t.Errorf("before the edit it is %q, %t", text, ok)
	}
	if text, ok := c.current("file:///$WORKSPACE/a", s.Len()); !ok || text != "one\n2\n" || c.unknown != 0 {
		t.Errorf("behind it it is %q, %t, %d unknown", text, ok, c.unknown)
	}
	if _, ok := c.current("file:///$WORKSPACE/b", s.Len()); ok {
		t.Error("a file that nobody read is known")
	}
	lost := contentsOf(readSessions(t, strings.Replace(session, `"old_string":"two"`, `"old_string":"three"`, 1))[0])
	if _, ok := lost.current("file:///$WORKSPACE/a", s.Len()); ok || lost.unknown != 1 {
		t.Errorf("an edit of a text that was not there: %d unknown", lost.unknown)
	}
}

const codexSession = `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"21111111-2222-4333-8444-555555555555","timestamp":"2026-01-01T00:00:00Z","cwd":"/r","originator":"codex_cli_rs","cli_version":"0.40.0"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"change it"}]}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat a\"}","call_id":"c1"}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"one\ntwo\nthree\n"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"c2","input":"*** Begin Patch\n*** Update File: /r/a\n@@\n one\n-two\n+2\n@@ here\n-three\n+3\n*** Update File: /r/b\n@@\n-x\n*** End Patch"}}
{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"done"}}
{"timestamp":"2026-01-01T00:00:05Z","type":"response_item","payload":{"type":"function_call","name":"odd","arguments":"{","call_id":"c3"}}
{"timestamp":"2026-01-01T00:00:06Z","type":"event_msg","payload":{"type":"message","role":"user"}}
`

// TestPatchesOfCodex tests what its patches quote.
func TestPatchesOfCodex(t *testing.T) {
	var quoted []string
	for _, e := range contentsOf(readSessions(t, codexSession)[0]).edits {
		quoted = append(quoted, e.quoted)
	}
	if diff := gocmp.Diff([]string{"one\ntwo", "three", "x"}, quoted); diff != "" {
		t.Error(diff)
	}
}

// TestPatternsOfJP tests what edits of jp's tool quote, each of the file that it names.
func TestPatternsOfJP(t *testing.T) {
	args := fileArgs{Patterns: []pattern{{Old: "a", New: "b"}, {Old: "c", New: "d", Paths: []string{"x"}}}}
	if got, known := args.apply(args.replacements("file:///r/x"), version{text: "a c", known: true}); got != "b d" || !known {
		t.Errorf("x becomes %q, %t", got, known)
	}
	if got, _ := args.apply(args.replacements("file:///r/y"), version{text: "a c", known: true}); got != "b c" {
		t.Errorf("y becomes %q", got)
	}
}

// TestCurve verifies that an edit counts whose text was removed and is nowhere else.
func TestCurve(t *testing.T) {
	var s strings.Builder
	line := func(role, content string) {
		fmt.Fprintf(&s, `{"type":%q,"uuid":"%d","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"id":"%d","content":%s}}`+"\n",
			role, s.Len(), s.Len(), content)
	}
	call := func(n int, name, input, result string) {
		line("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"c%d","name":%q,"input":%s}]`, n, name, input))
		line("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"c%d","content":%q}]`, n, result))
	}
	line("user", `"go on"`)
	call(0, "Bash", `{"command":"cat a"}`, strings.Repeat("first of many lines\n", 20)+"shown by the shell\n")
	for n := range 8 {
		call(n+1, "Bash", fmt.Sprintf(`{"command":"do %d"}`, n), "nothing")
	}
	call(9, "Edit", `{"file_path":"/r/a","old_string":"shown by the shell","new_string":"x"}`, "fine")
	r, err := newReplayed("s", readSessions(t, s.String())[0])
	if err != nil {
		t.Fatal(err)
	}
	for keep, want := range map[int]point{3: {edits: 3, quoting: 2}, 9: {edits: 3}} {
		var p point
		if err := p.add(r, compact.Options{Strategies: []string{compact.StripToolResults}, KeepCalls: keep}); err != nil {
			t.Fatal(err)
		}
		if p.edits != want.edits || p.quoting != want.quoting || p.left > p.given {
			t.Errorf("but for %d calls: %+v", keep, p)
		}
	}
	var out strings.Builder
	if err := curve(&out, []replayed{r}); err != nil || strings.Count(out.String(), "\n") != 9 {
		t.Errorf("%v, printed\n%s", err, out.String())
	}
}
