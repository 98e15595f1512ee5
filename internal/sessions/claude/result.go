package claude

import (
	"bytes"
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

// repeats are members of a result's details that repeat the call or a file of the repository, and
// mayRepeat those that usually repeat what the model was given.
var (
	repeats = []string{
		"originalFile", "originalFileContents", "oldString", "newString", "oldTodos", "newTodos",
		"file", "filenames", "edits", "filePath", "prompt", "replaceAll", "type", "mode",
		"numFiles", "numLines", "description", "command",
	}
	mayRepeat = []string{"stdout", "stderr", "content", "plan"}
)

// results adds the results in a record.
func (m *mapper) results(r *record, all content) {
	var members map[string]jsontext.Value
	detailed := r.Result.Kind() == '{' && sessions.UnmarshalInner(r.Result, &members) == nil
	d := detailsOf(members)
	var said given
	piece := 0
	for i := range all {
		b := &all[i]
		if b.Type != "tool_result" {
			continue
		}
		call := string(b.CallID)
		blocks := m.shown(b)
		said = append(said, b.Content)
		if detailed && d.agent != "" {
			m.Subagent(call, subagent(m.root(), string(d.agent)))
		}
		if detailed {
			blocks = m.detail(blocks, &d)
			if full := blocks[0].File; full != nil && full.First == 0 {
				said = append(said, sessions.Marshal(full.Content))
			}
		}
		m.Result(key(r, piece), r.Time.Time, call, bool(b.IsError), blocks...)
		piece++
	}
	attached := all.attached()
	if text := all.text(); text != "" || len(attached) > 0 {
		m.Injected(key(r, piece), r.Time.Time, text, attached...)
	}
	m.others(r, all)
	m.rest(r, members, said)
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

// rest keeps the other details: exit codes, patches, the tokens of a sub-agent, and the output of a
// program whose result only has its beginning.
func (m *mapper) rest(r *record, members map[string]jsontext.Value, said given) {
	switch r.Result.Kind() {
	case '{':
	default:
		if k := r.Result.Kind(); k == 0 || k == 'n' || k == '"' && said.has(r.Result) {
			m.Drop("toolUseResult", len(r.Result))
			m.again(r.Result)
		} else {
			m.Record(r.Time.Time, "result", r.Result)
		}
		return
	}
	written := members["filePath"] != nil // then the call has the content, too
	for name, v := range members {
		again := slices.Contains(repeats, name) || name == "content" && written ||
			slices.Contains(mayRepeat, name) && said.has(v)
		if slices.Contains(mayRepeat, name) && again {
			m.again(v)
		}
		if again || isNothing(v) {
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

// again records that a text of a result's details was given to the model, maybe in a longer line.
func (m *mapper) again(v jsontext.Value) {
	if v.Kind() == '"' {
		m.Said(string(sessions.Late(v).Text()))
	}
}

// A given has what the model was given as results, as the agent quoted it.
type given []jsontext.Value

// has reports whether the model was given a text, or all parts of a list.
func (all given) has(v jsontext.Value) bool {
	return !slices.ContainsFunc(blocks(v), func(b block) bool {
		part := []byte(b.raw)
		switch {
		case b.raw.Kind() == '"':
			part = trimmed(b.raw)
		case b.Type == "text":
			part = trimmed(sessions.Marshal(string(b.Text)))
		}
		return !slices.ContainsFunc(all, func(in jsontext.Value) bool {
			return bytes.Contains(in, part)
		})
	})
}

// trimmed returns a quoted text without its quotes, the space around it, and the word with which
// the agent begins errors.
func trimmed(quoted []byte) []byte {
	in := bytes.TrimPrefix(quoted[1:len(quoted)-1], []byte("Error: "))
	for was := -1; was != len(in); {
		was = len(in)
		in = bytes.TrimSpace(in)
		for _, space := range []string{`\n`, `\r`, `\t`} {
			in = bytes.TrimSuffix(bytes.TrimPrefix(in, []byte(space)), []byte(space))
		}
	}
	return in
}

// isNothing reports whether a value is empty.
func isNothing(v jsontext.Value) bool {
	switch string(v) {
	case "false", "null", `""`, "0", "[]", "{}":
		return true
	}
	return false
}
