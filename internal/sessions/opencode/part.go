package opencode

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// A part is a piece of a message.
type part struct {
	Type      sessions.Text `json:"type"`
	Text      sessions.Text `json:"text"`
	Synthetic sessions.Flag `json:"synthetic"`
	Prompt    sessions.Text `json:"prompt"`        // of a sub-task that the person started
	Tail      sessions.Text `json:"tail_start_id"` // of a compaction
	MIME      sessions.Text `json:"mime"`
	Filename  sessions.Text `json:"filename"`
	URL       sessions.Text `json:"url"`
	CallID    sessions.Text `json:"callID"`
	Tool      sessions.Text `json:"tool"`
	Tokens    tokens        `json:"tokens"`
	State     state         `json:"state"`
	Metadata  struct {
		Anthropic struct {
			Signature sessions.Text `json:"signature"`
			Redacted  sessions.Text `json:"redactedData"`
		} `json:"anthropic"`
		OpenAI struct {
			Item      sessions.Text `json:"itemId"`
			Encrypted sessions.Text `json:"reasoningEncryptedContent"`
		} `json:"openai"`
	} `json:"metadata"`
	Time struct {
		Start sessions.Moment `json:"start"`
	} `json:"time"`
}

// A state is the progress of a call.
type state struct {
	Status      sessions.Text    `json:"status"`
	Input       jsontext.Value   `json:"input"`
	Raw         sessions.Text    `json:"raw"` // arguments that are still being streamed
	Output      sessions.Text    `json:"output"`
	Error       sessions.Text    `json:"error"`
	Metadata    jsontext.Value   `json:"metadata"`
	Attachments []jsontext.Value `json:"attachments"`
	Time        struct {
		Start     sessions.Moment `json:"start"`
		End       sessions.Moment `json:"end"`
		Compacted sessions.Moment `json:"compacted"`
	} `json:"time"`
}

// isOpen reports whether the call has no result yet.
func (st *state) isOpen() bool {
	return st.Status == "" || st.Status == "pending" || st.Status == "running"
}

// details has what a tool says of its result besides what the model was given.
type details struct {
	Exit    sessions.Number `json:"exit"`
	Session sessions.Text   `json:"sessionId"`
	Display struct {
		Type  sessions.Text   `json:"type"`
		Path  sessions.Text   `json:"path"`
		Text  sessions.Text   `json:"text"`
		First sessions.Number `json:"lineStart"`
		Last  sessions.Number `json:"lineEnd"`
		Total sessions.Number `json:"totalLines"`
	} `json:"display"`
}

// repeats are members of details that repeat the call, what the model was given, or another member.
var repeats = []string{
	"output", "preview", "display", "filediff", "truncated", "loaded", "diagnostics",
	"parentSessionId", "sessionId", "description", "todos",
}

func (r row) part() part {
	var p part
	if sessions.Unmarshal(r.data, &p) != nil {
		// A member of an unexpected type fails the others, but not the type.
		var t struct {
			Type sessions.Text `json:"type"`
		}
		if sessions.Unmarshal(r.data, &t) != nil {
			return part{}
		}
		return part{Type: t.Type + "/unread"}
	}
	return p
}

// isPrompt reports whether a person wrote the part.
func (p part) isPrompt() bool {
	return p.Type == "text" && !bool(p.Synthetic) && p.Text != "" ||
		p.Type == "subtask" && p.Prompt != ""
}

func (p part) prompt() string {
	if p.Type == "subtask" {
		return string(p.Prompt)
	}
	return string(p.Text)
}

// attachment returns the data of a file part. A part that only names a file is followed by one with
// its text.
func (p part) attachment() (sessions.Attachment, bool) {
	mime, data, ok := dataURL(string(p.URL))
	if p.Type != "file" || !ok {
		return sessions.Attachment{}, false
	}
	if p.MIME != "" {
		mime = string(p.MIME)
	}
	return sessions.Attachment{MIMEType: mime, Content: data}, true
}

// dataURL returns the data in a data URL.
func dataURL(u string) (mime string, data []byte, ok bool) {
	rest, ok := strings.CutPrefix(u, "data:")
	head, body, comma := strings.Cut(rest, ",")
	if !ok || !comma {
		return "", nil, false
	}
	mime, isBase64 := strings.CutSuffix(head, ";base64")
	if !isBase64 {
		text, err := url.PathUnescape(body)
		return mime, []byte(text), err == nil
	}
	data, err := base64.StdEncoding.DecodeString(body)
	return mime, data, err == nil
}

// An answer is an answer of a model while the parts of its message are mapped.
type answer struct {
	*mapper
	id      string
	at      time.Time
	model   string
	step    int
	told    bool // the usage of an answer of the message was recorded
	results []func()
	trimmed []string
}

func (a *answer) reply() string { return a.id + "." + strconv.Itoa(a.step) }

func (a *answer) when(m sessions.Moment) time.Time {
	if m.IsZero() {
		return a.at
	}
	a.at = m.Time
	return a.at
}

func (a *answer) part(r row) {
	p, key := r.part(), short(r.id)
	if p.Type != "tool" || !p.State.isOpen() {
		defer a.Beside(kind(p.Type), r.data)
	}
	switch p.Type {
	case "text":
		if p.Text != "" { // a part that is still being streamed is empty
			a.Message(key, a.when(p.Time.Start), a.reply(), string(p.Text), events.Metadata{})
		}
	case "reasoning":
		if proof := p.proof(); p.Text != "" || proof.Len() > 0 {
			a.Reasoning(key, a.when(p.Time.Start), a.reply(), string(p.Text), proof)
		}
	case "tool":
		a.tool(key, p)
	case "step-finish":
		a.Usage(a.reply(), p.Tokens.usage(a.model))
		a.told = true
		a.end()
		a.step++
		a.Record(a.at, kind(p.Type), wrap(r))
	default:
		a.Record(a.at, kind(p.Type), wrap(r))
	}
}

// proof returns what a provider requires to accept its model's reasoning again.
func (p part) proof() (md events.Metadata) {
	for _, m := range []struct {
		key   string
		value sessions.Text
	}{
		{llm.MetadataAnthropicSignature, p.Metadata.Anthropic.Signature},
		{llm.MetadataAnthropicRedacted, p.Metadata.Anthropic.Redacted},
		{llm.MetadataOpenAIItemID, p.Metadata.OpenAI.Item},
		{llm.MetadataOpenAIEncrypted, p.Metadata.OpenAI.Encrypted},
	} {
		if m.value != "" {
			md = md.WithText(m.key, string(m.value))
		}
	}
	return md
}

// tool adds a call, and its result if there is one.
func (a *answer) tool(key string, p part) {
	st, call := p.State, string(p.CallID)
	arguments := st.Input
	if len(arguments) == 0 && st.Raw != "" {
		arguments = sessions.Marshal(string(st.Raw))
	}
	a.Call(key, a.when(st.Time.Start), a.reply(), sessions.Call{
		ID: call, Name: string(p.Tool), Arguments: arguments,
	})
	var d details
	if sessions.Unmarshal(st.Metadata, &d) != nil {
		d = details{}
	}
	if d.Session != "" {
		a.Subagent(call, name(string(d.Session)))
	}
	if !st.Time.Compacted.IsZero() {
		a.trimmed = append(a.trimmed, call)
	}
	if st.isOpen() { // what it has so far would stay as a record when it has more
		return
	}
	a.results = append(a.results, func() {
		failed := st.Status == "error" || d.Exit != 0
		blocks := a.shown(&st, &d)
		a.Result(key+".r", a.when(st.Time.End), call, failed, blocks...)
		a.rest(call, &st, blocks[0].Text)
	})
}

// shown returns what the model was given.
func (a *answer) shown(st *state, d *details) []sessions.Block {
	first := sessions.Block{Text: string(cmp.Or(st.Output, st.Error))}
	if st.Status == "error" {
		first.Text = string(cmp.Or(st.Error, st.Output))
	}
	if v := d.Display; v.Type == "file" && v.Path != "" && v.Last >= v.First && v.First > 0 {
		first.File = &sessions.File{
			Name: string(v.Path), Dir: a.dir, Content: string(v.Text),
			First: int(v.First), Lines: int(v.Last - v.First + 1),
		}
		if v.First == 1 && v.Last == v.Total {
			first.File.First = 0
		}
	}
	blocks := []sessions.Block{first}
	for _, raw := range st.Attachments {
		p := row{data: raw}.part()
		if file, ok := p.attachment(); ok {
			blocks = append(blocks, sessions.Block{MIMEType: file.MIMEType, Data: file.Content})
		} else {
			a.Record(a.at, "attachment", raw)
		}
	}
	return blocks
}

// rest keeps the details that occur nowhere else: exit codes, diffs, the output of a program that
// was stopped.
func (a *answer) rest(call string, st *state, shown string) {
	for _, text := range []sessions.Text{st.Output, st.Error} {
		if !strings.Contains(shown, string(text)) {
			a.Record(a.at, "result/text", sessions.Marshal(map[string]any{
				"callID": call, "text": text,
			}))
		}
	}
	var all map[string]jsontext.Value
	if st.Metadata.Kind() != '{' || sessions.Unmarshal(st.Metadata, &all) != nil {
		return
	}
	for _, member := range repeats {
		if v, ok := all[member]; ok && (member != "output" || isIn(shown, v)) {
			a.Drop("metadata/"+member, len(v))
			delete(all, member)
		}
	}
	if len(all) > 0 {
		a.Record(a.at, "result", sessions.Marshal(map[string]any{"callID": call, "metadata": all}))
	}
}

// isIn reports whether a result has the text of its beginning, which a screen shows.
func isIn(shown string, preview jsontext.Value) bool {
	var text sessions.Text
	if sessions.Unmarshal(preview, &text) != nil {
		return false
	}
	begin := strings.TrimSuffix(strings.TrimSpace(string(text)), "...")
	return strings.Contains(shown, strings.TrimSpace(begin))
}

// end adds the results of the calls of an answer.
func (a *answer) end() {
	for _, result := range a.results {
		result()
	}
	a.Trim(a.trimmed)
	a.results, a.trimmed = nil, nil
}
