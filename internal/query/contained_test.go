//go:build unix

package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/tool/local"
	"github.com/git-jp/git-jp/internal/tool/mcp"
	"github.com/git-jp/git-jp/internal/tool/process"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// An answered is a call that a real tool answered.
type answered struct {
	tool, args string
	result     tool.Result
}

// A pool has the answers of real tools to odd arguments, before and after some files changed.
type pool [2][]answered

// oddValues are the values that are tried for a line or a flag.
var oddValues = []string{"", "2", "3", "9", `"2"`, `"3"`, "2.5", "-5", "0", "null", `"x"`, "true", `"true"`, "[2]"}

// oddArguments returns the arguments to try for each kind of tool.
func oddArguments() map[string][]string {
	all := map[string][]string{}
	pairs := func(first, last string, paths ...string) (out []string) {
		for _, p := range paths {
			for i, from := range oddValues {
				for _, to := range []string{"", oddValues[(i+3)%len(oddValues)], oddValues[(i+5)%len(oddValues)], "9"} {
					args := `{` + p
					if from != "" {
						args += `,"` + first + `":` + from
					}
					if to != "" {
						args += `,"` + last + `":` + to
					}
					out = append(out, args+"}")
				}
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	names := []string{`"path":"a.txt"`, `"path":"sub/a.txt"`}
	all["fs_read_file"] = append(pairs("start_line", "end_line", names...),
		`{"path":"./a.txt"}`, `{"path":"sub/../a.txt"}`, `{"path":"../a.txt"}`, `{"path":"/a.txt"}`,
		`{"path":"file:a.txt#L2-3"}`, `{"path":["a.txt"]}`, `{"path":"b%20c"}`, `{"path":"b c"}`)
	all["local_read"] = pairs("start_line", "end_line", names[0])
	all["local_show"] = pairs("start_line", "end_line", names[0])
	all["read_file"] = append(pairs("start_line", "end_line", names...),
		`{"path":"../a.txt"}`, `{"path":"/a.txt"}`, `{"path":"a.txt","tail":2}`)
	all["fs_list_files"] = []string{
		`{}`, `{"prefixes":["sub"]}`, `{"prefixes":"sub"}`, `{"prefixes":"[\"sub\"]"}`, `{"extensions":["txt"]}`,
		`{"extensions":["txt","md"]}`, `{"extensions":"md"}`, `{"extensions":[]}`, `{"prefixes":["sub","."]}`,
	}
	for _, place := range []string{``, `"location":"sub",`, `"location":5,`, `"location":6,`, `"location":"..",`} {
		for _, filters := range []string{
			`"filters":["*.md","*.txt"]`, `"filters":["*.txt"]`, `"filters":"*.txt"`, `"filters":["!*.md"]`,
			`"filters":["a"]`, `"filters":["a","b"]`, `"exclude":["*.md"]`, `"x":1`,
		} {
			for _, deep := range []string{"", `,"recurse":true`, `,"recurse":"true"`, `,"depth":1`, `,"depth":"3"`, `,"depth":0`} {
				all["list_folder"] = append(all["list_folder"], "{"+place+filters+deep+"}")
			}
		}
	}
	for _, name := range []string{"write_file", "append_file"} {
		all[name] = []string{
			`{"path":"a.txt","content":"one\n"}`, `{"path":"a.txt","content":"one\n","append":true}`,
			`{"path":"a.txt","content":"two\n","return-content":true}`,
			`{"path":"a.txt","content":"two\n","return-content":"true"}`, `{"path":"a.txt","text":"three"}`,
		}
	}
	all["fs_grep_files"] = []string{`{"pattern":"1"}`, `{"pattern":"1","context":1}`, `{"pattern":"2","context":"1"}`}
	return all
}

// fill writes the files of a workspace, with other text in the second state.
func fill(t *testing.T, dir, word string, changed bool) {
	t.Helper()
	text := func(name string, n int) {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %s line %d\n", word, name, i+1)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !changed {
		text("a.txt", 40)
		text("sub/a.txt", 30)
		text("sub/b.md", 5)
		text("b c", 12)
		text("b%20c", 14)
		return
	}
	text("a.txt", 20)
	text("sub/new.md", 25)
	if err := os.Remove(filepath.Join(dir, "sub/b.md")); err != nil {
		t.Fatal(err)
	}
}

// asInt reads a number as a lenient server does.
func asInt(v any, absent int) int {
	switch v := v.(type) {
	case float64:
		return int(v)
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n
		}
	case bool:
		return 1
	}
	return absent
}

// server is a server of another vendor: it has a root of its own, interprets odd arguments in its
// own way, and returns twenty lines by default.
func server(dir string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "other", Version: "1"}, nil)
	add := func(name string, f func(args map[string]any) string) {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: jsontext.Value(`{"type":"object"}`)},
			func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				args := map[string]any{}
				_ = json.Unmarshal(r.Params.Arguments, &args)
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: f(args)}}}, nil
			})
	}
	add("read_file", func(args map[string]any) string {
		name, _ := args["path"].(string)
		base := path.Base(name)
		if strings.HasPrefix(name, "sub/") {
			base = name
		}
		data, err := os.ReadFile(filepath.Join(dir, base))
		if err != nil {
			return "no such file"
		}
		lines := strings.SplitAfter(string(data), "\n")
		from := max(asInt(args["start_line"], 1), 1)
		to := asInt(args["end_line"], from+19)
		if to < 0 {
			to = len(lines) + to
		}
		if n := asInt(args["tail"], 0); n > 0 {
			from, to = len(lines)-n, len(lines)
		}
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
			return "another file\n" + name
		}
		return strings.Join(lines[min(from-1, len(lines)):max(min(to, len(lines)), min(from-1, len(lines)))], "")
	})
	add("list_folder", func(args map[string]any) string {
		var out []string
		root := dir
		switch v := args["location"].(type) {
		case string:
			root = filepath.Join(dir, path.Clean("/"+v))
		case float64:
			return fmt.Sprintf("number %v has one file", v)
		}
		deep := args["recurse"] == true || args["recurse"] == "true" || asInt(args["depth"], 1) != 1
		entries, _ := os.ReadDir(root)
		if deep {
			below, _ := os.ReadDir(filepath.Join(root, "sub"))
			entries = append(entries, below...)
		}
		for _, e := range entries {
			if passes(e.Name(), args["filters"]) && !passesNone(e.Name(), args["exclude"]) {
				out = append(out, e.Name())
			}
		}
		return strings.Join(out, "\n")
	})
	for _, name := range []string{"write_file", "append_file"} {
		add(name, func(args map[string]any) string {
			if args["return-content"] == true {
				return fmt.Sprint("Content:\n", args["content"])
			}
			return fmt.Sprintf("wrote %v, append %v", args["path"], args["append"])
		})
	}
	return s
}

// passes reports whether a name matches the filters; a filter with '!' excludes.
func passes(name string, filters any) bool {
	var all []string
	switch v := filters.(type) {
	case string:
		all = []string{v}
	case []any:
		for _, f := range v {
			all = append(all, fmt.Sprint(f))
		}
	default:
		return true
	}
	for _, f := range all {
		if rest, ok := strings.CutPrefix(f, "!"); ok {
			matched, _ := path.Match(rest, name)
			return !matched
		}
		if matched, _ := path.Match(f, name); matched || f == name[:1] {
			return true
		}
	}
	return false
}

func passesNone(name string, filters any) bool { return filters != nil && passes(name, filters) }

// A reader of the workspace resolves a resource again.
type reader struct{ tree *file.Tree }

func (r reader) Refresh(_ context.Context, uri string) (events.Resource, error) {
	p, _, err := r.tree.Path(uri)
	if err != nil {
		return events.Resource{}, err
	}
	f, err := r.tree.Read(p, 1<<20, file.CanRead)
	return f.Resource(), err
}

// localTools returns tools that run local programs.
func localTools(t *testing.T, dir string, space *file.Space) (items []tool.Item) {
	t.Helper()
	const lines = `sed -n "${2:-1},${3:-\$}p" "$1"`
	scripts := map[string]string{
		"local_read": lines + "\n",
		"local_show": `text=$(` + lines + `) || exit 1
part=; [ -z "$2$3" ] || part="#L${2:-1}-${3:-40}"
printf '{"type":"success","content":[{"type":"resource","resource":{"uri":"file://%s/%s%s","text":"%s"}}]}' \
	"$PWD" "$1" "$part" "$(printf %s "$text" | tr '\n' '|')"
`,
	}
	for name, script := range scripts {
		at := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(at, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		arg := func(n string) string { return "{{tool.arguments." + n + " | default('')}}" }
		c, err := tool.ParseConfig(name, jsontext.Value(fmt.Sprintf(`{"source":"local","command":{"program":"sh","args":[%q,%q,%q,%q]},
			"parameters":{"path":{"type":"string"},"start_line":{"type":"integer"},"end_line":{"type":"integer"}}}`,
			at, arg("path"), arg("start_line"), arg("end_line"))), nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Policy.Run = tool.Unattended
		it, err := local.New(c, local.Environment{
			Starter: process.Launcher{Env: []string{"PATH=" + os.Getenv("PATH")}}, Root: dir, Space: space,
		})
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

// newPool calls every tool with all odd arguments.
func newPool(t *testing.T) (p pool, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	tree, err := file.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server(other) }, nil))
	t.Cleanup(web.Close)
	session, err := mcp.Connect(t.Context(), mcp.Server{ID: "other", URL: web.URL}, mcp.Options{Client: web.Client(), Dir: root, Space: tree.Space})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	var remote []tool.Item
	for _, name := range []string{"read_file", "list_folder", "write_file", "append_file"} {
		item, err := session.Tool(tool.Config{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		remote = append(remote, item)
	}
	items := slices.Concat(builtin.Items(builtin.Workspace{Tree: tree}), localTools(t, root, tree.Space), remote,
		[]tool.Item{builtin.Refresh(reader{tree})})
	for i := range items {
		items[i].Policy.Run = tool.Unattended
	}
	asked := oddArguments()
	asked["refresh_resource"] = []string{`{"uri":"file:a.txt"}`, `{"uri":"file:sub/a.txt"}`, `{"uri":5}`}
	for state := range p {
		fill(t, root, "own", state == 1)
		fill(t, other, "other", state == 1)
		x, err := tool.NewExecutor(items, tool.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(asked)) {
			for _, args := range asked[name] {
				r, err := x.Run(t.Context(), []tool.Call{{ID: "x", Name: name, Arguments: jsontext.Value(args)}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				p[state] = append(p[state], answered{name, args, r[0]})
			}
		}
	}
	return p, root
}

// A paper is a record in memory.
type paper struct{ stream *events.Stream }

func (p *paper) Stream() *events.Stream                  { return p.stream }
func (p *paper) Save(f func(*events.Stream) error) error { return f(p.stream) }
func (p *paper) Contents() blobs.Reader                  { return noBlobs{} }

// next returns the content of the next request to a model.
func next(t *rapid.T, s *events.Stream, root string, saving bool) handed {
	turn := query.Turn{
		Record: &paper{s.Clone()}, Model: &player{}, Root: root,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) },
	}
	if saving {
		turn.Dedup = dedup.Options{Enabled: true, MinBytes: 30, Lookback: 30}
		turn.Trim = &query.Trim{Schedule: compact.Eager, Rules: rulesOf}
	}
	r, _, err := turn.Explain(query.Prompt{Request: &events.ChatRequest{Content: "next"}})
	if err != nil {
		t.Fatal(err)
	}
	return handedBy(r)
}

func rulesOf(name string) []dedup.Rule {
	switch name {
	case "local_read", "local_show", "append_file":
		return []dedup.Rule{dedup.Rules()["io-content"]}
	}
	return compact.DefaultRules(name)
}

func hintOf(name string) compact.Hint {
	h := compact.DefaultHint(name)
	switch name {
	case "local_read", "local_show":
		h.Dedup, h.Subsumes = true, "io-content"
	}
	return h
}

// talked draws a conversation: calls of few tools on few files, so that they overlap.
func (p pool) talked(t *rapid.T) *events.Stream {
	var all []*events.Element
	n := 0
	add := func(ev events.Event) {
		all = append(all, events.NewElement(time.Date(2026, 1, 1, 0, 0, len(all), 0, time.UTC), ev, events.Metadata{}))
	}
	family := rapid.SampledFrom([][]string{
		{"fs_read_file"},
		{"fs_read_file", "read_file", "refresh_resource"},
		{"local_read"},
		{"local_show", "fs_read_file"},
		{"read_file", "write_file"},
		{"read_file"},
		{"list_folder"},
		{"fs_list_files"},
		{"write_file", "append_file"},
		{"local_read", "append_file"},
		{"fs_grep_files", "fs_list_files"},
	}).Draw(t, "tools")
	var choice [2][]answered
	for state := range p {
		for _, a := range p[state] {
			if slices.Contains(family, a.tool) {
				choice[state] = append(choice[state], a)
			}
		}
	}
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		add(&events.TurnStart{})
		add(&events.ChatRequest{Content: "q"})
		// Only a result that names its file may change: text alone does not show where it comes
		// from.
		for range rapid.IntRange(0, 5).Draw(t, "batches") {
			var results []events.Event
			for range rapid.IntRange(1, 2).Draw(t, "parallel") {
				a := rapid.SampledFrom(choice[0]).Draw(t, "call")
				if again := rapid.IntRange(0, 1).Draw(t, "state"); again == 1 {
					i := slices.IndexFunc(choice[1], func(b answered) bool { return b.tool == a.tool && b.args == a.args })
					if named(choice[1][i].result) && named(a.result) {
						a = choice[1][i]
					}
				}
				n++
				id := fmt.Sprint("c", n)
				add(&events.ToolCallRequest{ID: id, Name: a.tool, Arguments: jsontext.Value(a.args)})
				results = append(results, &events.ToolCallResponse{ID: id, IsError: a.result.IsError, Blocks: a.result.Blocks})
			}
			if len(results) == 2 && rapid.Bool().Draw(t, "swapped") {
				slices.Reverse(results)
			}
			for _, r := range results {
				add(r)
			}
		}
		add(&events.ChatResponse{Text: "done"})
	}
	s := events.New(all...)
	if turns := len(s.Turns()); rapid.IntRange(0, 3).Draw(t, "overlay") == 0 {
		from := rapid.IntRange(0, turns-1).Draw(t, "from")
		s.Append(events.NewElement(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), &events.Compaction{
			FromTurn: from, ToTurn: rapid.IntRange(from, turns-1).Draw(t, "to"),
			ToolCalls: &events.ToolCallPolicy{
				Request: rapid.Bool().Draw(t, "requests"), Response: rapid.Bool().Draw(t, "responses"),
			},
		}, events.Metadata{}))
	}
	return s
}

func named(r tool.Result) bool { return len(r.Blocks) == 1 && r.Blocks[0].Resource != nil }

// withStale adds the reads that a later write made stale to what was handed over, as if they were
// delivered: they are left out because their content is obsolete, not because they are given
// elsewhere. The stub says so, and a successful call after the read names the same file. An equal
// read that was left out for this one is obsolete too.
func (h handed) withStale(s *events.Stream, before handed) handed {
	pathOf := func(c events.Call) string {
		var args struct {
			Path string `json:"path"`
		}
		_ = json.Unmarshal(s.At(c.Request).Event().(*events.ToolCallRequest).Arguments, &args)
		return args.Path
	}
	calls := s.Calls()
	out := h
	out.results = maps.Clone(h.results)
	for _, read := range calls {
		now := h.results[read.ID]
		stub := llm.Text{Text: "[superseded] " + read.Name + ": the file was changed after this"}
		if within(stub, now) && slices.ContainsFunc(calls, func(w events.Call) bool {
			return w.Name == "write_file" && w.Response > read.Response && pathOf(w) == pathOf(read) &&
				!s.At(w.Response).Event().(*events.ToolCallResponse).IsError
		}) {
			out.results[read.ID] = before.results[read.ID]
			for _, p := range before.results[read.ID] {
				out.add(p)
			}
		}
	}
	return out
}

// TestWhatIsTakenOutIsStillThere checks the most important rule: whatever is left out of a request
// because the model has it already is in the request elsewhere. The answers are those of real tools
// to odd arguments.
func TestWhatIsTakenOutIsStillThere(t *testing.T) {
	p, root := newPool(t)
	kinds := [][]string{
		nil,
		{compact.DedupTools},
		{compact.TrimSuperseded},
		{compact.Auto},
		{compact.StripToolResults, compact.DedupTools},
		{compact.DedupTools, compact.StripToolResults},
		{compact.TrimSuperseded, compact.DedupTools},
		{compact.TrimSuperseded, compact.StripToolResults},
	}
	cases, removals := 0, map[string]int{}
	check := func(t *rapid.T) {
		s := p.talked(t)
		before := next(t, s, root, false)
		for _, k := range kinds {
			out := s
			if k != nil {
				kept := rapid.IntRange(0, 1).Draw(t, "keep")
				r, err := compact.Run(t.Context(), s, compact.Options{
					Strategies: k, KeepLast: kept, Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
					Contents: noBlobs{}, Hint: hintOf, Rules: rulesOf,
					Dedup: dedup.Options{Enabled: true, MinBytes: 30, Lookback: 30},
				})
				if err != nil {
					t.Fatal(err)
				}
				out = r.Stream
			}
			after := next(t, out, root, true)
			missing, n := lost(before, after.withStale(s, before))
			if len(missing) > 0 {
				t.Fatalf("%v: gone and nowhere else: %s\n%s\nnow\n%s", k, strings.Join(missing, "\n"), s.Encode(), out.Encode())
			}
			cases++
			if n > 0 {
				removals[strings.Join(k, "+")] += n
			}
		}
	}
	// The rarest kind takes something out in one of 15 checks, which a hundred may not have.
	for n := 0; n < 5 && len(removals) < len(kinds); n++ {
		rapid.Check(t, check)
	}
	t.Logf("%d cases over %d answers of tools; taken out: %v", cases, len(p[0])+len(p[1]), removals)
	for _, k := range kinds {
		if removals[strings.Join(k, "+")] == 0 {
			t.Errorf("%v took nothing out: nothing was shown", k)
		}
	}
}
