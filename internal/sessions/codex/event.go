package codex

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// held is a text whose duplicate may follow: an event that an item may repeat, or an item in the
// person's name that an event may repeat.
type held struct {
	role   role
	at     time.Time
	text   string
	all    []piece // of an item
	reply  string
	number int // of its line, which determines its key
	kind   string
	line   []byte // nil if another held text is of the same line
	size   int    // of its line
}

type role int

const (
	person role = iota
	answer
	thought
)

// twins has the texts of the current turn that Codex writes twice: as an item that the model gets,
// and as an event that a screen shows.
type twins struct {
	held   []held          // texts whose duplicates may follow
	heard  map[string]int  // texts of items whose events are to follow
	spoken map[string]bool // texts of this turn
	shows  bool            // events show the prompts of the person
	echo   string          // of a prompt whose item is to follow
	echoed int             // number of its images
}

// next returns the twins of the next turn.
func (t twins) next() twins {
	t.heard, t.spoken = map[string]int{}, map[string]bool{}
	return t
}

// flush adds the held texts, since no duplicate can follow.
func (m *mapper) flush() {
	all := m.held
	m.held = nil
	for _, h := range all {
		switch h.role {
		case person:
			m.inName(h)
		case answer:
			m.spoken[h.text] = true
			m.Message(m.keyAt(h.number), h.at, h.reply, h.text, events.Metadata{})
		case thought:
			m.spoken[h.text] = true
			m.Reasoning(m.keyAt(h.number), h.at, h.reply, h.text, events.Metadata{})
		}
		m.besideHeld(h)
	}
}

// hold keeps back a text of a line until its duplicate, or anything else, follows.
func (m *mapper) hold(r *record, h held) {
	m.Held()
	h.at, h.number, h.kind, h.size = r.Time.Time, m.number, r.kind(), len(r.line)
	if n := len(m.held); n == 0 || m.held[n-1].number != h.number {
		h.line = slices.Clone(r.line)
	}
	m.held = append(m.held, h)
}

// besideHeld keeps what the lines of held texts, which were added, have beside them.
func (m *mapper) besideHeld(all ...held) {
	for _, h := range all {
		if h.line != nil {
			m.Beside(h.kind, h.line)
		}
	}
}

// inName adds an item in the person's name that no event shows. It is a prompt only if the session
// has no events for prompts, as those of older versions.
func (m *mapper) inName(h held) {
	images := attached(h.all)
	if len(images) == 0 && (isInjected(h.text) || m.shows) {
		m.Injected(m.keyAt(h.number), h.at, h.text)
		return
	}
	m.prompt(h, h.text, images)
}

// take removes a held text and returns it.
func (t *twins) take(is func(h held) bool) (held, bool) {
	i := slices.IndexFunc(t.held, is)
	if i < 0 {
		return held{}, false
	}
	h := t.held[i]
	t.held = slices.Delete(t.held, i, i+1)
	return h, true
}

func (m *mapper) event(r *record) {
	switch r.p.Type {
	case "user_message":
		m.userMessage(r, string(r.p.Message), r.p.Images.Value)
	case "agent_message":
		m.shown(r, answer, string(r.p.Message))
	case "agent_reasoning", "agent_reasoning_raw_content":
		m.shown(r, thought, string(r.p.Text))
	case "item_completed":
		m.itemCompleted(r)
	case "token_count":
		m.tokenCount(r)
	case "task_started", "turn_started":
		m.begin(string(r.p.TurnID))
		m.drop(r)
	case "task_complete", "turn_complete":
		m.over()
		last := string(r.p.Last)
		if last != "" && !m.spoken[last] || r.p.Error.Kind() == '{' {
			m.keep(r)
			return
		}
		m.drop(r)
	case "turn_aborted":
		m.over()
		m.keep(r)
	case "thread_rolled_back":
		m.over()
		m.rewound += int(min(max(0, r.p.Turns), sessions.Number(len(m.prompts))))
		m.keep(r)
	case "thread_name_updated":
		m.Title(sessions.TitlePerson, string(r.p.Title))
		m.keep(r)
	case "exec_command_end", "mcp_tool_call_end":
		m.ended(r, string(r.p.CallID), r.Payload)
	case "exec_command_begin", "mcp_tool_call_begin", "patch_apply_begin", "web_search_begin",
		"context_compacted", "web_search_end":
		m.drop(r)
	case "exec_command_output_delta", "agent_message_delta", "agent_reasoning_delta":
		m.Leave(r.kind(), len(r.line)) // the whole follows
	case "collab_agent_spawn_end":
		m.Subagent(string(r.p.CallID), name(string(r.p.Thread)))
		m.keep(r)
	default:
		m.keep(r)
	}
}

// userMessage adds a prompt that a person typed. The item for the model, which has the images, came
// before it or follows.
func (m *mapper) userMessage(r *record, text string, images []sessions.Text) {
	m.shows = true
	m.Odd(r.Time.Time, "event_msg/user_message/images", r.p.Images.Odd)
	h, ok := m.take(func(h held) bool {
		return h.role == person && slices.ContainsFunc(h.all, func(p piece) bool {
			return string(p.Text) == text || text == "" && p.Image != ""
		})
	})
	m.flush()
	if ok {
		if slices.ContainsFunc(images, func(url sessions.Text) bool {
			return isElsewhere(url) || url != "" && !h.has(url)
		}) {
			m.keep(r)
		} else {
			m.drop(r)
		}
		m.prompt(h, text, attached(h.all))
		m.beside(h, text)
		m.besideHeld(h)
		return
	}
	all := lists.Map(images, func(url sessions.Text) piece { return piece{Image: url} })
	shown := attached(all)
	m.prompt(held{at: r.Time.Time, number: m.number}, text, shown)
	if slices.ContainsFunc(images, isElsewhere) {
		m.keep(r)
	}
	m.echo, m.echoed = text, len(shown)
}

// has reports whether an item has an image.
func (h held) has(url sessions.Text) bool {
	return slices.ContainsFunc(h.all, func(p piece) bool { return p.Image == url })
}

// isElsewhere reports whether the session lacks the bytes of an image.
func isElsewhere(url sessions.Text) bool {
	_, _, ok := dataURL(string(url))
	return url != "" && !ok
}

// beside adds the texts that Codex added to a prompt.
func (m *mapper) beside(h held, prompt string) {
	for _, p := range h.all {
		if text := string(p.Text); text != "" && text != prompt && !isImageTag(text) {
			m.Injected(m.keyAt(h.number), h.at, text)
		}
	}
}

// shown handles an event that shows text of the model's answer.
func (m *mapper) shown(r *record, role role, text string) {
	switch {
	case text == "":
		m.keep(r)
	case m.heard[text] > 0:
		m.heard[text]--
		m.drop(r)
	default:
		m.hold(r, held{role: role, text: text, reply: m.replyID()})
	}
}

// itemCompleted handles the event that paginated threads have in place of the others.
func (m *mapper) itemCompleted(r *record) {
	var item struct {
		Type    sessions.Text  `json:"type"`
		ID      sessions.Text  `json:"id"`
		Thread  sessions.Text  `json:"agent_thread_id"`
		Content jsontext.Value `json:"content"`
		Summary jsontext.Value `json:"summary_text"`
		Raw     jsontext.Value `json:"raw_content"`
	}
	if r.p.Item == nil || sessions.UnmarshalInner(r.p.Item, &item) != nil {
		m.keep(r)
		return
	}
	all := texts(item.Content)
	switch item.Type {
	case "UserMessage":
		var images []sessions.Text
		for _, p := range pieces(item.Content) {
			if p.Image != "" {
				images = append(images, p.Image)
			}
		}
		m.userMessage(r, strings.Join(all, "\n"), images)
	case "AgentMessage":
		m.shown(r, answer, strings.Join(all, "\n"))
	case "Reasoning":
		for _, text := range append(texts(item.Summary), texts(item.Raw)...) {
			m.shown(r, thought, text)
		}
	case "CommandExecution", "McpToolCall":
		m.ended(r, string(item.ID), r.p.Item)
	case "SubAgentActivity":
		m.Subagent(string(item.ID), name(string(item.Thread)))
		m.keep(r)
	default:
		m.keep(r)
	}
}

// A billing has how far the tokens of answers are known.
type billing struct {
	reply   int            // number of the current answer
	records bool           // there are usage records, one per answer
	total   tokens         // of the session
	limits  jsontext.Value // of the account, as last recorded
}

// replyID names the current answer of the model.
func (b *billing) replyID() string { return strconv.Itoa(b.reply) }

// tokenCount reads the tokens of an answer. The figures are repeated when only the limits changed,
// and again where usage records have them.
func (m *mapper) tokenCount(r *record) {
	info := r.p.Info.Value
	last := info.Last.Value
	if last != nil && !m.records && (info.Total.Value != m.total || *last == m.total) {
		m.usage(last)
		m.total = info.Total.Value
	}
	if limits := r.p.Limits; limits != nil && !isSame(limits, m.limits) {
		m.limits = limits.Clone()
		m.Record(r.Time.Time, r.kind(), limits)
	}
	m.drop(r)
}

// usage records the tokens of the answer that ends here.
func (m *mapper) usage(t *tokens) {
	m.Usage(m.replyID(), t.usage(m.model))
	m.reply++
}

func (m *mapper) usageRecord(r *record) {
	m.records = true
	if t := r.p.Usage.Value; t != nil {
		m.usage(t)
	}
	m.keep(r)
}

// An end is the exit of a call's program, until the result of the call follows.
type end struct {
	at     time.Time
	number int
	kind   string
	line   []byte
	text   string // output of the program
	failed bool
}

func (e end) keep(b *sessions.Builder) { b.Record(e.at, e.kind, e.line) }

// shown keeps the exit if the program has more output than the result of the call shows.
func (e end) shown(b *sessions.Builder, text string) {
	if !strings.Contains(text, e.text) {
		e.keep(b)
		return
	}
	b.Drop(e.kind, len(e.line))
	b.Beside(e.kind, e.line)
}

// exits has the exits of programs whose results are to follow, by call.
type exits map[string]end

// settle keeps the exits of programs that no result repeats.
func (x exits) settle(b *sessions.Builder) {
	for _, e := range slices.SortedFunc(maps.Values(x), func(a, b end) int {
		return a.number - b.number
	}) {
		e.keep(b)
	}
	clear(x)
}

// ended records the exit of a program. The result of the call repeats its output, unless that was
// truncated.
func (m *mapper) ended(r *record, call string, said jsontext.Value) {
	var p struct {
		Whole  sessions.Text  `json:"aggregated_output"`
		Code   jsontext.Value `json:"exit_code"`
		Result jsontext.Value `json:"result"`
	}
	if call == "" || sessions.UnmarshalInner(said, &p) != nil {
		m.keep(r)
		return
	}
	e := end{
		at: r.Time.Time, number: m.number, kind: r.kind(), line: slices.Clone(r.line),
		text:   strings.TrimSpace(string(p.Whole)),
		failed: p.Code.Kind() == '0' && string(p.Code) != "0",
	}
	var result struct {
		OK sessions.Loose[struct {
			Content jsontext.Value `json:"content"`
			Failed  sessions.Flag  `json:"is_error"`
		}] `json:"Ok"`
		Err jsontext.Value `json:"Err"`
	}
	if p.Result.Kind() == '{' && sessions.UnmarshalInner(p.Result, &result) == nil {
		e.failed = bool(result.OK.Value.Failed) || result.Err != nil
		e.text = strings.Join(texts(result.OK.Value.Content), "\n")
	}
	if old, twice := m.exits[call]; twice {
		old.keep(m.Builder)
	}
	m.Held()
	m.exits[call] = e
}
