package llm_test

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm/wire"

	gitjp "github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
)

// told formats deltas in a short form.
func told(r *llm.Request, use func(a *llm.Assembler)) []string {
	var got []string
	use(llm.NewAssembler(r, func(d llm.Delta, _ error) bool {
		switch d.Kind {
		case llm.DeltaStart:
			got = append(got, fmt.Sprintf("start %d %d %s%s", d.Index, d.Part, d.ID, d.Name))
		case llm.DeltaFragment:
			got = append(got, fmt.Sprintf("more %d %s", d.Index, d.Text))
		case llm.DeltaEnd:
			got = append(got, fmt.Sprintf("end %d %s %d", d.Index, event(d.Event), d.Metadata.Len()))
		case llm.DeltaStop:
			got = append(got, "stop "+string(d.Stop.Reason))
		}
		return true
	}))
	return got
}

func event(ev gitjp.Event) string {
	switch ev := ev.(type) {
	case *gitjp.ChatResponse:
		return fmt.Sprintf("%d:%s%s", ev.Form, ev.Text, string(ev.Data))
	case *gitjp.ToolCallRequest:
		return ev.ID + ev.Name + string(ev.Arguments)
	default:
		return "nothing"
	}
}

func TestAssembler(t *testing.T) {
	schema := &llm.Request{Schema: []byte(`{}`)}
	for name, tt := range map[string]struct {
		request *llm.Request
		use     func(a *llm.Assembler)
		want    []string
	}{
		"said": {&llm.Request{}, func(a *llm.Assembler) {
			a.Say(llm.PartReasoning, "h")
			a.NoteSaid("k", "v")
			a.Say(llm.PartText, "a")
			a.Say(llm.PartText, "b")
			a.Stop(llm.Stop{Reason: llm.StopEnd})
		}, []string{"start 0 1 ", "more 0 h", "end 0 1:h 1", "start 1 0 ", "more 1 a", "more 1 b", "end 1 0:ab 0", "stop end"}},
		"nothing is stored of nothing": {&llm.Request{}, func(a *llm.Assembler) {
			a.Start(0, llm.PartText, "", "")
			a.Append(0, " \n")
			a.End(0)
			a.Start(0, llm.PartReasoning, "", "")
			a.End(0)
			a.Start(0, llm.PartReasoning, "", "")
			a.Note(0, "k", "v")
			a.End(0)
			a.Start(0, llm.PartText, "", "")
			a.Note(0, "k", "v")
			a.End(0)
		}, []string{"start 0 0 ", "more 0  \n", "end 0 nothing 0", "start 1 1 ", "end 1 nothing 0", "start 2 1 ", "end 2 1: 1", "start 3 0 ", "end 3 0: 1"}},
		"an empty proof is none": {&llm.Request{}, func(a *llm.Assembler) {
			a.Start(0, llm.PartReasoning, "", "")
			a.Note(0, "k", "")
			a.End(0)
			a.Say(llm.PartText, "t")
			a.NoteSaid("k", "v")
			a.NoteSaid("k", "")
			a.EndSaid()
		}, []string{"start 0 1 ", "end 0 nothing 0", "start 1 0 ", "more 1 t", "end 1 0:t 1"}},
		"data": {schema, func(a *llm.Assembler) {
			a.Say(llm.PartText, ` {"a":`)
			a.Say(llm.PartText, "1} ")
			a.EndSaid()
			a.Say(llm.PartText, "no \"data\"")
			a.EndSaid()
		}, []string{"start 0 2 ", `more 0  {"a":`, "more 0 1} ", `end 0 2:{"a":1} 0`, "start 1 2 ", `more 1 no "data"`, `end 1 2:"no \"data\"" 0`}},
		"calls": {&llm.Request{}, func(a *llm.Assembler) {
			a.Start(1, llm.PartCall, "i", "n")
			a.Start(2, llm.PartCall, "j", "m")
			a.Append(1, `{"a":1}`)
			a.Append(3, "nobody's")
			a.End(2)
			a.End(1)
			a.End(1)
			a.Stop(llm.Stop{Reason: llm.StopTools})
		}, []string{"start 0 3 in", "start 1 3 jm", `more 0 {"a":1}`, "end 1 jm{} 0", `end 0 in{"a":1} 0`, "stop tool_use"}},
		"broken calls wait": {&llm.Request{}, func(a *llm.Assembler) {
			a.Start(1, llm.PartCall, "i", "n")
			a.Append(1, `[1]`)
			a.End(1)
			a.Say(llm.PartText, "t")
			a.Stop(llm.Stop{Reason: llm.StopTools})
		}, []string{"start 0 3 in", "more 0 [1]", "start 1 0 ", "more 1 t", "end 1 0:t 0", "end 0 in{} 1", "stop tool_use"}},
		"a call that is sent twice": {&llm.Request{}, func(a *llm.Assembler) {
			for _, c := range [][3]string{
				{"i", "n", `{"a":1}`},
				{"i", "n", `{"a":1}`},
				{"i", "n", `{"a":2}`},
				{"j", "n", `{"a":1}`},
				{"", "n", "{}"},
				{"", "n", "{}"},
			} {
				a.Start(1, llm.PartCall, c[0], c[1])
				a.Append(1, c[2])
				a.End(1)
			}
		}, []string{
			"start 0 3 in", `more 0 {"a":1}`, `end 0 in{"a":1} 0`, "start 1 3 in", `more 1 {"a":1}`, "end 1 nothing 0",
			"start 2 3 in", `more 2 {"a":2}`, `end 2 in{"a":2} 0`, "start 3 3 jn", `more 3 {"a":1}`, `end 3 jn{"a":1} 0`,
			"start 4 3 n", "more 4 {}", "end 4 n{} 0", "start 5 3 n", "more 5 {}", "end 5 n{} 0",
		}},
		"a broken call before a stop sequence": {&llm.Request{}, func(a *llm.Assembler) {
			a.Start(1, llm.PartCall, "i", "n")
			a.Append(1, `{`)
			a.Stop(llm.Stop{Reason: llm.StopSequence})
		}, []string{"start 0 3 in", "more 0 {", "end 0 in{} 1", "stop " + string(llm.StopSequence)}},
		"what cannot be stored": {&llm.Request{}, func(a *llm.Assembler) {
			a.Start(1, llm.PartCall, "i", "n")
			a.Append(1, `{"a":1e400}`)
			a.NoteValue(1, "k", []byte(`1e400`))
			a.Stop(llm.Stop{Reason: llm.StopTools})
		}, []string{"start 0 3 in", `more 0 {"a":1e400}`, "end 0 in{} 1", "stop tool_use"}},
		"data that cannot be stored": {schema, func(a *llm.Assembler) {
			a.Say(llm.PartText, `{"a":1e400}`)
			a.EndSaid()
		}, []string{"start 0 2 ", `more 0 {"a":1e400}`, `end 0 2:"{\"a\":1e400}" 0`}},
		"cut off": {&llm.Request{}, func(a *llm.Assembler) {
			a.Say(llm.PartText, "t")
			a.Start(1, llm.PartCall, "i", "n")
			a.Append(1, `{"a":1}`)
			a.Start(2, llm.PartCall, "j", "m")
			a.Append(2, `{`)
			a.End(2)
			a.Stop(llm.Stop{Reason: llm.StopMaxTokens})
		}, []string{"start 0 0 ", "more 0 t", "start 1 3 in", `more 1 {"a":1}`, "start 2 3 jm", "more 2 {", "end 0 0:t 0", "end 2 nothing 0", "end 1 nothing 0", "stop max_tokens"}},
	} {
		if got := told(tt.request, tt.use); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
	}
}

func TestAssemblerStops(t *testing.T) {
	n := 0
	a := llm.NewAssembler(&llm.Request{}, func(llm.Delta, error) bool { n++; return n < 2 })
	a.Say(llm.PartText, "x")
	a.Stop(llm.Stop{Reason: llm.StopEnd})
	if !a.Quiet() || n != 2 {
		t.Errorf("nobody listens after %d deltas", n)
	}
}

// TestReadEndsWithTheConsumer: to one that has stopped, an error of the same event is not told.
func TestReadEndsWithTheConsumer(t *testing.T) {
	a := llm.NewAssembler(&llm.Request{}, func(llm.Delta, error) bool { return false })
	never := func() bool { return false }
	err := a.Read("p", strings.NewReader("data: x\n\ndata: y\n\n"), never,
		func(data []byte) (bool, error) {
			a.Say(llm.PartText, string(data))
			return false, io.ErrUnexpectedEOF
		})
	if err != nil {
		t.Errorf("got %v", err)
	}
}

func TestUniqueIDs(t *testing.T) {
	call := func(id string) llm.Part { return llm.Call{ID: id} }
	res := func(id string) llm.Part { return llm.Result{CallID: id} }
	messages := []llm.Message{
		{Parts: []llm.Part{call("a"), call("a"), call("b.1"), call("b_1"), call(""), call(strings.Repeat("x", 70))}},
		{Parts: []llm.Part{res("a"), res("b.1"), res("a"), res("b_1"), res(""), res(strings.Repeat("x", 70))}},
		{Parts: []llm.Part{call("a"), res("a"), res("nobody's"), llm.Text{Text: "t"}}},
	}
	var got []string
	for _, m := range llm.UniqueIDs(messages, wire.WordRule(64)) {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Call:
				got = append(got, p.ID)
			case llm.Result:
				got = append(got, "-"+p.CallID)
			}
		}
	}
	x := strings.Repeat("x", 64)
	want := []string{
		"a", "a_2", "b_1", "b_1_2", "call", x, "-a", "-b_1", "-a_2", "-b_1_2", "-call", "-" + x,
		"a_3", "-a_3", "-nobody's",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if messages[0].Parts[1].(llm.Call).ID != "a" {
		t.Error("what was given has changed")
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 70)
	tools := []llm.Tool{{Name: "a.b"}, {Name: "a_b"}, {Name: "c/d"}, {Name: long}, {Name: long + "x"}, {Name: ""}}
	n := llm.NewNames(tools, wire.WordRule(64))
	seen := map[string]bool{}
	for _, tool := range tools {
		w := n.Wire(tool.Name)
		if len(w) > 64 || seen[w] || n.Tool(w) != tool.Name {
			t.Errorf("%q is %q on the wire and %q back", tool.Name, w, n.Tool(w))
		}
		seen[w] = true
	}
	if n.Wire("a_b") != "a_b" || n.Wire("c/d") != "c_d" || !strings.HasPrefix(n.Wire("a.b"), "a_b_") {
		t.Errorf("names are %q, %q, %q", n.Wire("a_b"), n.Wire("c/d"), n.Wire("a.b"))
	}
	if n.Wire("gone.tool") != "gone_tool" || n.Tool("invented") != "invented" {
		t.Error("a name that is not offered is lost")
	}
	reversed := llm.NewNames([]llm.Tool{tools[1], tools[0]}, wire.WordRule(64))
	if reversed.Wire("a.b") != n.Wire("a.b") {
		t.Error("a name depends on the order of tools")
	}
}

func TestDocuments(t *testing.T) {
	got := llm.Documents([]llm.Resource{{URI: "a&b", Text: "x"}, {URI: "c", Text: "<y>]]>"}}, 3)
	want := `<documents>
  <document>
    <index>3</index>
    <source>a&amp;b</source>
    <content><![CDATA[x]]></content>
  </document>
  <document>
    <index>4</index>
    <source>c</source>
    <content><![CDATA[<y>]]]]><![CDATA[>]]></content>
  </document>
</documents>`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got := llm.Documents([]llm.Resource{{URI: "c", Text: "y & z"}}, 0); !strings.Contains(got, "<content>y & z</content>") {
		t.Errorf("got\n%s", got)
	}
	if llm.Documents(nil, 0) != "" {
		t.Error("no documents are something")
	}
}

func TestPlain(t *testing.T) {
	r := llm.Result{Parts: []llm.Part{
		llm.Text{Text: "a"},
		llm.Resource{URI: "u", Text: "b"},
		llm.Resource{URI: "w", MIME: "text/csv", Title: "Sales", Description: "by region", Text: "c"},
		llm.Resource{Text: "d"},
		llm.Resource{URI: "v", Bytes: []byte("12")},
		llm.Media{MIME: "image/png", Bytes: []byte("1")},
		llm.Media{MIME: "application/pdf", Bytes: nil},
		llm.Call{},
	}}
	const want = "a\n\n[resource u]\nb\n\n[resource w, Sales: by region (text/csv)]\nc\n\nd\n\n" +
		"[resource v (2 bytes)]\n\n[image (image/png, 1 bytes)]\n\n" +
		"[resource (application/pdf, 0 bytes)]\n\n"
	if got := r.Plain(); got != want {
		t.Errorf("got %q", got)
	}
}

func TestUsage(t *testing.T) {
	u := llm.Usage{Input: 1, Output: 2, CacheRead: 3, Model: "a"}.Add(llm.Usage{Input: 10, CacheWrite: 4, Reasoning: 5})
	want := llm.Usage{Input: 11, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Model: "a"}
	if u != want {
		t.Errorf("got %+v", u)
	}
	if u.Prompt() != 18 {
		t.Errorf("the prompt has %d tokens", u.Prompt())
	}
}

// TestSpent verifies that each exchange reports its last usage once, without impossible figures, also
// one that broke off.
func TestSpent(t *testing.T) {
	var got []llm.Usage
	a := llm.NewAssembler(&llm.Request{}, func(d llm.Delta, _ error) bool {
		if d.Kind == llm.DeltaUsage {
			got = append(got, d.Usage)
		}
		return true
	})
	a.Say(llm.PartText, "x")
	a.Spent(llm.Usage{Input: 1})
	a.Spent(llm.Usage{Input: -5, Output: 1 << 60})
	a.Settle()
	a.Spent(llm.Usage{Input: 2})
	if a.Broken(io.EOF) == nil {
		t.Error("the error is gone")
	}
	a.Settle()
	a.Say(llm.PartText, "y")
	a.Spent(llm.Usage{Input: 3})
	if a.Broken(io.EOF) == nil {
		t.Error("the error is gone")
	}
	if want := []llm.Usage{{Output: 1 << 40}, {Input: 2}, {Input: 3}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOwn(t *testing.T) {
	for _, tt := range []struct {
		wrote, asks string
		want        bool
	}{
		{"", "a/b", true}, {"a/x", "a/b", true}, {"c/b", "a/b", false}, {"a", "a/b", true},
	} {
		if got := llm.Own(llm.Message{Model: tt.wrote}, tt.asks); got != tt.want {
			t.Errorf("what %q wrote is %q's own: %v", tt.wrote, tt.asks, got)
		}
	}
	if _, _, ok := llm.SplitID("noprovider"); ok {
		t.Error("an id without provider is one")
	}
	if p, n, ok := llm.SplitID("openrouter/z/m:free"); p != "openrouter" || n != "z/m:free" || !ok {
		t.Error("an id with slashes is cut wrongly")
	}
}
