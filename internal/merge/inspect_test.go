package merge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/secrets"
)

const blendDir = ".jp/conversations/17800000000-x/"

// turnOf returns the elements of a turn on the given day.
func turnOf(day, question string) string {
	at := `{"timestamp":"2026-01-` + day + ` 00:00:0`
	return at + `0.0","type":"turn_start"},` + "\n" +
		at + `1.0","type":"chat_request","content":"` + question + `"},` + "\n" +
		at + `2.0","type":"chat_response","message":"yes"}`
}

func streamOf(turns ...string) string { return "[\n" + strings.Join(turns, ",\n") + "\n]\n" }

func metadataOf(day, labels string) string {
	return `{"last_activated_at":"2026-01-` + day + ` 00:00:00.0","title":"x",` + labels + `}` + "\n"
}

// TestBlends compares a merge commit, however it was made, with the drivers' merge of its parents.
func TestBlends(t *testing.T) {
	first, ours, theirs := turnOf("01", "First?"), turnOf("02", "Ours?"), turnOf("03", "Theirs?")
	both := streamOf(first, ours, theirs)
	const mine, yours = `"a":1`, `"b":2`
	good := metadataOf("03", `"a":1,"b":2`)
	for name, tt := range map[string]struct {
		ours, theirs, merged string // streams
		metadata             string // of the merge
		want                 map[string]merge.Outcome
	}{
		"as the drivers": {
			streamOf(first, ours), streamOf(first, theirs), both, good,
			map[string]merge.Outcome{"events.json": merge.Same},
		},
		"goes on": {
			streamOf(first, ours), streamOf(first, theirs),
			streamOf(first, ours, theirs, turnOf("04", "More?")), good,
			map[string]merge.Outcome{"events.json": merge.Same},
		},
		"no JSON": {
			streamOf(first, ours), streamOf(first, theirs), both + ",", `{"a":1,,"b":2}`,
			map[string]merge.Outcome{"events.json": merge.TextMerged, "metadata.json": merge.TextMerged},
		},
		"twice the same": {
			streamOf(first, ours), streamOf(first, theirs), streamOf(first, ours, ours, theirs),
			good,
			map[string]merge.Outcome{"events.json": merge.TextMerged},
		},
		"a turn is gone": {
			streamOf(first, ours), streamOf(first, theirs), streamOf(ours, theirs), good,
			map[string]merge.Outcome{"events.json": merge.TextMerged},
		},
		"one side was taken": {
			streamOf(first, ours), streamOf(first, theirs), streamOf(first, ours), good,
			map[string]merge.Outcome{"events.json": merge.Decided},
		},
		"the end is gone": {
			streamOf(first, ours, turnOf("04", "More?")), streamOf(first, theirs),
			streamOf(first, ours), good,
			map[string]merge.Outcome{"events.json": merge.TextMerged},
		},
		"somebody rewrote it": {
			streamOf(first, ours), streamOf(first, theirs),
			streamOf(turnOf("01", "Rewritten?"), ours, theirs), good,
			map[string]merge.Outcome{"events.json": merge.Altered},
		},
		"a conflict was decided": {
			streamOf(turnOf("01", "A?")), streamOf(turnOf("01", "B?")),
			streamOf(turnOf("01", "C?")), good,
			map[string]merge.Outcome{"events.json": merge.Decided},
		},
		"a conflict has markers": {
			streamOf(turnOf("01", "A?")), streamOf(turnOf("01", "B?")), "<<<<<<<\n", good,
			map[string]merge.Outcome{"events.json": merge.TextMerged},
		},
		"only one side changed it": {
			streamOf(first, ours), streamOf(first), streamOf(first), good, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.Repo(t)
			write := func(stream, metadata string) {
				r.WriteFile(blendDir+"events.json", stream)
				r.WriteFile(blendDir+"metadata.json", metadata)
			}
			write(streamOf(first), metadataOf("01", `"c":3`))
			r.Commit("base")
			r.Run("checkout", "-q", "-b", "theirs")
			write(tt.theirs, metadataOf("03", yours))
			r.Commit("theirs")
			r.Run("checkout", "-q", "main")
			write(tt.ours, metadataOf("02", mine))
			r.Commit("ours")
			write(tt.merged, tt.metadata)
			r.Run("add", ".")
			tree := strings.TrimSpace(r.Run("write-tree"))
			compareBlends(t, r, tree, tt.want)
		})
	}
}

func compareBlends(
	t *testing.T, r *gittest.Repository, tree string, want map[string]merge.Outcome,
) {
	t.Helper()
	got := map[string]merge.Outcome{}
	for _, b := range mergedFiles(t, r, tree) {
		name := strings.TrimPrefix(b.Path, blendDir)
		got[name] = b.Outcome
		if b.Outcome == merge.TextMerged && b.Conflicts == 0 && !json.Valid(b.Data) {
			t.Errorf("%s would become\n%s", name, b.Data)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, outcome := range want {
		if got[name] != outcome {
			t.Errorf("%s is %q, want %q", name, got[name], outcome)
		}
	}
}

// TestMisplaced tests files that git merged into those of another conversation. Conversations x and
// y begin with the same turn; ours changed x, theirs changed y.
func TestMisplaced(t *testing.T) {
	const x, y = blendDir, ".jp/conversations/17800000001-y/"
	const config = `{"z":1}` + "\n"
	first, second := turnOf("01", "First?"), turnOf("02", "Second?")
	ours, theirs := turnOf("03", "Ours?"), turnOf("04", "Theirs?")
	wasX, wasY := streamOf(first), streamOf(first, second)
	oursX, theirsY := streamOf(first, ours), streamOf(first, second, theirs)
	for name, tt := range map[string]struct {
		theirsY, merged string // streams of y, and of x in the merge
		misplaced       bool
	}{
		"the only change":         {theirsY, oursX, false},
		"the other file":          {theirsY, theirsY, true},
		"a part of it":            {theirsY, streamOf(first, ours, theirs), true},
		"of a person":             {theirsY, streamOf(first, ours, turnOf("05", "New?")), false},
		"the base, by a person":   {theirsY, wasX, false},
		"of one as it was before": {wasY, streamOf(first, ours, second), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.Repo(t)
			r.WriteFile(x+"events.json", wasX)
			r.WriteFile(y+"events.json", wasY)
			r.WriteFile(x+"base_config.json", "{}\n")
			r.WriteFile(y+"base_config.json", config)
			r.Commit("base")
			r.Run("checkout", "-q", "-b", "theirs")
			r.WriteFile(y+"events.json", tt.theirsY)
			r.WriteFile("other", name)
			r.Commit("theirs")
			r.Run("checkout", "-q", "main")
			r.WriteFile(x+"events.json", oursX)
			r.WriteFile(x+"base_config.json", config) // is that of y, and the only change
			r.Commit("ours")
			r.WriteFile(x+"events.json", tt.merged)
			r.WriteFile(y+"events.json", tt.theirsY)
			r.Run("add", ".")
			found := mergedFiles(t, r, strings.TrimSpace(r.Run("write-tree")))
			switch {
			case !tt.misplaced && len(found) == 0:
			case !tt.misplaced, len(found) != 1, found[0].Outcome != merge.Misplaced,
				found[0].Path != x+"events.json", string(found[0].Data) != oursX:
				t.Errorf("found %+v", found)
			}
		})
	}
}

// TestMisplacedAndRedacted: what a misplaced file should have is the only version, without the text
// that an entry of the merge redacts.
func TestMisplacedAndRedacted(t *testing.T) {
	const x, y, text = blendDir, ".jp/conversations/17800000001-y/", "Ours?"
	first, ours, theirs := turnOf("01", "First?"), turnOf("03", text), turnOf("04", "Theirs?")
	stream, err := events.Decode([]byte(streamOf(first, ours)))
	if err != nil {
		t.Fatal(err)
	}
	entry := secrets.Redaction{
		Conversation: "17800000000", Event: stream.Keys()[4], Member: "/content",
		Ranges: []secrets.Range{
			secrets.NewRange([]byte(text), secrets.Match{End: len(text), Rule: "text"}),
		},
	}
	r := gittest.Repo(t)
	r.WriteFile(x+"events.json", streamOf(first))
	r.WriteFile(y+"events.json", streamOf(first))
	r.Commit("base")
	r.Run("checkout", "-q", "-b", "theirs")
	r.WriteFile(y+"events.json", streamOf(first, theirs))
	r.WriteFile(".jp/"+entry.Name(), string(entry.Encode()))
	r.Commit("theirs")
	r.Run("checkout", "-q", "main")
	r.WriteFile(x+"events.json", streamOf(first, ours))
	r.Commit("ours")
	r.Run("merge", "-q", "--no-commit", "-s", "ours", "theirs")
	r.Run("checkout", "-q", "theirs", "--", ".")
	r.WriteFile(x+"events.json", streamOf(first, theirs))
	r.Run("add", ".")
	found := mergedFiles(t, r, strings.TrimSpace(r.Run("write-tree")))
	if len(found) != 1 || found[0].Outcome != merge.Misplaced ||
		strings.Contains(string(found[0].Data), text) ||
		!strings.Contains(string(found[0].Data), "[redacted:text]") {
		t.Errorf("found %+v: %s", found, found[0].Data)
	}
}

// TestMisplacedWithSeveralBases: with several merge bases it is not certain which version is the
// only one.
func TestMisplacedWithSeveralBases(t *testing.T) {
	const x, y = blendDir, ".jp/conversations/17800000001-y/"
	first, ours, theirs := turnOf("01", "First?"), turnOf("03", "Ours?"), turnOf("04", "Theirs?")
	r := gittest.Repo(t)
	commit := func(name, stream string) {
		r.WriteFile(name+"events.json", stream)
		r.Commit("change")
	}
	commit(y, streamOf(first))
	r.Run("branch", "theirs")
	commit("one-", "{}")
	r.Run("checkout", "-q", "theirs")
	commit("other-", "{}")
	r.Run("merge", "-q", "--no-edit", "main")
	r.Run("checkout", "-q", "main")
	r.Run("merge", "-q", "--no-edit", "theirs^")
	commit(x, streamOf(first, ours)) // theirs lacks it
	r.Run("checkout", "-q", "theirs")
	commit(y, streamOf(first, theirs))
	r.Run("checkout", "-q", "main")
	r.Run("checkout", "-q", "theirs", "--", y)
	r.WriteFile(x+"events.json", streamOf(first, theirs))
	r.Run("add", ".")
	if n := len(strings.Fields(r.Run("merge-base", "--all", "main", "theirs"))); n != 2 {
		t.Fatalf("%d bases", n)
	}
	found := mergedFiles(t, r, strings.TrimSpace(r.Run("write-tree")))
	if slices.ContainsFunc(found, func(f merge.MergedFile) bool { return f.Outcome == merge.Misplaced }) {
		t.Errorf("found %+v", found)
	}
}

// mergedFiles returns those of a merge of main and theirs whose result is a tree.
func mergedFiles(t *testing.T, r *gittest.Repository, tree string) []merge.MergedFile {
	t.Helper()
	repo := opened(t, r)
	var parents []gitint.OID
	for _, rev := range []string{"main", "theirs"} {
		id, err := repo.Resolve(t.Context(), rev)
		if err != nil {
			t.Fatal(err)
		}
		parents = append(parents, id)
	}
	snap, err := repo.Tree(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	files, err := merge.Merge{Repo: repo, Parents: parents, Dirs: []string{".jp"}}.
		MergedFiles(t.Context(), snap)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
