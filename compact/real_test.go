package compact_test

import (
	"os"
	"path/filepath"
	"testing"

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
