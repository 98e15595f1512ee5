package codex

import (
	"cmp"
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func (m *mapper) item(r *record) {
	switch p := &r.p; {
	case p.isMessage() && p.Role == "assistant":
		m.assistant(r)
	case p.isMessage():
		m.inPerson(r)
	case p.Type == "agent_message":
		m.fromAgent(r)
	case p.Type == "reasoning":
		m.reasoning(r)
	case p.Type == "function_call" || p.Type == "tool_search_call":
		m.call(r, called(p), sessions.Unquoted(p.Arguments))
	case p.Type == "custom_tool_call":
		m.call(r, called(p), p.Input)
	case p.Type == "local_shell_call":
		m.call(r, "local_shell", p.Action)
	case p.Type == "function_call_output", p.Type == "custom_tool_call_output":
		m.output(r, p.Output)
	case p.Type == "tool_search_output":
		m.output(r, p.Tools)
	case p.Type == "web_search_call":
		m.answered(r, "web_search", p.Action, sessions.Block{Text: string(p.Status)})
	case p.Type == "image_generation_call":
		m.image(r)
	default:
		m.keep(r)
	}
}

// fromAgent adds a message of another agent. Parts that only the provider can read are kept beside
// it.
func (m *mapper) fromAgent(r *record) {
	m.flush()
	if text := r.p.text(); text != "" {
		m.Injected(m.key(), r.Time.Time, text)
	}
	if slices.ContainsFunc(pieces(r.p.Content), func(p piece) bool { return p.Text == "" }) {
		m.keep(r)
	}
}

// inPerson adds an item in the person's name, or keeps it back until its author is known.
func (m *mapper) inPerson(r *record) {
	m.flush()
	text := r.p.text()
	all := pieces(r.p.Content)
	switch {
	case text != "" && text == m.echo:
		m.echo = ""
		if len(attached(all)) > m.echoed {
			m.keep(r) // the event has not all of its images
		} else {
			m.drop(r)
		}
	case text == "" && len(attached(all)) == 0:
		m.keep(r)
	case r.p.Role != "user":
		m.Injected(m.key(), r.Time.Time, text, attached(all)...)
		m.others(r, r.p.Content)
	default:
		m.others(r, r.p.Content)
		m.hold(r, held{role: person, text: text, all: all})
	}
}

// metadata returns what the provider requires to accept an item again.
func (p *payload) metadata() events.Metadata {
	md := events.Metadata{}.AsImported()
	for _, proof := range []struct {
		key   string
		value sessions.Text
	}{
		{llm.MetadataOpenAIItemID, p.ID},
		{llm.MetadataOpenAIPhase, p.Phase},
		{llm.MetadataOpenAIEncrypted, p.Encrypted},
	} {
		if proof.value != "" {
			md = md.WithText(proof.key, string(proof.value))
		}
	}
	return md
}

// others keeps the parts of contents that have neither text nor the bytes of an image.
func (m *mapper) others(r *record, contents ...jsontext.Value) {
	for _, v := range contents {
		for _, p := range pieces(v) {
			_, _, isImage := dataURL(string(p.Image))
			if p.Text == "" && !isImage && !slices.Contains(textTypes, string(p.Type)) {
				m.Record(r.Time.Time, r.kind()+"/part", p.raw)
			}
		}
	}
}

// textTypes are the types of parts with text, which may be empty.
var textTypes = []string{"text", "input_text", "output_text", "summary_text", "reasoning_text"}

func (m *mapper) assistant(r *record) {
	text := strings.Join(texts(r.p.Content), "\n")
	if text == "" {
		m.keep(r)
		return
	}
	reply, number := m.replyID(), m.number
	h, ok := m.take(func(h held) bool { return h.role == answer && h.text == text })
	if ok {
		reply, number = h.reply, h.number
		m.Drop("event_msg/agent_message", h.size)
	} else {
		m.heard[text]++
	}
	m.flush()
	m.spoken[text] = true
	m.Message(m.keyAt(number), r.Time.Time, reply, text, r.p.metadata())
	m.besideHeld(h)
	m.others(r, r.p.Content)
}

// reasoning adds the model's reasoning, or else a summary of it.
func (m *mapper) reasoning(r *record) {
	summary, own := texts(r.p.Summary), texts(r.p.Content)
	reply, number := m.replyID(), m.number
	again := r.p.Encrypted == "" && len(summary)+len(own) > 0
	var shown []held
	defer func() { m.besideHeld(shown...) }()
	for _, text := range slices.Concat(summary, own) {
		again = again && m.spoken[text]
		if h, ok := m.take(func(h held) bool { return h.role == thought && h.text == text }); ok {
			reply, number = h.reply, min(number, h.number)
			m.Drop("event_msg/agent_reasoning", h.size)
			shown = append(shown, h)
		} else {
			m.heard[text]++
		}
	}
	m.flush()
	if again {
		m.drop(r)
		return
	}
	text := strings.Join(slices.Concat(summary, own), "\n\n")
	md := r.p.metadata()
	if text == "" && md.Len() == 0 {
		m.keep(r)
		return
	}
	m.Reasoning(m.keyAt(number), r.Time.Time, reply, text, md)
	m.others(r, r.p.Summary, r.p.Content)
}

// called returns the name of the called tool. A tool of a server has the server's name as prefix.
func called(p *payload) string {
	switch {
	case p.Type == "tool_search_call" && p.Name == "":
		return "tool_search"
	case strings.HasPrefix(string(p.Namespace), "mcp__") &&
		!strings.HasPrefix(string(p.Name), string(p.Namespace)):
		return string(p.Namespace + p.Name)
	}
	return string(p.Name)
}

func (m *mapper) call(r *record, tool string, arguments jsontext.Value) {
	m.flush()
	key, id := m.key(), string(r.p.CallID)
	id = cmp.Or(id, "call_"+key)
	if tool == "spawn_agent" {
		m.spawned[id] = true
	}
	c := sessions.Call{ID: id, Name: tool, Arguments: arguments}
	if r.p.ID != "" {
		c.Metadata = c.Metadata.WithText(llm.MetadataOpenAIItemID, string(r.p.ID))
	}
	m.Call(key, r.Time.Time, m.replyID(), c)
}

// answered adds a call that the provider answered itself: the record has both call and result.
func (m *mapper) answered(r *record, tool string, arguments jsontext.Value, b sessions.Block) {
	r.p.CallID = cmp.Or(r.p.CallID, r.p.ID)
	if r.p.CallID == "" {
		r.p.CallID = sessions.Text("call_" + m.thread + "." + strconv.Itoa(m.number))
	}
	m.call(r, tool, arguments)
	m.Result(m.key(), r.Time.Time, string(r.p.CallID), r.p.Status == "failed", b)
}

func (m *mapper) image(r *record) {
	prompt, err := json.Marshal(map[string]string{"prompt": string(r.p.Prompt)})
	if err != nil {
		prompt = nil // not UTF-8
	}
	var encoded sessions.Text
	_ = sessions.Unmarshal(r.p.Result, &encoded) // a value that is no string is ignored
	b := sessions.Block{Text: string(r.p.Status)}
	if data, err := base64.StdEncoding.DecodeString(string(encoded)); err == nil && len(data) > 0 {
		b = sessions.Block{MIMEType: "image/png", Data: data}
	} else if encoded != "" {
		m.keep(r)
	}
	m.answered(r, "image_generation", prompt, b)
}

// output adds the result of a call: text, a list of pieces, or an object with one of the two.
func (m *mapper) output(r *record, v jsontext.Value) {
	m.flush()
	call := string(r.p.CallID)
	failed := false
	var rest map[string]jsontext.Value // members beside what the model was given
	if v.Kind() == '{' {
		var o map[string]jsontext.Value
		_ = sessions.Unmarshal(v, &o) // an object, by its kind
		failed = o["success"].Kind() == 'f' || failedIn(string(v))
		delete(o, "success")
		for _, name := range []string{"content_items", "output", "content"} {
			if k := o[name].Kind(); k == '"' || k == '[' {
				v = o[name]
				delete(o, name)
				rest = o
				break
			}
		}
	}
	blocks := result(v)
	var text strings.Builder
	for _, b := range blocks {
		text.WriteString(b.Text)
	}
	if m.spawned[call] {
		m.spawn(call, text.String())
	}
	e, ended := m.exits[call]
	delete(m.exits, call)
	failed = failed || failedIn(text.String()) || e.failed
	m.Result(m.key(), r.Time.Time, call, failed, blocks...)
	if ended {
		e.shown(m.Builder, text.String())
	}
	if len(rest) > 0 {
		m.Record(r.Time.Time, r.kind()+"/output", sessions.Marshal(rest))
	}
}

func (m *mapper) spawn(call, text string) {
	var started struct {
		ID     sessions.Text `json:"agent_id"`
		Thread sessions.Text `json:"thread_id"`
	}
	delete(m.spawned, call)
	if sessions.Unmarshal([]byte(text), &started) != nil {
		return
	}
	for _, id := range []sessions.Text{started.ID, started.Thread} {
		if id != "" {
			m.Subagent(call, name(string(id)))
			return
		}
	}
}

// result returns what the model was given.
func result(v jsontext.Value) (out []sessions.Block) {
	if k := v.Kind(); k != '"' && k != '[' && k != 0 && k != 'n' {
		return []sessions.Block{{Text: string(v)}}
	}
	for _, p := range pieces(v) {
		mime, data, isImage := dataURL(string(p.Image))
		switch {
		case isImage:
			out = append(out, sessions.Block{MIMEType: mime, Data: data})
		case p.Text != "" || p.raw.Kind() == '"':
			out = append(out, sessions.Block{Text: string(p.Text)})
		default:
			out = append(out, sessions.Block{Text: string(p.raw)})
		}
	}
	if out == nil {
		out = []sessions.Block{{}} // an empty result still answers its call
	}
	return out
}

// exitCode matches the exit code in the first lines of a result.
var exitCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Process exited with code|Exit code:|exit code:) (-?\d+)$`)
})

// maxPreface limits how much of a result may come before the output of the program.
const maxPreface = 300

// failedIn reports whether a result says that its program failed: in a preface, or in an object.
func failedIn(text string) bool {
	if strings.HasPrefix(text, "{") {
		var o struct {
			Metadata sessions.Loose[struct {
				Code sessions.Number `json:"exit_code"`
			}] `json:"metadata"`
		}
		return sessions.Unmarshal([]byte(text), &o) == nil && o.Metadata.Value.Code != 0
	}
	preface, _, _ := strings.Cut(text[:min(len(text), maxPreface)], "\nOutput:")
	found := exitCode().FindStringSubmatch(preface)
	return found != nil && found[1] != "0"
}
