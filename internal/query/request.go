package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrNothingAsked is the error for a view without a question.
var ErrNothingAsked = errors.New("the conversation has no request")

// goOn is sent as the user's message if the conversation ends with the model's, as after an answer
// that was cut off: providers require the user's message to be last.
const goOn = "Please continue from where you left off."

// A Source has everything that a request is built from.
type Source struct {
	View     *events.Stream  // required; see [View]
	Plan     *dedup.Plan     // of View; nil delivers all content in full
	Contents blobs.Reader    // required if View has references
	Base     settings.Config // of the conversation, before the deltas in View
	Setup    Setup
	Tools    []tool.Definition
	Root     string // of the workspace, for the URIs that a model sees
	Session  string // names the conversation for providers that route by it
	// Untaken are the URIs of attachments that the model is given by name only.
	Untaken map[string]bool
	// Imported, if set, returns the part that replaces a part of an imported event.
	Imported func(llm.Part) llm.Part
	// Lost, if set, is told of content that the model is informed about in its place.
	Lost func(blobs.Ref, error)
}

// Build returns the request. It reads blobs and nothing else.
func Build(s Source) (*llm.Request, error) {
	b, err := newBuilder(s)
	if err != nil {
		return nil, fmt.Errorf("build a request: %w", err)
	}
	if b.messages[len(b.messages)-1].Role == llm.RoleAssistant {
		b.messages = append(b.messages, llm.Message{
			Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: goOn}},
		})
	}
	return b.request(), nil
}

// Messages returns the messages of the request, without those that Build adds at its end.
func Messages(s Source) ([]llm.Message, error) {
	b, err := newBuilder(s)
	if err != nil {
		return nil, fmt.Errorf("read what was said: %w", err)
	}
	return b.messages, nil
}

func newBuilder(s Source) (b *builder, err error) {
	b = &builder{source: s, calls: map[int]string{}, unseen: unseen(s.View)}
	if b.speakers, err = speakers(s); err != nil {
		return nil, err
	}
	b.model = b.speakers[beforeAll]
	for _, c := range s.View.Calls() {
		if !c.Open() {
			b.calls[c.Response] = c.Name
		}
	}
	for i, e := range s.View.All() {
		before := b.end()
		if err := b.element(i, e); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		if _, ok := e.Metadata().Value(events.MetadataSource); ok && s.Imported != nil {
			b.replace(before, s.Imported)
		}
	}
	if !b.asked {
		return nil, ErrNothingAsked
	}
	return b, nil
}

// A place is a position in the messages, after a number of parts.
type place struct{ message, parts int }

func (b *builder) end() place {
	n := len(b.messages)
	if n == 0 {
		return place{}
	}
	return place{n - 1, len(b.messages[n-1].Parts)}
}

// replace replaces the parts after from.
func (b *builder) replace(from place, by func(llm.Part) llm.Part) {
	for i := from.message; i < len(b.messages); i++ {
		parts := b.messages[i].Parts
		for n := from.parts; n < len(parts); n++ {
			parts[n] = by(parts[n])
		}
		from.parts = 0
	}
}

type builder struct {
	source   Source
	speakers map[int]string // see [speakers]
	model    string         // the current one
	calls    map[int]string // name of the tool by the index of the response
	unseen   map[int]string // see [unseen]
	messages []llm.Message
	schema   jsontext.Value
	asked    bool
}

// beforeAll is the index for what applies before the first element.
const beforeAll = -1

// speakers returns the models by the index of the element from which they speak.
func speakers(s Source) (map[int]string, error) {
	if s.Setup.Speaker == nil {
		return nil, nil
	}
	models := map[int]string{beforeAll: s.Setup.Speaker(s.Base)}
	err := settings.EachDelta(s.View, s.Base, func(i int, _, after settings.Config) {
		if id := s.Setup.Speaker(after); id != "" {
			models[i] = id
		}
	})
	return models, err
}

func (b *builder) request() *llm.Request {
	s := b.source.Setup
	r := &llm.Request{
		Messages: b.messages, Params: s.Params, Choice: s.Choice, Schema: b.schema,
		Cache: s.Cache, Session: b.source.Session,
	}
	for _, text := range s.System {
		r.System = append(r.System, llm.SystemText{Text: text})
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].Breakpoint = true
	}
	for _, d := range b.source.Tools {
		r.Tools = append(r.Tools, llm.Tool{
			Name: d.Name, Description: d.Brief(), Schema: d.Schema,
		})
	}
	r.Choice = offered(r.Choice, r.Tools)
	b.breakpoint()
	return r
}

// offered returns the choice if it can be made, else the default: a tool that is not offered cannot
// be required.
func offered(c llm.ToolChoice, tools []llm.Tool) llm.ToolChoice {
	named := func(t llm.Tool) bool { return t.Name == c.Name }
	if len(tools) == 0 || c.Mode == llm.ChoiceTool && !slices.ContainsFunc(tools, named) {
		return llm.ToolChoice{}
	}
	return c
}

// breakpoint asks the provider to cache the prompt up to the first message with resources, which
// are the largest part that does not change.
func (b *builder) breakpoint() {
	for i := range b.messages {
		for _, p := range b.messages[i].Parts {
			if _, ok := p.(llm.Resource); ok {
				b.messages[i].Breakpoint = true
				return
			}
		}
	}
}

func (b *builder) element(i int, e *events.Element) error {
	switch ev := e.Event().(type) {
	case *events.ConfigDelta:
		b.model = cmp.Or(b.speakers[i], b.model)
		return nil
	case *events.ChatRequest:
		return b.ask(i, ev, e.Metadata().Stripped())
	case *events.ChatResponse:
		b.compacted(e.Metadata())
		b.said(ev, e.Metadata())
	case *events.ToolCallRequest:
		b.compacted(e.Metadata())
		b.assistant(llm.Call{
			ID: ev.ID, Name: ev.Name, Args: object(llm.Arguments(ev, e.Metadata())),
			Metadata: e.Metadata(),
		})
	case *events.ToolCallResponse:
		return b.result(i, ev)
	}
	return nil
}

// object returns arguments as an object, which some streams do not have. Arguments that a provider
// could not parse are passed as a string, exactly as the model sent them.
func object(args jsontext.Value) jsontext.Value {
	err := events.Loadable(args)
	switch {
	case len(args) == 0, err == nil && args.Kind() != '{':
		return jsontext.Value("{}")
	case err == nil:
		return args
	}
	return encoded(map[string]string{"arguments": string(args)})
}

// ask adds a request of the user, its resources first. For resources that were taken out, it adds a
// text that names them.
func (b *builder) ask(i int, r *events.ChatRequest, stripped []events.Resource) error {
	b.schema = r.Schema
	var parts []llm.Part
	if note := b.unseen[i]; note != "" {
		parts = append(parts, llm.Text{Text: note})
	}
	for _, res := range stripped {
		parts = append(parts, llm.Text{
			Text: takenOut(file.Expand(b.source.Root, res.URI)),
		})
	}
	for n := range r.Resources {
		p, err := b.resource(i, n, &r.Resources[n])
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	if strings.TrimSpace(r.Content) != "" {
		parts = append(parts, llm.Text{Text: r.Content})
	}
	if len(parts) == 0 && !b.asked {
		parts = append(parts, llm.Text{Text: "(no text)"}) // the user must speak first
	}
	if len(parts) > 0 {
		b.messages = append(b.messages, llm.Message{
			Role: llm.RoleUser, Parts: parts, Schema: r.Schema,
		})
	}
	b.asked = true
	return nil
}

// said adds a response of the model. Empty responses are left out, unless they have metadata that a
// provider requires back.
func (b *builder) said(r *events.ChatResponse, md events.Metadata) {
	switch {
	case r.Form == events.FormReasoning && (strings.TrimSpace(r.Text) != "" || foreign(md)):
		b.assistant(llm.Reasoning{Text: r.Text, Metadata: md})
	case r.Form == events.FormData:
		b.assistant(llm.Data{Value: r.Data, Metadata: md})
	case r.Form == events.FormMessage && strings.TrimSpace(r.Text) != "":
		b.assistant(llm.Text{Text: r.Text, Metadata: md})
	}
}

// compacted adds the provider's own compaction of the conversation so far, if it still corresponds
// to the messages.
func (b *builder) compacted(md events.Metadata) {
	for _, block := range llm.Compacted(md, b.messages) {
		b.assistant(block)
	}
}

// foreign reports whether metadata has keys of other programs.
func foreign(md events.Metadata) bool {
	return slices.ContainsFunc(md.Keys(), func(key string) bool {
		return !strings.HasPrefix(key, events.MetadataPrefix)
	})
}

func (b *builder) assistant(p llm.Part) {
	if n := len(b.messages); n > 0 {
		last := &b.messages[n-1]
		if last.Role == llm.RoleAssistant && last.Model == b.model {
			last.Parts = append(last.Parts, p)
			return
		}
	}
	b.messages = append(b.messages, llm.Message{
		Role: llm.RoleAssistant, Model: b.model, Parts: []llm.Part{p},
	})
}

// result adds a result to the message that has the results of the calls beside it.
func (b *builder) result(i int, r *events.ToolCallResponse) error {
	res := llm.Result{CallID: r.ID, Name: b.calls[i], IsError: r.IsError}
	for n := range r.Blocks {
		p, err := b.block(i, n, &r.Blocks[n])
		if err != nil {
			return err
		}
		if t, ok := p.(llm.Text); !ok || t.Text != "" {
			res.Parts = append(res.Parts, p)
		}
	}
	if n := len(b.messages); n > 0 {
		last := &b.messages[n-1]
		if _, ok := last.Parts[0].(llm.Result); ok {
			last.Parts = append(last.Parts, res)
			return nil
		}
	}
	b.messages = append(b.messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{res}})
	return nil
}

// block returns a block of a result as a part. Types that requests do not have become text.
func (b *builder) block(i, n int, block *events.Block) (llm.Part, error) {
	switch {
	case block.Type == events.BlockResource && block.Resource != nil:
		return b.resource(i, n, block.Resource)
	case block.Type == events.BlockImage, block.Type == events.BlockAudio:
		data, err := b.bytes(block.Content)
		if err != nil || data == nil {
			return missing(block.Content), err
		}
		return llm.Media{MIME: block.MIMEType, Bytes: data}, nil
	case block.Type == events.BlockText:
		data, err := b.bytes(block.Content)
		if err != nil || data == nil {
			return missing(block.Content), err
		}
		return llm.Text{Text: strings.ToValidUTF8(string(data), "\uFFFD")}, nil
	}
	text, err := (&events.ToolCallResponse{Blocks: []events.Block{*block}}).Text(b.source.Contents)
	return llm.Text{Text: text}, err
}

// resource returns a resource in the form that the plan gives it.
func (b *builder) resource(i, n int, r *events.Resource) (llm.Part, error) {
	if text, ok := instead(b.source.Plan, i)(n); ok {
		return llm.Text{Text: text}, nil
	}
	out := llm.Resource{
		URI: file.Expand(b.source.Root, r.URI), MIME: r.MIMEType,
		Title: r.Title, Description: r.Description,
	}
	out.Title = cmp.Or(out.Title, r.Name)
	content := r.Delivered()
	data, err := b.bytes(content)
	switch {
	case err != nil:
		return nil, err
	case data == nil:
		return missing(content), nil
	case r.Formatted != nil || readable(r.MIMEType, data):
		if out.Text = strings.ToValidUTF8(string(data), "\uFFFD"); out.Text == "" {
			return llm.Text{Text: "[resource " + out.URI + " is empty]"}, nil
		}
	default:
		out.Bytes = data
		if b.source.Untaken[out.URI] {
			return llm.Text{Text: llm.Result{Parts: []llm.Part{out}}.Plain()}, nil
		}
	}
	return out, nil
}

// readable reports whether a model reads content as text.
func readable(mime string, data []byte) bool {
	kind, _, _ := strings.Cut(mime, "/")
	switch {
	case mime == "image/svg+xml":
		return file.IsText(data)
	case kind == "image", kind == "audio", kind == "video", llm.IsPDF(mime):
		return false
	default:
		return file.IsText(data)
	}
}

// bytes reads a content; nil means that it is missing from the store. A conversation whose blobs
// were not fetched can still be continued, and the model is informed about the missing ones.
func (b *builder) bytes(c blobs.Content) ([]byte, error) {
	data, err := c.Bytes(b.source.Contents)
	if blobs.IsLost(err) {
		if b.source.Lost != nil {
			b.source.Lost(c.Ref(), err)
		}
		return nil, nil
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

func missing(c blobs.Content) llm.Part {
	ref := c.Ref()
	return llm.Text{Text: fmt.Sprintf("[content sha256:%s (%d bytes) is not available]",
		ref.Hash.String()[:12], ref.Size)}
}
