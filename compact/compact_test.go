package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

var long = strings.Repeat("a line of the file that was read\n", 40)

func run(t *testing.T, s *events.Stream, o compact.Options) *compact.Result {
	t.Helper()
	o.Now = second(100)
	r, err := compact.Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestStrategies(t *testing.T) {
	const path = `{"path":"a"}`
	for name, test := range map[string]struct {
		talk     *talk
		strategy string
		hint     compact.Hint
		keep     int
		want     string
	}{
		"reasoning": {
			new(talk).turn("1").think("x").say("m").turn("2").think("y").say("n"),
			compact.StripReasoning,
			compact.Hint{},
			1,
			"T q(1) m(m) T q(2) r(y) m(n)",
		},
		"reasoning of a turn that is over": {
			new(talk).turn("1").think("x").say("m").turn("2").think("y").call("x", path, "z").say("n"),
			compact.StripReasoning,
			compact.Hint{},
			0,
			"T q(1) m(m) T q(2) +c1 -c1(z) m(n)",
		},
		"calls of a turn that is over": {
			new(talk).turn("1").call("read", path, "a").call("read", path, "a").say("m"),
			compact.DedupTools,
			compact.Hint{Dedup: true},
			0,
			"T q(1) +c2 -c2(a) m(m)",
		},
		"results of a turn that is over": {
			new(talk).turn("1").call("read", path, long).say("m"),
			compact.StripToolResults,
			compact.Hint{Response: compact.Remove},
			0,
			"T q(1) m(m)",
		},
		"what calls that go had asked": {
			new(talk).turn("1").asking("read", path, "a").asking("read", path, "a").say("m").turn("2"),
			compact.DedupTools,
			compact.Hint{Dedup: true},
			1,
			"T q(1) +c2 ?c2.apply !c2.apply -c2(a) m(m) T q(2)",
		},
		"beside a call that is not answered": {
			new(talk).turn("1").think("x").say("m").turn("2").think("y").open("x", path),
			compact.StripReasoning,
			compact.Hint{},
			0,
			"T q(1) m(m) T q(2) r(y) +c1",
		},
		"reasoning of the open cycle": {
			new(talk).turn("1").think("x").say("m").turn("2").think("y").call("x", path, "z"),
			compact.StripReasoning,
			compact.Hint{},
			0,
			"T q(1) m(m) T q(2) r(y) +c1 -c1(z)",
		},
		"results": {
			new(talk).turn("1").call("read", path, long).call("read", path, "!"+long).
				call("read", path, strings.Repeat("x", 121)+"\ny").call("read", path, "short").turn("2"),
			compact.StripToolResults,
			compact.Hint{},
			1,
			"T q(1) +c1 -c1([compacted] read: success\na line of the file that was read) " +
				"+c2 -c2([compacted] read: error\na line of the file that was read) " +
				"+c3 -c3([compacted] read: success) +c4 -c4(short) T q(2)",
		},
		"results that are to be kept": {
			new(talk).turn("1").call("read", path, long).turn("2"),
			compact.StripToolResults,
			compact.Hint{Response: compact.Keep},
			1,
			"T q(1) +c1 -c1(" + long + ") T q(2)",
		},
		"calls that may go": {
			new(talk).turn("1").think("x").call("read", path, "y").think("y").say("m").turn("2"),
			compact.StripToolResults,
			compact.Hint{Response: compact.Remove},
			1,
			"T q(1) r(y) m(m) T q(2)",
		},
		"repeated calls": {
			new(talk).turn("1").think("x").call("read", path, "old").say("m").
				turn("2").call("read", `{ "path": "a" }`, "new").turn("3"),
			compact.DedupTools,
			compact.Hint{Dedup: true},
			1,
			"T q(1) m(m) T q(2) +c2 -c2(new) T q(3)",
		},
		"repeated calls of which the last failed": {
			new(talk).turn("1").call("read", path, "old").call("read", path, "!new").turn("3"),
			compact.DedupTools,
			compact.Hint{Dedup: true},
			1,
			"T q(1) +c1 -c1(old) +c2 -c2(new) T q(3)",
		},
		"calls that are not to be repeated": {
			new(talk).turn("1").call("read", path, "old").call("read", path, "new").turn("3"),
			compact.DedupTools,
			compact.Hint{},
			1,
			"T q(1) +c1 -c1(old) +c2 -c2(new) T q(3)",
		},
		"repeated in a kept turn": {
			new(talk).turn("1").call("read", path, "old").turn("2").call("read", path, "new"),
			compact.DedupTools,
			compact.Hint{Dedup: true},
			1,
			"T q(1) T q(2) +c2 -c2(new)",
		},
		"fewer lines": {
			new(talk).turn("1").call("read", `{"path":"a","start_line":2,"end_line":5}`, "2\n3\n4\n5").
				call("read", `{"path":"a","start_line":1,"end_line":10}`, "1\n2\n3\n4\n5\n6").turn("2"),
			compact.DedupTools,
			compact.Hint{Dedup: true, Subsumes: "io-content"},
			1,
			"T q(1) +c2 -c2(1\n2\n3\n4\n5\n6) T q(2)",
		},
		"fewer lines, but the tool did not show them": {
			new(talk).turn("1").call("read", `{"path":"a","start_line":2,"end_line":5}`, "2\n3\n4\n5").
				call("read", `{"path":"a","start_line":1,"end_line":10}`, "1\n2").turn("2"),
			compact.DedupTools,
			compact.Hint{Dedup: true, Subsumes: "io-content"},
			1,
			"T q(1) +c1 -c1(2\n3\n4\n5) +c2 -c2(1\n2) T q(2)",
		},
		"no subsumption": {
			new(talk).turn("1").call("read", `{"path":"a","start_line":2,"end_line":3}`, "2\n3").
				call("read", `{"path":"a"}`, "1\n2\n3").turn("2"),
			compact.DedupTools,
			compact.Hint{Dedup: true, Subsumes: "none"},
			1,
			"T q(1) +c1 -c1(2\n3) +c2 -c2(1\n2\n3) T q(2)",
		},
		"equal calls of which the results are not": {
			new(talk).turn("1").call("x", path, "old").call("x", path, "new").call("x", path, "new").turn("2"),
			compact.DedupTools,
			compact.Hint{Dedup: true, Alike: true},
			1,
			"T q(1) +c1 -c1(old) +c3 -c3(new) T q(2)",
		},
		"superseded": {
			new(talk).turn("1").call("fs_read_file", path, strings.ReplaceAll(long, "\n", " ")).turn("2").
				call("fs_read_file", path, "new").turn("3"),
			compact.TrimSuperseded,
			compact.Hint{},
			1,
			"T q(1) +c1 -c1([superseded] fs_read_file: a later result has this) T q(2) +c2 -c2(new) T q(3)",
		},
		"requests where nothing opens turns": {
			new(talk).ask("1").think("x").say("m").ask("2").think("y").say("n").ask("3").say("o"),
			compact.StripReasoning,
			compact.Hint{},
			2,
			"q(1) m(m) q(2) r(y) m(n) q(3) m(o)",
		},
		"fewer turns than are kept": {
			new(talk).turn("1").think("x").say("m"), compact.StripReasoning,
			compact.Hint{},
			3,
			"T q(1) r(x) m(m)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.talk.stream()
			got := run(t, s, compact.Options{
				Strategies: []string{test.strategy}, KeepLast: test.keep,
				Hint: func(string) compact.Hint { return test.hint },
			})
			if diff := cmp.Diff(test.want, told(got.Stream)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if changed := told(s) != test.want; changed != got.Report.Changed() && name != "requests where nothing opens turns" {
				t.Errorf("report says changed: %t", got.Report.Changed())
			}
		})
	}
}

// TestHintsOfTheTable checks the table of RFD 036.
func TestHintsOfTheTable(t *testing.T) {
	for _, row := range []struct {
		tool     string
		response compact.Response
		dedup    bool
		subsumes bool
	}{
		{"fs_read_file", "strip", true, true},
		{"fs_grep_files", "strip", true, false},
		{"fs_list_files", "strip", true, false},
		{"cargo_check", "strip", false, false}, // each run shows another state
		{"cargo_test", "strip", false, false},
		{"fs_create_file", "strip", false, false},
		{"fs_modify_file", "strip", false, false},
		{"git_diff", "strip", true, false},
		{"git_commit", "keep", false, false},
		{"Read", "strip", true, true},
		{"read_file", "strip", true, true},
		{"Grep", "strip", true, false},
		{"Glob", "strip", true, false},
		{"Edit", "strip", false, false},
		{"apply_patch", "strip", false, false},
		{"Bash", "", false, false},
		{"shell", "", false, false},
		{"mcp__x__push", "", false, false},
	} {
		h := compact.DefaultHint(row.tool)
		if h.Response != row.response || h.Dedup != row.dedup || (h.Subsumes != "") != row.subsumes {
			t.Errorf("%s: %+v", row.tool, h)
		}
	}
}

func attached(name, content string) events.Resource {
	return events.Resource{URI: "file:///$WORKSPACE/" + name, Content: blobs.Loaded([]byte(content))}
}

func TestStripAttachments(t *testing.T) {
	s := new(talk).delta(`{"conversation":{"attachments":["file:a"]}}`).
		add(&events.TurnStart{}).ask("1", attached("a", long)).say("m").
		add(&events.TurnStart{}).ask("2", attached("b", long)).stream()
	got := run(t, s, compact.Options{Strategies: []string{compact.StripAttachments}, KeepLast: 1})
	want := `D{"conversation":{"attachments":["file:a"]}} T q(1) m(m) T q(2) ` +
		`D{"conversation":{"attachments":{` +
		`"discard_when_merged":false,"strategy":"replace","value":[]}}}`
	if told(got.Stream) != want {
		t.Errorf("got %s", told(got.Stream))
	}
	stripped := got.Stream.At(2).Metadata().Stripped()
	if len(stripped) != 1 || stripped[0].URI != "file:///$WORKSPACE/a" || !stripped[0].Content.IsZero() {
		t.Errorf("what was there is told as %+v", stripped)
	}
	if r, _ := got.Stream.At(5).Event().(*events.ChatRequest); len(r.Resources) != 1 {
		t.Error("the attachment of a kept turn went")
	}
}

func TestPruneTools(t *testing.T) {
	base := `{"conversation":{"tools":{"*":{"run":"ask"},"read":{"summary":"x"},"grep":{"enable":"on"},` +
		`"off":{"enable":false},"locked":{"enable":"always"},"named":{"enable":{"state":true}}}}}`
	s := new(talk).delta(base).turn("1").call("read", "{}", "x").turn("2").stream()
	got := run(t, s, compact.Options{Strategies: []string{compact.PruneTools}, KeepLast: 1})
	if pruned := got.Report.Steps[0].Pruned; !slices.Equal(pruned, []string{"grep", "named"}) {
		t.Errorf("pruned %v", pruned)
	}
	const off = `{"allow_toggle":"any","state":false}`
	const want = `{"conversation":{"tools":{"grep":{"enable":` + off + `},"named":{"enable":` + off + `}}}}`
	if d, _ := got.Stream.At(got.Stream.Len() - 1).Event().(*events.ConfigDelta); string(d.Delta) != want {
		t.Errorf("delta is %s", d.Delta)
	}
	c, err := settings.InForce(got.Stream, settings.Config{}, got.Stream.Len(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := c.Setting("conversation", "tools", "grep", "enable"); !ok || string(v.Value()) != off {
		t.Errorf("grep is enabled: %s", v.Value())
	}
}

// asked answers for tools.
type asked struct {
	says func(earlier, later string) bool
	n    int
}

func (a *asked) Subsumes(_ context.Context, _ string, earlier, later jsontext.Value) (bool, error) {
	a.n++
	return a.says(string(earlier), string(later)), nil
}

func declared(string) compact.Hint { return compact.Hint{Dedup: true, Subsumes: "tool"} }

func TestToolsSayWhatTheySubsume(t *testing.T) {
	s := new(talk).turn("1").call("x", `{"n":1}`, "one").call("x", `{"n":2}`, "one\ntwo").
		call("x", `{"n":0}`, "!no").turn("2").stream()
	tool := &asked{says: func(a, b string) bool { return a == `{"n":1}` && b == `{"n":2}` }}
	got := run(t, s, compact.Options{
		Strategies: []string{compact.DedupTools}, KeepLast: 1, Hint: declared, Subsumer: tool,
	})
	if want := "T q(1) +c2 -c2(one\ntwo) +c3 -c3(no) T q(2)"; told(got.Stream) != want {
		t.Errorf("got %s", told(got.Stream))
	}
	if tool.n != 1 {
		t.Errorf("the tool was asked %d times", tool.n)
	}
}

// TestWrongWordsOfToolsAreReported checks that declarations which content contradicts have no
// effect.
func TestWrongWordsOfToolsAreReported(t *testing.T) {
	yes := func() *asked { return &asked{says: func(a, b string) bool { return a != b }} }
	type test struct {
		*talk
		kept string
	}
	for name, k := range map[string]test{
		"still there after it": {
			new(talk).turn("1").call("x", `{"n":1}`, "mine").
				call("x", `{"n":2}`, "other").call("x", `{"n":1}`, "mine").turn("2"),
			"T q(1) +c2 -c2(other) +c3 -c3(mine) T q(2)",
		},
		"another resource": func() test {
			k := new(talk).turn("1")
			for _, n := range []string{"a", "b"} {
				r := attached(n, long)
				k.add(&events.ToolCallRequest{ID: n, Name: "x", Arguments: jsontext.Value(`{"p":"` + n + `"}`)})
				k.add(&events.ToolCallResponse{ID: n, Blocks: []events.Block{{
					Type: events.BlockResource, Resource: &r,
				}}})
			}
			return test{k.turn("2"), "T q(1) +a -a(" + long + ") +b -b(" + long + ") T q(2)"}
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, k.stream(), compact.Options{
				Strategies: []string{compact.DedupTools}, KeepLast: 1, Subsumer: yes(),
				Hint: declared,
			})
			if len(got.Report.Steps[0].Notes) == 0 {
				t.Errorf("nothing was reported: %s", told(got.Stream))
			}
			if want := k.kept; told(got.Stream) != want {
				t.Errorf("got %s, want %s", told(got.Stream), want)
			}
		})
	}
}

func TestUnknownStrategy(t *testing.T) {
	_, err := compact.Run(t.Context(), new(talk).turn("1").stream(), compact.Options{Strategies: []string{"x"}})
	if !errors.Is(err, compact.ErrUnknown) {
		t.Errorf("error is %v", err)
	}
}

// worker returns a conversation that reads one file over and over, with usage.
func worker(turns int) *events.Stream {
	k := new(talk)
	for n := range turns {
		k.turn(fmt.Sprintf("question %d", n)).think(strings.Repeat("hm ", 200)).
			call("fs_read_file", fmt.Sprintf(`{"path":"f%d"}`, n%3), long).
			call("mcp_tool", fmt.Sprintf(`{"n":%d}`, n), long).say("answer")
	}
	return k.stream()
}

func TestReportAddsUp(t *testing.T) {
	r := run(t, worker(6), compact.Options{KeepLast: 1, Market: market()}).Report
	var events int
	var bytes int64
	for _, st := range r.Steps {
		events += st.EventsRemoved
		bytes += st.Bytes
	}
	if events != r.EventsRemoved || r.EventsBefore-r.EventsAfter != events ||
		bytes != r.BytesBefore-r.BytesAfter || bytes == 0 || events == 0 {
		t.Errorf("steps have %d events and %d bytes, the report %+v", events, bytes, r)
	}
	if len(r.Tools) != 1 || r.Tools[0].Tool != "fs_read_file" || r.Tools[0].Bytes <= 0 {
		t.Errorf("tools are %+v", r.Tools)
	}
	if r.Money == nil || *r.Money.Now >= 0 || *r.Money.BreakEven <= 0 || r.Money.AsOf != "2026-01-02" {
		t.Errorf("money is %v", r.Money)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func market() compact.Market {
	return compact.Market{
		Model: "anthropic/claude", Input: 3, Read: 0.3, Write: 3.75, TTL: 5 * time.Minute,
		Gone: 5 * time.Minute, Minimum: 1024, AsOf: "2026-01-02",
	}
}

// TestEstimatesLearn checks that stored usage corrects the estimate, whose last prompt has a known
// size, that the reported error covers most of the past, and that usage for another text, as after
// a compaction, has no effect.
func TestEstimatesLearn(t *testing.T) {
	spoken := func(turns int, grows func(n int) int64) *events.Stream {
		k, prompt := new(talk), int64(1000)
		for n := range turns {
			k.turn(strings.Repeat("word ", 400))
			usage := fmt.Sprintf(`{"input":%d,"output":10}`, prompt)
			k.add(&events.ChatResponse{Text: fmt.Sprint("answer ", n)},
				events.Metadata{}.With("git_jp_usage", jsontext.Value(usage)))
			prompt += grows(n)
		}
		return k.stream()
	}
	half := func(int) int64 { return 850 } // where the estimate is 571 tokens
	for name, test := range map[string]struct {
		turns   int
		grows   func(int) int64
		samples int
		least   float64 // of a turn, in tokens
		most    float64
		fault   float64
	}{
		"a few calls":          {8, half, 7, 810, 851, 0.33},
		"many":                 {800, half, 799, 849, 851, 0.08},
		"of another text":      {8, func(int) int64 { return 40_000 }, 0, 565, 575, 0.2},
		"more was removed":     {8, func(n int) int64 { return 571 - int64(n/6%2)*1771 }, 6, 565, 575, 0.2},
		"more was there":       {8, func(n int) int64 { return 571 + int64(n/6%2)*1500 }, 6, 565, 575, 0.2},
		"one of another text":  {8, func(n int) int64 { return []int64{850, 40_000}[n/4%2] }, 4, 565, 580, 0.34},
		"one of five is wrong": {800, func(n int) int64 { return []int64{600, 600, 600, 600, 1000}[n%5] }, 799, 571, 700, 0.15},
	} {
		r := run(t, spoken(test.turns, test.grows), compact.Options{KeepLast: 1}).Report
		const beside = 452 // the first prompt has this besides its question
		each := (r.TokensBefore - beside) / float64(test.turns)
		if r.Samples != test.samples || each < test.least || each > test.most || r.Error > test.fault {
			t.Errorf("%s: %d samples, error %.3f, %.0f tokens a turn", name, r.Samples, r.Error, each)
		}
	}
}

func percent(n, of int64) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }

// file adds a call that returns a resource.
func (k *talk) file(name, content string) *talk {
	k.calls++
	id, r := fmt.Sprint("c", k.calls), attached(name, content)
	args := jsontext.Value(fmt.Sprintf(`{"path":%q}`, name))
	return k.add(&events.ToolCallRequest{ID: id, Name: "fs_read_file", Arguments: args}).
		add(&events.ToolCallResponse{ID: id, Blocks: []events.Block{{
			Type: events.BlockResource, Resource: &r,
		}}})
}

// TestWhatIsReferredToStays checks that deduplication, which keeps the first, and supersession,
// which keeps the last, never remove both: an element that a reference refers to is not obsolete.
func TestWhatIsReferredToStays(t *testing.T) {
	other := strings.ToUpper(long)
	options := dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30}
	for name, test := range map[string]struct {
		talk *talk
		want int
	}{
		"the same again":  {new(talk).turn("1").file("a", long).turn("2").file("a", long), 0},
		"another content": {new(talk).turn("1").file("a", long).turn("2").file("a", other), 1},
		"back to the first": {
			new(talk).turn("1").file("a", long).turn("2").file("a", other).turn("3").file("a", long), 1,
		},
	} {
		s := test.talk.turn("last").stream()
		found, err := compact.Obsolete(s, compact.ObsoleteOptions{Dedup: options})
		if err != nil || len(found) != test.want {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		out := run(t, s, compact.Options{
			Strategies: []string{compact.TrimSuperseded}, KeepLast: 1, Dedup: options,
		})
		if out.Report.TokensSaved < 0 {
			t.Errorf("%s: it became larger by %.0f tokens", name, -out.Report.TokensSaved)
		}
		plan, err := dedup.New(out.Stream, options, nil)
		if err != nil {
			t.Fatal(err)
		}
		for at := range plan.Referents() {
			if r, ok := out.Stream.At(at.Element).Event().(*events.ToolCallResponse); !ok || r.Blocks[at.Block].Resource == nil {
				t.Errorf("%s: a reference speaks of %v, which is gone", name, at)
			}
		}
	}
}

// TestTheReferenceBecomesTheContent checks what happens if the first delivery is removed after all.
func TestTheReferenceBecomesTheContent(t *testing.T) {
	options := dedup.Options{Enabled: true, MinBytes: 300, Lookback: 30}
	s := new(talk).turn("1").file("a", long).turn("2").file("a", long).turn("3").stream()
	plan, err := dedup.New(s, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Store(s, s)
	if d := plan.Block(7, 0); d.Form != dedup.Reference {
		t.Fatalf("the second delivery is %+v", d)
	}
	out := run(t, s, compact.Options{
		Strategies: []string{compact.StripToolResults}, KeepLast: 2, Dedup: options,
	}).Stream
	if plan, err = dedup.New(out, options, nil); err != nil {
		t.Fatal(err)
	}
	if d := plan.Block(7, 0); d.Form != dedup.Whole {
		t.Errorf("the second delivery is %+v", d)
	}
	if got := out.At(3).Metadata().Stripped(); len(got) != 1 || got[0].URI != "file:///$WORKSPACE/a" {
		t.Errorf("what was stripped is told as %+v", got)
	}
}

// TestWhatIsDoneAgainIsNoRepetition checks that equal calls of tools that have an effect each time,
// or that are unknown, are kept by default: the second push, test or order is not the first.
func TestWhatIsDoneAgainIsNoRepetition(t *testing.T) {
	for _, c := range [][2]string{
		{"Bash", `{"command":"git push"}`},
		{"shell", `{"command":["go","test","./..."]}`},
		{"run_shell_command", `{"command":"make test"}`},
		{"cargo_test", `{}`},
		{"git_commit", `{}`},
		{"mcp__shop__order", `{"item":1}`},
		{"unheard_of", `{}`},
	} {
		var k talk
		k.turn("q").call(c[0], c[1], "done "+long).call(c[0], c[1], "done "+long).say("a")
		k.turn("r").say("b")
		s := k.stream()
		for _, strategy := range []string{compact.DedupTools, compact.TrimSuperseded} {
			r := run(t, s, compact.Options{Strategies: []string{strategy}, KeepLast: 1})
			if got, want := string(r.Stream.Encode()), string(s.Encode()); got != want {
				t.Errorf("%s of %s: got\n%s\nwant\n%s", strategy, c[0], got, want)
			}
		}
	}
}
