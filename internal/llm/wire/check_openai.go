package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func (c *checker) responses() {
	items := c.body.objects("input")
	if s := c.body.text("input"); s != "" {
		items = []object{{"role": "user", "content": s}}
	}
	var turns []turn
	ids := map[string]bool{}
	for i, item := range items {
		path := fmt.Sprintf("input[%d]", i)
		c.responsesID(path, item, ids)
		t := c.responsesItem(path, item)
		if item.text("type") == "reasoning" {
			c.responsesReasoning(path, item, items[i+1:])
		}
		if n := len(turns); n > 0 && turns[n-1].role == "assistant" && t.role == "assistant" {
			turns[n-1].calls = append(turns[n-1].calls, t.calls...)
			turns[n-1].text = turns[n-1].text || t.text
			turns[n-1].empty = turns[n-1].empty || t.empty
			continue
		}
		turns = append(turns, t)
	}
	c.conversation(turns)
	if c.body.text("previous_response_id") != "" && c.body["store"] == false {
		c.add("R4", "previous_response_id", "an unstored response has no successor")
	}
	var names []string
	for _, t := range c.body.objects("tools") {
		if t.text("type") == "function" {
			names = append(names, t.text("name"))
		}
	}
	c.tools(names, c.body.object("tool_choice").text("name"))
}

func (c *checker) responsesItem(path string, item object) turn {
	t := turn{path: path, role: "assistant"}
	switch item.text("type") {
	case "function_call":
		t.calls = []mention{{path, item.text("call_id"), item.text("name")}}
		if !isObject(item.text("arguments")) {
			c.add("G5", path, "the arguments are not a JSON object")
		}
	case "function_call_output":
		t.role, t.results = "tool", []mention{{path: path, id: item.text("call_id")}}
	case "", "message":
		t.role = item.text("role")
		if t.role == "developer" {
			t.role = "system"
		}
		t.text = true
		t.empty = c.emptyContent(path, item)
	}
	return t
}

// emptyContent reports whether a message in one of OpenAI's formats has no content, and reports
// empty texts in it as violations.
func (c *checker) emptyContent(path string, m object) bool {
	if s, ok := m["content"].(string); ok {
		return strings.TrimSpace(s) == ""
	}
	parts := m.objects("content")
	for i, p := range parts {
		if text, ok := p["text"].(string); ok && strings.TrimSpace(text) == "" {
			c.add("G5", fmt.Sprintf("%s.content[%d]", path, i), "the text is empty")
		}
	}
	return len(parts) == 0
}

func isObject(s string) bool {
	var o map[string]any
	return json.Unmarshal([]byte(s), &o) == nil && o != nil
}

// responsesID checks that an id made by the server is sent back with the prefix of its type.
func (c *checker) responsesID(path string, item object, ids map[string]bool) {
	id := item.text("id")
	if id == "" {
		return
	}
	prefix := map[string]string{
		"function_call": "fc_", "reasoning": "rs_", "message": "msg_", "": "msg_",
	}[item.text("type")]
	if prefix != "" && !strings.HasPrefix(id, prefix) {
		c.add("R3", path, "the id %q does not begin with %s", id, prefix)
	}
	if ids[id] {
		c.add("R3", path, "the id %q is used twice", id)
	}
	ids[id] = true
}

func (c *checker) responsesReasoning(path string, item object, after []object) {
	if c.body["store"] == false && item.text("encrypted_content") == "" {
		c.add("R4", path, "unstored reasoning lacks its encrypted content")
	}
	for _, next := range after {
		switch kind := next.text("type"); {
		case kind == "reasoning":
			continue
		case strings.HasSuffix(kind, "_call_output"), kind == "message" || kind == "":
			if next.text("role") == "assistant" {
				return
			}
		default:
			return
		}
		break
	}
	c.add("R2", path, "the reasoning is not followed by what it produced")
}

func (c *checker) chat() {
	messages := c.body.objects("messages")
	turns := make([]turn, len(messages))
	users := 0
	for i, m := range messages {
		turns[i] = c.chatMessage(fmt.Sprintf("messages[%d]", i), m)
		if turns[i].role == "user" {
			users++
			if i > 0 && turns[i-1].role == "tool" && IsMistral(c.model) {
				c.add("C2", turns[i].path, "the user speaks directly after a tool")
			}
		}
	}
	if users == 0 {
		c.add("C3", "messages", "no user speaks")
	}
	c.conversation(turns)
	c.deepSeek(messages)
	c.chatBreakpoints(messages)
	var names []string
	for _, t := range c.body.objects("tools") {
		if t["function"] != nil || t.text("type") == "function" {
			names = append(names, t.object("function").text("name"))
		}
	}
	chosen := c.body.object("tool_choice").object("function").text("name")
	c.tools(names, chosen)
}

func (c *checker) chatBreakpoints(messages []object) {
	n := 0
	for _, m := range append(messages, c.body) {
		for _, holder := range append(m.objects("content"), m) {
			if holder["cache_control"] != nil {
				n++
			}
		}
	}
	if n > 4 {
		c.add("C5", "$", "there are %d breakpoints", n)
	}
}

// IsMistral reports whether the name of a model is one of Mistral's.
func IsMistral(model string) bool {
	model = strings.ToLower(model)
	families := []string{"mistral", "ministral", "codestral", "devstral", "magistral"}
	return slices.ContainsFunc(families, func(f string) bool { return strings.Contains(model, f) })
}

// IsDeepSeek reports whether the name of a model is one of DeepSeek's.
func IsDeepSeek(model string) bool { return strings.Contains(strings.ToLower(model), "deepseek") }

func (c *checker) chatMessage(path string, m object) turn {
	t := turn{path: path, role: m.text("role")}
	if t.role == "developer" {
		t.role = "system"
	}
	if t.role == "tool" {
		if m.text("tool_call_id") == "" {
			c.add("C1", path, "the result does not name its call")
		}
		t.results = []mention{{path: path, id: m.text("tool_call_id")}}
		return t
	}
	for i, call := range m.objects("tool_calls") {
		at := fmt.Sprintf("%s.tool_calls[%d]", path, i)
		function := call.object("function")
		t.calls = append(t.calls, mention{at, call.text("id"), function.text("name")})
		if !isObject(function.text("arguments")) {
			c.add("C1", at, "the arguments are not a JSON object")
		}
	}
	t.text = t.role == "user" || t.role == "assistant" && m["content"] != nil
	thinks := m.text("reasoning_content") != "" || m.text("reasoning") != "" ||
		len(m.objects("reasoning_details")) > 0
	empty := c.emptyContent(path, m)
	t.empty = empty && len(t.calls) == 0 && !thinks
	return t
}

// deepSeek checks that reasoning is sent back in turns with calls, including earlier turns, and
// nowhere else: https://api-docs.deepseek.com/guides/thinking_mode, which refuses a request without
// the former, while its older models refuse the latter. Calls that were made without reasoning have
// the member nevertheless.
func (c *checker) deepSeek(messages []object) {
	if !IsDeepSeek(c.model) {
		return
	}
	begin := 0
	for i := 1; i <= len(messages); i++ {
		if i == len(messages) || messages[i].text("role") == "user" {
			c.deepSeekTurn(messages[begin:i], begin)
			begin = i
		}
	}
}

func (c *checker) deepSeekTurn(turn []object, first int) {
	called := false
	for _, m := range turn {
		called = called || len(m.objects("tool_calls")) > 0
	}
	thinks := c.body.object("thinking").text("type") == "enabled"
	thought := false
	for i, m := range turn {
		path := fmt.Sprintf("messages[%d]", first+i)
		own := m.text("reasoning_content") != ""
		_, there := m["reasoning_content"]
		calls := len(m.objects("tool_calls")) > 0
		switch {
		case own && !called:
			c.add("C4", path, "reasoning of a turn without calls goes back")
		case calls && !there && (thought || thinks):
			c.add("C4", path, "calls lack their reasoning")
		}
		thought = thought || own
	}
}
