package merge_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
)

// TestKeptSinceItWasAddedAgain: of a conversation that was removed and is there again in part, the
// other files belong to it unless it has other events. A removed one without events could have
// become any; one that cannot be read is an error, not the same conversation.
func TestKeptSinceItWasAddedAgain(t *testing.T) {
	first, other := streamOf(turnOf("01", "First?")), streamOf(turnOf("02", "Other?"))
	for name, tt := range map[string]struct {
		was, now string // streams
		gone     string // the revision whose stream has no object
		want     []string
	}{
		"continued":      {was: first, now: streamOf(turnOf("01", "First?"), turnOf("02", "Next?")), want: []string{"base_config.json"}},
		"another":        {was: first, now: other},
		"without events": {was: "[]\n", now: other, want: []string{"base_config.json"}},
		"no stream":      {was: "<<<<<<<\n", now: other, want: []string{"base_config.json"}},
		"no stream now":  {was: first, now: "<<<<<<<\n", want: []string{"base_config.json"}},
		"missing":        {was: first, now: other, gone: "HEAD~2"},
		"missing now":    {was: first, now: other, gone: "HEAD"},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.Repo(t)
			r.WriteFile(blendDir+"events.json", tt.was)
			r.WriteFile(blendDir+"metadata.json", metadataOf("01", `"c":3`))
			r.WriteFile(blendDir+"base_config.json", "{}\n")
			r.Commit("begun")
			r.Run("rm", "-qr", ".jp")
			r.Run("commit", "-qm", "removed")
			r.WriteFile(blendDir+"events.json", tt.now)
			r.WriteFile(blendDir+"metadata.json", metadataOf("01", `"c":3`))
			r.Commit("again")
			if tt.gone != "" {
				id := r.Run("rev-parse", tt.gone+":"+blendDir+"events.json")
				if err := os.Remove(r.Path(".git/objects/" + id[:2] + "/" + id[2:])); err != nil {
					t.Fatal(err)
				}
			}
			repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			all, err := merge.KeptSince(t.Context(), repo, ".jp", blendID)
			missing := errors.As(err, new(*gitint.MissingObjectError))
			if missing != (tt.gone != "") || err != nil && !missing {
				t.Fatalf("error %v", err)
			}
			var names []string
			for _, k := range all {
				names = append(names, k.Deleted...)
			}
			if !slices.Equal(names, tt.want) {
				t.Errorf("kept without %v, want %v", names, tt.want)
			}
		})
	}
}
