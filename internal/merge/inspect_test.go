package merge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
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
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() //nolint:errcheck // was only read
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
	got := map[string]merge.Outcome{}
	for _, b := range files {
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
