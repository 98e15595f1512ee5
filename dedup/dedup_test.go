package dedup_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A chat builds a stream turn by turn.
type chat struct {
	elems []*events.Element
	calls int
}

func (c *chat) add(ev events.Event) {
	at := time.Date(2026, 1, 1, 0, 0, len(c.elems), 0, time.UTC)
	c.elems = append(c.elems, events.NewElement(at, ev, events.Metadata{}))
}

// turn begins a turn of the user, with attachments.
func (c *chat) turn(attached ...events.Resource) *chat {
	c.add(&events.TurnStart{})
	c.add(&events.ChatRequest{Content: "go on", Resources: attached})
	return c
}

// call adds a call of read that returns resources.
func (c *chat) call(found ...events.Resource) *chat { return c.batch(found) }

// batch adds parallel calls, one for each result.
func (c *chat) batch(results ...[]events.Resource) *chat {
	first := c.calls
	for range results {
		c.calls++
		c.add(&events.ToolCallRequest{
			ID: fmt.Sprintf("call_%d", c.calls), Name: "read", Arguments: []byte("{}"),
		})
	}
	for i, found := range results {
		c.add(&events.ToolCallResponse{ID: fmt.Sprintf("call_%d", first+i+1), Blocks: blocks(found)})
	}
	return c
}

func (c *chat) say() *chat {
	c.add(&events.ChatResponse{Text: "done"})
	return c
}

func (c *chat) stream() *events.Stream { return events.New(c.elems...) }

func blocks(found []events.Resource) []events.Block {
	all := []events.Block{{Type: events.BlockText, Content: blobs.Loaded([]byte("here"))}}
	for _, r := range found {
		all = append(all, events.Block{Type: events.BlockResource, Resource: &r})
	}
	return all
}

func file(name, content string) events.Resource {
	return events.Resource{URI: "file:///" + name, Content: blobs.Loaded([]byte(content))}
}

// body returns a text that is large enough to be deduplicated and has no repeated lines.
func body(seed string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%s line %d of forty\n", seed, i)
	}
	return b.String()
}

func defaults() dedup.Options {
	return dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30, Lines: true}
}

func plan(t rapid.TB, s *events.Stream, o dedup.Options) *dedup.Plan {
	t.Helper()
	p, err := dedup.New(s, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// delivered formats the plan of a stream: for each resource "whole", "ref <place>" or "lines
// <place>".
func delivered(s *events.Stream, p *dedup.Plan) string {
	var words []string
	for i, e := range s.All() {
		for _, b := range resources(e) {
			d := p.Block(i, b)
			word := [...]string{"whole", "ref", "lines"}[d.Form]
			for _, at := range d.Referents {
				word += fmt.Sprintf("(%d.%d)", at.Element, at.Block)
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func resources(e *events.Element) []int {
	var all []int
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		for i := range ev.Resources {
			all = append(all, i)
		}
	case *events.ToolCallResponse:
		for i, b := range ev.Blocks {
			if b.Type == events.BlockResource {
				all = append(all, i)
			}
		}
	}
	return all
}

// TestIdentity checks the six cases of RFD 067, "How matching handles identity correctly".
func TestIdentity(t *testing.T) {
	foo, changed := file("foo.rs", body("a")), file("foo.rs", body("b"))
	part := file("foo.rs#L10-200", body("part"))
	for _, test := range []struct {
		name, want string
		chat       *chat
	}{
		{
			"same file, different content", "whole whole",
			new(chat).turn().call(foo).call(changed),
		},
		{
			"different files, same content", "whole whole",
			new(chat).turn().call(foo).call(file("bar.rs", body("a"))),
		},
		{
			"same file, same content", "whole ref(3.1)",
			new(chat).turn().call(foo).say().turn().call(foo),
		},
		{
			"attachment and tool for same file", "whole ref(1.0)",
			new(chat).turn(foo).call(foo),
		},
		{
			"same line range, same content", "whole ref(3.1)",
			new(chat).turn().call(part).call(part),
		},
		{
			"line range and full file", "whole lines(1.0)",
			new(chat).turn(foo).call(file("foo.rs#L10-200", body("a"))),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.chat.stream()
			if got := delivered(s, plan(t, s, defaults())); got != test.want {
				t.Errorf("deliveries are %s, want %s", got, test.want)
			}
		})
	}
}

func TestMultiResourceResponse(t *testing.T) {
	a, b, c := file("a", body("a")), file("b", body("b")), file("c", body("c"))
	d := file("d", body("d"))
	s := new(chat).turn().call(a, b, c).say().turn().call(a, d, b, c).stream()
	p := plan(t, s, defaults())
	want := "whole whole whole ref(3.1) whole ref(3.2) ref(3.3)"
	if got := delivered(s, p); got != want {
		t.Errorf("deliveries are %s, want %s", got, want)
	}
	if got := p.Block(8, 0); got.Form != dedup.Whole || got.Text != "" {
		t.Errorf("the text block is delivered as %+v, want whole", got)
	}
}

func TestMessages(t *testing.T) {
	foo := file("project/src/main.rs", body("a"))
	sum := blobs.Sum([]byte(body("a"))).String()[:12]
	for _, test := range []struct {
		name, want string
		chat       *chat
		at         dedup.Place
	}{
		{
			"attachment", "The content of file:///project/src/main.rs is identical to the" +
				" attachment at turn 1 (checksum: sha256:" + sum + "). The file has not" +
				" changed. Refer to the attached content.",
			new(chat).turn(foo).say().turn().call(foo),
			dedup.Place{Element: 6, Block: 1},
		},
		{
			"tool call", "The content of file:///project/src/main.rs is identical to the" +
				" result of tool call `call_1` in turn 2 (checksum: sha256:" + sum + ")." +
				" The file has not changed. Refer to that earlier result for the full" +
				" contents.",
			new(chat).turn().say().turn().call(foo).say().turn().call(foo),
			dedup.Place{Element: 11, Block: 1},
		},
		{
			"attached again", "The content of file:///project/src/main.rs is identical to the" +
				" attachment at turn 1 (checksum: sha256:" + sum + "). The file has not" +
				" changed. Refer to the attached content.",
			new(chat).turn(foo).say().turn(foo),
			dedup.Place{Element: 4},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := plan(t, test.chat.stream(), defaults()).Block(test.at.Element, test.at.Block)
			if d.Form != dedup.Reference || d.Text != test.want {
				t.Errorf("form %d, text\n%s\nwant\n%s", d.Form, d.Text, test.want)
			}
		})
	}
}

func TestMessagesSpellURIsForTheModel(t *testing.T) {
	r := events.Resource{
		URI: "file:///$WORKSPACE/a", Content: blobs.Loaded([]byte(body("a"))),
	}
	o := defaults()
	o.URI = func(uri string) string { return strings.Replace(uri, "$WORKSPACE", "home/ada", 1) }
	s := new(chat).turn(r).call(r).stream()
	if text := plan(t, s, o).Block(3, 1).Text; !strings.Contains(text, "file:///home/ada/a is") {
		t.Errorf("message is %q", text)
	}
}

func TestSwitches(t *testing.T) {
	small, exact := file("a", strings.Repeat("x", 300)), file("b", strings.Repeat("x", 301))
	foo := file("foo", body("a"))
	far := new(chat).turn(foo)
	for range 30 {
		far.say().turn()
	}
	for _, test := range []struct {
		name, want string
		chat       *chat
		change     dedup.Options
		given      bool
	}{
		{name: "threshold", want: "whole whole", chat: new(chat).turn(small).call(small)},
		{name: "above the threshold", want: "whole ref(1.0)", chat: new(chat).turn(exact).call(exact)},
		{name: "end of the window", want: "whole ref(1.0)", chat: far.call(foo)},
		{
			name: "behind the window", want: "whole whole",
			chat: func() *chat {
				c := new(chat).turn(foo)
				for range 31 {
					c.say().turn()
				}
				return c.call(foo)
			}(),
		},
		{
			name: "off", want: "whole whole", chat: new(chat).turn(foo).call(foo),
			change: dedup.Options{Lookback: 30}, given: true,
		},
		{
			name: "off for the tool", want: "whole whole ref(3.1)", given: true,
			chat: new(chat).turn(foo).call(foo).say().turn(foo),
			change: dedup.Options{
				Enabled: true, Lookback: 30, Tool: func(name string) bool { return name != "read" },
			},
		},
		{
			name: "no identity", want: "whole whole",
			chat: new(chat).turn().call(events.Resource{Content: foo.Content}).
				call(events.Resource{Content: foo.Content}),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := defaults()
			if test.given {
				o = test.change
			}
			s := test.chat.stream()
			if got := delivered(s, plan(t, s, o)); got != test.want {
				t.Errorf("deliveries are %s, want %s", got, test.want)
			}
		})
	}
}

func TestReferents(t *testing.T) {
	v1, v2 := file("f", body("a")), file("f", body("b"))
	for _, test := range []struct {
		name, want string
		chat       *chat
	}{
		{
			"asking again delivers, once", "whole ref(3.1) whole ref(7.1) ref(7.1)",
			new(chat).turn().call(v1).call(v1).call(v1).call(v1).call(v1),
		},
		{
			"asking in another turn is no asking again", "whole ref(3.1) ref(3.1) ref(3.1)",
			new(chat).turn().call(v1).call(v1).say().turn().call(v1).say().turn().call(v1),
		},
		{
			"once for ten turns", "whole" + strings.Repeat(" ref(3.1)", 9),
			func() *chat {
				c := new(chat)
				for range 10 {
					c.turn().call(v1).say()
				}
				return c
			}(),
		},
		{
			"cut, then whole", "whole whole ref(5.1)",
			new(chat).turn().call(cut(v1)).call(v1).call(cut(v1)),
		},
		{
			"the latest whole delivery counts", "whole whole whole ref(5.1)",
			new(chat).turn().call(v1).call(v2).call(file("g", "x")).call(v2),
		},
		{
			"back to an earlier content", "whole whole ref(3.1)",
			new(chat).turn().call(v1).call(v2).call(v1),
		},
		{
			"parallel calls did not ask again", "whole ref(5.1) ref(5.1)",
			new(chat).turn().batch(
				[]events.Resource{v1}, []events.Resource{v1}, []events.Resource{v1}),
		},
		{
			"twice in one result", "whole ref(3.1)", new(chat).turn().call(v1, v1),
		},
		{
			"attached again is no asking again", "whole ref(1.0) ref(1.0) ref(1.0)",
			new(chat).turn(v1).say().turn(v1).say().turn(v1).call(v1),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.chat.stream()
			if got := delivered(s, plan(t, s, defaults())); got != test.want {
				t.Errorf("deliveries are %s, want %s", got, test.want)
			}
		})
	}
}

// cut returns a resource of which a model is given a few bytes.
func cut(r events.Resource) events.Resource {
	head := blobs.Loaded([]byte("a line\n[cut]"))
	r.Formatted = &head
	return r
}

// TestAnotherToolDidNotAskAgain checks that a call of another tool does not count as requesting the
// content again.
func TestAnotherToolDidNotAskAgain(t *testing.T) {
	foo := file("foo", body("a"))
	c := new(chat).turn().call(foo).call(foo).call(foo)
	for _, n := range []int{4, 6} { // the calls after the first
		r, _ := c.elems[n].Event().(*events.ToolCallRequest)
		other := *r
		other.Name = map[int]string{4: "refresh_resource", 6: "fs_read_file"}[n]
		c.elems[n] = c.elems[n].With(&other)
	}
	s := c.stream()
	p := plan(t, s, defaults())
	if n, _ := p.Again(); delivered(s, p) != "whole ref(3.1) ref(3.1)" || n != 0 {
		t.Errorf("deliveries are %s, %d again", delivered(s, p), n)
	}
	s = new(chat).turn().call(foo).call(foo).call(foo).stream()
	for range 2 {
		p = plan(t, s, defaults())
		if n, size := p.Again(); n != 1 || size != int64(len(body("a"))) {
			t.Errorf("%d were given again, of %d bytes, want 1", n, size)
		}
		p.Store(s, s)
	}
}

// TestRequestOrder checks that the first of several parallel calls is delivered whole, although its
// result came last.
func TestRequestOrder(t *testing.T) {
	foo := file("foo", body("a"))
	c := new(chat).turn().batch([]events.Resource{foo}, []events.Resource{foo})
	n := len(c.elems)
	c.elems[n-1], c.elems[n-2] = c.elems[n-2], c.elems[n-1]
	s := c.stream()
	if got := delivered(s, plan(t, s, defaults())); got != "ref(5.1) whole" {
		t.Errorf("deliveries are %s, want ref(5.1) whole", got)
	}
}

// TestGoneReferent checks that a compaction never leaves a reference without its referent.
func TestGoneReferent(t *testing.T) {
	foo := file("foo", body("a"))
	c := new(chat).turn().call(foo).say().turn().call(foo).say().turn().call(file("x", "y")).say()
	s := c.stream()
	p := plan(t, s, defaults())
	if n := p.Store(s, s); n != 1 {
		t.Fatalf("%d marks were stored, want 1", n)
	}
	s.Append(events.NewElement(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), &events.Compaction{
		FromTurn: 0, ToTurn: 0, ToolCalls: &events.ToolCallPolicy{Response: true},
	}, events.Metadata{}))
	projected := s.Project().Stream
	if got := delivered(projected, plan(t, projected, defaults())); got != "whole whole" {
		t.Errorf("deliveries are %s, want whole whole", got)
	}
}

func TestADecisionStays(t *testing.T) {
	foo, bar := file("foo", body("a")), file("bar", strings.Repeat("x", 200))
	s := new(chat).turn(foo, bar).say().turn().call(foo, bar).stream()
	p := plan(t, s, defaults())
	p.Store(s, s)
	sent := p.Block(6, 1)
	strict := dedup.Options{Enabled: false, MinBytes: 1 << 20, Tool: func(string) bool { return false }}
	loose := dedup.Options{Enabled: true, MinBytes: 0, Lookback: 1 << 20, Lines: true}
	for name, o := range map[string]dedup.Options{"stricter": strict, "looser": loose} {
		again := plan(t, s, o)
		if got := delivered(s, again); got != "whole whole ref(1.0) whole" {
			t.Errorf("with %s options deliveries are %s", name, got)
		}
		if got := again.Block(6, 1); !cmp.Equal(got, sent) {
			t.Errorf("with %s options the message is %q, was %q", name, got.Text, sent.Text)
		}
		if n := again.Store(s, s.Clone()); n != 0 {
			t.Errorf("with %s options %d elements are decided again", name, n)
		}
	}
}

func TestMarkSurvivesTheFile(t *testing.T) {
	md := dedup.WithMark(events.Metadata{}, []int{0, 2})
	e := events.NewElement(time.Unix(0, 0), &events.ChatRequest{Content: "q"}, md)
	s, err := events.Decode(events.New(e).Encode())
	if err != nil {
		t.Fatal(err)
	}
	got, ok := dedup.Marked(s.At(0).Metadata())
	if !ok || fmt.Sprint(got) != "[0 2]" {
		t.Errorf("mark is %v, %t", got, ok)
	}
	for _, nonsense := range []string{`"nonsense"`, "null", "{}", "[0.5]"} {
		if _, ok := dedup.Marked(events.Metadata{}.With(dedup.Mark, []byte(nonsense))); ok {
			t.Errorf("%s is taken for a mark", nonsense)
		}
	}
}

// TestMarkWithoutReplacers: a mark for which no element is named has no list of them, not even an
// empty one.
func TestMarkWithoutReplacers(t *testing.T) {
	e := events.NewElement(time.Unix(0, 0), &events.ChatRequest{Content: "q"}, events.Metadata{})
	for _, marked := range []*events.Element{
		dedup.WithTrimmed(e, nil, 0), dedup.WithStale(e, nil, "file", true),
	} {
		if v, ok := marked.Metadata().Value(dedup.Trimmed + "_for"); ok {
			t.Errorf("it is %s", v)
		}
	}
}

// none is a store without blobs.
type none struct{}

var errNone = errors.New("no blob")

func (none) Read(blobs.Ref) ([]byte, error) { return nil, errNone }

func TestBlobsAreReadOnlyForLines(t *testing.T) {
	ref := func(content string) events.Resource {
		r := file("f", "")
		r.Content = blobs.Refer(blobs.RefTo([]byte(content)))
		return r
	}
	same := new(chat).turn(ref(body("a"))).call(ref(body("a"))).stream()
	if _, err := dedup.New(same, defaults(), none{}); err != nil {
		t.Errorf("exact: %v", err)
	}
	other := new(chat).turn(ref(body("a"))).call(ref(body("b"))).stream()
	if _, err := dedup.New(other, defaults(), none{}); !errors.Is(err, errNone) {
		t.Errorf("lines: error is %v, want the store's", err)
	}
}
