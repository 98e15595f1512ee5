package prepare

import (
	"testing"

	"github.com/git-jp/git-jp/internal/jpconfig"
)

// TestWhoGoesOnAfterALimit checks that either the adapter or the turn continues an answer, never
// both: the turn, if each request costs money that is limited.
func TestWhoGoesOnAfterALimit(t *testing.T) {
	for id, want := range map[string][2]int{
		"anthropic/m": {-1, 0}, "ours/m": {-1, 0}, "once/m": {-1, -1}, "openai/m": {0, 0}, "ollama/m": {0, 0},
	} {
		c, err := jpconfig.Load(jpconfig.Sources{Workspace: t.TempDir(), Options: []string{
			"providers.llm.ours.format=anthropic", "providers.llm.once.format=anthropic",
			"providers.llm.once.chain_on_max_tokens:=false",
		}})
		if err != nil {
			t.Fatal(err)
		}
		q := &Query{Model: unasked(id), Config: c}
		if got := [2]int{q.continues(false), q.continues(true)}; got != want {
			t.Errorf("%s: continues %d, expected %d", id, got, want)
		}
	}
}
