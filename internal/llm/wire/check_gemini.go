package wire

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
)

func (c *checker) gemini() {
	contents := c.body.objects("contents")
	turns := make([]turn, len(contents))
	var calls []object // of the previous turn
	n := 0             // calls so far
	for i, m := range contents {
		path := fmt.Sprintf("contents[%d]", i)
		role := map[string]string{"user": "user", "model": "assistant", "": "user"}[m.text("role")]
		if role == "" {
			c.add("E1", path, "unknown role %q", m.text("role"))
		}
		t := turn{path: path, role: role}
		now, responses := c.geminiParts(&t, m)
		if len(now) > 0 && i == 0 {
			c.add("E1", path, "a call opens the conversation")
		}
		c.geminiResponses(path, calls, responses, t.text)
		// Calls may have no ids here; their order identifies them.
		for range responses {
			id := strconv.Itoa(n - len(calls) + len(t.results))
			t.results = append(t.results, mention{path: path, id: id})
		}
		for _, call := range now {
			t.calls = append(t.calls, mention{path, strconv.Itoa(n), geminiName(call)})
			n++
		}
		calls, turns[i] = now, t
	}
	c.conversation(turns)
	c.geminiSignatures(contents)
	c.geminiTools()
}

func (c *checker) geminiParts(t *turn, m object) (calls, responses []object) {
	parts := m.objects("parts")
	t.empty = len(parts) == 0
	for i, p := range parts {
		at := fmt.Sprintf("%s.parts[%d]", t.path, i)
		text, isText := p["text"].(string)
		switch {
		case p["functionCall"] != nil:
			calls = append(calls, p.object("functionCall"))
		case p["functionResponse"] != nil:
			responses = append(responses, p.object("functionResponse"))
		case isText && text == "" && p.text("thoughtSignature") == "":
			c.add("G5", at, "the text is empty")
		default:
			t.text = true
		}
	}
	return calls, responses
}

func (c *checker) geminiResponses(path string, calls, responses []object, text bool) {
	if len(calls) == 0 && len(responses) == 0 {
		return
	}
	if len(calls) != len(responses) {
		c.add("E2", path, "%d responses to %d calls", len(responses), len(calls))
	}
	if text && len(responses) > 0 {
		c.add("E2", path, "other content stands beside responses")
	}
	for i := range min(len(calls), len(responses)) {
		if calls[i].text("name") != responses[i].text("name") {
			c.add("E2", path, "a response of %q to a call of %q",
				responses[i].text("name"), calls[i].text("name"))
		}
		if calls[i].text("id") != responses[i].text("id") {
			c.add("E2", path, "the id %q of a response to the call %q",
				responses[i].text("id"), calls[i].text("id"))
		}
	}
}

// geminiSignatures checks that calls since the user's last message have the model's signatures.
func (c *checker) geminiSignatures(contents []object) {
	if !strings.Contains(c.model, "gemini-3") {
		return
	}
	for i := len(contents) - 1; i >= 0; i-- {
		spoken := false
		for _, p := range contents[i].objects("parts") {
			spoken = spoken || contents[i].text("role") == "user" && p["functionResponse"] == nil
			if p["functionCall"] == nil {
				continue
			}
			if p.text("thoughtSignature") == "" {
				c.add("E4", fmt.Sprintf("contents[%d]", i), "the first call lacks its signature")
			}
			break // only the first of parallel calls has one
		}
		if spoken {
			return
		}
	}
}

func (c *checker) geminiTools() {
	var names []string
	for _, t := range c.body.objects("tools") {
		names = append(names, lists.Map(t.objects("functionDeclarations"), geminiName)...)
	}
	c.tools(names, "")
}

// geminiName returns the name of a tool in the form of the common rule. Gemini also allows dots and
// colons.
func geminiName(o object) string {
	return strings.NewReplacer(".", "_", ":", "_").Replace(o.text("name"))
}
