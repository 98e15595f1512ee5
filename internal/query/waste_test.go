package query_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/go-json-experiment/json"
)

// A worker writes a session of one agent: calls of its tools with their results.
type worker struct {
	name   string // of the file
	begin  string
	call   func(n int, tool, arguments, result string) string
	result func(text string, first int) string // of a read
	prompt string
	end    string
}

func quoted(t testing.TB, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// numberedLines formats the lines of a file with numbers, as agents do.
func numberedLines(text string, first int) string {
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&out, "%6d→%s\n", first+i, line)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func claudeWorks(t *testing.T) worker {
	const user = `{"type":"user","uuid":"0000000%d-0000-4000-8000-%012d","sessionId":"s","cwd":"/home/ada/proj","timestamp":"2026-01-01T00:00:00Z","message":{"content":%s}%s}` + "\n"
	return worker{
		name:   "s.jsonl",
		prompt: fmt.Sprintf(user, 1, 0, `"Work."`, ""),
		end:    fmt.Sprintf(user, 2, 0, `"And?"`, "") + fmt.Sprintf(user, 3, 0, `"And then?"`, ""),
		call: func(n int, tool, arguments, result string) string {
			details := ""
			if tool == "Read" {
				text, first := bare(result)
				details = fmt.Sprintf(`,"toolUseResult":{"type":"text","file":{"filePath":"/home/ada/proj/a.go","content":%s,"numLines":%d,"startLine":%d,"totalLines":40}}`,
					quoted(t, text), strings.Count(result, "\n")+1, first)
			}
			return fmt.Sprintf(`{"type":"assistant","uuid":"00000004-0000-4000-8000-%012d","sessionId":"s","cwd":"/home/ada/proj","timestamp":"2026-01-01T00:00:00Z","message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":%q,"input":%s}]}}`+"\n", n, n, n, tool, arguments) +
				fmt.Sprintf(user, 5, n, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":%s}]`, n, quoted(t, result)), details)
		},
		result: numberedLines,
	}
}

// bare removes the numbers from lines, and returns the first number.
func bare(numbered string) (text string, first int) {
	for i, line := range strings.Split(numbered, "\n") {
		head, rest, _ := strings.Cut(line, "→")
		if i == 0 {
			_, _ = fmt.Sscan(head, &first)
		}
		text += rest + "\n"
	}
	return text, first
}

func geminiWorks(t *testing.T) worker {
	const line = `{"id":"0000000%d-0000-4000-8000-%012d","timestamp":"2026-01-01T00:00:00Z",%s}` + "\n"
	said := func(n int, text string) string {
		return fmt.Sprintf(line, 1, n, `"type":"user","content":`+quoted(t, text))
	}
	return worker{
		name:   "s.jsonl",
		begin:  `{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z","directories":["/home/ada/proj"]}` + "\n",
		prompt: said(0, "Work."), end: said(1, "And?") + said(2, "And then?"),
		call: func(n int, tool, arguments, result string) string {
			return fmt.Sprintf(line, 2, n, fmt.Sprintf(
				`"type":"gemini","toolCalls":[{"id":"t%d","name":%q,"args":%s,"status":"success","result":[{"functionResponse":{"id":"t%d","name":%q,"response":{"output":%s}}}]}]`,
				n, tool, arguments, n, tool, quoted(t, result)))
		},
		result: func(text string, _ int) string { return text },
	}
}

func copilotWorks(t *testing.T) worker {
	const line = `{"type":%q,"id":"0000000%d-0000-4000-8000-%012d","timestamp":"2026-01-01T00:00:00Z","data":%s}` + "\n"
	said := func(n int, text string) string {
		return fmt.Sprintf(line, "user.message", 1, n, `{"content":`+quoted(t, text)+`}`)
	}
	return worker{
		name:   "events.jsonl",
		begin:  fmt.Sprintf(line, "session.start", 9, 0, `{"sessionId":"s","producer":"copilot-agent","context":{"cwd":"/home/ada/proj"}}`),
		prompt: said(0, "Work."), end: said(1, "And?") + said(2, "And then?"),
		call: func(n int, tool, arguments, result string) string {
			return fmt.Sprintf(line, "assistant.message", 2, n, fmt.Sprintf(
				`{"messageId":"m%d","content":"","toolRequests":[{"toolCallId":"t%d","name":%q,"arguments":%s}]}`, n, n, tool, arguments)) +
				fmt.Sprintf(line, "tool.execution_complete", 3, n, fmt.Sprintf(
					`{"toolCallId":"t%d","success":true,"result":{"content":%s}}`, n, quoted(t, result)))
		},
		result: func(text string, _ int) string { return text },
	}
}

// TestToolsOfAgentsAreKnown checks that files that an agent read twice, read and then wrote, or
// read in part and then completely are found in its session, by its own tools.
func TestToolsOfAgentsAreKnown(t *testing.T) {
	text, changed := lines("alpha", 1, 40), lines("beta", 1, 40)
	part := strings.Join(strings.SplitAfter(text, "\n")[4:9], "")
	for _, a := range []struct {
		worker
		agent        sessions.Agent
		read, ranged string // the name of the tool, and arguments that read five lines from the fifth on
		file         string // the argument that names the file
		edit         string
	}{
		{claudeWorks(t), sessions.ClaudeCode, "Read", `,"offset":5,"limit":5`, "file_path", "Edit"},
		{geminiWorks(t), sessions.Gemini, "read_file", `,"start_line":5,"end_line":9`, "file_path", "replace"},
		{copilotWorks(t), sessions.Copilot, "view", `,"start_line":5,"end_line":9`, "path", "edit"},
	} {
		whole := fmt.Sprintf(`{%q:"/home/ada/proj/a.go"}`, a.file)
		some := fmt.Sprintf(`{%q:"/home/ada/proj/a.go"%s}`, a.file, a.ranged)
		for name, test := range map[string]struct {
			calls []string
			waste string // the kind of waste
		}{
			"read twice": {[]string{
				a.call(1, a.read, whole, a.result(text, 1)), a.call(2, a.read, whole, a.result(text, 1)),
			}, "superseded"},
			"read in part and whole": {[]string{
				a.call(1, a.read, some, a.result(part, 5)), a.call(2, a.read, whole, a.result(text, 1)),
			}, "superseded"},
			"read and written": {[]string{
				a.call(1, a.read, whole, a.result(text, 1)), a.call(2, a.edit, whole, "Done."),
			}, "stale reads"},
			"read, written and read": {[]string{
				a.call(1, a.read, whole, a.result(text, 1)), a.call(2, a.edit, whole, "Done."),
				a.call(3, a.read, whole, a.result(changed, 1)),
			}, "superseded"},
			"another file": {[]string{
				a.call(1, a.read, whole, a.result(text, 1)),
				a.call(2, a.edit, strings.Replace(whole, "a.go", "b.go", 1), "Done."),
			}, ""},
		} {
			t.Run(string(a.agent)+"/"+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), a.name)
				data := a.begin + a.prompt + strings.Join(test.calls, "") + a.end
				if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
				stream, its := importOne(t, path)
				stats, err := compact.Survey(t.Context(), stream, compact.Options{
					KeepLast: 1, Now: time.Unix(2e9, 0), Contents: its,
				})
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, w := range stats.Waste {
					found = found || w.Name == test.waste && w.Count > 0
					if test.waste == "" && w.Count > 0 {
						t.Errorf("there is %+v", w)
					}
				}
				if !found && test.waste != "" {
					t.Errorf("nothing is %s: %+v", test.waste, stats.Waste)
				}
				compactedIsTaken(t, stream, its)
			})
		}
	}
}

// importOne imports the only session in a file.
func importOne(t *testing.T, path string) (*events.Stream, sessionstest.Contents) {
	t.Helper()
	found, _ := importer.Find(t.Context(), sessions.Places{}, importer.Selection{
		Paths: []string{path}, Foreign: true,
	})
	if len(found) != 1 || found[0].Err != nil {
		t.Fatalf("found %+v", found)
	}
	all, its := importFound(t, found[0])
	return all[0].Stream, its
}

// compactedIsTaken compacts a conversation in each way, and continues it.
func compactedIsTaken(t *testing.T, s *events.Stream, its sessionstest.Contents) {
	t.Helper()
	for _, strategy := range []string{
		compact.Auto, compact.DedupTools, compact.TrimSuperseded, compact.StripToolResults,
	} {
		out, err := compact.Run(t.Context(), s, compact.Options{
			Strategies: []string{strategy}, KeepLast: 1, Now: time.Unix(2e9, 0), Contents: its,
		})
		if err != nil {
			t.Fatalf("%s: %v", strategy, err)
		}
		if err := out.Stream.Validate(); err != nil {
			t.Fatalf("%s: %v", strategy, err)
		}
		for name := range eachFormat {
			if err := adapters()[name].goOnWith(t, out.Stream, its, llm.Params{}); err != nil {
				t.Errorf("%s: %s: %v", strategy, name, err)
			}
		}
	}
}

// TestCompactedImportsAreTaken compacts imported sessions, and continues them.
func TestCompactedImportsAreTaken(t *testing.T) {
	imports(t, func(
		t *testing.T, f importer.Found, c *sessions.Conversation, its sessionstest.Contents,
	) {
		if f.Size > small && os.Getenv("GIT_JP_SOAK") == "" {
			return
		}
		compactedIsTaken(t, c.Stream, its)
	})
}

// lines returns numbered long lines of a file.
func lines(word string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%s %d is a line of some length, so that it is worth leaving out\n", word, i)
	}
	return b.String()
}
