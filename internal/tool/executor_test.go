package tool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

// fake is a tool that does what a test wants.
type fake struct {
	name string
	run  func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f fake) Definition() tool.Definition { return tool.Definition{Name: f.name, Open: true} }

func (f fake) Run(ctx context.Context, c tool.Call) (tool.Result, error) { return f.run(ctx, c) }

var _ tool.Tool = fake{}

func says(name, text string) tool.Item {
	return unattended(name, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.OK(text), nil
	})
}

func unattended(
	name string, run func(ctx context.Context, c tool.Call) (tool.Result, error),
) tool.Item {
	return tool.Item{Tool: fake{name, run}, Policy: tool.Policy{Run: tool.Unattended}}
}

func executor(t *testing.T, o tool.Options, items ...tool.Item) *tool.Executor {
	t.Helper()
	x, err := tool.NewExecutor(items, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func text(t *testing.T, r tool.Result) string {
	t.Helper()
	s, err := (&events.ToolCallResponse{Blocks: r.Blocks}).Text(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func calls(names ...string) []tool.Call {
	var cs []tool.Call
	for i, n := range names {
		cs = append(cs, tool.Call{ID: fmt.Sprint("call_", i), Name: n})
	}
	return cs
}

func TestResultsComeInCallOrderAndArriveWhenReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var items []tool.Item
		for i, d := range []time.Duration{30, 10, 20} {
			items = append(items, unattended(fmt.Sprint("t", i),
				func(context.Context, tool.Call) (tool.Result, error) {
					time.Sleep(d * time.Second)
					return tool.OK(fmt.Sprint("r", i)), nil
				}))
		}
		x := executor(t, tool.Options{}, items...)
		var order []int
		start := time.Now()
		rs, err := x.Run(t.Context(), calls("t0", "t1", "t2"), func(i int, r tool.Result) error {
			order = append(order, i)
			if text(t, r) != fmt.Sprint("r", i) {
				t.Errorf("%d arrived as %q", i, text(t, r))
			}
			return nil
		})
		if err != nil || !slices.Equal(order, []int{1, 2, 0}) || time.Since(start) != 30*time.Second {
			t.Errorf("order %v after %v (%v)", order, time.Since(start), err)
		}
		for i, r := range rs {
			if text(t, r) != fmt.Sprint("r", i) {
				t.Errorf("result %d is %q", i, text(t, r))
			}
		}
	})
}

func TestEveryCallHasAResult(t *testing.T) {
	boom := errors.New("no such thing")
	x := executor(t, tool.Options{},
		says("good", "fine"),
		unattended("bad", func(context.Context, tool.Call) (tool.Result, error) {
			return tool.OK("half"), boom
		}),
		unattended("panics", func(context.Context, tool.Call) (tool.Result, error) {
			panic("oh")
		}),
		tool.Item{Tool: says("skip", "x").Tool, Policy: tool.Policy{Run: tool.Skip}},
		tool.Item{Tool: says("asks", "x").Tool},
		tool.Item{Tool: says("hidden", "x").Tool, Policy: tool.Policy{
			Run: tool.Unattended, Result: tool.Skip,
		}},
		tool.Item{Tool: says("shown", "x").Tool, Policy: tool.Policy{
			Run: tool.Unattended, Result: tool.Ask,
		}},
	)
	rs, err := x.Run(t.Context(),
		calls("good", "bad", "panics", "skip", "asks", "hidden", "shown", "unknown"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		text  string
		error bool
	}{
		{"fine", false},
		{"half\n\nno such thing", true},
		{"Tool 'panics' crashed: oh", true},
		{"Tool skipped by configuration.", false},
		{"no user could be asked", true},
		{"Result delivery skipped by configuration.", false},
		{"no user could be asked", true},
		{"Tool 'unknown' is not available", true},
	}
	for i, w := range want {
		if got := text(t, rs[i]); !strings.Contains(got, w.text) || rs[i].IsError != w.error {
			t.Errorf("%d: %q (%t), want %q", i, got, rs[i].IsError, w.text)
		}
	}
	if !errors.Is(rs[1].Err, boom) || rs[2].Err == nil {
		t.Errorf("errors: %v, %v", rs[1].Err, rs[2].Err)
	}
}

func TestInterruptLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		deaf := unattended("deaf", func(context.Context, tool.Call) (tool.Result, error) {
			<-release
			return tool.OK("too late"), nil
		})
		polite := unattended("polite", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.OK("partial output"), ctx.Err()
		})
		quick := says("quick", "done before")
		preset := polite
		preset.Tool = fake{"preset", polite.Tool.(fake).run}
		preset.Policy.Cancelled = "the user pressed Ctrl-C"
		x := executor(t, tool.Options{Grace: 3 * time.Second}, deaf, polite, quick, preset)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			time.Sleep(time.Minute)
			cancel(&tool.Cancelled{})
		}()
		start := time.Now()
		rs, err := x.Run(ctx, calls("deaf", "polite", "quick", "preset"), nil)
		if err != nil || time.Since(start) != time.Minute+3*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		for i, want := range []string{
			"Tool call was interrupted.", "Tool call was interrupted.\n\npartial output",
			"done before", "the user pressed Ctrl-C\n\npartial output",
		} {
			if got := text(t, rs[i]); got != want || rs[i].IsError != (i != 2) {
				t.Errorf("%d: %q, want %q", i, got, want)
			}
		}
		var c *tool.Cancelled
		if !errors.As(rs[0].Err, &c) {
			t.Errorf("cause: %v", rs[0].Err)
		}
	})
}

func TestTheUsersReplyIsTheResult(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&tool.Cancelled{Reply: "use the other file"})
	rs, err := executor(t, tool.Options{}, says("a", "x")).Run(ctx, calls("a"), nil)
	if err != nil || !strings.Contains(text(t, rs[0]), "use the other file") || !rs[0].IsError {
		t.Errorf("%q (%v)", text(t, rs[0]), err)
	}
	if rs[0].Person.Did != tool.Replied {
		t.Errorf("recorded is %q", rs[0].Person.Did)
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := unattended("slow", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
		slow.Policy.Timeout = time.Minute
		x := executor(t, tool.Options{}, slow, says("quick", "q"))
		rs, err := x.Run(t.Context(), calls("slow", "quick"), nil)
		if err != nil || text(t, rs[1]) != "q" ||
			text(t, rs[0]) != "Tool 'slow' did not end within 1m0s and was stopped." || !rs[0].IsError {
			t.Errorf("%q, %q (%v)", text(t, rs[0]), text(t, rs[1]), err)
		}
	})
}

// TestSlowCallsAreTold counts the reports about a call of seven minutes.
func TestSlowCallsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := unattended("slow", func(context.Context, tool.Call) (tool.Result, error) {
			time.Sleep(7 * time.Minute)
			return tool.OK("at last"), nil
		})
		var told []string
		x := executor(t, tool.Options{Slow: func(c tool.Call, elapsed time.Duration) {
			told = append(told, c.Name+" "+elapsed.String())
		}}, slow, says("quick", "q"))
		rs, err := x.Run(t.Context(), calls("slow", "quick"), nil)
		if err != nil || text(t, rs[0]) != "at last" {
			t.Errorf("%q (%v)", text(t, rs[0]), err)
		}
		if want := []string{"slow 2m0s", "slow 4m0s", "slow 6m0s"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

func TestAnErrorOfTheReceiverEndsTheOthers(t *testing.T) {
	full := errors.New("disk is full")
	slow := unattended("slow", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	x := executor(t, tool.Options{}, says("quick", "q"), slow)
	n := 0
	rs, err := x.Run(t.Context(), calls("quick", "slow"), func(int, tool.Result) error {
		n++
		return full
	})
	if !errors.Is(err, full) || n != 1 || len(rs) != 2 || !rs[1].IsError {
		t.Errorf("%v, %d calls, %+v", err, n, rs)
	}
}

// gate answers from a script and fails if it is asked twice at once.
type gate struct {
	mu        sync.Mutex
	decisions map[string]tool.Decision
	asked     []string
	deliver   func(tool.Result) tool.Result
}

func (g *gate) Admit(_ context.Context, r tool.Request) (tool.Decision, error) {
	if !g.mu.TryLock() {
		return tool.Decision{}, errors.New("asked twice at once")
	}
	defer g.mu.Unlock()
	g.asked = append(g.asked, r.Call.Name)
	return g.decisions[r.Call.Name], nil
}

func (g *gate) Deliver(_ context.Context, _ tool.Request, r tool.Result) (tool.Result, error) {
	if !g.mu.TryLock() {
		return r, errors.New("asked twice at once")
	}
	defer g.mu.Unlock()
	return g.deliver(r), nil
}

func TestTheGateDecides(t *testing.T) {
	echo := func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.OK(string(c.Arguments)), nil
	}
	g := &gate{
		decisions: map[string]tool.Decision{
			"run": {Run: true}, "edit": {Run: true, Arguments: jsontext.Value(`{"a":2}`)},
			"reply": {Reply: "rather not"}, "result": {Run: true},
		},
		deliver: func(tool.Result) tool.Result { return tool.OK("edited") },
	}
	var items []tool.Item
	for _, name := range []string{"run", "edit", "no", "reply", "result"} {
		it := tool.Item{Tool: fake{name, echo}, Policy: tool.Policy{Run: tool.Ask}}
		if name == "result" {
			it.Policy.Result = tool.Edit
		}
		items = append(items, it)
	}
	items = append(items, says("free", "f"))
	x := executor(t, tool.Options{Gate: g}, items...)
	cs := calls("run", "edit", "no", "reply", "result", "free")
	cs[0].Arguments = jsontext.Value(`{"a":1}`)
	rs, err := x.Run(t.Context(), cs, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"a":1}`, `{"a":2}`, "Tool skipped by user.", "rather not", "edited", "f"}
	for i, w := range want {
		if got := text(t, rs[i]); got != w {
			t.Errorf("%d: %q, want %q", i, got, w)
		}
	}
	if !slices.Equal(g.asked, []string{"run", "edit", "no", "reply", "result"}) {
		t.Errorf("asked %q", g.asked)
	}
}

func TestTwoToolsOfOneName(t *testing.T) {
	if _, err := tool.NewExecutor([]tool.Item{says("a", ""), says("a", "")}, tool.Options{}); err == nil {
		t.Error("accepted")
	}
}

func TestCutIsVisible(t *testing.T) {
	long := strings.Repeat("0123456789\n", 100)
	res := events.Resource{URI: "file:///$WORKSPACE/a", Content: blobs.Loaded([]byte(long))}
	r := tool.Result{Blocks: []events.Block{
		tool.Text("head"), tool.Text(long), tool.Resource(res),
		{Type: events.BlockImage, MIMEType: "image/png", Content: blobs.Loaded(make([]byte, 99))},
		{Type: events.BlockImage, MIMEType: "image/png", Content: blobs.Loaded(make([]byte, 9))},
	}}
	got := tool.Limits{Result: 104, Batch: 1 << 20, Binary: 50}.Apply(r)
	want := "head\n\n" + long[:99] +
		"[cut: 1001 of 1100 bytes are not shown; the limit of one result is 104 bytes]\n\n" +
		"[cut: 1100 of 1100 bytes are not shown; the limit of one result is 104 bytes]\n\n" +
		"[image of 99 bytes is not shown: the limit is 50]\n\n" +
		"[image (image/png, 9 bytes)]"
	if s := text(t, got); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	if c := got.Blocks[2].Resource.Content; c.Ref() != res.Content.Ref() {
		t.Error("the identity of a resource was cut")
	}
	if r.Blocks[2].Resource.Formatted != nil || r.Blocks[1].Content.Size() != 1100 {
		t.Error("the result that was given has changed")
	}
}

func TestHeadKeepsCharacters(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 5, "abc"},
		{"abcdef", 3, "abc"},
		{"☃☃☃", 4, "☃"},
		{"☃", 2, ""},
		{"a\nbbbb", 3, "a\n"},
		{"ab\ncdefghijkl", 10, "ab\ncdefghi"},
		{"abc", 0, ""},
		{"abc", -1, ""},
	}
	for _, tt := range tests {
		if got := tool.Head([]byte(tt.in), tt.n); string(got) != tt.want {
			t.Errorf("%q, %d: %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestABatchSharesItsLimit(t *testing.T) {
	long := strings.Repeat("x", 1000)
	var items []tool.Item
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprint("t", i))
		items = append(items, says(names[i], long))
	}
	x := executor(t, tool.Options{Limits: tool.Limits{Result: 600, Batch: 3000}}, items...)
	rs, err := x.Run(t.Context(), calls(names...), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rs {
		if s := text(t, r); !strings.HasPrefix(s, long[:300]+"\n[cut: 700 of 1000") {
			t.Errorf("%d: %.40q… of %d", i, s, len(s))
		}
	}
	rs, err = x.Run(t.Context(), calls("t0"), nil)
	if s := text(t, rs[0]); err != nil || !strings.HasPrefix(s, long[:600]+"\n[cut: 400") {
		t.Errorf("alone: %.40q… (%v)", s, err)
	}
}

// askerFunc is an Asker.
type askerFunc func(context.Context, tool.Question) (jsontext.Value, error)

func (f askerFunc) Ask(ctx context.Context, q tool.Question) (jsontext.Value, error) {
	return f(ctx, q)
}

// TestTimeOfAPersonIsNotThatOfACall has a tool that works, asks, and continues: the user's time
// does not count, and the tool's time does, before and after.
func TestTimeOfAPersonIsNotThatOfACall(t *testing.T) {
	for _, tc := range []struct {
		before, after time.Duration
		want          string
	}{
		{4 * time.Minute, 5 * time.Minute, "done"},
		{4 * time.Minute, 7 * time.Minute, "Tool 'asks' did not end within 10m0s and was stopped."},
	} {
		synctest.Test(t, func(t *testing.T) {
			work := func(ctx context.Context, d time.Duration) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(d):
					return nil
				}
			}
			asks := unattended("asks", func(ctx context.Context, c tool.Call) (tool.Result, error) {
				if err := work(ctx, tc.before); err != nil {
					return tool.Result{}, err
				}
				// Like a server, in a context that is not derived from the call's.
				if _, err := c.Asker.Ask(context.WithoutCancel(t.Context()), tool.Question{}); err != nil {
					return tool.Result{}, err
				}
				if err := work(ctx, tc.after); err != nil {
					return tool.Result{}, err
				}
				return tool.OK("done"), nil
			})
			asks.Policy.Timeout = 10 * time.Minute
			var slow []time.Duration
			x := executor(t, tool.Options{
				Now: time.Now, SlowAfter: 3 * time.Minute,
				Slow: func(_ tool.Call, elapsed time.Duration) { slow = append(slow, elapsed) },
			}, asks)
			all := calls("asks")
			all[0].Asker = askerFunc(func(ctx context.Context, _ tool.Question) (jsontext.Value, error) {
				defer tool.Waiting(ctx)()
				time.Sleep(time.Hour)
				return jsontext.Value("true"), nil
			})
			rs, err := x.Run(t.Context(), all, nil)
			if err != nil || text(t, rs[0]) != tc.want {
				t.Errorf("%q (%v), want %q", text(t, rs[0]), err, tc.want)
			}
			if len(slow) < 2 || slow[0] != 3*time.Minute || slow[1] < time.Hour {
				t.Errorf("told of %v, also while somebody was asked", slow)
			}
		})
	}
}
