package claude

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// left names members that are left out: ids, what docs/agents.md says, and words with which each
// record is marked.
var left = []string{
	"type", "role", "uuid", "parentUuid", "id", "timestamp", "requestId", "sessionId", "promptId",
	"userType", "slug",
	"sourceToolAssistantUUID", "usage", "caller", "stop_reason", "originalFile",
	"originalFileContents",
}

// A record is one line.
type record struct {
	Type       sessions.Text   `json:"type"`
	Subtype    sessions.Text   `json:"subtype"`
	UUID       sessions.Text   `json:"uuid"`
	Parent     sessions.Text   `json:"parentUuid"`
	SessionID  sessions.Late   `json:"sessionId"`
	AgentID    sessions.Text   `json:"agentId"`
	Time       sessions.Moment `json:"timestamp"`
	Message    jsontext.Value  `json:"message"`
	Result     jsontext.Value  `json:"toolUseResult"`
	Attachment jsontext.Value  `json:"attachment"`
	Data       jsontext.Value  `json:"data"`
	Operation  sessions.Text   `json:"operation"`
	Content    sessions.Text   `json:"content"`
	PRURL      sessions.Text   `json:"prUrl"`
	MessageID  sessions.Text   `json:"messageId"`
	Plan       sessions.Text   `json:"planContent"`
	Micro      sessions.Loose[struct {
		Calls []sessions.Text `json:"compactedToolIds"`
	}] `json:"microcompactMetadata"`
	Compaction sessions.Loose[struct {
		Messages struct {
			UUIDs []sessions.Text `json:"uuids"`
		} `json:"preservedMessages"`
		Segment struct {
			Head sessions.Text `json:"headUuid"`
		} `json:"preservedSegment"`
	}] `json:"compactMetadata"`
	Payload jsontext.Value `json:"payload"` // Codex has this member
	Export  jsontext.Value `json:"git_jp_export"`

	place
	role
	title

	line    []byte // as it was written
	further int    // how many different records had its uuid before
}

// A place is the directory and branch, and the version of Claude Code, of a record.
type place struct {
	CWD    sessions.Late `json:"cwd"`
	Branch sessions.Text `json:"gitBranch"`
}

// A role has the flags of a record that looks like one of a person or a model.
type role struct {
	IsSidechain sessions.Flag `json:"isSidechain"`
	IsMeta      sessions.Flag `json:"isMeta"`
	IsSummary   sessions.Flag `json:"isCompactSummary"`
	IsError     sessions.Flag `json:"isApiErrorMessage"`
}

// A title names a session, or the part of it that ends at a record.
type title struct {
	Summary     sessions.Text `json:"summary"`
	LeafUUID    sessions.Text `json:"leafUuid"`
	AITitle     sessions.Text `json:"aiTitle"`
	CustomTitle sessions.Text `json:"customTitle"`
}

// A message is the message of a person or a model.
type message struct {
	ID      sessions.Text          `json:"id"`
	Model   sessions.Text          `json:"model"`
	Stop    sessions.Text          `json:"stop_reason"`
	Content jsontext.Value         `json:"content"`
	Usage   sessions.Loose[*usage] `json:"usage"`
}

type usage struct {
	Input      sessions.Number `json:"input_tokens"`
	Output     sessions.Number `json:"output_tokens"`
	CacheRead  sessions.Number `json:"cache_read_input_tokens"`
	CacheWrite sessions.Number `json:"cache_creation_input_tokens"`
	Writes     sessions.Loose[struct {
		Hour sessions.Number `json:"ephemeral_1h_input_tokens"`
	}] `json:"cache_creation"`
}

// A block is a piece of a message.
type block struct {
	Type      sessions.Text          `json:"type"`
	Text      sessions.Text          `json:"text"`
	Thinking  sessions.Text          `json:"thinking"`
	Signature sessions.Text          `json:"signature"`
	Data      sessions.Text          `json:"data"`
	ID        sessions.Text          `json:"id"`
	Name      sessions.Text          `json:"name"`
	Input     jsontext.Value         `json:"input"`
	CallID    sessions.Text          `json:"tool_use_id"`
	Content   jsontext.Value         `json:"content"`
	IsError   sessions.Flag          `json:"is_error"`
	Source    sessions.Loose[source] `json:"source"`
	raw       jsontext.Value
}

// A source is where an image or a document comes from.
type source struct {
	Type sessions.Text `json:"type"`
	MIME sessions.Text `json:"media_type"`
	Data sessions.Text `json:"data"`
	URL  sessions.Text `json:"url"`
}

// kind names a record as it is kept.
func (r *record) kind() string { return string(cmp.Or(r.Type, "unknown")) }

func (r *record) message() message {
	var m message
	if r.Message == nil || sessions.UnmarshalInner(r.Message, &m) != nil {
		return message{}
	}
	return m
}

// A content is the blocks of a message.
type content []block

// blocks reads a content, which is a string, a list of blocks, or nothing. Any other value becomes
// one block.
func blocks(v jsontext.Value) (all content) {
	var raw []jsontext.Value
	switch v.Kind() {
	case 0, 'n':
	case '"':
		var text sessions.Text
		if sessions.UnmarshalInner(v, &text) == nil {
			all = content{{Type: "text", Text: text, raw: v}}
		}
	case '[':
		if sessions.UnmarshalInner(v, &raw) != nil {
			return nil
		}
		all = make(content, 0, len(raw))
		for _, v := range raw {
			all = append(all, block{})
			b := &all[len(all)-1]
			if v.Kind() == '"' {
				b.Type = "text"
				_ = sessions.UnmarshalInner(v, &b.Text) // a string, by its kind
			} else if sessions.UnmarshalInner(v, b) != nil {
				*b = block{}
			}
			b.raw = v
		}
	default:
		all = content{{raw: v}}
	}
	return all
}

// text joins the texts of a message.
func (all content) text() string {
	var texts []string
	for i := range all {
		if all[i].Type == "text" {
			texts = append(texts, string(all[i].Text))
		}
	}
	return strings.Join(texts, "\n")
}

// answers reports whether a message in the person's name has results of calls.
func (all content) answers() bool {
	return slices.ContainsFunc(all, func(b block) bool { return b.Type == "tool_result" })
}

// attached returns the images and documents of a message.
func (all content) attached() (out []sessions.Attachment) {
	for i := range all {
		if data, ok := all[i].bytes(); ok {
			out = append(out, sessions.Attachment{
				MIMEType: string(all[i].Source.Value.MIME), Content: data,
			})
		}
	}
	return out
}

// bytes returns the data of an image or a document.
func (b *block) bytes() ([]byte, bool) {
	if b.Type != "image" && b.Type != "document" || b.Source.Value.MIME == "" {
		return nil, false
	}
	if b.Source.Value.Type == "text" {
		return []byte(b.Source.Value.Data), true
	}
	data, err := base64.StdEncoding.DecodeString(string(b.Source.Value.Data))
	return data, err == nil && b.Source.Value.Type == "base64"
}

// prompt returns the text that a person typed. A record with results of calls is no prompt, and
// neither is text that the agent wrote in the person's name.
func (r *record) prompt() (text string, ok bool) {
	if r.Type != "user" || bool(r.IsMeta) || bool(r.IsSummary) {
		return "", false
	}
	all := blocks(r.message().Content)
	text = all.text()
	return text, len(all) > 0 && !all.answers() && !isInjected(text)
}

// isInjected reports whether the text of a person's record asks the model nothing: the agent wrote
// it, such as the output of one of its commands, or it is a command that the agent answers itself.
func isInjected(text string) bool {
	for _, tag := range []string{
		"<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>",
		"<bash-stdout>", "<bash-stderr>", "<task-notification>", "<system-reminder>",
		"[Request interrupted by user",
	} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return isCommand(text) && slices.Contains(settings, tagged(text, "command-name"))
}

// isCommand reports whether a prompt is a command of the agent, which is written in tags.
func isCommand(text string) bool { return strings.HasPrefix(text, "<command-") }

// words returns the part of a prompt that a person typed.
func words(text string) string {
	if !isCommand(text) {
		return text
	}
	return strings.TrimSpace(tagged(text, "command-name") + " " + tagged(text, "command-args"))
}

// settings are commands that change the agent and that it answers itself, whatever their arguments.
var settings = strings.Fields("/add-dir /agents /clear /compact /config /context /copy /cost" +
	" /doctor /exit /export /help /hooks /ide /login /logout /mcp /memory /model /output-style" +
	" /permissions /plugin /privacy-settings /quit /release-notes /reload-plugins /rename /resume" +
	" /rewind /status /terminal-setup /theme /upgrade /usage /vim")

func tagged(text, tag string) string {
	_, rest, ok := strings.Cut(text, "<"+tag+">")
	inner, _, closed := strings.Cut(rest, "</"+tag+">")
	if !ok || !closed {
		return ""
	}
	return strings.TrimSpace(inner)
}
