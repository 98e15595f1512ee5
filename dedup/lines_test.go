package dedup_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"pgregory.net/rapid"
)

// rebuild reads a message of line runs with the text that it refers to.
func rebuild(t interface {
	Fatalf(format string, args ...any)
}, message, before string,
) string {
	head, rest, ok := strings.Cut(message, "\n")
	_, marker, found := strings.Cut(head, `begins with "`)
	marker, _, closed := strings.Cut(marker, `"`)
	if !ok || !found || !closed {
		t.Fatalf("head is %q", head)
	}
	old := strings.SplitAfter(before, "\n")
	var b strings.Builder
	for _, line := range strings.SplitAfter(rest, "\n") {
		anchor, ok := strings.CutPrefix(line, marker)
		if !ok {
			b.WriteString(line)
			continue
		}
		var from, to, oldFrom, oldTo int
		if _, err := fmt.Sscanf(anchor, "lines %d-%d: lines %d-%d there\n",
			&from, &to, &oldFrom, &oldTo); err != nil {
			t.Fatalf("anchor %q: %v", line, err)
		}
		for _, l := range old[oldFrom-1 : oldTo] {
			b.WriteString(l)
		}
	}
	return b.String()
}

// compare delivers after to a model that has before.
func compare(t testing.TB, before, after string) dedup.Delivery {
	t.Helper()
	s := new(chat).turn().call(file("f", before)).call(file("f", after)).stream()
	return plan(t, s, defaults()).Block(5, 1)
}

func TestLineRuns(t *testing.T) {
	before := body("a")
	for _, test := range []struct {
		name, before, after, want string
	}{
		{
			"a line changed", before, strings.Replace(before, "a line 20", "b line 20", 1),
			"@@ lines 1-20: lines 1-20 there\nb line 20 of forty\n" +
				"@@ lines 22-40: lines 22-40 there\n",
		},
		{
			"shifted", before, "one\ntwo\n" + before, "one\ntwo\n@@ lines 3-42: lines 1-40 there\n",
		},
		{
			"the end is gone", before + "tail", before, "@@ lines 1-40: lines 1-40 there\n",
		},
		{
			"a new end without newline", before, before + "tail",
			"@@ lines 1-40: lines 1-40 there\ntail",
		},
		{
			"what looks like an anchor", before, "@@ lines 1-9: lines 1-9 there\n@@@@ x\n" + before,
			"@@ lines 1-9: lines 1-9 there\n@@@@ x\n@@@@@ lines 3-42: lines 1-40 there\n",
		},
		{
			"halves in the other order", body("x") + before, before + body("x"),
			"@@ lines 1-40: lines 41-80 there\n@@ lines 41-80: lines 1-40 there\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := compare(t, test.before, test.after)
			_, told, _ := strings.Cut(d.Text, "\n")
			if d.Form != dedup.Lines || told != test.want {
				t.Errorf("form %d, lines\n%s\nwant\n%s", d.Form, told, test.want)
			}
			if d.Form == dedup.Lines && rebuild(t, d.Text, test.before) != test.after {
				t.Errorf("the message does not give the content:\n%s", d.Text)
			}
		})
	}
}

func TestNoLineRuns(t *testing.T) {
	before := body("a")
	for name, after := range map[string]string{
		"mostly new":      before + body("b") + body("c"),
		"scattered lines": interleave(body("a"), body("z")),
		"binary":          before + "\x00",
		"not UTF-8":       before + "\xff",
	} {
		if d := compare(t, before, after); d.Form != dedup.Whole {
			t.Errorf("%s: delivered as\n%s", name, d.Text)
		}
	}
	off := defaults()
	off.Lines = false
	s := new(chat).turn().call(file("f", before)).call(file("f", before+"tail")).stream()
	if d := plan(t, s, off).Block(5, 1); d.Form != dedup.Whole {
		t.Errorf("switched off: delivered as\n%s", d.Text)
	}
}

func interleave(a, b string) string {
	var out strings.Builder
	other := strings.SplitAfter(b, "\n")
	for i, l := range strings.SplitAfter(a, "\n") {
		out.WriteString(l + other[i])
	}
	return out.String()
}

func TestLineRunsAreOneHop(t *testing.T) {
	v1 := body("a")
	v2, v3 := v1+"two\n", v1+"two\nthree\n"
	s := new(chat).turn().call(file("f", v1)).call(file("f", v2)).call(file("f", v3)).
		call(file("f", v3)).stream()
	p := plan(t, s, defaults())
	if got := delivered(s, p); got != "whole lines(3.1) lines(3.1) whole" {
		t.Errorf("deliveries are %s", got)
	}
	if got := rebuild(t, p.Block(7, 1).Text, v1); got != v3 {
		t.Errorf("the message gives\n%s", got)
	}
}

// TestFormatted holds that lines are those that the model sees, and identity that of
// the content.
func TestFormatted(t *testing.T) {
	with := func(content, shown string) events.Resource {
		r, c := file("f", content), blobs.Loaded([]byte(shown))
		r.Formatted = &c
		return r
	}
	shown := body("shown")
	s := new(chat).turn().call(with(body("a"), shown)).call(with(body("a"), "other")).
		call(with(body("b"), shown+"more\n")).stream()
	p := plan(t, s, defaults())
	if got := delivered(s, p); got != "whole ref(3.1) lines(3.1)" {
		t.Errorf("deliveries are %s", got)
	}
	if got := rebuild(t, p.Block(7, 1).Text, shown); got != shown+"more\n" {
		t.Errorf("the message gives\n%s", got)
	}
}

func TestLineRunsReconstruct(t *testing.T) {
	told := 0
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.OneOf(
			rapid.SampledFrom([]string{"}\n", "\n", "@@ lines 1-2: lines 1-2 there\n", "@@@ a\n", "x\r\n"}),
			rapid.StringMatching(`[a-c]{20,60}\n`))
		pieces := rapid.SliceOfN(rapid.SliceOfN(line, 1, 30), 1, 6).Draw(rt, "pieces")
		pick := func(name string) string {
			var b strings.Builder
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(pieces)-1), 1, 8).Draw(rt, name) {
				b.WriteString(strings.Join(pieces[i], ""))
			}
			b.WriteString(rapid.SampledFrom([]string{"", "end", "@@", "@@ "}).Draw(rt, name+" end"))
			return b.String()
		}
		before, after := pick("before"), pick("after")
		d := compare(t, before, after)
		if d.Form != dedup.Lines {
			return
		}
		told++
		if got := rebuild(rt, d.Text, before); got != after {
			rt.Fatalf("the message gives\n%q\nwant\n%q\nmessage\n%s", got, after, d.Text)
		}
		if len(d.Text) >= len(after) {
			rt.Fatalf("the message has %d bytes, the content %d", len(d.Text), len(after))
		}
	})
	if told < 10 {
		t.Errorf("only %d messages had line runs", told)
	}
}

// TestPlanProperties holds what the package documents on random conversations: one
// hop, whole referents of the same URI, asking again, and a prefix that keeps its
// bytes however the options change.
func TestPlanProperties(t *testing.T) {
	forms := map[dedup.Form]int{}
	rapid.Check(t, func(rt *rapid.T) {
		c := randomChat(rt)
		s := c.stream()
		o := randomOptions(rt, "options")
		p := plan(t, s, o)
		checkReferents(rt, s, p)
		for _, d := range p.All() {
			forms[d.Form]++
		}
		if other := plan(t, s, o); delivered(s, other) != delivered(s, p) {
			rt.Fatalf("two plans differ: %s and %s", delivered(s, p), delivered(s, other))
		}
		p.Store(s, s)
		sent := s.Len()
		grown := &chat{elems: elements(s), calls: c.calls}
		grown.say().turn()
		grow(rt, grown)
		longer := grown.stream()
		later := plan(t, longer, randomOptions(rt, "later options"))
		checkReferents(rt, longer, later)
		for i := range sent {
			for _, b := range resources(longer.At(i)) {
				if p.Block(i, b) != later.Block(i, b) {
					rt.Fatalf("element %d block %d was %+v and is %+v",
						i, b, p.Block(i, b), later.Block(i, b))
				}
			}
		}
	})
	for _, form := range []dedup.Form{dedup.Reference, dedup.Lines} {
		if forms[form] == 0 {
			t.Errorf("no delivery had form %d", form)
		}
	}
}

func randomOptions(rt *rapid.T, name string) dedup.Options {
	return dedup.Options{
		Enabled:  rapid.IntRange(0, 4).Draw(rt, name+" enabled") > 0,
		MinBytes: rapid.SampledFrom([]int64{0, 300, 5000}).Draw(rt, name+" bytes"),
		Lookback: rapid.SampledFrom([]int{0, 1, 30}).Draw(rt, name+" window"),
		Lines:    rapid.Bool().Draw(rt, name+" lines"),
	}
}

func randomChat(rt *rapid.T) *chat {
	c := new(chat).turn()
	grow(rt, c)
	return c
}

// grow adds turns that deliver few files in few versions.
func grow(rt *rapid.T, c *chat) {
	a, b := body("a"), body("b")
	versions := []string{"short", a, a + b, a + "x\n" + b, b}
	some := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) events.Resource {
		name := rapid.SampledFrom([]string{"f", "g"}).Draw(rt, "name")
		return file(name, rapid.SampledFrom(versions).Draw(rt, "version"))
	}), 0, 3)
	for range rapid.IntRange(0, 5).Draw(rt, "steps") {
		switch rapid.IntRange(0, 3).Draw(rt, "step") {
		case 0:
			c.say().turn(some.Draw(rt, "attached")...)
		case 1:
			c.batch(some.Draw(rt, "first"), some.Draw(rt, "second"))
		default:
			c.call(some.Draw(rt, "found")...)
		}
	}
}

func elements(s *events.Stream) []*events.Element {
	var all []*events.Element
	for _, e := range s.All() {
		all = append(all, e)
	}
	return all
}

func resourceAt(s *events.Stream, at dedup.Place) events.Resource {
	switch ev := s.At(at.Element).Event().(type) {
	case *events.ChatRequest:
		return ev.Resources[at.Block]
	case *events.ToolCallResponse:
		return *ev.Blocks[at.Block].Resource
	}
	return events.Resource{}
}

func checkReferents(rt *rapid.T, s *events.Stream, p *dedup.Plan) {
	for at, d := range p.All() {
		if p.Block(d.Referent.Element, d.Referent.Block).Form != dedup.Whole {
			rt.Fatalf("%v refers to %v, which is not whole", at, d.Referent)
		}
		here, there := resourceAt(s, at), resourceAt(s, d.Referent)
		if here.URI != there.URI {
			rt.Fatalf("%v has URI %s and refers to %s", at, here.URI, there.URI)
		}
		if same := here.Content.Ref() == there.Content.Ref(); same != (d.Form == dedup.Reference) {
			rt.Fatalf("%v has form %d; same content: %t", at, d.Form, same)
		}
		if d.Referent.Element > at.Element ||
			d.Referent.Element == at.Element && d.Referent.Block >= at.Block {
			rt.Fatalf("%v refers forward to %v", at, d.Referent)
		}
	}
}

// TestLinearTime compares texts that would be slow to compare by trying everything.
func TestLinearTime(t *testing.T) {
	const n = 100000
	for name, line := range map[string]func(text string, i int) string{
		"one line":    func(string, int) string { return "}\n" },
		"blank lines": func(string, int) string { return "\n" },
		"one line among others": func(text string, i int) string {
			if i%2 == 0 {
				return "}\n"
			}
			return fmt.Sprintln(text, i)
		},
	} {
		var before, after strings.Builder
		for i := range n {
			before.WriteString(line("before", i))
			after.WriteString(line("after", i))
		}
		start := time.Now()
		compare(t, before.String(), after.String()+"end")
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: %d lines took %v", name, n, took)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := new(chat).turn()
			for i := range n {
				c.call(file(fmt.Sprint(i%50), body(fmt.Sprint(i%3))))
			}
			s := c.stream()
			for b.Loop() {
				plan(b, s, defaults())
			}
		})
	}
}
