package wire

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
)

func (c *checker) anthropic() {
	messages := c.body.objects("messages")
	turns := make([]turn, len(messages))
	for i, m := range messages {
		c.paused = i == len(messages)-1 && pausedIn(m)
		turns[i] = c.anthropicMessage(fmt.Sprintf("messages[%d]", i), m)
		if i > 0 && turns[i].role == turns[i-1].role {
			c.add("A1", turns[i].path, "the %s speaks twice", turns[i].role)
		}
	}
	c.conversation(turns)
	c.anthropicCycle(messages)
	c.anthropicBreakpoints()
	c.anthropicThinking()
	names := lists.Map(c.body.objects("tools"), func(t object) string { return t.text("name") })
	c.tools(names, c.body.object("tool_choice").text("name"))
	if len(names) == 0 && c.body["tool_choice"] != nil {
		c.add("G7", "tool_choice", "there are no tools to choose from")
	}
}

func (c *checker) anthropicMessage(path string, m object) turn {
	t := turn{path: path, role: m.text("role")}
	switch {
	case t.role == "system" && !hearsSystem(c.model):
		c.add("A7", path, "model %s takes no system message here", c.model)
	case t.role != "user" && t.role != "assistant" && t.role != "system":
		c.add("A7", path, "unknown role %q", t.role)
	}
	content := m.objects("content")
	if s, ok := m["content"].(string); ok {
		content = []object{{"type": "text", "text": s}}
	}
	t.empty = len(content) == 0
	server := map[string]string{}
	for i, b := range content {
		c.anthropicBlock(&t, fmt.Sprintf("%s.content[%d]", path, i), b, server)
	}
	for id, at := range server {
		if !c.paused {
			c.add("A6", at, "the server's call %q has no result", id)
		}
	}
	if n := len(content); n > 0 && t.role == "assistant" && isThinking(content[n-1]) {
		c.add("A3", path, "the message ends with thinking")
	}
	return t
}

// pausedIn reports whether a message of the assistant ends during the provider's own work; such a
// message may be the last one.
func pausedIn(m object) bool {
	content := m.objects("content")
	if m.text("role") != "assistant" || len(content) == 0 {
		return false
	}
	kind := content[len(content)-1].text("type")
	return kind == "server_tool_use" || kind == "mcp_tool_use" || kind == "compaction" ||
		kind != "tool_result" && strings.HasSuffix(kind, "_tool_result")
}

// hearsSystem reports whether a model accepts system messages among the others: Opus 4.8 and later
// models do.
func hearsSystem(model string) bool {
	return regexp.MustCompile(`^claude-(opus-4-[89]|[a-z]+-([5-9]|\d\d))(-|$)`).MatchString(model)
}

func isThinking(b object) bool {
	return b.text("type") == "thinking" || b.text("type") == "redacted_thinking"
}

func (c *checker) anthropicBlock(t *turn, path string, b object, server map[string]string) {
	switch kind := b.text("type"); kind {
	case "tool_use":
		c.anthropicID(path, b.text("id"))
		t.calls = append(t.calls, mention{path, b.text("id"), b.text("name")})
	case "tool_result":
		if t.text {
			c.add("A2", path, "the result stands behind other content")
		}
		t.results = append(t.results, mention{path: path, id: b.text("tool_use_id")})
		c.anthropicTexts(path, b.objects("content"))
	case "thinking":
		if b.text("signature") == "" {
			c.add("A3", path, "the thinking has no signature")
		}
	case "redacted_thinking":
		if b.text("data") == "" {
			c.add("A3", path, "the redacted thinking has no data")
		}
	case "server_tool_use":
		server[b.text("id")] = path
	default:
		if strings.HasSuffix(kind, "_tool_result") {
			c.anthropicServerResult(path, b, server)
			return
		}
		t.text = true
		c.anthropicTexts(path, []object{b})
	}
}

func (c *checker) anthropicServerResult(path string, b object, server map[string]string) {
	id := b.text("tool_use_id")
	if _, ok := server[id]; !ok {
		c.add("A6", path, "the server's result %q has no call before it", id)
	}
	delete(server, id)
	advises := func(t object) bool { return strings.HasPrefix(t.text("type"), "advisor") }
	advisor := slices.ContainsFunc(c.body.objects("tools"), advises)
	if b.text("type") == "advisor_tool_result" && !advisor {
		c.add("A6", path, "an advisor's result stands without the advisor's tool")
	}
}

// anthropicTexts checks that no text is empty, including texts in documents.
func (c *checker) anthropicTexts(path string, blocks []object) {
	for _, b := range blocks {
		source := b.object("source")
		switch b.text("type") {
		case "text":
			if strings.TrimSpace(b.text("text")) == "" {
				c.add("G5", path, "the text is empty")
			}
		case "document", "image":
			if source.text("type") == "text" && strings.TrimSpace(source.text("data")) == "" ||
				source.text("type") == "base64" && source.text("data") == "" {
				c.add("G5", path, "the %s is empty", b.text("type"))
			}
			c.anthropicTexts(path, source.objects("content"))
		}
	}
}

func (c *checker) anthropicID(path, id string) {
	if id != "" && WordRule(64).Clean(id) != id {
		c.add("A2", path, "the provider takes no id %q", id)
	}
}

// anthropicCycle checks that, with a budget, the model's calls since the user's last message start
// with its thinking.
func (c *checker) anthropicCycle(messages []object) {
	if c.body.object("thinking").text("type") != "enabled" {
		return
	}
	is := func(kind string) func(object) bool {
		return func(b object) bool { return b.text("type") == kind }
	}
	for i := len(messages) - 1; i >= 0; i-- {
		content := messages[i].objects("content")
		if messages[i].text("role") == "user" {
			if !slices.ContainsFunc(content, is("tool_result")) {
				return
			}
			continue
		}
		if slices.ContainsFunc(content, is("tool_use")) && !isThinking(content[0]) {
			at := fmt.Sprintf("messages[%d]", i)
			c.add("A4", at, "calls of the open cycle lack their thinking")
		}
	}
}

func (c *checker) anthropicBreakpoints() {
	n := 0
	var last string
	visit := func(path string, holder object) {
		mark := holder.object("cache_control")
		if mark == nil {
			return
		}
		n++
		if isThinking(holder) {
			c.add("A8", path, "thinking takes no breakpoint")
		}
		ttl := mark.text("ttl")
		if ttl == "1h" && last != "" && last != "1h" {
			c.add("A8", path, "a breakpoint of an hour stands behind one of five minutes")
		}
		last = cmp.Or(ttl, "5m")
	}
	for _, list := range []string{"tools", "system"} {
		for i, b := range c.body.objects(list) {
			visit(fmt.Sprintf("%s[%d]", list, i), b)
		}
	}
	for i, m := range c.body.objects("messages") {
		for j, b := range m.objects("content") {
			visit(fmt.Sprintf("messages[%d].content[%d]", i, j), b)
		}
	}
	visit("cache_control", c.body)
	if n > 4 {
		c.add("A8", "$", "there are %d breakpoints", n)
	}
}

func (c *checker) anthropicThinking() {
	thinking := c.body.object("thinking")
	on := thinking.text("type") == "enabled" || thinking.text("type") == "adaptive"
	if budget, ok := thinking.number("budget_tokens"); ok {
		limit, _ := c.body.number("max_tokens")
		if budget < 1024 || budget >= limit {
			c.add("A9", "thinking", "a budget of %v under a limit of %v", budget, limit)
		}
	}
	if n, _ := c.body.number("max_tokens"); n < 1 {
		c.add("A9", "max_tokens", "there is no limit")
	}
	if !on {
		return
	}
	switch c.body.object("tool_choice").text("type") {
	case "any", "tool":
		c.add("A9", "tool_choice", "a tool is forced while the model thinks")
	}
	if t, ok := c.body.number("temperature"); ok && t != 1 {
		c.add("A9", "temperature", "a temperature is set while the model thinks")
	}
}
