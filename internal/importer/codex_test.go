package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/google/go-cmp/cmp"
)

// TestCodexCutAnywhere imports a thread with a rewind record by record, with and without ids of
// turns, which older versions of Codex omit: the result equals one import at the end, without
// further forks.
func TestCodexCutAnywhere(t *testing.T) {
	path := filepath.FromSlash("../sessions/sessionstest/testdata/made/codex/rewind.jsonl")
	withIDs, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: []string{path}, Foreign: true})
	if len(found) != 1 {
		t.Fatalf("found %d sessions", len(found))
	}
	without := regexp.MustCompile(`,?"turn_id":"[^"]*"`).ReplaceAll(withIDs, nil)
	without = bytes.ReplaceAll(without, []byte(`"payload":{,`), []byte(`"payload":{`))
	for name, data := range map[string][]byte{"with ids": withIDs, "without": without} {
		t.Run(name, func(t *testing.T) {
			want, got := newWorkspace(t), newWorkspace(t)
			grows(t, want, found[0], data)
			whole := has(t, want)
			if len(whole) < 3 {
				t.Fatalf("there are %d conversations; want some that were rewound", len(whole))
			}
			for at, b := range data {
				if b == '\n' {
					grows(t, got, found[0], data[:at+1])
				}
			}
			if diff := cmp.Diff(whole, has(t, got)); diff != "" {
				t.Errorf("-one import +many:\n%s", diff)
			}
		})
	}
}
