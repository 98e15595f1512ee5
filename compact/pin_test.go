package compact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// pinning returns a conversation from which each strategy would remove something.
func pinning() *talk {
	k := new(talk).add(&events.TurnStart{}).ask("one", attached("a.go", long)).think("hm").
		call("fs_read_file", `{"path":"b.go"}`, long).call("fs_read_file", `{"path":"b.go"}`, long).say(long)
	return k.turn("two").think("hm").call("fs_grep_files", `{"pattern":"x"}`, long).say(long).
		turn("three").call("fs_read_file", `{"path":"b.go"}`, long).say("m").turn("four").say("m")
}

// everything runs all mechanical strategies and a summary.
func everything(t *testing.T, s *events.Stream) string {
	t.Helper()
	o := compact.Options{KeepLast: 1, Summarizer: &scribe{drafts: []compact.Draft{brief("S")}}}
	o.Strategies = slices.Concat(compact.Mechanical(), []string{compact.ClassifyTangents, compact.Summarize})
	o.Classifier = &finder{found: []compact.Tangent{{Turn: 1}, {Turn: 2}, {Turn: 3}}}
	o.Confirm = func(all []compact.Tangent) []compact.Tangent { return all }
	return told(run(t, s, o).Stream)
}

// TestPins checks that nothing pinned is removed by any compaction, and that it is removed once it
// is unpinned.
func TestPins(t *testing.T) {
	one := "q(one) r(hm) +c1 -c1(" + long + ") +c2 -c2(" + long + ") m(" + long + ")"
	for name, want := range map[string]string{
		"1": one, "-3": "q(two) r(hm) +c3 -c3(" + long + ") m(" + long + ")",
		"c3": "+c3 -c3(" + long + ")", "b.go": "-c1(" + long + ")", "./a.go": "q(one)",
	} {
		t.Run(name, func(t *testing.T) {
			s := pinning().stream()
			free := everything(t, s)
			if strings.Contains(free, want) {
				t.Fatalf("without a pin: %s", free)
			}
			held, n := compact.Pin(s, name)
			if got := everything(t, held); n == 0 || !strings.Contains(got, want) {
				t.Errorf("%d pinned, got %s\nwant %s", n, got, want)
			}
			if err := held.Validate(); err != nil {
				t.Error(err)
			}
			loose, n := compact.Unpin(held, name)
			if got := everything(t, loose); n == 0 || got != free {
				t.Errorf("%d unpinned, got %s", n, got)
			}
			if string(loose.Encode()) != string(s.Encode()) {
				t.Error("a removed pin left something")
			}
		})
	}
	for _, name := range []string{"0", "9", "-9", "c9", "other.go", "go"} {
		if _, n := compact.Pin(pinning().stream(), name); n != 0 {
			t.Errorf("%q means %d places", name, n)
		}
	}
}

// TestPinsHoldAttachments checks that pinning a file keeps it attached.
func TestPinsHoldAttachments(t *testing.T) {
	s, _ := compact.Pin(pinning().stream(), "a.go")
	r := run(t, s, compact.Options{Strategies: []string{compact.StripAttachments}, KeepLast: 1})
	if q, ok := r.Stream.At(1).Event().(*events.ChatRequest); !ok || len(q.Resources) != 1 {
		t.Errorf("what was attached is gone: %+v", q)
	}
}

// TestPinsHoldInOverlays checks that overlay policies apply to the turns around pinned elements.
func TestPinsHoldInOverlays(t *testing.T) {
	s, _ := compact.Pin(pinning().stream(), "c3")
	policy, err := compact.ParsePolicy("r+t=omit:1..4")
	if err != nil {
		t.Fatal(err)
	}
	out, made, err := compact.Overlay{Now: second(100)}.Apply(t.Context(), s, []compact.Policy{policy})
	if err != nil || len(made) != 2 {
		t.Fatalf("%d compactions, %v", len(made), err)
	}
	got := told(out.Project().Stream)
	if !strings.Contains(got, "T q(two) r(hm) +c3 -c3("+long+")") || strings.Contains(got, "+c1") {
		t.Errorf("got %s", got)
	}
}
