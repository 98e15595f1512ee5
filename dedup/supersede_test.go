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

// made returns a call as rules read it; a result that begins with "!" is an error.
func made(tool, args, result string) dedup.Invocation {
	text, failed := strings.CutPrefix(result, "!")
	return dedup.Invocation{
		Tool: tool, Arguments: jsontext.Value(args),
		Result: &events.ToolCallResponse{IsError: failed, Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(text)),
		}}},
	}
}

// TestContentRule holds the table of the deduplicator that the rule is after: a newer read or
// write of one file takes the place of an older one, but for a write that shows nothing.
func TestContentRule(t *testing.T) {
	const a, b = `"location":"a.go"`, `"location":"b.go"`
	for _, test := range []struct {
		name           string
		later, earlier dedup.Invocation
		want           bool
	}{
		{"read, read", made("read", "{"+a+"}", "x"), made("read", "{"+a+"}", "x"), true},
		{"read, write", made("read", "{"+a+"}", "x"), made("write_file", "{"+a+`,"content":"c"}`, "x"), true},
		{"read, pieces", made("read", "{"+a+"}", "x"), made("write_pieces", "{"+a+`,"operations":[]}`, "x"), true},
		{"write, read", made("write_file", "{"+a+`,"content":"c"}`, "x"), made("read", "{"+a+"}", "x"), true},
		{"pieces, read", made("write_pieces", "{"+a+`,"operations":[]}`, "x"), made("read", "{"+a+"}", "x"), true},
		{
			"pieces that show nothing, read",
			made("write_pieces", "{"+a+`,"operations":[],"return-content":false}`, "x"),
			made("read", "{"+a+"}", "x"), false,
		},
		{"another file", made("read", "{"+b+"}", "x"), made("read", "{"+a+"}", "x"), false},
		{"a failure", made("read", "{"+a+"}", "!x"), made("read", "{"+a+"}", "x"), false},
		{"after a failure", made("read", "{"+a+"}", "x"), made("read", "{"+a+"}", "!x"), true},
		{
			"jp's write", made("fs_modify_file", `{"path":"a.go","patterns":[]}`, "done"),
			made("fs_read_file", `{"path":"a.go"}`, "x"), false,
		},
		{
			"more lines", made("fs_read_file", `{"path":"./a.go","start_line":1,"end_line":10}`, "x"),
			made("fs_read_file", `{"path":"a.go","start_line":2,"end_line":5}`, "x"), true,
		},
		{
			"fewer lines", made("fs_read_file", `{"path":"a.go","start_line":2,"end_line":5}`, "x"),
			made("fs_read_file", `{"path":"a.go","start_line":1,"end_line":10}`, "x"), false,
		},
		{
			"to the end", made("fs_read_file", `{"path":"a.go","start_line":2}`, "x"),
			made("fs_read_file", `{"path":"a.go","start_line":2,"end_line":5}`, "x"), true,
		},
		{
			"not to the end", made("fs_read_file", `{"path":"a.go","start_line":2,"end_line":99}`, "x"),
			made("fs_read_file", `{"path":"a.go","start_line":2}`, "x"), false,
		},
		{
			"an argument that nobody knows", made("fs_read_file", `{"path":"a.go","encoding":"x"}`, "x"),
			made("fs_read_file", `{"path":"a.go"}`, "x"), false,
		},
		{
			"a resource again", made("refresh_resource", `{"uri":"file:///$WORKSPACE/a.go"}`, "x"),
			made("fs_read_file", `{"path":"a.go"}`, "x"), true,
		},
	} {
		t.Run(test.name, func(t *testing.T) { covers(t, "io-content", test.later, test.earlier, test.want) })
	}
}

func covers(t *testing.T, rule string, later, earlier dedup.Invocation, want bool) {
	t.Helper()
	r := dedup.Rules()[rule]
	l, ok1 := r.Read(later)
	e, ok2 := r.Read(earlier)
	if got := ok1 && ok2 && l.Covers(e); got != want {
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
		{"deeper", `"location":"src","recurse":true`, `"location":"src"`, true},
		{"less deep", `"location":"src"`, `"location":"src","recurse":true`, false},
		{"a depth", `"location":"src","depth":3`, `"location":"src","depth":2`, true},
		{"fewer filters hold back less", `"filters":["a"]`, `"filters":["a","b"]`, true},
		{"more filters hold back more", `"filters":["a","b"]`, `"filters":["a"]`, false},
		{"more extensions let more through", `"extensions":["py","md"]`, `"extensions":["py"]`, true},
		{"fewer extensions let less through", `"extensions":["py"]`, `"extensions":["py","md"]`, false},
		{"everything", ``, `"extensions":["py"]`, true},
		{"not everything", `"extensions":["py"]`, ``, false},
		{"no filter is everything", `"extensions":[]`, `"extensions":["py"],"prefixes":["src"]`, true},
		{"unknown", `"sort":"name"`, ``, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			covers(t, "directory-survey", list(test.later), list(test.earlier), test.want)
		})
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
			Only:  map[string][]string{}, Except: map[string][]string{},
		}
		if rapid.Bool().Draw(t, "to a line") {
			c.Last = c.First + rapid.IntRange(0, 2).Draw(t, "last")
		}
		if s := set.Draw(t, "only"); len(s) > 0 {
			c.Only["f"] = s
		}
		if s := set.Draw(t, "except"); len(s) > 0 {
			c.Except["g"] = s
		}
		return c
	})
}

// TestCoversIsAPartialOrder holds what makes it right to remember of many claims the largest.
func TestCoversIsAPartialOrder(t *testing.T) {
	same := func(a, b dedup.Claim) bool {
		flat := func(c dedup.Claim) string {
			return fmt.Sprint(c.Key, c.First, c.Last, max(c.Depth, -1), len(c.Only["f"]), len(c.Except["g"]))
		}
		return flat(a) == flat(b)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := claim().Draw(t, "a"), claim().Draw(t, "b"), claim().Draw(t, "c")
		if !a.Covers(a) {
			t.Fatalf("%+v does not cover itself", a)
		}
		if a.Covers(b) && b.Covers(c) && !a.Covers(c) {
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

// reading builds a stream of reads, writes and attachments of a few files.
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

// TestSupersededAgreesWithAllPairs holds the linear search against a look at every pair.
func TestSupersededAgreesWithAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := reading(t)
		type at struct{ element, block int }
		got := map[at]bool{}
		for _, f := range dedup.FindSuperseded(s, ioContent) {
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
					args := fmt.Sprintf(`{"uri":%q}`, r.URI)
					c, _ := rule.Read(made("x", args, "r"))
					all = append(all, claimed{at{i, n}, c})
				}
			case *events.ToolCallResponse:
				call, _ := s.At(i - 1).Event().(*events.ToolCallRequest)
				c, ok := rule.Read(dedup.Invocation{Tool: call.Name, Arguments: call.Arguments, Result: ev})
				if ok {
					all = append(all, claimed{at{i, -1}, c})
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

// TestSupersededIsLinear counts that a thousand places of one file cost no square.
func TestSupersededIsLinear(t *testing.T) {
	counted := 0
	rule := dedup.Rules()["io-content"]
	read := rule.Read
	rule.Read = func(c dedup.Invocation) (dedup.Claim, bool) { counted++; return read(c) }
	c := new(chat).turn()
	for n := range 3000 {
		id := fmt.Sprint(n)
		c.add(&events.ToolCallRequest{
			ID: id, Name: "read",
			Arguments: jsontext.Value(fmt.Sprintf(`{"path":"a","start_line":%d,"end_line":%d}`, n+1, n+1)),
		})
		c.add(&events.ToolCallResponse{ID: id})
	}
	found := dedup.FindSuperseded(c.stream(), func(string) []dedup.Rule { return []dedup.Rule{rule} })
	if counted != 3000 || len(found) != 0 {
		t.Errorf("%d calls were read and %d superseded", counted, len(found))
	}
}

func TestTrim(t *testing.T) {
	s := new(chat).turn(file("a", body("a")), file("b", body("b"))).call(file("a", body("c"))).say().stream()
	if dedup.Trim(s) != s {
		t.Error("a stream without marks is copied")
	}
	s.Set(1, dedup.WithTrimmed(s.At(1), 0))
	s.Set(3, dedup.WithTrimmed(s.At(3)))
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
	twice := dedup.WithTrimmed(dedup.WithTrimmed(s.At(1), 1), 1)
	if v, _ := twice.Metadata().Value(dedup.Trimmed); string(v) != "[0,1]" {
		t.Errorf("mark is %s", v)
	}
}
