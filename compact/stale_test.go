package compact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	readA  = `{"file_path":"/r/a.go"}`
	readB  = `{"file_path":"/r/b.go"}`
	editA  = `{"file_path":"/r/a.go","old_string":"x","new_string":"y"}`
	keyA   = "file:///r/a.go"
	stubA  = "[superseded] Read: the file was changed after this"
	always = "The file /r/a.go has been updated."
)

func anyFile(string) bool { return true }

// outdated returns the stale reads of a conversation as element, writing element and file.
func outdated(t *testing.T, s *events.Stream) (all []string) {
	t.Helper()
	found, err := compact.Obsolete(s, compact.ObsoleteOptions{Stale: anyFile})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		all = append(all, fmt.Sprint(f.Element, f.By, " ", f.Stale))
	}
	return all
}

// TestStaleReads checks which results a write makes obsolete: earlier reads of that file, and
// nothing if it is uncertain that it was written.
func TestStaleReads(t *testing.T) {
	for name, test := range map[string]struct {
		talk *talk
		want []string
	}{
		"a read":                    {new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always), []string{"3 5 " + keyA}},
		"of another file":           {new(talk).turn("1").call("Read", readB, long).call("Edit", editA, always), nil},
		"the read behind the write": {new(talk).turn("1").call("Edit", editA, always).call("Read", readA, long), nil},
		"a write that failed":       {new(talk).turn("1").call("Read", readA, long).call("Edit", editA, "!no such text"), nil},
		"a write that was refused": {
			new(talk).turn("1").call("Read", readA, long).call("Edit", editA, "Tool skipped by user: no"), nil,
		},
		"read again since": {
			new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).call("Read", readA, long),
			[]string{"3 7 "},
		},
		"what was attached": {
			new(talk).add(&events.TurnStart{}).ask("1", attached("a.go", long)).
				call("fs_modify_file", `{"path":"a.go","patterns":[]}`, "done"),
			[]string{"1 3 file:///$WORKSPACE/a.go"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, outdated(t, test.talk.stream())); diff != "" {
				t.Error(diff)
			}
			pin, n := compact.Pin(test.talk.stream(), "1")
			if got := outdated(t, pin); n == 0 || got != nil {
				t.Errorf("of a pinned turn %v goes", got)
			}
		})
	}
	found, err := compact.Obsolete(new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).stream(),
		compact.ObsoleteOptions{})
	if err != nil || len(found) != 0 {
		t.Errorf("unasked: %v, %v", found, err)
	}
}

// TestStaleStubs checks the replacement of a stale read, and that the read is sent again if the
// write, or whatever has the file since, is missing.
func TestStaleStubs(t *testing.T) {
	s := new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).turn("2").stream()
	marked := s.Clone()
	by := []*events.Element{s.At(5), s.At(7)}
	marked.Set(3, dedup.WithStale(s.At(3), by, keyA, true))
	if got := told(dedup.Trim(marked)); !strings.Contains(got, "-c1("+stubA+", a later message has it: /r/a.go)") {
		t.Errorf("got %s", got)
	}
	marked.Set(3, dedup.WithStale(s.At(3), by[:1], "file:///$WORKSPACE/src/a.go", false))
	if got := told(dedup.Trim(marked)); !strings.Contains(got, "-c1("+stubA+")") {
		t.Errorf("got %s", got)
	}
	marked.Set(3, dedup.WithStale(s.At(3), by, keyA, true))
	for n, cut := range []int{7, 4} {
		c := marked.Clone()
		c.Remove(cut, c.Len()-cut)
		if got := told(dedup.Trim(c)); !strings.Contains(got, "-c1("+long+")") {
			t.Errorf("%d: it is not given again: %s", n, got)
		}
	}
}

// TestFilesThatAreWorkedOn checks that a model which continues to work on a file does not lose it:
// its stale reads are kept, unless the question that opens a turn has the current file attached and
// is smaller that way.
func TestFilesThatAreWorkedOn(t *testing.T) {
	s := new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).say("m").turn("2").stream()
	later := new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).say("m").
		turn("2").say("m").turn("3").stream()
	for name, test := range map[string]struct {
		stream   *events.Stream
		opens    bool
		cold     bool
		current  float64
		goes     bool
		attached bool
	}{
		"in the turn":         {new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).stream(), false, false, 10, false, false},
		"in the turn, coldly": {new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).stream(), false, true, 10, true, true},
		"a question":          {s, true, false, 10, true, true},
		"nobody can look":     {s, true, false, -1, false, false},
		"it is larger now":    {s, true, false, 1e6, false, false},
		"in the next turn":    {s, false, false, 10, true, false},
		"nobody went on":      {later, true, false, -1, true, false},
		"nobody went on, too": {later, false, false, -1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := compact.HistoryOf(test.stream, compact.ObsoleteOptions{Stale: anyFile})
			if err != nil {
				t.Fatal(err)
			}
			h.Current = func(key string, _ int) (float64, bool) {
				return test.current, test.current >= 0 && key == keyA
			}
			p, attached := h.Pending(test.opens, test.cold)
			if goes := p.Tokens > 0; goes != test.goes || (len(h.Obsolete) == 1) != goes || (len(h.Trims) == 1) != goes {
				t.Errorf("%.0f tokens go, of %v", p.Tokens, h.Obsolete)
			}
			if got := attached[keyA] == test.current; got != test.attached {
				t.Errorf("attached are %v", attached)
			}
		})
	}
}

// TestStaleNeverCosts checks the promise of the default for reads and writes of a few files, in any
// order, at any time, whatever the size of the files by then; and that no schedule is below the
// bound, which counts nothing that is sent again.
func TestStaleNeverCosts(t *testing.T) {
	trimmed, given := 0, 0.0
	rapid.Check(t, func(t *rapid.T) {
		k := new(talk)
		for n := range rapid.IntRange(3, 8).Draw(t, "turns") {
			k.turn(fmt.Sprint("question ", n))
			for range rapid.IntRange(2, 6).Draw(t, "calls") {
				file := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "file")
				size := rapid.IntRange(500, 3000).Draw(t, "size")
				switch rapid.IntRange(0, 3).Draw(t, "writes") {
				case 0:
					k.part(file, size, 2*size)
				case 1:
					k.call("Read", `{"file_path":"/r/`+file+`"}`, strings.Repeat(file+" is a line\n", size))
				default:
					k.call("Edit", `{"file_path":"/r/`+file+`","old_string":"x","new_string":"y"}`, always)
					k.call("fs_modify_file", `{"path":"`+file+`","patterns":[]}`, "done")
				}
			}
			k.say("answer")
		}
		o := compact.ObsoleteOptions{Stale: anyFile}
		if rapid.Bool().Draw(t, "deduplicated") {
			o.Dedup = onArrival()
		}
		h, err := compact.HistoryOf(k.stream(), o)
		if err != nil {
			t.Fatal(err)
		}
		at := second(0)
		for i := range h.Exchanges {
			at = at.Add(time.Duration(rapid.SampledFrom([]int{1, 20, 2000}).Draw(t, "minutes")) * time.Minute)
			h.Exchanges[i].At = at
		}
		h.Base = rapid.Float64Range(0, 20000).Draw(t, "base")
		size := rapid.Float64Range(0, 3000).Draw(t, "current")
		h.Current = func(string, int) (float64, bool) { return size, size > 100 }
		m := markets().Draw(t, "market")
		p := provider(t, m)
		nothing, cold := compact.Replay(h, compact.Never, m, p), compact.Replay(h, compact.Cold, m, p)
		trimmed, given = trimmed+cold.Trimmed, given+cold.Attached
		if cold.Units > nothing.Units*(1+1e-9) {
			t.Fatalf("cold costs %f, nothing %f\n%+v\n%+v", cold.Units, nothing.Units, m, p)
		}
		overBound(t, h, m, p)
	})
	if trimmed == 0 || given == 0 {
		t.Errorf("%d were trimmed, %f attached", trimmed, given)
	}
}

// TestWasteIsOfWhatIsGiven checks that content that a model is no longer given does not count as
// waste.
func TestWasteIsOfWhatIsGiven(t *testing.T) {
	s := new(talk).turn("1").call("Read", readA, long).call("Edit", editA, always).turn("2").say("m").stream()
	stale := func(s *events.Stream) int64 {
		out, err := compact.Survey(t.Context(), s, compact.Options{Now: second(0)})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range out.Waste {
			if w.Name == "stale reads" {
				return w.Bytes
			}
		}
		return -1
	}
	if got := stale(s); got != int64(len(long)) {
		t.Errorf("%d bytes of stale reads", got)
	}
	hidden := s.Clone()
	hidden.Append(events.NewElement(second(99), &events.Compaction{
		ToolCalls: &events.ToolCallPolicy{Omit: true},
	}, events.Metadata{}))
	marked := s.Clone()
	marked.Set(3, dedup.WithStale(s.At(3), []*events.Element{s.At(5)}, keyA, false))
	for name, s := range map[string]*events.Stream{"an overlay hides it": hidden, "it was trimmed": marked} {
		if got := stale(s); got >= int64(len(long)) {
			t.Errorf("%s: %d bytes of stale reads", name, got)
		}
	}
}
