package compact_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
)

// TestAutoStopsAtItsGoal checks the order of least loss, and that nothing is removed without need.
func TestAutoStopsAtItsGoal(t *testing.T) {
	s := worker(6)
	whole := run(t, s, compact.Options{KeepLast: 1})
	steps := func(r *compact.Result) string {
		var names []string
		for _, st := range r.Report.Steps {
			if !strings.HasPrefix(st.Reason, "not needed") {
				names = append(names, st.Strategy)
			}
		}
		return strings.Join(names, " ")
	}
	if got := steps(whole); got != "strip-reasoning dedup-tools strip-tool-results prune-tools" {
		t.Errorf("without a goal: %s", got)
	}
	before := int64(whole.Report.TokensBefore)
	for name, test := range map[string]struct {
		o    compact.Options
		want string
	}{
		"reached at once":      {compact.Options{Budget: before + 1}, ""},
		"reached soon":         {compact.Options{Budget: before - 100}, "strip-reasoning"},
		"a window":             {compact.Options{Window: 4 * before, Threshold: 0.5}, "strip-reasoning dedup-tools strip-tool-results prune-tools"},
		"hardly to be had":     {compact.Options{Budget: 10}, "strip-reasoning dedup-tools strip-tool-results prune-tools strip-tool-results summarize"},
		"a threshold of zero":  {compact.Options{Window: 1 << 40}, "strip-reasoning dedup-tools strip-tool-results prune-tools strip-tool-results summarize"},
		"above the threshold":  {compact.Options{Window: before, Threshold: 0.01}, "strip-reasoning dedup-tools strip-tool-results prune-tools strip-tool-results summarize"},
		"above so many tokens": {compact.Options{Window: 1 << 40, Threshold: 0.5, Most: 10}, "strip-reasoning dedup-tools strip-tool-results prune-tools strip-tool-results summarize"},
		"the same, anywhere":   {compact.Options{Most: 10}, "strip-reasoning dedup-tools strip-tool-results prune-tools strip-tool-results summarize"},
		"below so many tokens": {compact.Options{Most: before}, "strip-reasoning dedup-tools strip-tool-results prune-tools"},
		"above the window":     {compact.Options{Window: 10, Threshold: 0.5}, "strip-reasoning dedup-tools strip-tool-results prune-tools strip-tool-results strip-tool-results summarize"},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.KeepLast = 1
			got := run(t, s, test.o)
			if steps(got) != test.want {
				t.Errorf("ran %q, want %q", steps(got), test.want)
			}
			for _, st := range got.Report.Steps {
				if st.Reason == "" {
					t.Errorf("%s does not say why", st.Strategy)
				}
			}
		})
	}
}

// TestLastReadsGoOnlyUnderOverflow checks that the last complete read of a file is kept as long as
// the model's window has room, and that removing it is a separate step.
func TestLastReadsGoOnlyUnderOverflow(t *testing.T) {
	s := new(talk).turn("1").call("Read", `{"file_path":"/r/a"}`, "     1→"+long).call("Bash", `{}`, long).
		turn("2").say("m").stream()
	for _, test := range []struct {
		window int64
		want   string
	}{
		{0, "T q(1) +c1 -c1(     1→" + long + ") +c2 -c2(" + long + ") T q(2) m(m)"},
		{900, "T q(1) +c1 -c1(     1→" + long + ") +c2 -c2([compacted] Bash: success\na line of the file that was read) T q(2) m(m)"},
		{300, "T q(1) +c1 -c1([compacted] Read: success\n     1→a line of the file that was read) " +
			"+c2 -c2([compacted] Bash: success\na line of the file that was read) T q(2) m(m)"},
	} {
		r := run(t, s, compact.Options{KeepLast: 1, Window: test.window, Threshold: 0.5, Summarizer: &scribe{drafts: []compact.Draft{{}}}})
		if got := told(r.Stream); got != test.want {
			t.Errorf("window %d, of %.0f: got %s", test.window, r.Report.TokensBefore, got)
		}
		if last := r.Report.Steps[len(r.Report.Steps)-2]; test.window == 300 &&
			(last.Changed != 1 || !strings.Contains(last.Reason, "overflow")) {
			t.Errorf("the step is %+v", last)
		}
	}
}

// TestKeepCalls checks that in one long turn the last calls are kept and earlier ones removed, and
// that otherwise the report says why there is nothing to gain.
func TestKeepCalls(t *testing.T) {
	k := new(talk).turn("1")
	for range 4 {
		k.think("hm").call("fs_grep_files", "{}", long)
	}
	s := k.say("done").stream()
	all := []string{compact.StripReasoning, compact.DedupTools, compact.StripToolResults, compact.Summarize}
	stub := "[compacted] fs_grep_files: success\na line of the file that was read"
	got := run(t, s, compact.Options{KeepLast: 1, KeepCalls: 2, Strategies: []string{compact.StripReasoning, compact.StripToolResults}})
	want := "T q(1) +c1 -c1(" + stub + ") +c2 -c2(" + stub + ") +c3 -c3(" + long + ") r(hm) +c4 -c4(" + long + ") m(done)"
	if told(got.Stream) != want {
		t.Errorf("got %s", told(got.Stream))
	}
	if err := run(t, s, compact.Options{KeepCalls: 2, Strategies: all}).Stream.Validate(); err != nil {
		t.Error(err)
	}
	idle := run(t, s, compact.Options{KeepLast: 1, Strategies: all}).Report
	if idle.Changed() || idle.Idle != "its turns are 1, and the last 1 are left alone" {
		t.Errorf("nothing to gain, because %q", idle.Idle)
	}
	if busy := run(t, s, compact.Options{KeepLast: 0, Strategies: all}).Report; busy.Idle != "" || !busy.Changed() {
		t.Errorf("with 0: %q", busy.Idle)
	}
	open := new(talk).turn("1").think("hm").call("fs_grep_files", "{}", long).think("hm").call("fs_grep_files", "{}", long).stream()
	got = run(t, open, compact.Options{KeepCalls: 1, Strategies: []string{compact.StripReasoning, compact.StripToolResults}})
	if want := "T q(1) r(hm) +c1 -c1(" + stub + ") r(hm) +c2 -c2(" + long + ")"; told(got.Stream) != want {
		t.Errorf("of an open turn: %s", told(got.Stream))
	}
}
