package sessionstest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/sessions/copilot"
	"github.com/git-jp/git-jp/internal/sessions/gemini"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
)

// An agent is a reader, the directory of its recorded sessions, and a counter of raw records that
// is independent of the reader.
type agent struct {
	name    string
	dialect sessions.Dialect
	count   func(lines []object) sessionstest.Count
}

var agents = []agent{
	{"claude-code", claude.Dialect{}, countClaude},
	{"codex", codex.Dialect{}, countCodex},
	{"gemini", gemini.Dialect{}, countGemini},
	{"copilot", copilot.Dialect{}, countCopilot},
}

const recorded = "../testdata/recorded/"

// made has records that agents write but that were not recorded: rewinds, copies of a parent,
// images in results, forms of old versions.
const made = "testdata/made/"

// samples calls test with each file that has a session of an agent: those of the project, and the
// real data, which may be absent.
func samples(t *testing.T, test func(t *testing.T, a agent, path string)) {
	t.Helper()
	dirs := []string{recorded, made}
	if more, ok := realdata.Find(); ok {
		dirs = append(dirs, filepath.Join(more, "agents"))
	}
	for _, a := range agents {
		found := 0
		for _, dir := range dirs {
			dir = filepath.Join(dir, a.name)
			if _, err := os.Stat(dir); err != nil {
				continue
			}
			for _, path := range sessionstest.Files(t, dir, ".jsonl", ".json", ".zst") {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !a.dialect.Recognize(data) {
					continue
				}
				found++
				t.Run(a.name+"/"+filepath.Base(path), func(t *testing.T) { test(t, a, path) })
			}
		}
		if found == 0 {
			t.Errorf("no session of %s is recorded", a.name)
		}
	}
}

// ours reports whether a session is part of the project.
func ours(path string) bool {
	return strings.HasPrefix(path, recorded) || strings.HasPrefix(path, made)
}

// TestSaid compares an independent count of the raw records with the conversations.
func TestSaid(t *testing.T) {
	samples(t, func(t *testing.T, a agent, path string) {
		all, _ := sessionstest.Import(t, a.dialect, path, 0)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, want := sessionstest.CountOf(all), a.count(append(before(t, path, data), objects(data)...))
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// before returns the records of the recorded thread that a fork of Codex begins with.
func before(t *testing.T, path string, data []byte) []object {
	all := objects(data)
	if len(all) == 0 {
		return nil
	}
	base := all[0].in("payload").in("history_base")
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*-"+base.text("thread_id")+".jsonl"))
	if base == nil || len(names) != 1 {
		return nil
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return objects(whole[:int(base["end_byte_offset"].(float64))])
}

// TestRecorded compares the conversations of recorded sessions with reviewed golden files.
func TestRecorded(t *testing.T) {
	samples(t, func(t *testing.T, a agent, path string) {
		if !ours(path) {
			return
		}
		all, kept := sessionstest.Import(t, a.dialect, path, 0)
		scene, _, _ := strings.Cut(strings.TrimPrefix(path, recorded), "/.")
		golden := filepath.Join("testdata", scene+"-"+filepath.Base(path)+".txt")
		if strings.HasPrefix(path, made) {
			golden = path + ".txt"
		}
		sessionstest.Golden(t, golden, sessionstest.Outline(t, all, kept))
	})
}

// An object is a record, parsed without knowledge of its format.
type object map[string]any

func objects(data []byte) (all []object) {
	var whole object
	if json.Unmarshal(data, &whole) == nil && whole["messages"] != nil {
		return []object{whole}
	}
	for line := range bytes.Lines(data) {
		var o object
		if json.Unmarshal(line, &o) == nil {
			all = append(all, o)
		}
	}
	return all
}

func (o object) in(names ...string) object {
	for _, n := range names {
		next, _ := o[n].(map[string]any)
		o = next
	}
	return o
}

func (o object) text(name string) string { s, _ := o[name].(string); return s }

func (o object) number(name string) int64 { f, _ := o[name].(float64); return int64(f) }

func (o object) list(name string) (all []object) {
	list, _ := o[name].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// words joins the texts of a content.
func (o object) words(name string) string {
	if s := o.text(name); s != "" {
		return s
	}
	var all []string
	for _, p := range o.list(name) {
		if s := p.text("text"); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

func countCodex(lines []object) (n sessionstest.Count) {
	shown, typed := 0, 0
	var said, spoken []string
	var total, last string
	records := slices.ContainsFunc(lines, func(o object) bool {
		return o.text("type") == "token_usage_record"
	})
	for _, o := range lines {
		p := o.in("payload")
		if p == nil { // mid-2025
			p, o = o, object{"type": "response_item"}
		}
		item := p.in("item")
		switch o.text("type") + "/" + p.text("type") + "/" + p.text("role") {
		case "event_msg/user_message/":
			shown++
		case "event_msg/item_completed/":
			switch item.text("type") {
			case "UserMessage":
				shown++
			case "AgentMessage":
				spoken = append(spoken, item.words("content"))
			}
		case "event_msg/agent_message/":
			spoken = append(spoken, p.text("message"))
		case "response_item/message/user", "response_item//user":
			if w := p.words("content"); !strings.HasPrefix(w, "<") && !strings.HasPrefix(w, "# AGENTS") {
				typed++
			}
		case "response_item/message/assistant", "response_item//assistant":
			said = append(said, p.words("content"))
		case "response_item/function_call/", "response_item/custom_tool_call/",
			"response_item/local_shell_call/":
			n.Calls++
		case "response_item/web_search_call/", "response_item/image_generation_call/":
			n.Calls++
			n.Results++
		case "response_item/function_call_output/", "response_item/custom_tool_call_output/":
			n.Results++
		case "event_msg/token_count/":
			now, err := json.Marshal(p.in("info", "total_token_usage"))
			last = total
			if total = string(now); err == nil && total != last && !records {
				n.Input += p.in("info", "last_token_usage").number("input_tokens")
				n.Output += p.in("info", "last_token_usage").number("output_tokens")
			}
		}
		if o.text("type") == "token_usage_record" {
			n.Input += p.in("usage").number("input_tokens")
			n.Output += p.in("usage").number("output_tokens")
		}
	}
	if n.Prompts = shown; shown == 0 {
		n.Prompts = typed
	}
	n.Answers = len(said)
	for _, s := range spoken {
		if !slices.Contains(said, s) {
			n.Answers++
		}
	}
	return n
}

func countGemini(lines []object) (n sessionstest.Count) {
	last := map[string]object{}
	put := func(m object) { // a later version may lack members of an earlier one
		id := m.text("id")
		if last[id] == nil {
			last[id] = object{}
		}
		maps.Copy(last[id], m)
	}
	for _, o := range lines {
		for _, m := range append(o.list("messages"), o.in("$set").list("messages")...) {
			put(m)
		}
		if o.text("id") != "" {
			put(o)
		}
	}
	for _, m := range last {
		words := m.words("content")
		switch m.text("type") {
		case "user":
			if words != "" && !strings.HasPrefix(words, "<session_context>") {
				n.Prompts++
			}
		case "gemini":
			if words != "" {
				n.Answers++
			}
			for _, c := range m.list("toolCalls") {
				n.Calls++
				if c["result"] != nil || c.text("status") == "cancelled" {
					n.Results++
				}
			}
			t := m.in("tokens")
			if m["toolCalls"] == nil && words == "" {
				continue // there is no answer to which the figures belong
			}
			n.Input += t.number("input") + t.number("tool")
			n.Output += t.number("output") + t.number("thoughts")
		}
	}
	return n
}

func countCopilot(lines []object) (n sessionstest.Count) {
	called := map[string]bool{}
	records := slices.ContainsFunc(lines, func(o object) bool {
		return o.text("type") == "session.usage_record"
	})
	for _, o := range lines {
		d := o.in("data")
		switch o.text("type") {
		case "user.message":
			n.Prompts++
		case "assistant.message":
			if d.text("content") != "" {
				n.Answers++
			}
			for _, c := range d.list("toolRequests") {
				called[c.text("toolCallId")] = true
			}
		case "tool.execution_start":
			called[d.text("toolCallId")] = true
		case "tool.execution_complete":
			n.Results++
		case "session.shutdown":
			if records {
				continue
			}
			n.Input, n.Output = 0, 0 // of the complete session, including what was counted before
			for model := range d.in("modelMetrics") {
				u := d.in("modelMetrics", model, "usage")
				n.Input += u.number("inputTokens")
				n.Output += u.number("outputTokens")
			}
		case "session.usage_record":
			n.Input += d.in("usage").number("inputTokens")
			n.Output += d.in("usage").number("outputTokens")
		}
	}
	n.Calls = len(called)
	return n
}

// answeredByClaude matches commands in the samples that are not sent to a model.
var answeredByClaude = regexp.MustCompile(
	`^(?s:<command-.*)?<command-name>/(exit|clear|reload-plugins|copy|mcp|theme|compact|model)</`)

func countClaude(lines []object) (n sessionstest.Count) {
	type figures struct{ in, out int64 }
	usage, seen, queued := map[string]figures{}, map[string]bool{}, map[string]int{}
	for _, o := range lines {
		if d := o.in("data"); o.text("type") == "progress" && d.text("type") == "agent_progress" {
			o = d.in("message") // message of a sub-agent
		}
		if id := o.text("uuid"); id != "" {
			id += fmt.Sprint(o["message"])
			if seen[id] {
				continue
			}
			seen[id] = true
		}
		m := o.in("message")
		switch o.text("type") {
		case "user":
			answers := 0
			for _, b := range m.list("content") {
				if b.text("type") == "tool_result" {
					answers++
				}
			}
			n.Results += answers
			meta, _ := o["isMeta"].(bool)
			summary, _ := o["isCompactSummary"].(bool)
			w := m.words("content")
			if answers == 0 && !meta && !summary && m["content"] != nil && !strings.HasPrefix(w, "<local-") &&
				!strings.HasPrefix(w, "[Request interrupted") && !strings.HasPrefix(w, "<bash-std") &&
				!strings.HasPrefix(w, "<task-") && !strings.HasPrefix(w, "<system-") &&
				!answeredByClaude.MatchString(w) {
				n.Prompts++
			}
		case "queue-operation": // typed while a tool runs
			if o.text("operation") == "remove" && o.text("content") != "" {
				queued[o.text("content")]++
				n.Prompts++
			}
		case "attachment":
			a := o.in("attachment")
			if w := a.words("prompt"); a.text("type") == "queued_command" && queued[w] > 0 {
				queued[w]--
			} else if a.text("type") == "queued_command" && w != "" {
				n.Prompts++
			}
		case "assistant":
			if failed, _ := o["isApiErrorMessage"].(bool); failed || m["content"] == nil {
				continue
			}
			for _, b := range m.list("content") {
				switch b.text("type") {
				case "text":
					n.Answers++
				case "tool_use":
					n.Calls++
				}
			}
			u, id := m.in("usage"), m.text("id")
			f := figures{u.number("input_tokens") + u.number("cache_read_input_tokens") +
				u.number("cache_creation_input_tokens"), u.number("output_tokens")}
			if m.text("model") != "<synthetic>" && f.out >= usage[id].out {
				usage[id] = f
			}
		}
	}
	for _, f := range usage {
		n.Input += f.in
		n.Output += f.out
	}
	return n
}
