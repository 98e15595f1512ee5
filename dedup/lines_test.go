package dedup_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// rebuild reconstructs content from a message of line runs and the texts to which it refers.
func rebuild(t interface {
	Fatalf(format string, args ...any)
}, message string, before ...string,
) string {
	head, rest, ok := strings.Cut(message, "\n")
	m := headed.FindStringSubmatch(head)
	if !ok || m == nil {
		t.Fatalf("head is %q", head)
	}
	number := func(int) string { return "" }
	if m[3] != "" {
		prefix, err := strconv.Unquote(m[3])
		var last int
		if _, scanned := fmt.Sscan(m[4], &last); err != nil || scanned != nil {
			t.Fatalf("head is %q", head)
		}
		digits := strings.TrimRight(prefix, "→\t")
		number = func(n int) string {
			if n > last {
				return ""
			}
			return fmt.Sprintf("%*d%s", len(digits), n, strings.TrimPrefix(prefix, digits))
		}
	}
	var b strings.Builder
	for _, line := range strings.SplitAfter(rest, "\n") {
		anchor, ok := strings.CutPrefix(line, m[1])
		if !ok {
			b.WriteString(line)
			continue
		}
		var from, to, oldFrom, oldTo int
		if _, err := fmt.Sscanf(anchor, "lines %d-%d: lines %d-%d", &from, &to, &oldFrom, &oldTo); err != nil {
			t.Fatalf("anchor %q: %v", line, err)
		}
		of := 1
		if _, where, ok := strings.Cut(anchor, " in ["); ok {
			of, _ = strconv.Atoi(strings.TrimSuffix(where, "]\n"))
		}
		old, first := unnumbered(before[of-1], m[2] != "from 1")
		for i := range to - from + 1 {
			b.WriteString(number(from+i) + old[oldFrom-first+i])
		}
	}
	return b.String()
}

var headed = regexp.MustCompile(
	`begins with "(@+ )" .* counted (from 1|by the numbers before them(?: \(here (".*") to (\d+)\))?, else from 1)\.$`)

// unnumbered returns the lines of a text, without consecutive numbers from the first line on, and
// the number of the first.
func unnumbered(text string, numbers bool) (lines []string, first int) {
	lines = strings.SplitAfter(text, "\n")
	m := regexp.MustCompile(`^( *)([1-9][0-9]{0,8})(→|\t)`).FindStringSubmatch(text)
	if !numbers || m == nil {
		return lines, 1
	}
	first, _ = strconv.Atoi(m[2])
	for i := range lines {
		digits := strconv.Itoa(first + i)
		digits = strings.Repeat(" ", max(len(m[1])+len(m[2])-len(digits), 0)) + digits
		line, ok := strings.CutPrefix(lines[i], digits+m[3])
		if !ok {
			break
		}
		lines[i] = line
	}
	return lines, first
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

// TestFormatted checks that lines are those that the model sees, and that identity is that of the
// content.
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

// TestLineRunsReconstruct checks that a message reconstructs the content exactly, together with its
// referents: several texts of one file, of any lines, with numbers before them or without.
func TestLineRunsReconstruct(t *testing.T) {
	told, several, numbers := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		long := rapid.StringMatching(`[a-c]{30,60}\n`)
		line := rapid.OneOf(rapid.SampledFrom([]string{
			"}\n", "\n", "@@ lines 1-2: lines 1-2 there\n", "@@@ a\n", "x\r\n", "7\tseven\n", " 8→eight\n",
		}), long, long, long)
		pieces := rapid.SliceOfN(rapid.SliceOfN(line, 10, 30), 6, 6).Draw(rt, "pieces")
		pick := func(name string, from, to int) string { // the lines of a text are mostly its own
			var b strings.Builder
			for _, i := range rapid.SliceOfN(rapid.IntRange(from, to), 1, 5).Draw(rt, name) {
				b.WriteString(strings.Join(pieces[i], ""))
			}
			b.WriteString(rapid.SampledFrom([]string{"", "end", "@@", "@@ "}).Draw(rt, name+" end"))
			return numberedText(rt, name, b.String())
		}
		c := new(chat).turn()
		for n := range rapid.IntRange(1, 3).Draw(rt, "texts") {
			c.call(file(rapid.SampledFrom([]string{"f", "f#L3-20"}).Draw(rt, fmt.Sprint("uri", n)), pick("before", 2*n, 2*n+2-n/2)))
		}
		after := file("f", pick("after", 0, 5))
		s := c.call(after).stream()
		p := plan(rt, s, defaults())
		d := p.Block(s.Len()-1, 1)
		if d.Form != dedup.Lines {
			return
		}
		told++
		var before []string
		for _, at := range d.Referents {
			content, _ := resourceAt(s, at).Content.Bytes(nil)
			before = append(before, string(content))
		}
		if len(before) > 1 {
			several++
		}
		if strings.Contains(d.Text, "(here ") {
			numbers++
		}
		want, _ := after.Content.Bytes(nil)
		if got := rebuild(rt, d.Text, before...); got != string(want) {
			rt.Fatalf("the message gives\n%q\nwant\n%q\nmessage\n%s", got, want, d.Text)
		}
		if len(d.Text) >= len(want) {
			rt.Fatalf("the message has %d bytes, the content %d", len(d.Text), len(want))
		}
	})
	if told < 10 || several == 0 || numbers < 3 {
		t.Errorf("only %d messages had line runs, %d of several texts, %d with numbers", told, several, numbers)
	}
}

// numberedText puts numbers before some lines of a text, as agents do.
func numberedText(rt *rapid.T, name, text string) string {
	format := rapid.SampledFrom([]string{"", "", "%6d→", "%d\t", "%3d\t"}).Draw(rt, name+" format")
	if format == "" {
		return text
	}
	first := rapid.SampledFrom([]int{1, 8, 95}).Draw(rt, name+" first")
	lines := strings.SplitAfter(text, "\n")
	for i := range rapid.IntRange(0, len(lines)).Draw(rt, name+" numbered") {
		lines[i] = fmt.Sprintf(format, first+i) + lines[i]
	}
	return strings.Join(lines, "")
}

// TestLineRunsOfRanges checks that a run may be in a read of other lines of the file, or in
// several, and that numbers before lines are not part of them.
func TestLineRunsOfRanges(t *testing.T) {
	number := func(text string, first int) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			fmt.Fprintf(&b, "%6d→%s", first, line)
			first++
		}
		return b.String()
	}
	a, b := body("a"), body("b")
	where := func(n int) string { return fmt.Sprintf("the result of tool call `call_%d` in turn 1", n) }
	for _, test := range []struct {
		name string
		was  []events.Resource
		now  events.Resource
		want string
	}{
		{
			"a part of the whole",
			[]events.Resource{file("f", a+b)},
			file("f#L41-80", b),
			"Most of the content of file:///f#L41-80 stands in " + where(1) + ". A line that begins with \"@@ \"" +
				" stands for lines that are the same there, counted from 1.\n@@ lines 1-40: lines 41-80 there\n",
		},
		{
			"the whole after its parts",
			[]events.Resource{file("f#L1-40", a), file("f#L41-80", b)},
			file("f", a+"new\n"+b),
			"Most of the content of file:///f stands in [1] " + where(1) + " (L1-40), [2] " + where(2) +
				" (L41-80). A line that begins with \"@@ \" stands for lines that are the same there, counted from 1.\n" +
				"@@ lines 1-40: lines 1-40 in [1]\nnew\n@@ lines 42-81: lines 1-40 in [2]\n",
		},
		{
			"numbers here and there",
			[]events.Resource{file("f", number(a+b, 1))},
			file("f#L41-80", number(b, 41)),
			"Most of the content of file:///f#L41-80 stands in " + where(1) + ". A line that begins with \"@@ \"" +
				" stands for lines that are the same there, counted by the numbers before them (here \"    41→\" to 80)," +
				" else from 1.\n@@ lines 41-80: lines 41-80 there\n",
		},
		{
			"numbers there",
			[]events.Resource{file("f#L9-88", number(a+b, 9))},
			file("f", b),
			"Most of the content of file:///f stands in " + where(1) + " (L9-88). A line that begins with \"@@ \"" +
				" stands for lines that are the same there, counted by the numbers before them, else from 1.\n" +
				"@@ lines 1-40: lines 49-88 there\n",
		},
		{
			"shifted, with what a tool says behind",
			[]events.Resource{file("f", number(a, 1)+"\nmind this\n")},
			file("f", number("new\n"+a, 1)+"\nmind this\n"),
			"The content of file:///f has changed since " + where(1) + ". A line that begins with \"@@ \"" +
				" stands for lines that are the same there, counted by the numbers before them (here \"     1→\" to 41)," +
				" else from 1.\n     1→new\n@@ lines 2-43: lines 1-42 there\n",
		},
		{"another file", []events.Resource{file("g", a+b)}, file("f#L41-80", b), ""},
		{"another part", []events.Resource{file("f#top", a+b)}, file("f#L41-80", b), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := new(chat).turn()
			var texts []string
			for _, r := range test.was {
				c.call(r)
				content, _ := r.Content.Bytes(nil)
				texts = append(texts, string(content))
			}
			s := c.call(test.now).stream()
			d := plan(t, s, defaults()).Block(s.Len()-1, 1)
			if d.Text != test.want {
				t.Errorf("got\n%s\nwant\n%s", d.Text, test.want)
			}
			want, _ := test.now.Content.Bytes(nil)
			if d.Form == dedup.Lines && rebuild(t, d.Text, texts...) != string(want) {
				t.Error("the message does not give the content")
			}
		})
	}
}

// TestFarLineRuns checks that content which was given too long ago is not referred to, except where
// a stored decision already did.
func TestFarLineRuns(t *testing.T) {
	c := new(chat).turn(file("f", body("a")+body("b")))
	for range 3 {
		c.say().turn()
	}
	s := c.call(file("f#L41-80", body("b"))).stream()
	near, far := defaults(), defaults()
	far.Lookback = 2
	if got := delivered(s, plan(t, s, far)); got != "whole whole" {
		t.Errorf("deliveries are %s", got)
	}
	p := plan(t, s, near)
	p.Store(s, s)
	if again := plan(t, s, far); !cmp.Equal(again.Block(s.Len()-1, 1), p.Block(s.Len()-1, 1)) || p.Saved() == 0 {
		t.Errorf("what was sent changed: %s", delivered(s, again))
	}
}

// TestPlanProperties checks the documented properties on random conversations: one step, whole
// referents of the same URI, requesting again, and a prefix that keeps its bytes however the
// options change.
func TestPlanProperties(t *testing.T) {
	forms := map[dedup.Form]int{}
	rapid.Check(t, func(rt *rapid.T) {
		c := randomChat(rt)
		s := c.stream()
		o := randomOptions(rt, "options")
		p := plan(rt, s, o)
		checkReferents(rt, s, p)
		for _, d := range p.All() {
			forms[d.Form]++
		}
		if other := plan(rt, s, o); delivered(s, other) != delivered(s, p) {
			rt.Fatalf("two plans differ: %s and %s", delivered(s, p), delivered(s, other))
		}
		p.Store(s, s)
		sent := s.Len()
		grown := &chat{elems: elements(s), calls: c.calls}
		grown.say().turn()
		grow(rt, grown)
		longer := grown.stream()
		later := plan(rt, longer, randomOptions(rt, "later options"))
		checkReferents(rt, longer, later)
		for i := range sent {
			for _, b := range resources(longer.At(i)) {
				if !cmp.Equal(p.Block(i, b), later.Block(i, b)) {
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
		name := rapid.SampledFrom([]string{"f", "f#L2-9", "g"}).Draw(rt, "name")
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
		if len(d.Referents) == 0 || d.Form == dedup.Reference && len(d.Referents) != 1 {
			rt.Fatalf("%v of form %d refers to %v", at, d.Form, d.Referents)
		}
		for _, to := range d.Referents {
			checkReferent(rt, s, p, at, to)
		}
	}
}

func checkReferent(rt *rapid.T, s *events.Stream, p *dedup.Plan, at, to dedup.Place) {
	if p.Block(to.Element, to.Block).Form != dedup.Whole {
		rt.Fatalf("%v refers to %v, which is not whole", at, to)
	}
	here, there := resourceAt(s, at), resourceAt(s, to)
	form := p.Block(at.Element, at.Block).Form
	if of(here) != of(there) || form == dedup.Reference && here.URI != there.URI {
		rt.Fatalf("%v has URI %s and refers to %s", at, here.URI, there.URI)
	}
	same := here.URI == there.URI && here.Content.Ref() == there.Content.Ref()
	if same != (form == dedup.Reference) {
		rt.Fatalf("%v has form %d; same content: %t", at, form, same)
	}
	if to.Element > at.Element || to.Element == at.Element && to.Block >= at.Block {
		rt.Fatalf("%v refers forward to %v", at, to)
	}
}

// of returns the file of a resource, whichever lines it has.
func of(r events.Resource) string {
	uri, _, _ := strings.Cut(r.URI, "#")
	return uri
}

// TestManyLines compares texts with too many lines to compare each with each: that would exceed the
// time limit of the tests.
func TestManyLines(t *testing.T) {
	const n = 1_000_000
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
		t.Log(name)
		compare(t, before.String(), after.String()+"end")
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
