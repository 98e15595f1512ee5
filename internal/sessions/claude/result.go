package claude

import (
	"slices"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// details has what a record says of a result besides what the model was given.
type details struct {
	agent, persisted sessions.Text
	file             struct {
		Path    sessions.Text   `json:"filePath"`
		Content sessions.Late   `json:"content"`
		First   sessions.Number `json:"startLine"`
		Lines   sessions.Number `json:"numLines"`
		Total   sessions.Number `json:"totalLines"`
	}
}

// detailsOf reads three members of a result's details; the others may be megabytes.
func detailsOf(members map[string]jsontext.Value) (d details) {
	read := func(name string, v any) {
		if members[name] != nil {
			_ = sessions.UnmarshalInner(members[name], v) // a value of another type is ignored
		}
	}
	read("agentId", &d.agent)
	read("persistedOutputPath", &d.persisted)
	read("file", &d.file)
	return d
}

// repeats are members of a result's details that repeat the call, what the model was given, or a
// file of the repository.
var repeats = []string{
	"originalFile", "originalFileContents", "oldString", "newString", "oldTodos", "newTodos",
	"stdout", "stderr", "file", "content", "filenames", "edits", "filePath", "prompt", "plan",
	"replaceAll", "type", "mode", "numFiles", "numLines", "description", "command",
}

// results adds the results in a record.
func (m *mapper) results(r *record, all content) {
	var members map[string]jsontext.Value
	detailed := r.Result.Kind() == '{' && sessions.UnmarshalInner(r.Result, &members) == nil
	d := detailsOf(members)
	piece := 0
	for i := range all {
		b := &all[i]
		if b.Type != "tool_result" {
			continue
		}
		call := string(b.CallID)
		blocks := m.shown(b)
		if detailed && d.agent != "" {
			m.Subagent(call, subagent(m.root(), string(d.agent)))
		}
		if detailed {
			blocks = m.detail(blocks, &d)
		}
		m.Result(key(r, piece), r.Time.Time, call, bool(b.IsError), blocks...)
		piece++
	}
	if text := all.text(); text != "" {
		m.Injected(key(r, piece), r.Time.Time, text)
	}
	m.rest(r, members)
}

// root returns the session after which sub-agents are named.
func (m *mapper) root() sessions.Name {
	if m.session.Parent.IsZero() {
		return m.session.Name
	}
	return m.session.Parent
}

// shown returns what the model was given.
func (m *mapper) shown(b *block) (out []sessions.Block) {
	if b.Content.Kind() == '"' {
		return []sessions.Block{{Late: sessions.Late(b.Content)}}
	}
	for _, piece := range blocks(b.Content) {
		if data, ok := piece.bytes(); ok {
			out = append(out, sessions.Block{MIMEType: string(piece.Source.Value.MIME), Data: data})
		} else if piece.Type == "text" {
			out = append(out, sessions.Block{Text: string(piece.Text)})
		} else {
			out = append(out, sessions.Block{Text: string(piece.raw)})
		}
	}
	if out == nil {
		out = []sessions.Block{{}} // an empty result still answers its call
	}
	return out
}

// detail turns a read of a file into a resource, and replaces a truncated result with the full text
// of its separate file.
func (m *mapper) detail(out []sessions.Block, d *details) []sessions.Block {
	first, file := &out[0], &d.file
	switch {
	case first.MIMEType != "":
	case file.Path != "" && file.Lines > 0:
		first.File = &sessions.File{
			Name: string(file.Path), Dir: m.dir, Late: file.Content,
			First: int(file.First), Lines: int(file.Lines),
		}
		if file.First <= 1 && file.Lines >= file.Total {
			first.File.First = 0
		}
	case d.persisted != "":
		if full, ok := persisted(m.session.Path, string(d.persisted)); ok {
			first.File = &sessions.File{Name: string(d.persisted), Dir: m.dir, Content: full}
		}
	}
	return out
}

// rest keeps the other details: exit codes, patches, the tokens of a sub-agent.
func (m *mapper) rest(r *record, members map[string]jsontext.Value) {
	switch r.Result.Kind() {
	case '{':
	case '"', 'n', 0:
		m.Drop("toolUseResult", len(r.Result))
		return
	default:
		m.Record(r.Time.Time, "result", r.Result)
		return
	}
	for name, v := range members {
		if slices.Contains(repeats, name) || isNothing(v) {
			m.Drop("toolUseResult/"+name, len(v))
			delete(members, name)
		}
	}
	if len(members) > 0 {
		m.Record(r.Time.Time, "result", sessions.Marshal(struct {
			ID     string                    `json:"uuid"`
			Result map[string]jsontext.Value `json:"toolUseResult"`
		}{string(r.UUID), members}))
	}
}

// isNothing reports whether a value is empty.
func isNothing(v jsontext.Value) bool {
	switch string(v) {
	case "false", "null", `""`, "0", "[]", "{}":
		return true
	}
	return false
}
