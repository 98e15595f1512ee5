package importer

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/workspace"
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

// TestForkAndItsBeginning checks that a fork of a Codex thread, whose beginning is in the file of
// the other thread, grows as one import at the end, and loses nothing when the other file is gone.
func TestForkAndItsBeginning(t *testing.T) {
	names, err := filepath.Glob("../sessions/testdata/recorded/codex/fork/.codex/sessions/*/*/*/*")
	if err != nil || len(names) != 2 {
		t.Fatalf("%q, %v; want a thread and its fork", names, err)
	}
	dir := t.TempDir()
	base, fork := filepath.Join(dir, filepath.Base(names[0])), filepath.Join(dir, filepath.Base(names[1]))
	data := [2][]byte{}
	for i, name := range names {
		if data[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	at := func(w *workspace.Workspace, n int, fresh ...bool) map[string]string {
		t.Helper()
		if err := os.WriteFile(fork, data[1][:n], 0o600); err != nil {
			t.Fatal(err)
		}
		listed, err := codex.Dialect{}.List(t.Context(), fork)
		if err != nil || len(listed) != 1 {
			t.Fatal(listed, err)
		}
		im := &Importer{Workspace: w, Fresh: fresh != nil}
		if _, err := im.Import(t.Context(), codex.Dialect{}, listed[0]); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		return has(t, w)
	}
	late := newWorkspace(t)
	at(late, len(data[1]))
	relabel(t, late, "4")
	if err := os.WriteFile(base, data[0], 0o600); err != nil {
		t.Fatal(err)
	}
	whole := at(newWorkspace(t), len(data[1]))
	grown, bereft := newWorkspace(t), newWorkspace(t)
	half := bytes.Index(data[1], []byte(`"AgentMessage"`))
	half = bytes.LastIndexByte(data[1][:half], '\n') + 1
	at(bereft, half)
	for i, b := range data[1] {
		if b == '\n' {
			at(grown, i+1)
		}
	}
	if diff := cmp.Diff(whole, has(t, grown)); diff != "" {
		t.Errorf("-one import +many:\n%s", diff)
	}
	again := at(late, len(data[1]), true)
	if err := os.Remove(base); err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string]map[string]string{
		"when the file is gone": at(bereft, len(data[1])), "imported again": again,
	} {
		said := strings.Join(slices.Collect(maps.Values(all)), "")
		for _, text := range []string{
			`"message": "The first answer."`, `"content": "A question of the fork."`,
			`"message": "The answer of the fork."`,
		} {
			if n := strings.Count(said, text); n != 1 {
				t.Errorf("%s, %s stands %d times in\n%s", name, text, n, said)
			}
		}
	}
}

// relabel gives the conversations an earlier revision of the importer.
func relabel(t *testing.T, w *workspace.Workspace, revision string) {
	t.Helper()
	for _, of := range conversations(t, w) {
		err := w.Update(t.Context(), of.ID, func(c *workspace.Conversation) error {
			label := c.Details.Labels[sessions.LabelImport]
			c.Details.Labels[sessions.LabelImport] = revision + label[strings.IndexByte(label, '.'):]
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
