package wire

import (
	"encoding/json"
	"fmt"
	"strings"
)

// leastPerToken is a lower bound of the average bytes per token in any text of people or programs:
// the check reports only what is certainly cut off.
const leastPerToken = 8

func (c *checker) ollama() {
	messages := c.body.objects("messages")
	turns := make([]turn, len(messages))
	n, answered, bytes := 0, 0, 0
	for i, m := range messages {
		path := fmt.Sprintf("messages[%d]", i)
		t := turn{path: path, role: m.text("role")}
		bytes += len(m.text("content"))
		images, _ := m["images"].([]any)
		blank := strings.TrimSpace(m.text("content")) == ""
		t.text = t.role == "user" || t.role == "assistant" && !blank
		if t.role == "tool" {
			t.results = []mention{{path: path, id: fmt.Sprintf("%d", answered)}}
			answered++
		}
		for j, call := range m.objects("tool_calls") {
			at := fmt.Sprintf("%s.tool_calls[%d]", path, j)
			function := call.object("function")
			if _, ok := function["arguments"].(map[string]any); !ok {
				c.add("O5", at, "the arguments are not an object")
			}
			t.calls = append(t.calls, mention{at, fmt.Sprintf("%d", n), function.text("name")})
			n++
		}
		said := len(images) > 0 || len(t.calls) > 0 || m.text("thinking") != "" || t.role == "tool"
		t.empty = blank && !said
		turns[i] = t
	}
	c.conversation(turns)
	if window, ok := c.body.object("options").number("num_ctx"); ok && window > 0 &&
		float64(bytes)/leastPerToken > window {
		c.add("O1", "options.num_ctx", "%d bytes do not fit %v tokens: the server would cut them",
			bytes, window)
	}
	c.ollamaTools()
}

func (c *checker) ollamaTools() {
	var names []string
	for i, t := range c.body.objects("tools") {
		f := t.object("function")
		names = append(names, f.text("name"))
		if raw, err := json.Marshal(f["parameters"]); err != nil || !isObject(string(raw)) {
			c.add("O5", fmt.Sprintf("tools[%d]", i), "the parameters are not an object")
		}
	}
	c.tools(names, "")
}
