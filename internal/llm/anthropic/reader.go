package anthropic

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// A reader turns the events of one exchange into deltas, and keeps the parts for a following
// exchange.
type reader struct {
	a     *answer
	parts map[int]*said
	said  []llm.Part
	all   []llm.Part // including the blocks of a server's tools
	usage llm.Usage
	stop  llm.Stop
	done  bool
	// pending is the key of a text that has ended on the wire, but continues if the answer was cut
	// off there; -1 for none.
	pending int
	join    *joint // joins the text with the exchange before; nil if done
	// extra is work of a server's tools that is not emitted yet: an exchange without other output
	// may be retried.
	extra [][]byte
}

// A said is a block while it is read.
type said struct {
	key       int
	began     startedBlock
	part      llm.PartKind
	text      strings.Builder
	signature string
	redacted  string
	skipped   bool
	server    bool // of a server's tool, or of an unknown kind
	raw       json.RawMessage
	deltas    []json.RawMessage // of an unknown kind
}

func newReader(a *answer) *reader {
	x := &reader{
		a: a, parts: map[int]*said{}, pending: -1, stop: llm.Stop{Reason: llm.StopOther},
	}
	if a.joins {
		x.join = &joint{key: a.last.pending, tail: a.last.lastText()}
	}
	return x
}

// read reads the exchange to its end. It returns nil once the consumer has stopped.
func (x *reader) read(body io.Reader) error {
	complete := func() bool { return x.done || x.stop.Native != "" }
	return x.a.assembler.Read(x.a.model.at.Provider, body, complete, x.event)
}

// event reads one event. It returns true if no further one is read.
func (x *reader) event(data []byte) (last bool, err error) {
	var ev event
	if err := llm.Decode(x.a.model.at.Provider, data, &ev); err != nil {
		return false, err
	}
	switch ev.Type {
	case "message_start":
		x.spend(ev.Message.Usage.usage(llm.Usage{Model: ev.Message.Model}))
	case "content_block_start":
		x.start(ev.Index, ev.Block)
		if s := x.parts[ev.Index]; s != nil && s.server && s.raw == nil {
			s.raw = member(data, "content_block")
		}
	case "content_block_delta":
		x.delta(ev, data)
	case "content_block_stop":
		x.end(ev.Index)
	case "message_delta":
		x.message(ev)
	case "message_stop":
		x.done = true
	case "error":
		return false, llm.ErrorEvent(x.a.model.ID(), data)
	}
	return x.done, nil
}

// spend notes the usage of the exchange so far.
func (x *reader) spend(u llm.Usage) {
	x.usage = u
	x.a.assembler.Spent(u)
}

// again reports whether a block that begins while this one is open is this one, begun twice.
func (s *said) again(b startedBlock) bool {
	if b.Type != s.began.Type || b.ID != s.began.ID || b.Data != s.began.Data {
		return false
	}
	return b.ID != "" || s.text.String() == b.Text+b.Thinking
}

func (x *reader) start(index int, b startedBlock) {
	if open := x.parts[index]; open != nil {
		if open.again(b) {
			return
		}
		x.end(index)
	}
	s := &said{key: x.a.n<<16 | index, began: b}
	x.parts[index] = s
	switch b.Type {
	case "text":
		s.part = llm.PartText
	case "thinking", "redacted_thinking":
		s.part, s.redacted, s.signature = llm.PartReasoning, b.Data, b.Signature
	case "tool_use":
		s.part = llm.PartCall
	default:
		s.skipped, s.server = true, true
		return
	}
	if x.join != nil {
		switch s.part {
		case llm.PartReasoning:
			s.skipped = true // about the continuation, not about the question
		case llm.PartText:
			s.key, x.pending = x.join.key, x.join.key
			x.join.open = true
			x.more(s, b.Text)
			return
		}
	}
	if !s.skipped {
		x.open(s, b)
	}
	x.more(s, b.Text+b.Thinking)
}

func (x *reader) open(s *said, b startedBlock) {
	a := x.a.assembler
	x.tell()
	x.release()
	a.Start(s.key, s.part, b.ID, x.a.names.Tool(b.Name))
	a.Note(s.key, llm.MetadataAnthropicRedacted, s.redacted)
	a.Note(s.key, llm.MetadataAnthropicSignature, s.signature)
}

// release ends a text that was held back: since text follows it, it was not cut off.
func (x *reader) release() {
	x.settle()
	if x.pending >= 0 {
		x.a.assembler.End(x.pending)
	}
	x.pending = -1
}

// settle ends the search for the overlap and emits the rest of the continuation.
func (x *reader) settle() {
	if x.join != nil && x.join.open {
		x.a.assembler.Append(x.join.key, x.join.rest())
		x.join = nil
	}
}

// tell emits the work of a server's tools.
func (x *reader) tell() {
	for _, raw := range x.extra {
		x.a.assembler.Extra(raw)
	}
	x.extra = nil
}

func (x *reader) delta(ev event, data []byte) {
	s, d := x.parts[ev.Index], ev.Delta
	if s == nil { // the block was not begun, so a call would have no name
		kind := map[string]string{"text_delta": "text", "thinking_delta": "thinking"}[d.Type]
		if kind == "" {
			return
		}
		x.start(ev.Index, startedBlock{Type: kind})
		s = x.parts[ev.Index]
	}
	if d.Type == "signature_delta" {
		s.signature += d.Signature
		if !s.skipped {
			x.a.assembler.Note(s.key, llm.MetadataAnthropicSignature, s.signature)
		}
		return
	}
	switch {
	case d.Type == "citations_delta" && !s.server:
		x.a.assembler.ExtraOf(s.key, member(member(data, "delta"), "citation"))
	case s.server && d.Type != "input_json_delta":
		s.deltas = append(s.deltas, member(data, "delta"))
		return
	}
	x.more(s, d.Text+d.Thinking+d.PartialJSON)
}

// more continues a block. The start of a continuation is held back until the overlap is found.
func (x *reader) more(s *said, text string) {
	s.text.WriteString(text)
	switch {
	case s.skipped || text == "":
	case x.join != nil && x.join.open && s.key == x.join.key:
		if x.join.text += text; len(x.join.text) >= seamLimit {
			x.settle()
		}
	default:
		x.a.assembler.Append(s.key, text)
	}
}

func (x *reader) end(index int) {
	s := x.parts[index]
	if s == nil {
		return
	}
	delete(x.parts, index)
	if s.server {
		x.extra = append(x.extra, s.block())
		x.all = append(x.all, llm.Opaque{JSON: jsontext.Value(s.block())})
	} else {
		x.said = append(x.said, s.wire())
		x.all = append(x.all, s.wire())
	}
	switch {
	case s.skipped:
	case s.part == llm.PartText && x.a.request.Schema == nil:
		x.pending = s.key
		x.settle()
	default:
		x.a.assembler.End(s.key)
	}
}

// wire returns the block as it is sent back when the answer continues.
func (s *said) wire() llm.Part {
	switch s.part {
	case llm.PartReasoning:
		var md events.Metadata
		if s.redacted != "" {
			md = md.WithText(llm.MetadataAnthropicRedacted, s.redacted)
		} else if s.signature != "" {
			md = md.WithText(llm.MetadataAnthropicSignature, s.signature)
		}
		return llm.Reasoning{Text: s.text.String(), Metadata: md}
	case llm.PartCall:
		return llm.Call{}
	default:
		return llm.Text{Text: s.text.String()}
	}
}

// message reads the reason for the end of the answer, and its usage.
func (x *reader) message(ev event) {
	native := ev.Delta.StopReason
	x.stop = llm.Stop{
		Reason: reason(native), Native: native,
		Category:    ev.Delta.StopDetails.Category,
		Explanation: ev.Delta.StopDetails.Explanation,
	}
	x.spend(ev.Usage.usage(x.usage))
	for _, edit := range ev.Context.Edits {
		x.extra = append(x.extra, edit)
	}
	if x.stop.Reason != llm.StopMaxTokens || !x.endsInText() {
		x.release()
	}
}

func reason(native string) llm.StopReason {
	switch native {
	case "end_turn":
		return llm.StopEnd
	case "tool_use":
		return llm.StopTools
	case "max_tokens":
		return llm.StopMaxTokens
	case "stop_sequence":
		return llm.StopSequence
	case "refusal":
		return llm.StopRefusal
	case "model_context_window_exceeded":
		return llm.StopOverflow
	default:
		return llm.StopOther
	}
}

// endsInText reports whether the answer can be continued: its last block is text, and no block is a
// call.
func (x *reader) endsInText() bool {
	if x.pending < 0 || len(x.said) == 0 || len(x.parts) > 0 {
		return false
	}
	for _, p := range x.said {
		if _, ok := p.(llm.Call); ok {
			return false
		}
	}
	return strings.TrimSpace(x.lastText()) != ""
}

func (x *reader) lastText() string {
	t, _ := x.said[len(x.said)-1].(llm.Text)
	return t.Text
}
