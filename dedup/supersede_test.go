package dedup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// made returns a call in the form that rules read; a result that begins with "!" is an error.
func made(tool, args, result string) dedup.Invocation {
	text, failed := strings.CutPrefix(result, "!")
	return dedup.Invocation{
		Tool: tool, Arguments: jsontext.Value(args),
		Result: &events.ToolCallResponse{IsError: failed, Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(text)),
		}}},
	}
}

// returned returns a call whose result names a file of the workspace, and whose arguments are
// misleading.
func returned(tool, name, text string) dedup.Invocation {
	r := file("$WORKSPACE/"+name, text)
	return dedup.Invocation{
		Tool: tool, Arguments: jsontext.Value(`{"path":"b.go","start_line":"7"}`),
		Result: &events.ToolCallResponse{Blocks: []events.Block{{Type: events.BlockResource, Resource: &r}}},
	}
}

// numbered returns a call that read a file of the workspace and showed it in another form.
func numbered(text, shown string) dedup.Invocation {
	c := returned("Read", "a.go", text)
	formatted := blobs.Loaded([]byte(shown))
	c.Result.Blocks[0].Resource.Formatted = &formatted
	return c
}

// TestContentRule checks the table of the deduplicator on which the rule is based: a newer read or
// write of a file replaces an older one, except for a write that shows nothing.
func TestContentRule(t *testing.T) {
	const a, b = `"location":"a.go"`, `"location":"b.go"`
	ten := strings.Repeat("x\n", 10)
	read := func(args, result string) dedup.Invocation { return made("fs_read_file", "{"+args+"}", result) }
	for _, test := range []struct {
		name           string
		later, earlier dedup.Invocation
		want           bool
	}{
		{"read, read", made("read", "{"+a+"}", "x"), made("read", "{"+a+"}", "x"), true},
		{"read, write", made("read", "{"+a+"}", "x"), made("write_file", "{"+a+`,"content":"c"}`, "c"), true},
		{"read, pieces", made("read", "{"+a+"}", "x"), made("write_pieces", "{"+a+`,"operations":[]}`, "x"), true},
		{"write, read", made("write_file", "{"+a+`,"content":"c"}`, "File written: c"), made("read", "{"+a+"}", "x"), true},
		{"pieces, read", made("write_pieces", "{"+a+`,"operations":[]}`, "x"), made("read", "{"+a+"}", "x"), true},
		{
			"pieces that show nothing, read",
			made("write_pieces", "{"+a+`,"operations":[],"return-content":false}`, "x"),
			made("read", "{"+a+"}", "x"), false,
		},
		{"a write that says it showed it", made("write_file", "{"+a+`,"content":"c"}`, "ok"), made("read", "{"+a+"}", "x"), false},
		{"a write that adds", made("write_file", "{"+a+`,"content":"c","append":true}`, "c"), made("read", "{"+a+"}", "x"), false},
		{"an odd flag", made("write_file", "{"+a+`,"content":"c","return-content":"true"}`, "c"), made("read", "{"+a+"}", "x"), false},
		{"another file", made("read", "{"+b+"}", "x"), made("read", "{"+a+"}", "x"), false},
		{"two names", made("read", "{"+a+`,"path":"b.go"}`, "x"), made("read", "{"+a+"}", "x"), false},
		{"a failure", made("read", "{"+a+"}", "!x"), made("read", "{"+a+"}", "x"), false},
		{"after a failure, which holds nothing of the file", made("read", "{"+a+"}", "x"), made("read", "{"+a+"}", "!x"), false},
		{"a tool of somebody else", made("mcp__x__read", "{"+a+"}", "x"), made("read", "{"+a+"}", "x"), false},
		{"cut", made("read", "{"+a+"}", "x\n[cut: 9 of 10 bytes are not shown; the limit of one result is 1 bytes]"), made("read", "{"+a+"}", "x"), false},
		{"compacted", made("read", "{"+a+"}", "[compacted] read: success"), made("read", "{"+a+"}", "x"), false},
		{
			"jp's write", made("fs_modify_file", `{"path":"a.go","patterns":[]}`, "done"),
			read(`"path":"a.go"`, "x"), false,
		},
		{"more lines", read(`"path":"./a.go","start_line":1,"end_line":10`, ten), read(`"path":"a.go","start_line":2,"end_line":5`, "x\nx\nx\nx\n"), true},
		{"more lines, but not shown", read(`"path":"./a.go","start_line":1,"end_line":10`, "x"), read(`"path":"a.go","start_line":2,"end_line":5`, "x\nx\nx\nx\n"), false},
		{"a failure in words", read(`"path":"a.go"`, "no such file"), read(`"path":"a.go"`, ten), false},
		{"nothing", read(`"path":"a.go"`, ""), read(`"path":"a.go"`, "x"), false},
		{"lines that a resource has not got", returned("fs_read_file", "a.go#L1-9", "x"), returned("fs_read_file", "a.go#L2-3", "y"), false},
		{"no lines of a resource", returned("fs_read_file", "a.go#L1-9", ""), returned("fs_read_file", "a.go#L1-9", "y"), false},
		{"fewer lines", read(`"path":"a.go","start_line":2,"end_line":5`, ten), read(`"path":"a.go","start_line":1,"end_line":10`, ten), false},
		{"to the end", read(`"path":"a.go","start_line":2`, ten), read(`"path":"a.go","start_line":2,"end_line":5`, ten), true},
		{"to the end, which is before", read(`"path":"a.go"`, ten), read(`"path":"a.go","start_line":12,"end_line":15`, ten), false},
		{"not to the end", read(`"path":"a.go","start_line":2,"end_line":99`, ten), read(`"path":"a.go","start_line":2`, ten), false},
		{"an argument that nobody knows", read(`"path":"a.go","encoding":"x"`, "x"), read(`"path":"a.go"`, "x"), false},
		{"a line that is text", read(`"path":"a.go","start_line":"2"`, "x"), read(`"path":"a.go","start_line":2`, "x"), false},
		{"half a line", read(`"path":"a.go","end_line":2.5`, "x"), read(`"path":"a.go","end_line":2`, "x"), false},
		{"above", read(`"path":"../a.go"`, "x"), read(`"path":"../a.go"`, "x"), false},
		{"from the root", read(`"path":"/a.go"`, "x"), read(`"path":"a.go"`, "x"), false},
		{"a resource again", returned("refresh_resource", "a.go", "x"), returned("fs_read_file", "a.go", "y"), true},
		{"lines of a resource", returned("fs_read_file", "a.go#L1-9", ten), returned("fs_read_file", "a.go#L2-3", "y"), true},
		{"lines, then all", returned("fs_read_file", "a.go", "x"), returned("fs_read_file", "a.go#L2-3", "y"), true},
		{"all, then lines", returned("fs_read_file", "a.go#L2-3", "x"), returned("fs_read_file", "a.go", "y"), false},
		{"another part", returned("fs_read_file", "a.go#top", "x"), returned("fs_read_file", "a.go#L1-2", "y"), false},
		{"an agent's reads", made("Read", `{"file_path":"/r/a.go"}`, "     1→x\n     2→y\n"), made("Read", `{"file_path":"/r/a.go","offset":2}`, "     2→y\n"), true},
		{"an agent's part after all", made("Read", `{"file_path":"/r/a.go","offset":2,"limit":1}`, "     2→y\n"), made("Read", `{"file_path":"/r/a.go"}`, "     1→x\n     2→y\n"), false},
		{"an agent's part of a part", made("Read", `{"file_path":"/r/a.go","offset":2,"limit":2}`, "     2→y\n     3→z\n"), made("Read", `{"file_path":"/r/a.go","offset":3,"limit":1}`, "     3→z\n"), true},
		{"an agent's part, whose numbers are not told", made("Read", `{"file_path":"/r/a.go","offset":2,"limit":2}`, "y\nz\n"), made("Read", `{"file_path":"/r/a.go","offset":3,"limit":1}`, "z\n"), false},
		{"an agent's whole read, which is shorter now", made("Read", `{"file_path":"/r/a.go"}`, "     1→x\n"), made("Read", `{"file_path":"/r/a.go"}`, "     1→x\n     2→y\n"), false},
		{"numbered lines", numbered("x\ny\n", "     1→x\n     2→y\n\n(a reminder)"), returned("Read", "a.go", "x\ny\n"), true},
		{"fewer of them", numbered("x\ny\n", "     1→x\n"), returned("Read", "a.go", "x\ny\n"), false},
		{"another of them", numbered("x\ny\n", "     1→x\n     2→z\n"), returned("Read", "a.go", "x\ny\n"), false},
		{"none of them", numbered("", "(empty)"), returned("Read", "a.go", "x\ny\n"), false},
		{"a resource, then jp's text", returned("fs_read_file", "a.go", "x"), read(`"path":"a.go"`, "x"), true},
	} {
		t.Run(test.name, func(t *testing.T) { covers(t, "io-content", test.later, test.earlier, test.want) })
	}
}

// TestChanges checks which files a write changed, by the keys that reads have.
func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name string
		call dedup.Invocation
		want string
	}{
		{"jp's", made("fs_modify_file", `{"path":"./a.go","patterns":[]}`, "done"), "file:///$WORKSPACE/a.go"},
		{"jp's, of files that patterns name", made("fs_modify_file", `{"patterns":[{"old":"x","paths":["b.go","a.go"]}]}`, "done"), "file:///$WORKSPACE/a.go file:///$WORKSPACE/b.go"},
		{"an agent's", made("Edit", `{"file_path":"/r/a.go","old_string":"x","new_string":"y"}`, "done"), "file:///r/a.go"},
		{"an imported one's", made("Edit", `{"file_path":"$WORKSPACE/a.go"}`, "done"), "file:///$WORKSPACE/a.go"},
		{"an imported one's, elsewhere", made("Edit", `{"file_path":"$HOME/a.go"}`, "done"), "file:///$HOME/a.go"},
		{"a patch", made("apply_patch", `{"input":"*** Begin Patch\n*** Update File: b.go\n*** Move to: c.go\n*** End Patch"}`, "Done!"), "io\x00b.go io\x00c.go"},
		{"one that failed", made("Edit", `{"file_path":"/r/a.go"}`, "!not found"), ""},
		{"one that is gone", made("Edit", `{"file_path":"/r/a.go"}`, "[compacted] Edit: success"), ""},
		{"a read", made("Read", `{"file_path":"/r/a.go"}`, "x"), ""},
		{"of nobody's tool", made("mcp__x__write", `{"path":"a.go","content":"c"}`, "ok"), ""},
		{"above", made("Edit", `{"file_path":"../a.go"}`, "done"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(dedup.Rules()["io-content"].Changes(test.call), " "); got != test.want {
				t.Errorf("changes %q, want %q", got, test.want)
			}
		})
	}
	like := dedup.Rules()["io-content"].As("Edit")
	if got := like.Changes(made("my_edit", `{"file_path":"/r/a.go"}`, "done")); len(got) != 1 || got[0] != "file:///r/a.go" {
		t.Errorf("what is taken as an edit changes %q", got)
	}
}

func covers(t *testing.T, rule string, later, earlier dedup.Invocation, want bool) {
	t.Helper()
	r := dedup.Rules()[rule]
	l, ok1 := r.Read(later)
	e, ok2 := r.Read(earlier)
	if got := ok1 && ok2 && len(l) == 1 && len(e) == 1 && l[0].Covers(e[0]); got != want {
		t.Errorf("%s covers %s: %t, want %t (%+v, %+v)", later.Arguments, earlier.Arguments, got, want, l, e)
	}
}

func TestSurveyRule(t *testing.T) {
	list := func(args string) dedup.Invocation { return made("list_folder", "{"+args+"}", "x") }
	for _, test := range []struct {
		name           string
		later, earlier string
		want           bool
	}{
		{"the same", `"location":"src"`, `"location":"src/"`, true},
		{"another place", `"location":"src"`, `"location":"lib"`, false},
		{"a place that is a number", `"location":5`, `"location":5`, false},
		{"above", `"location":"../src"`, `"location":"../src"`, false},
		{"from the root", `"location":"/src"`, `"location":"src"`, false},
		{"deeper", `"location":"src","recurse":true`, `"location":"src"`, true},
		{"less deep", `"location":"src"`, `"location":"src","recurse":true`, false},
		{"as the tool likes, after one level", `"location":"src"`, `"location":"src","recurse":false`, false},
		{"a depth", `"location":"src","depth":3`, `"location":"src","depth":2`, true},
		{"a depth that is text", `"location":"src","depth":"3"`, `"location":"src","depth":2`, false},
		{"two depths", `"recurse":true,"depth":3`, `"depth":2`, false},
		{"equal filters", `"filters":["a","b"]`, `"filters":["b","a"]`, true},
		{"fewer filters of unknown direction", `"filters":["a"]`, `"filters":["a","b"]`, false},
		{"more filters of unknown direction", `"filters":["a","b"]`, `"filters":["a"]`, false},
		{"more globs let more through", `"filters":["*.py","*.md"]`, `"filters":["*.py"]`, true},
		{"fewer globs let less through", `"filters":["*.py"]`, `"filters":["*.py","*.md"]`, false},
		{"globs turned round", `"filters":["!*.py","!*.md"]`, `"filters":["!*.py"]`, false},
		{"fewer are left out", `"exclude":["a"]`, `"exclude":["a","b"]`, true},
		{"more are left out", `"exclude":["a","b"]`, `"exclude":["a"]`, false},
		{"more extensions let more through", `"extensions":["py","md"]`, `"extensions":["py"]`, true},
		{"fewer extensions let less through", `"extensions":["py"]`, `"extensions":["py","md"]`, false},
		{"everything", ``, `"extensions":["py"]`, true},
		{"not everything", `"extensions":["py"]`, ``, false},
		{"no filter is everything", `"extensions":[]`, `"extensions":["py"],"prefixes":["src"]`, true},
		{"a list in a word", `"extensions":"[\"py\"]"`, `"extensions":"[\"py\"]"`, false},
		{"unknown", `"sort":"name"`, ``, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			covers(t, "directory-survey", list(test.later), list(test.earlier), test.want)
		})
	}
}

// TestSurveyIsWhatWasListed checks that a listing replaces another one only if it has its lines,
// whatever was requested.
func TestSurveyIsWhatWasListed(t *testing.T) {
	list := func(text string) dedup.Invocation { return made("list_folder", "{}", text) }
	for _, test := range []struct {
		later, earlier string
		want           bool
	}{
		{"a\nb\nc", "c\na", true}, {"a\nb", "a\nb\nc", false}, {"a\nb", "No files match.", false}, {"a", "", true},
	} {
		covers(t, "directory-survey", list(test.later), list(test.earlier), test.want)
	}
}

// claim draws claims that have much in common.
func claim() *rapid.Generator[dedup.Claim] {
	set := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b"}), rapid.ID[string])
	return rapid.Custom(func(t *rapid.T) dedup.Claim {
		c := dedup.Claim{
			Key: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "key"), Gives: true,
			First: rapid.IntRange(1, 3).Draw(t, "first"),
			Depth: rapid.IntRange(-1, 2).Draw(t, "depth"),
			Only:  map[string][]string{}, Except: map[string][]string{}, Lines: map[string]bool{},
			Rows: rapid.IntRange(0, 4).Draw(t, "rows"),
		}
		if rapid.Bool().Draw(t, "to a line") {
			c.Rows, c.Last = 0, c.First+rapid.IntRange(0, 2).Draw(t, "last")
		}
		if s := set.Draw(t, "only"); len(s) > 0 {
			c.Only["f"] = s
		}
		if s := set.Draw(t, "except"); len(s) > 0 {
			c.Except["g"] = s
		}
		for _, line := range set.Draw(t, "lines") {
			c.Lines[line] = true
		}
		return c
	})
}

// TestCoversIsAPartialOrder checks the property that allows remembering only the largest of many
// claims.
func TestCoversIsAPartialOrder(t *testing.T) {
	same := func(a, b dedup.Claim) bool {
		flat := func(c dedup.Claim) string {
			return fmt.Sprint(c.Key, c.First, c.Last, max(c.Depth, -1), len(c.Lines), len(c.Only["f"]), len(c.Except["g"]))
		}
		return flat(a) == flat(b)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := claim().Draw(t, "a"), claim().Draw(t, "b"), claim().Draw(t, "c")
		if !a.Covers(a) {
			t.Fatalf("%+v does not cover itself", a)
		}
		shrunk := a.Last == 0 && b.Last == 0 && a.First == b.First && a.Rows != b.Rows ||
			b.Last == 0 && c.Last == 0 && b.First == c.First && b.Rows != c.Rows
		if a.Covers(b) && b.Covers(c) && !a.Covers(c) && !shrunk {
			t.Fatalf("not transitive: %+v, %+v, %+v", a, b, c)
		}
		if a.Covers(b) && b.Covers(a) && !same(a, b) {
			t.Fatalf("not antisymmetric: %+v, %+v", a, b)
		}
		a.Gives = false
		if a.Covers(b) {
			t.Fatalf("%+v shows nothing and covers", a)
		}
	})
}

// reading draws a stream of reads, writes and attachments of a few files.
func reading(t *rapid.T) *events.Stream {
	c := new(chat).turn()
	for n := range rapid.IntRange(1, 30).Draw(t, "calls") {
		path := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "path")
		id := fmt.Sprint("c", n)
		args := fmt.Sprintf(`{"path":%q}`, path)
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			c.turn(file("$WORKSPACE/"+path, "x"))
			continue
		case 1:
			from := rapid.IntRange(1, 5).Draw(t, "from")
			args = fmt.Sprintf(`{"path":%q,"start_line":%d,"end_line":%d}`, path, from,
				from+rapid.IntRange(0, 4).Draw(t, "lines"))
		case 2:
			args = fmt.Sprintf(`{"path":%q,"content":"c"}`, path)
		}
		c.add(&events.ToolCallRequest{ID: id, Name: "fs_read_file", Arguments: jsontext.Value(args)})
		c.add(&events.ToolCallResponse{
			ID: id, IsError: rapid.IntRange(0, 4).Draw(t, "fails") == 0,
			Blocks: []events.Block{{Type: events.BlockText, Content: blobs.Loaded([]byte("r"))}},
		})
	}
	return c.stream()
}

func ioContent(string) []dedup.Rule { return []dedup.Rule{dedup.Rules()["io-content"]} }

// TestSupersededAgreesWithAllPairs compares the linear search with one over all pairs.
func TestSupersededAgreesWithAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := reading(t)
		type at struct{ element, block int }
		got := map[at]bool{}
		for _, f := range dedup.FindSuperseded(s, dedup.Search{Rules: ioContent}) {
			got[at{f.Element, f.Block}] = true
			if f.By <= f.Element {
				t.Fatalf("%+v: superseded by what came before", f)
			}
		}
		type claimed struct {
			at
			dedup.Claim
		}
		var all []claimed
		rule := dedup.Rules()["io-content"]
		for i, e := range s.All() {
			switch ev := e.Event().(type) {
			case *events.ChatRequest:
				for n, r := range ev.Resources {
					c, _ := rule.Read(dedup.Invocation{Tool: "x", Result: &events.ToolCallResponse{
						Blocks: []events.Block{{Type: events.BlockResource, Resource: &r}},
					}})
					all = append(all, claimed{at{i, n}, c[0]})
				}
			case *events.ToolCallResponse:
				call, _ := s.At(i - 1).Event().(*events.ToolCallRequest)
				c, ok := rule.Read(dedup.Invocation{Tool: call.Name, Arguments: call.Arguments, Result: ev})
				if ok {
					all = append(all, claimed{at{i, -1}, c[0]})
				}
			}
		}
		for i, early := range all {
			want := false
			for _, late := range all[i+1:] {
				want = want || late.Covers(early.Claim)
			}
			if want != got[early.at] {
				t.Fatalf("%+v is superseded: %t, want %t", early, got[early.at], want)
			}
		}
	})
}

// TestSupersededIsLinear counts comparisons: a thousand parts of one file do not cost a square of
// them.
func TestSupersededIsLinear(t *testing.T) {
	counted := 0
	rule := dedup.Rules()["io-content"]
	read := rule.Read
	rule.Read = func(c dedup.Invocation) ([]dedup.Claim, bool) { counted++; return read(c) }
	c := new(chat).turn()
	for n := range 3000 {
		id := fmt.Sprint(n)
		c.add(&events.ToolCallRequest{
			ID: id, Name: "read",
			Arguments: jsontext.Value(fmt.Sprintf(`{"path":"a","start_line":%d,"end_line":%d}`, n+1, n+1)),
		})
		c.add(&events.ToolCallResponse{ID: id})
	}
	found := dedup.FindSuperseded(c.stream(), dedup.Search{Rules: func(string) []dedup.Rule { return []dedup.Rule{rule} }})
	if counted != 3000 || len(found) != 0 {
		t.Errorf("%d calls were read and %d superseded", counted, len(found))
	}
}

func TestTrim(t *testing.T) {
	s := new(chat).turn(file("a", body("a")), file("b", body("b"))).call(file("a", body("c"))).say().stream()
	if dedup.Trim(s) != s {
		t.Error("a stream without marks is copied")
	}
	s.Set(1, dedup.WithTrimmed(s.At(1), nil, 0))
	s.Set(3, dedup.WithTrimmed(s.At(3), nil))
	again, err := events.Decode(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*events.Stream{"new": s, "read": again} {
		out := dedup.Trim(s)
		r, _ := out.At(1).Event().(*events.ChatRequest)
		if len(r.Resources) != 1 || r.Resources[0].URI != "file:///b" || len(out.At(1).Metadata().Stripped()) != 1 {
			t.Errorf("%s: request has %+v", name, r.Resources)
		}
		res, _ := out.At(3).Event().(*events.ToolCallResponse)
		text, err := res.Text(nil)
		if err != nil || text != dedup.Stub("read") {
			t.Errorf("%s: result is %q, %v", name, text, err)
		}
		if got := delivered(out, plan(t, out, defaults())); got != "whole" {
			t.Errorf("%s: deliveries are %s", name, got)
		}
	}
	twice := dedup.WithTrimmed(dedup.WithTrimmed(s.At(1), nil, 1), nil, 1)
	if v, _ := twice.Metadata().Value(dedup.Trimmed); string(v) != "[0,1]" {
		t.Errorf("mark is %s", v)
	}
}
