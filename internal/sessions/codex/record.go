package codex

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// Types of records.
const (
	kindMeta      = "session_meta"
	kindContext   = "turn_context"
	kindItem      = "response_item"
	kindEvent     = "event_msg"
	kindCompacted = "compacted"
)

// left names members that are left out: ids, what repeats a command, and words with which each
// record is marked.
var left = []string{
	"timestamp", "type", "role", "id", "turn_id", "root_turn_id", "thread_id", "message_id",
	"window_id", "process_id", "internal_chat_message_metadata_passthrough", "retained_source",
	"mcp_attribution", "turn_attribution", "current_date", "parsed_cmd", "phase",
}

// A record is one line.
type record struct {
	Type      sessions.Text   `json:"type"`
	Time      sessions.Moment `json:"timestamp"`
	Payload   jsontext.Value  `json:"payload"`
	enveloped bool
	line      []byte
	p         payload
}

// A payload is the payload of a record. It has the members of all mapped types: no two types use a
// name for different things.
type payload struct {
	Type    sessions.Text   `json:"type"`
	ID      sessions.Text   `json:"id"`
	TurnID  sessions.Text   `json:"turn_id"`
	Model   sessions.Text   `json:"model"`
	Effort  sessions.Text   `json:"effort"`
	Created sessions.Moment `json:"timestamp"`

	thread
	spoken
	tool
	spent

	Message sessions.Text                    `json:"message"`
	Images  sessions.Loose[[]sessions.Text]  `json:"images"`
	Text    sessions.Text                    `json:"text"`
	Turns   sessions.Number                  `json:"num_turns"`
	History sessions.Loose[[]jsontext.Value] `json:"replacement_history"`
	Last    sessions.Text                    `json:"last_agent_message"`
	Error   jsontext.Value                   `json:"error"`
	Title   sessions.Text                    `json:"thread_name"`
	Item    jsontext.Value                   `json:"item"`
	Export  jsontext.Value                   `json:"git_jp_export"`
	Thread  sessions.Text                    `json:"new_thread_id"`
}

// A thread has the place where a session ran, its provider, and its origin.
type thread struct {
	CWD      sessions.Text              `json:"cwd"`
	Git      sessions.Loose[repository] `json:"git"`
	Source   sessions.Loose[source]     `json:"source"`
	Started  sessions.Text              `json:"parent_thread_id"`
	Provider sessions.Text              `json:"model_provider"`
	Base     sessions.Loose[base]       `json:"history_base"`
}

// A spoken item is a message or a thought.
type spoken struct {
	Role      sessions.Text  `json:"role"`
	Phase     sessions.Text  `json:"phase"`
	Content   jsontext.Value `json:"content"`
	Summary   jsontext.Value `json:"summary"`
	Encrypted sessions.Text  `json:"encrypted_content"`
}

// A tool item is a call, its result, or both.
type tool struct {
	CallID    sessions.Text  `json:"call_id"`
	Name      sessions.Text  `json:"name"`
	Namespace sessions.Text  `json:"namespace"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Action    jsontext.Value `json:"action"`
	Output    jsontext.Value `json:"output"`
	Tools     jsontext.Value `json:"tools"`
	Status    sessions.Text  `json:"status"`
	Prompt    sessions.Text  `json:"revised_prompt"`
	Result    jsontext.Value `json:"result"`
}

// spent has the tokens of answers, and the remaining limits of the account.
type spent struct {
	Usage  sessions.Loose[*tokens] `json:"usage"`
	Info   sessions.Loose[figures] `json:"info"`
	Limits jsontext.Value          `json:"rate_limits"`
}

type repository struct {
	Commit sessions.Text `json:"commit_hash"`
	Branch sessions.Text `json:"branch"`
}

// A source names the session that started this one, if one did.
type source struct {
	Subagent sessions.Loose[struct {
		Spawn sessions.Loose[struct {
			Parent sessions.Text `json:"parent_thread_id"`
		}] `json:"thread_spawn"`
	}] `json:"subagent"`
}

type figures struct {
	Last  sessions.Loose[*tokens] `json:"last_token_usage"`
	Total sessions.Loose[tokens]  `json:"total_token_usage"`
}

type tokens struct {
	Input      sessions.Number `json:"input_tokens"`
	Cached     sessions.Number `json:"cached_input_tokens"`
	CacheWrite sessions.Number `json:"cache_write_input_tokens"`
	Output     sessions.Number `json:"output_tokens"`
	All        sessions.Number `json:"total_tokens"`
}

// usage returns the figures as they are stored: Codex counts caches in the input, jp apart from it.
func (t *tokens) usage(model string) compact.Usage {
	return compact.Usage{
		Input: int64(max(0, t.Input-t.Cached-t.CacheWrite)), Output: int64(t.Output),
		CacheRead: int64(t.Cached), CacheWrite: int64(t.CacheWrite), Model: model,
	}
}

// read parses a line. Files of mid-2025 have items without an envelope.
func read(line []byte) (*record, bool) {
	r := &record{}
	if sessions.Unmarshal(line, r) != nil {
		return nil, false
	}
	r.line = line
	r.enveloped = r.Payload != nil && r.Type != ""
	if !r.enveloped {
		r.Payload = line
	}
	if sessions.UnmarshalInner(r.Payload, &r.p) != nil {
		r.p = payload{}
	}
	switch {
	case r.enveloped:
	case r.Type == "" && r.p.ID != "" && !r.Time.IsZero():
		r.Type = kindMeta
	case r.Type == "" && r.p.Role == "":
	default:
		r.Type = kindItem
	}
	return r, true
}

func (r *record) isKnown() bool {
	switch r.Type {
	case kindMeta, kindContext, kindItem, kindEvent, kindCompacted:
		return r.Payload.Kind() == '{'
	}
	return false
}

// kind names a record as it is kept.
func (r *record) kind() string {
	switch {
	case r.Type == "":
		return "unknown"
	case r.p.Type == "" || !r.enveloped:
		return string(r.Type)
	}
	return string(r.Type) + "/" + string(r.p.Type)
}

// parent names the session that started this one as a sub-agent.
func (t *thread) parent() sessions.Name {
	spawn := cmp.Or(t.Source.Value.Subagent.Value.Spawn.Value.Parent, t.Started)
	return name(string(spawn))
}

func (p *payload) isMessage() bool {
	return p.Type == "message" || p.Type == "" && p.Role != ""
}

// A piece is a part of the content of an item.
type piece struct {
	Type  sessions.Text `json:"type"`
	Text  sessions.Text `json:"text"`
	Image sessions.Text `json:"image_url"`
	Path  sessions.Text `json:"path"`
	raw   jsontext.Value
}

// pieces returns the parts of a content, which is a string, a list, or nothing. Any other value
// becomes one part.
func pieces(content jsontext.Value) (all []piece) {
	switch content.Kind() {
	case 0, 'n':
	case '"':
		p := piece{Type: "text", raw: content}
		if sessions.UnmarshalInner(content, &p.Text) == nil {
			all = append(all, p)
		}
	case '[':
		var raw []jsontext.Value
		if sessions.UnmarshalInner(content, &raw) != nil {
			return nil
		}
		for _, v := range raw {
			p := piece{raw: v}
			if v.Kind() == '"' {
				_ = sessions.UnmarshalInner(v, &p.Text) // a string, by its kind
			} else if sessions.UnmarshalInner(v, &p) != nil {
				p = piece{raw: v}
			}
			p.raw = v
			all = append(all, p)
		}
	default:
		all = append(all, piece{raw: content})
	}
	return all
}

func texts(content jsontext.Value) (all []string) {
	for _, p := range pieces(content) {
		if p.Text != "" {
			all = append(all, string(p.Text))
		}
	}
	return all
}

func (s *spoken) text() string { return strings.Join(texts(s.Content), "\n") }

// attached returns the images of a content.
func attached(all []piece) (out []sessions.Attachment) {
	for _, p := range all {
		if mime, data, ok := dataURL(string(p.Image)); ok {
			out = append(out, sessions.Attachment{MIMEType: mime, Content: data})
		}
	}
	return out
}

// dataURL returns the type and the bytes in a data URL.
func dataURL(url string) (mime string, data []byte, ok bool) {
	rest, isData := strings.CutPrefix(url, "data:")
	head, body, found := strings.Cut(rest, ",")
	mime, isBase64 := strings.CutSuffix(head, ";base64")
	if !isData || !found || !isBase64 || mime == "" {
		return "", nil, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	return mime, data, err == nil
}

// isInjected reports whether the text of an item in the person's name was written by Codex.
func isInjected(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(injections, func(begin string) bool {
		return strings.HasPrefix(text, begin)
	})
}

var injections = []string{
	"<environment_context>", "<user_instructions>", "# AGENTS.md instructions",
	"<permissions instructions>", "<collaboration_mode>", "<turn_aborted>", "<skill>",
	"<subagent_notification>", "<user_shell_command>", "<user_action>", "<apps_instructions>",
	"<skills_instructions>", "<plugins_instructions>", "<INSTRUCTIONS>", "<model_switch>",
	"<personality_spec>",
}

// isImageTag reports whether a piece only marks the position of an image.
func isImageTag(text string) bool {
	return strings.HasPrefix(text, "<image") || text == "</image>"
}

func isSame(a, b jsontext.Value) bool { return bytes.Equal(a, b) }
