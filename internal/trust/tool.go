package trust

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
)

// ToolKeys is the prefix of the keys of tools.
const ToolKeys = "conversation.tools."

const serverKeys = "providers.mcp."

// A Tool is the value of a tool's claim: everything that decides what its calls do. It leaves out
// descriptions, such as a summary.
type Tool struct {
	Source     string          `json:"source,omitempty"`
	Command    json.RawMessage `json:"command,omitempty"`
	Formatter  json.RawMessage `json:"formatter,omitempty"`
	Run        string          `json:"run,omitempty"`    // "unattended" or empty
	Format     string          `json:"format,omitempty"` // the same for the formatter
	Options    json.RawMessage `json:"options,omitempty"`
	Answers    json.RawMessage `json:"answers,omitempty"` // to its questions
	Access     json.RawMessage `json:"access,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`

	// The following fields are derived from those above.

	Line    []string          `json:"line,omitempty"` // the words of the command
	Shell   bool              `json:"shell,omitempty"`
	Reaches []string          `json:"reaches,omitempty"` // parameters that reach a shell
	Takes   []string          `json:"takes,omitempty"`   // parameters that may become an option
	Files   map[string]string `json:"files,omitempty"`   // of the workspace, with their hashes
}

// Server returns the MCP server of the tool, "" if there is none.
func (t Tool) Server() string {
	rest, ok := strings.CutPrefix(t.Source, "mcp.")
	if !ok {
		return ""
	}
	server, _, _ := strings.Cut(rest, ".")
	return server
}

// program returns the name of the program that is started.
func (t Tool) program() string {
	if len(t.Line) == 0 {
		return ""
	}
	if t.Shell {
		return "sh"
	}
	return path.Base(t.Line[0])
}

// tool returns the value of a tool's claim.
func (c Claim) tool() (t Tool, ok bool) {
	if !strings.HasPrefix(c.Key, ToolKeys) || c.Kind != Process {
		return Tool{}, false
	}
	return t, exact.Unmarshal([]byte(c.Value), &t) == nil
}

// settings is the family of claims that neither start nor reach anything.
const settings = "settings"

// family returns a key that is equal for the claims of one question.
func (c Claim) family() string {
	if name, ok := strings.CutPrefix(c.Key, serverKeys); ok && c.Kind == Process {
		return "server " + name
	}
	t, ok := c.tool()
	switch {
	case c.Kind == Setting:
		return settings
	case !ok:
		return strings.Join([]string{string(c.Kind), pattern(c.Key), c.Value}, "\x00")
	case t.Server() != "":
		return "server " + t.Server()
	default:
		return "program " + t.program()
	}
}

// A lineOf is the tools that share a command line.
type lineOf struct {
	text  string
	names []string
	tools []Tool
}

// describeTools describes the effects of tools, one paragraph for each command line.
func describeTools(b *strings.Builder, claims []Claim) {
	var lines []*lineOf
	at := map[string]*lineOf{}
	for _, c := range claims {
		t, ok := c.tool()
		if !ok {
			describeServer(b, c)
			continue
		}
		text := strings.Join(t.Line, " ")
		switch {
		case t.Server() != "":
			text = "MCP server " + t.Server()
		case t.Command == nil:
			text = "a built-in tool"
		}
		l := at[text]
		if l == nil {
			l = &lineOf{text: text}
			at[text], lines = l, append(lines, l)
		}
		l.names, l.tools = append(l.names, strings.TrimPrefix(c.Key, ToolKeys)), append(l.tools, t)
	}
	for _, l := range lines {
		l.write(b)
	}
}

func (l *lineOf) write(b *strings.Builder) {
	who := render.Count(len(l.names), "tool")
	if len(l.names) == 1 {
		who = show(l.names[0])
	}
	fmt.Fprintf(b, "  %s: %s\n", show(l.text), who)
	l.tell(b, func(t Tool) string {
		switch {
		case t.Run != "":
			return "runs without a question"
		case t.Command != nil:
			return "asks before it runs, or as you say yourself"
		}
		return ""
	})
	l.tell(b, func(t Tool) string {
		if len(t.Line) == 0 {
			return ""
		}
		does := "starts " + show(t.program())
		if len(t.Reaches) > 0 {
			does += "; the model's text reaches a shell there: " + parameters(t.Reaches)
		}
		if len(t.Takes) > 0 {
			does += "; the model's text can be an option of it: " + parameters(t.Takes)
		}
		return does
	})
	l.tell(b, func(t Tool) string {
		if len(t.Files) == 0 {
			return ""
		}
		return runsFiles(t.Files)
	})
	l.tell(b, func(t Tool) string {
		if t.Formatter == nil {
			return ""
		}
		return "shows arguments by " + plain(t.Formatter) +
			choose(t.Format != "", ", without a question", "")
	})
	for _, part := range []struct {
		name string
		of   func(Tool) json.RawMessage
	}{
		{"is given the options", func(t Tool) json.RawMessage { return t.Options }},
		{"has its questions answered by", func(t Tool) json.RawMessage { return t.Answers }},
		{"has access to", func(t Tool) json.RawMessage { return t.Access }},
	} {
		l.tell(b, func(t Tool) string {
			if v := part.of(t); v != nil {
				return part.name + " " + plain(v)
			}
			return ""
		})
	}
}

// tell writes a description of tools, with the names of those that it applies to if it does not
// apply to all.
func (l *lineOf) tell(b *strings.Builder, of func(Tool) string) {
	var order []string
	names := map[string][]string{}
	for i, t := range l.tools {
		text := of(t)
		if text == "" {
			continue
		}
		if names[text] == nil {
			order = append(order, text)
		}
		names[text] = append(names[text], show(l.names[i]))
	}
	for _, text := range order {
		switch n := len(names[text]); {
		case len(l.tools) == 1:
			fmt.Fprintf(b, "    %s\n", text)
		case n == len(l.tools):
			fmt.Fprintf(b, "    %s: all of them\n", text)
		default:
			fmt.Fprintf(b, "    %s: %s\n", text, strings.Join(names[text], ", "))
		}
	}
}

// describeServer describes the effects of a server's table.
func describeServer(b *strings.Builder, c Claim) {
	var table map[string]json.RawMessage
	var s struct {
		Command   string            `json:"command"`
		Arguments []string          `json:"arguments"`
		Files     map[string]string `json:"files"`
	}
	raw := []byte(c.Value)
	if exact.Unmarshal(raw, &table) != nil || exact.Unmarshal(raw, &s) != nil {
		fmt.Fprintf(b, "  %s:\n    %s\n", c, quoted(c.Value))
		return
	}
	words := append([]string{s.Command}, s.Arguments...)
	fmt.Fprintf(b, "  %s: %s\n", c.place(), show(strings.Join(words, " ")))
	if len(s.Files) > 0 {
		fmt.Fprintf(b, "    %s\n", runsFiles(s.Files))
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains([]string{"command", "arguments", "files", "type"}, key) {
			fmt.Fprintf(b, "    %s %s\n", show(key), plain(table[key]))
		}
	}
}

func runsFiles(sums map[string]string) string {
	var files []string
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		files = append(files, fmt.Sprintf("%s (%.12s)", show(name), show(sums[name])))
	}
	return "runs files of this repository, as they are now: " + strings.Join(files, ", ")
}

// plain returns text without quotes, and other values as JSON, unless a terminal would interpret
// it.
func plain(v json.RawMessage) string {
	text := string(v)
	_ = exact.Unmarshal(v, &text) // otherwise JSON
	odd := func(r rune) bool { return !strconv.IsPrint(r) }
	if strings.ContainsFunc(text, odd) || render.Exact(text) != text {
		return quoted(text)
	}
	return text
}

func choose(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func parameters(names []string) string {
	if slices.Contains(names, "*") {
		return "all arguments"
	}
	return strings.Join(lists.Map(names, show), ", ")
}

// difference lists what a value has that another one had not, or had differently, one per line.
func difference(before, after string) []string {
	var was, is map[string]json.RawMessage
	if exact.Unmarshal([]byte(before), &was) != nil || exact.Unmarshal([]byte(after), &is) != nil {
		return []string{"was " + quoted(before)}
	}
	var lines []string
	for _, key := range namesIn(was, is) {
		switch {
		case string(was[key]) == string(is[key]) || derived(key):
		case key == "files":
			for _, name := range filesThatDiffer(was[key], is[key]) {
				lines = append(lines, "the file "+show(name)+" has changed")
			}
		default:
			lines = append(lines, fmt.Sprintf("%s: was %s, now %s", show(key), orNothing(was[key]),
				orNothing(is[key])))
		}
	}
	return lines
}

// derived reports whether a member is derived from others.
func derived(key string) bool {
	return slices.Contains([]string{"line", "shell", "reaches", "takes"}, key)
}

func orNothing(v json.RawMessage) string {
	if v == nil {
		return "nothing"
	}
	return plain(v)
}

func filesThatDiffer(before, after json.RawMessage) []string {
	var was, is map[string]string
	_, _ = exact.Unmarshal(before, &was), exact.Unmarshal(after, &is) // a missing list is empty
	return lists.Filter(namesIn(was, is), func(name string) bool {
		sum, ok := is[name]
		return !ok || was[name] != sum
	})
}

// namesIn returns the keys of both maps, sorted.
func namesIn[V any](a, b map[string]V) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// onlyFiles returns the files in which two values differ, if they do not differ otherwise.
func onlyFiles(before, after string) (names []string, ok bool) {
	var was, is map[string]json.RawMessage
	if exact.Unmarshal([]byte(before), &was) != nil || exact.Unmarshal([]byte(after), &is) != nil {
		return nil, false
	}
	if was["files"] == nil || is["files"] == nil {
		return nil, false
	}
	names = filesThatDiffer(was["files"], is["files"])
	delete(was, "files")
	delete(is, "files")
	same := maps.EqualFunc(was, is, func(a, b json.RawMessage) bool {
		return string(a) == string(b)
	})
	return names, same && len(names) > 0
}
