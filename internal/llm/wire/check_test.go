package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

// goodAnthropic follows all rules: it has thinking in an open cycle of parallel calls, documents,
// breakpoints, and a server's tool.
const goodAnthropic = `{
 "model": "claude-haiku-4-5", "max_tokens": 2000,
 "thinking": {"type": "enabled", "budget_tokens": 1024},
 "tools": [{"name": "a"}, {"name": "b", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
 "tool_choice": {"type": "auto"},
 "cache_control": {"type": "ephemeral", "ttl": "5m"},
 "messages": [
  {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "d"}}, {"type": "text", "text": "q"}]},
  {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s1"}, {"type": "web_search_tool_result", "tool_use_id": "s1"}, {"type": "text", "text": "w"}]},
  {"role": "user", "content": [{"type": "text", "text": "q2"}]},
  {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "S"}, {"type": "redacted_thinking", "data": "D"}, {"type": "tool_use", "id": "t1", "name": "a", "input": {}}, {"type": "tool_use", "id": "t2", "name": "b", "input": {}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "r"}]}, {"type": "tool_result", "tool_use_id": "t2"}, {"type": "text", "text": "and"}]}
 ]}`

const goodResponses = `{
 "model": "gpt-5", "store": false, "include": ["reasoning.encrypted_content"],
 "tools": [{"type": "function", "name": "a"}], "tool_choice": {"type": "function", "name": "a"},
 "input": [
  {"role": "system", "content": "s"},
  {"role": "user", "content": [{"type": "input_text", "text": "q"}]},
  {"type": "reasoning", "id": "rs_1", "encrypted_content": "E", "summary": []},
  {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "a", "arguments": "{}"},
  {"type": "function_call", "call_id": "c2", "name": "a", "arguments": "{}"},
  {"type": "function_call_output", "call_id": "c1", "output": "1"},
  {"type": "function_call_output", "call_id": "c2", "output": "2"},
  {"type": "reasoning", "id": "rs_2", "encrypted_content": "E", "summary": []},
  {"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": "a"}]},
  {"role": "user", "content": "q2"}
 ]}`

const goodChat = `{
 "model": "deepseek-reasoner", "tools": [{"type": "function", "function": {"name": "a"}}],
 "messages": [
  {"role": "system", "content": "s"},
  {"role": "user", "content": "q"},
  {"role": "assistant", "content": "w"},
  {"role": "user", "content": "q2"},
  {"role": "assistant", "content": null, "reasoning_content": "r", "tool_calls": [{"id": "c1", "function": {"name": "a", "arguments": "{}"}}, {"id": "c2", "function": {"name": "a", "arguments": "{\"x\":1}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "1"},
  {"role": "tool", "tool_call_id": "c2", "content": "2"},
  {"role": "assistant", "content": null, "reasoning_content": "r2", "tool_calls": [{"id": "c3", "function": {"name": "a", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "c3", "content": "3"}
 ]}`

const goodGemini = `{
 "tools": [{"functionDeclarations": [{"name": "a.x"}, {"name": "b"}]}],
 "contents": [
  {"role": "user", "parts": [{"text": "q"}]},
  {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]},
  {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}}}]},
  {"role": "model", "parts": [{"text": "w"}]},
  {"role": "user", "parts": [{"text": "q2"}]},
  {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}, "thoughtSignature": "S"}, {"functionCall": {"name": "b", "args": {}}}]},
  {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}}}, {"functionResponse": {"name": "b", "response": {}}}]}
 ]}`

const goodOllama = `{
 "model": "qwen", "options": {"num_ctx": 4096},
 "tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}],
 "messages": [
  {"role": "system", "content": "s"},
  {"role": "user", "content": "", "images": ["aaaa"]},
  {"role": "user", "content": "q"},
  {"role": "assistant", "content": "", "thinking": "h", "tool_calls": [{"function": {"name": "a", "arguments": {}}}, {"function": {"name": "a", "arguments": {}}}]},
  {"role": "tool", "content": "1"},
  {"role": "tool", "content": ""},
  {"role": "assistant", "content": "w"},
  {"role": "user", "content": "q2"}
 ]}`

// A mutation changes a good body so that it breaks one rule.
type mutation struct {
	rule, old, new string
}

func TestCheckNoticesEveryRule(t *testing.T) {
	for _, f := range []struct {
		format    wire.Format
		model     string
		good      string
		mutations []mutation
	}{
		{wire.FormatAnthropic, "", goodAnthropic, anthropicMutations()},
		{wire.FormatResponses, "", goodResponses, responsesMutations()},
		{wire.FormatChat, "", goodChat, chatMutations()},
		{wire.FormatChat, "mistral-large", goodChat, []mutation{
			{"C2", `"content": "3"}`, `"content": "3"}, {"role": "user", "content": "x"}`},
		}},
		{wire.FormatGemini, "gemini-3-pro-preview", goodGemini, geminiMutations()},
		{wire.FormatOllama, "", goodOllama, ollamaMutations()},
	} {
		if found := wire.Check(f.format, f.model, []byte(f.good)); len(found) > 0 {
			t.Errorf("%s: the good body has %v", f.format, found)
		}
		for _, m := range f.mutations {
			if strings.Count(f.good, m.old) == 0 {
				t.Fatalf("%s %s: %s is not in the body", f.format, m.rule, m.old)
			}
			bad := strings.Replace(f.good, m.old, m.new, 1)
			found := wire.Check(f.format, f.model, []byte(bad))
			if !slices.ContainsFunc(found, func(v wire.Violation) bool { return v.Rule == m.rule }) {
				t.Errorf("%s: %s is not noticed when %q becomes %q; found %v",
					f.format, m.rule, m.old, m.new, found)
			}
		}
	}
}

func anthropicMutations() []mutation {
	const (
		results   = `{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "r"}]}, {"type": "tool_result", "tool_use_id": "t2"}, {"type": "text", "text": "and"}`
		thoughts  = `{"type": "thinking", "thinking": "", "signature": "S"}, {"type": "redacted_thinking", "data": "D"}, `
		firstUser = `{"role": "user", "content": [{"type": "document"`
		hour      = `"ttl": "1h"}`
	)
	return []mutation{
		{"G0", `{`, `[`},
		{"G0", `"messages"`, `"massages"`},
		{"G1", `{"type": "tool_result", "tool_use_id": "t2"}, `, ``},
		{"G1", `"tool_use_id": "t2"`, `"tool_use_id": "t9"`},
		{"G1", `"tool_use_id": "t2"`, `"tool_use_id": "t1"`},
		{"G3", results, `{"type": "text", "text": "and"}`},
		{"G4", firstUser, `{"role": "assistant", "content": [{"type": "text", "text": "x"}]}, ` + firstUser},
		{"G4", `"and"}]}`, `"and"}]}, {"role": "assistant", "content": "x"}`},
		{"G5", `"text": "q2"`, `"text": " \n"`},
		{"G5", `{"type": "text", "text": "r"}`, `{"type": "text", "text": ""}`},
		{"G5", `"data": "d"`, `"data": ""`},
		{"G5", `[{"type": "text", "text": "q2"}]`, `[]`},
		{"G5", `"id": "t2"`, `"id": "t1"`},
		{"G5", `"id": "t2"`, `"id": ""`},
		{"G7", `{"name": "a"}`, `{"name": "b"}`},
		{"G7", `{"name": "a"}`, `{"name": "a.b"}`},
		{"G7", `"tool_choice": {"type": "auto"}`, `"tool_choice": {"type": "tool", "name": "z"}`},
		{"G7", `"tools"`, `"fools"`},
		{"G7", `"id": "t2", "name": "b"`, `"id": "t2", "name": "b.c"`},
		{"A1", `{"role": "user", "content": [{"type": "text", "text": "q2"}]}`, `{"role": "assistant", "content": [{"type": "text", "text": "q2"}]}`},
		{"A2", results, `{"type": "text", "text": "and"}, {"type": "tool_result", "tool_use_id": "t1"}, {"type": "tool_result", "tool_use_id": "t2"}`},
		{"A2", `"id": "t2"`, `"id": "t:2"`},
		{"A2", `"id": "t2"`, `"id": "` + strings.Repeat("t", 65) + `"`},
		{"A3", `"signature": "S"`, `"signature": ""`},
		{"A3", `"data": "D"`, `"data": ""`},
		{"A3", `{"type": "text", "text": "w"}`, `{"type": "thinking", "thinking": "x", "signature": "S"}`},
		{"A4", thoughts, ``},
		{"A6", `{"type": "web_search_tool_result", "tool_use_id": "s1"}, `, ``},
		{"A6", `{"type": "server_tool_use", "id": "s1"}, `, ``},
		{"A6", `"web_search_tool_result"`, `"advisor_tool_result"`},
		{"A7", firstUser, `{"role": "system", "content": "s"}, ` + firstUser},
		{"A7", firstUser, `{"role": "tool", "content": "s"}, ` + firstUser},
		{"A8", hour, hour + `}, {"name": "c", "cache_control": {}}, {"name": "d", "cache_control": {}}, {"name": "e", "cache_control": {}`},
		{"A8", `"signature": "S"`, `"signature": "S", "cache_control": {}`},
		{"A8", hour, `"ttl": "5m"}}, {"name": "c", "cache_control": {"ttl": "1h"}`},
		{"A9", `"budget_tokens": 1024`, `"budget_tokens": 1023`},
		{"A9", `"budget_tokens": 1024`, `"budget_tokens": 2000`},
		{"A9", `"max_tokens": 2000`, `"max_tokens": 0`},
		{"A9", `{"type": "auto"}`, `{"type": "any"}`},
		{"A9", `"max_tokens": 2000`, `"max_tokens": 2000, "temperature": 0.5`},
	}
}

func responsesMutations() []mutation {
	const user = `{"role": "user", "content": "q2"}`
	return []mutation{
		{"G0", `"input"`, `"output"`},
		{"G1", `{"type": "function_call_output", "call_id": "c2", "output": "2"},`, ``},
		{"G1", `{"type": "function_call", "call_id": "c2", "name": "a", "arguments": "{}"},`, ``},
		{"G1", `{"type": "function_call_output", "call_id": "c2"`, `{"type": "function_call_output", "call_id": "c1"`},
		{"G3", `{"type": "function_call_output", "call_id": "c2"`, user + `, {"type": "function_call_output", "call_id": "c2"`},
		{"G4", user, `{"role": "assistant", "content": "x"}`},
		{"G4", `{"role": "user", "content": [`, `{"role": "assistant", "content": [`},
		{"G5", `"content": "q2"`, `"content": ""`},
		{"G5", `"text": "q"`, `"text": ""`},
		{"G5", `"call_id": "c2", "name"`, `"call_id": "c1", "name"`},
		{"G5", `"call_id": "c2", "name"`, `"name"`},
		{"G5", `"arguments": "{}"`, `"arguments": "[]"`},
		{"G7", `[{"type": "function", "name": "a"}]`, `[{"type": "function", "name": "a b"}]`},
		{"G7", `"call_id": "c2", "name": "a"`, `"call_id": "c2", "name": "a.b"`},
		{"G7", `"tool_choice": {"type": "function", "name": "a"}`, `"tool_choice": {"type": "function", "name": "z"}`},
		{"R2", `{"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": "a"}]},`, ``},
		{"R3", `"id": "fc_1"`, `"id": "call_1"`},
		{"R3", `"id": "rs_2"`, `"id": "rs_1"`},
		{"R4", `"id": "rs_1", "encrypted_content": "E"`, `"id": "rs_1"`},
		{"R4", `"store": false`, `"store": false, "previous_response_id": "resp_1"`},
	}
}

func chatMutations() []mutation {
	const tool = `{"role": "tool", "tool_call_id": "c2", "content": "2"},`
	return []mutation{
		{"G0", `"messages"`, `"massages"`},
		{"G1", tool, ``},
		{"G1", `"tool_call_id": "c2"`, `"tool_call_id": "c1"`},
		{"G1", `{"role": "user", "content": "q2"},`, `{"role": "user", "content": "q2"}, {"role": "tool", "tool_call_id": "c9", "content": "1"},`},
		{"G3", tool, `{"role": "user", "content": "x"}, ` + tool},
		{"G4", `{"role": "user", "content": "q"},`, ``},
		{"G4", `"content": "3"}`, `"content": "3"}, {"role": "assistant", "content": "x"}`},
		{"G5", `"content": "w"`, `"content": ""`},
		{"G5", `"content": "q"`, `"content": [{"type": "text", "text": ""}]`},
		{"G5", `"id": "c2"`, `"id": "c1"`},
		{"G7", `"name": "a"}}]`, `"name": "a b"}}]`},
		{"G7", `"id": "c2", "function": {"name": "a"`, `"id": "c2", "function": {"name": ""`},
		{"C1", `"arguments": "{}"`, `"arguments": "oops"`},
		{"C1", `"tool_call_id": "c2"`, `"tool_call_id": ""`},
		{"C3", `"messages": [`, `"messages": [{"role": "assistant", "content": "x"}], "was": [`},
		{"C4", `"content": "w"`, `"content": "w", "reasoning_content": "old"`},
		{"C5", `"content": "q"`, `"content": [` + strings.Repeat(`{"type": "text", "text": "q", "cache_control": {}}, `, 4) + `{"type": "text", "text": "q"}], "cache_control": {}`},
		{"C4", `"reasoning_content": "r2", `, ``},
		{"C4", `"messages": [`, `"thinking": {"type": "enabled"}, "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [{"id": "c0", "function": {"name": "a", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c0", "content": "0"},`},
	}
}

func geminiMutations() []mutation {
	const last = `{"functionResponse": {"name": "a", "response": {}}}, {"functionResponse": {"name": "b", "response": {}}}`
	return []mutation{
		{"G0", `"contents"`, `"contends"`},
		{"G1", last, `{"functionResponse": {"name": "a", "response": {}}}`},
		{"G1", last, last + `, {"functionResponse": {"name": "b", "response": {}}}`},
		{"G4", `{"role": "user", "parts": [{"text": "q"}]},`, `{"role": "model", "parts": [{"text": "q"}]},`},
		{"G4", `{"role": "model", "parts": [{"text": "w"}]},`, `{"role": "model", "parts": [{"text": "w"}]}], "was": [`},
		{"G5", `{"text": "w"}`, `{"text": ""}`},
		{"G5", `[{"text": "w"}]`, `[]`},
		{"G7", `{"name": "b"}]}]`, `{"name": "a.x"}]}]`},
		{"G7", `{"name": "b"}]}]`, `{"name": "b c"}]}]`},
		{"G7", `"name": "a", "args": {}}, "thoughtSignature"`, `"name": "", "args": {}}, "thoughtSignature"`},
		{"E1", `"role": "model", "parts": [{"text": "w"}]`, `"role": "assistant", "parts": [{"text": "w"}]`},
		{"E1", `{"role": "user", "parts": [{"text": "q"}]},`, ``},
		{"E2", last, `{"functionResponse": {"name": "a", "response": {}}}`},
		{"E2", last, last + `, {"text": "and"}`},
		{"E2", last, `{"functionResponse": {"name": "b", "response": {}}}, {"functionResponse": {"name": "a", "response": {}}}`},
		{"E2", `{"functionResponse": {"name": "a",`, `{"functionResponse": {"id": "x", "name": "a",`},
		{"E4", `, "thoughtSignature": "S"`, ``},
	}
}

func ollamaMutations() []mutation {
	return []mutation{
		{"G0", `"messages"`, `"massages"`},
		{"G1", `{"role": "tool", "content": ""},`, ``},
		{"G1", `{"role": "tool", "content": ""},`, `{"role": "tool", "content": ""}, {"role": "tool", "content": "3"},`},
		{"G3", `{"role": "tool", "content": ""},`, `{"role": "user", "content": "x"}, {"role": "tool", "content": ""},`},
		{"G4", `{"role": "user", "content": "", "images": ["aaaa"]},
  {"role": "user", "content": "q"},`, ``},
		{"G4", `{"role": "user", "content": "q2"}`, `{"role": "assistant", "content": "q2"}`},
		{"G5", `"content": "q2"`, `"content": ""`},
		{"G5", `, "images": ["aaaa"]`, ``},
		{"G7", `"name": "a", "parameters"`, `"name": "", "parameters"`},
		{"G7", `"thinking": "h", "tool_calls": [{"function": {"name": "a"`, `"thinking": "h", "tool_calls": [{"function": {"name": "a.b"`},
		{"O1", `"num_ctx": 4096`, `"num_ctx": 0.1`},
		{"O5", `"arguments": {}`, `"arguments": "{}"`},
		{"O5", `"parameters": {"type": "object"}`, `"parameters": []`},
	}
}

// TestCheckKeepsToItsProvider checks that rules of one model or lifetime do not apply to another.
func TestCheckKeepsToItsProvider(t *testing.T) {
	for _, tt := range []struct {
		format             wire.Format
		model              string
		body, old, changed string
	}{
		{wire.FormatGemini, "gemini-2.5-pro", goodGemini, `, "thoughtSignature": "S"`, ``},
		{wire.FormatAnthropic, "", goodAnthropic, `"type": "enabled"`, `"type": "adaptive"`},
		{wire.FormatAnthropic, "", goodAnthropic, `"ttl": "1h"`, `"ttl": "5m"`},
		{wire.FormatChat, "", goodChat, `deepseek-reasoner`, `mistral-large`},
		{wire.FormatResponses, "", goodResponses, `"store": false`, `"store": true`},
	} {
		body := strings.Replace(tt.body, tt.old, tt.changed, 1)
		if found := wire.Check(tt.format, tt.model, []byte(body)); len(found) > 0 {
			t.Errorf("%s with %s: %v", tt.format, tt.changed, found)
		}
	}
	if found := wire.Check("smoke", "", []byte(`{}`)); len(found) == 0 {
		t.Error("an unknown format passes")
	}
}

func FuzzCheck(f *testing.F) {
	for _, good := range []string{goodAnthropic, goodResponses, goodChat, goodGemini, goodOllama} {
		f.Add([]byte(good))
	}
	f.Fuzz(func(_ *testing.T, body []byte) {
		for _, format := range []wire.Format{
			wire.FormatAnthropic, wire.FormatResponses, wire.FormatChat, wire.FormatGemini,
			wire.FormatOllama,
		} {
			wire.Check(format, "gemini-3", body) // must not panic
		}
	})
}
