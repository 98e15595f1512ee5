package compact

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// stripReasoning removes reasoning.
func (j *job) stripReasoning(context.Context, *Step) error {
	gone := map[int]bool{}
	limit := j.closed()
	for i, e := range j.stream.All() {
		r, ok := e.Event().(*events.ChatResponse)
		if ok && i < limit && r.Form == events.FormReasoning {
			gone[i] = true
		}
	}
	j.revise(nil, gone)
	return nil
}

// stripToolResults reduces each result to its tool, its outcome if that is known, and a short first
// line. For tools whose hint says so the calls are removed too.
func (j *job) stripToolResults(context.Context, *Step) error {
	closed := j.closed()
	gone, with := map[int]bool{}, map[int]*events.Element{}
	for _, c := range j.strippable(j.decided) {
		if j.Hint(c.Name).Response == Remove && c.Response < closed {
			gone[c.Request], gone[c.Response] = true, true
			continue
		}
		if e := j.stripped(c); e != nil {
			with[c.Response] = e
		}
	}
	j.revise(with, gone)
	return nil
}

// strippable returns the calls whose results are stripped. If the strategy was requested by name
// these are all but those with the hint keep; auto begins with tools that have a hint, and spares
// the last read of each file, which the model may be working on.
func (j *job) strippable(decided bool) (all []events.Call) {
	limit, persons := j.limit(), listen(j.stream, j.Contents)
	var last map[int]bool
	if j.gentle {
		last = j.lastReads()
	}
	for _, c := range j.stream.Calls() {
		how := j.Hint(c.Name).Response
		switch in := j.invocation(c); {
		case c.Open(), c.Response >= limit, last[c.Response], how == Keep,
			decided && how != Strip && how != Remove, !in.Shown() || persons.holds(in.Result):
		default:
			all = append(all, c)
		}
	}
	return all
}

// lastReads returns the last result that shows an entire file, for each file.
func (j *job) lastReads() map[int]bool {
	last, seen := map[int]bool{}, map[string]bool{}
	shown := j.shown()
	for _, c := range slices.Backward(j.stream.Calls()) {
		if c.Open() || !shown(j.stream.At(c.Response)) || !shown(j.stream.At(c.Request)) {
			continue
		}
		for _, rule := range j.Rules(c.Name) {
			claims, ok := rule.Read(j.invocation(c))
			if !ok || len(claims) != 1 || rule.Name != ioContent {
				continue
			}
			if f := claims[0]; f.Gives && f.First == 1 && f.Last == 0 && !seen[f.Key] {
				last[c.Response], seen[f.Key] = true, true
			}
		}
	}
	return last
}

// maxFirstLine is the length of the longest first line that is kept, in characters.
const maxFirstLine = 120

// stripped returns the shortened result of a call, or nil if it would not be shorter.
func (j *job) stripped(c events.Call) *events.Element {
	e := j.stream.At(c.Response)
	r, ok := e.Event().(*events.ToolCallResponse)
	if !ok {
		return nil
	}
	text := "[compacted] " + c.Name
	if how := outcomeOf(r, j.Contents); how != unknown {
		text += ": " + string(how)
	}
	if line := firstLine(r, j.Contents); line != "" {
		text += "\n" + line
	}
	if int64(len(text)) >= SizeOf(r) {
		return nil
	}
	return emptied(e, r, text)
}

// firstLine returns the first line of a result, or "" if it is too long. Missing content has none.
func firstLine(r *events.ToolCallResponse, rd blobs.Reader) string {
	text, err := r.Text(rd)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimRight(line, "\r\t ")
	if !utf8.ValidString(line) || utf8.RuneCountInString(line) > maxFirstLine {
		return ""
	}
	return line
}

// SizeOf returns how many bytes of a result a model is given.
func SizeOf(r *events.ToolCallResponse) int64 {
	var n int64
	for i := range r.Blocks {
		n += blockSize(&r.Blocks[i])
	}
	return n
}

func blockSize(b *events.Block) int64 {
	switch {
	case b.Resource != nil:
		return b.Resource.Delivered().Size()
	case !b.Content.IsZero():
		return b.Content.Size()
	default:
		return int64(len(b.Raw))
	}
}

// emptied returns a result with text in place of its content. The descriptions of its resources
// stay with the event, so they are known but do not count as delivered.
func emptied(e *events.Element, r *events.ToolCallResponse, text string) *events.Element {
	var lost []events.Resource
	for _, b := range r.Blocks {
		if b.Resource != nil {
			lost = append(lost, *b.Resource)
		}
	}
	short := *r
	short.Blocks = []events.Block{{
		Type: events.BlockText, Content: blobs.Loaded([]byte(text)),
	}}
	md := e.Metadata().WithStripped(lost...)
	return e.With(&short).WithMetadata(dedup.Unmarked(md))
}

// stripAttachments removes attachments, and the settings that would attach them again.
func (j *job) stripAttachments(context.Context, *Step) error {
	limit := j.limit()
	with := map[int]*events.Element{}
	for i, e := range j.stream.All() {
		r, ok := e.Event().(*events.ChatRequest)
		if !ok || i >= limit || len(r.Resources) == 0 {
			continue
		}
		with[i] = detached(e, r, func(int) bool { return true })
	}
	j.revise(with, nil)
	declared, ok := j.setting("conversation", "attachments")
	if !ok || len(declared.Items()) == 0 {
		return nil
	}
	return j.configure(map[string]any{"conversation": map[string]any{
		"attachments": map[string]any{ // as jp writes it
			"value": []string{}, "strategy": "replace", "discard_when_merged": false,
		},
	}})
}

// detached returns a request without some of its resources.
func detached(e *events.Element, r *events.ChatRequest, gone func(n int) bool) *events.Element {
	short := *r
	short.Resources = nil
	var lost []events.Resource
	for n := range r.Resources {
		if gone(n) {
			lost = append(lost, r.Resources[n])
		} else {
			short.Resources = append(short.Resources, r.Resources[n])
		}
	}
	md := e.Metadata().WithStripped(lost...)
	return e.With(&short).WithMetadata(dedup.Unmarked(md))
}

// setting returns the value of a setting at the end of the stream.
func (j *job) setting(path ...string) (settings.Setting, bool) {
	c, err := settings.InForce(j.stream, j.Base, j.stream.Len(), 0)
	if err != nil {
		return settings.Setting{}, false
	}
	return c.Setting(path...)
}

// configure appends a change of the configuration.
func (j *job) configure(delta any) error {
	v, err := json.Marshal(delta)
	if err != nil {
		return err
	}
	j.stream = j.stream.Clone()
	j.stream.Append(events.NewElement(j.Now,
		&events.ConfigDelta{Delta: jsontext.Value(v)}, events.Metadata{}))
	return nil
}

// pruneTools disables tools that were never called. A tool that was called keeps its definition,
// because its calls may be in the request.
func (j *job) pruneTools(_ context.Context, step *Step) error {
	used := lists.Set(lists.Map(j.source.Calls(), func(c events.Call) string { return c.Name }))
	if word, ok := j.setting("assistant", "tool_choice"); ok {
		var name string
		if json.Unmarshal(word.Value(), &name) == nil {
			used[name] = true
		}
	}
	pruned := map[string]any{}
	table := j.declared(j.stream)
	for _, name := range j.offered(table) {
		if !used[name] {
			// As jp writes it: otherwise no copy for an undo fits the stream that it saved.
			off := map[string]any{
				"enable": map[string]any{"state": false, "allow_toggle": "any"},
			}
			if _, ok := table[name]; !ok { // a tool that no configuration declares is built in
				off["source"] = "builtin"
			}
			pruned[name] = off
			step.Pruned = append(step.Pruned, name)
		}
	}
	if len(pruned) == 0 {
		return nil
	}
	return j.configure(map[string]any{"conversation": map[string]any{"tools": pruned}})
}

// A toolTable holds the tools that the configuration of a conversation declares, by name.
type toolTable map[string]json.RawMessage

// declared returns the tools that the configuration at the end of a stream declares.
func (o Options) declared(s *events.Stream) toolTable {
	table := toolTable{}
	c, err := settings.InForce(s, o.Base, s.Len(), 0)
	if err != nil {
		return table
	}
	if all, ok := c.Setting("conversation", "tools"); ok {
		_ = json.Unmarshal(all.Value(), &table) // anything but a table declares none
	}
	return table
}

// offered returns the tools that are declared, or offered anyway, and not disabled, sorted.
func (o Options) offered(table toolTable) []string {
	names := slices.Concat(slices.Collect(maps.Keys(table)), slices.Collect(maps.Keys(o.Offered)))
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == "*" || !table.enabled(name)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// enabled reports whether a tool is offered, by its own setting or that of all, and may be
// disabled.
func (t toolTable) enabled(name string) bool {
	for _, at := range []string{name, "*"} {
		var tool struct {
			Enable jsontext.Value `json:"enable"`
		}
		_ = json.Unmarshal(t[at], &tool) // anything but a table is ignored
		v := tool.Enable
		var on bool
		var state struct {
			State  *any   `json:"state"`
			Toggle string `json:"allow_toggle"`
		}
		var word string
		switch {
		case len(v) == 0:
			continue
		case json.Unmarshal(v, &on) == nil:
			return on
		case json.Unmarshal(v, &word) == nil:
			return word == "on"
		case json.Unmarshal(v, &state) == nil:
			return state.Toggle != "never" && (state.State == nil || isOn(*state.State))
		}
	}
	return true
}

func isOn(state any) bool { return state == true || state == "on" }
