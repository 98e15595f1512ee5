package compact_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
)

// real reads the real conversations, by the digits of their ids.
func real(t testing.TB) map[string]*events.Stream {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(realdata.Dir(t, "conversations"), "*", "events.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	all := map[string]*events.Stream{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := events.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(name))[:11]] = s
	}
	return all
}

// TestRealConversations runs every strategy on real conversations. With -v it prints the table
// of docs/performance.md.
func TestRealConversations(t *testing.T) {
	var total compact.Stats
	saved := map[string]int64{}
	waste := map[string]int64{}
	var bytes int64
	for id, s := range real(t) {
		stats, err := compact.Survey(t.Context(), s, compact.Options{KeepLast: 1, Now: second(0)})
		if err != nil {
			t.Fatal(err)
		}
		total.Events += stats.Events
		bytes += stats.Bytes
		row := ""
		for _, st := range stats.Strategies {
			if st.Bytes < 0 && st.Name != compact.PruneTools {
				t.Errorf("%s: %s makes it larger by %d bytes", id, st.Name, -st.Bytes)
			}
			saved[st.Name] += st.Bytes
			row += percent(st.Bytes, stats.Bytes) + " | "
		}
		out := run(t, s, compact.Options{KeepLast: 1})
		if err := out.Stream.Validate(); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		saved[compact.Auto] += out.Report.BytesBefore - out.Report.BytesAfter
		t.Logf("| %s | %d | %s%s |", id, stats.Bytes, row,
			percent(out.Report.BytesBefore-out.Report.BytesAfter, out.Report.BytesBefore))
		for _, w := range stats.Waste {
			waste[w.Name] += w.Bytes
		}
		for _, x := range stats.Sorts {
			waste["kind "+x.Name] += x.Bytes
		}
	}
	for name, n := range waste {
		t.Logf("%s: %s", name, percent(n, bytes))
	}
	for name, n := range saved {
		t.Logf("%s saves %s", name, percent(n, bytes))
	}
	if total.Events == 0 || saved[compact.StripToolResults] == 0 || saved[compact.DedupTools] == 0 {
		t.Error("nothing was saved")
	}
}

// regimes are the price regimes of the published replay, in units of a token read in full.
func regimes() map[string]compact.Market {
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	of := func(w, r float64, ttl time.Duration) compact.Market {
		return compact.Market{Input: 1, Read: r, Write: w, TTL: ttl, Gone: ttl, Minimum: 1024}
	}
	return map[string]compact.Market{
		"Anthropic 5 m": of(1.25, 0.1, hours(1.0/12)), "Anthropic 1 h": of(2, 0.1, hours(1)),
		"OpenAI 5.6 (30 m)": of(1.25, 0.1, hours(0.5)), "w 1, r .1 (10 m)": of(1, 0.1, hours(1.0/6)),
		"DeepSeek (24 h)": of(1, 0.0083, hours(24)), "w 1, r .25 (10 m)": of(1, 0.25, hours(1.0/6)),
		"no cache": {Input: 1, Read: 1, Write: 1},
	}
}

// TestRealReplay holds the promises of the schedules on real conversations: the default makes
// none of them dearer. With -v it prints the table of docs/performance.md.
func TestRealReplay(t *testing.T) {
	histories := map[string]compact.History{}
	for id, s := range real(t) {
		h, err := compact.HistoryOf(s, compact.ObsoleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		h.Base = 8000 // the system prompt and the tools, about which nothing is recorded
		histories[id] = h
	}
	for name, m := range regimes() {
		for _, s := range compact.Schedules()[1:] {
			var never, cost, worst float64
			for id, h := range histories {
				a := compact.Replay(h, compact.Never, m, m.Promised()).Units
				b := compact.Replay(h, s, m, m.Promised()).Units
				never, cost = never+a, cost+b
				if a > 0 {
					worst = max(worst, b/a-1)
				}
				if s == compact.Cold && b > a {
					t.Errorf("%s: %s costs %.0f with the default, %.0f without", name, id, b, a)
				}
			}
			t.Logf("| %s | %s | %+.2f %% | %+.1f %% |", name, s, 100*(cost/never-1), 100*worst)
			if s == compact.Balanced && cost > never*1.02 {
				t.Errorf("%s: balanced costs %.0f, nothing %.0f", name, cost, never)
			}
		}
	}
}
