package importer

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// atHand returns the directories with sessions: recorded for this project, made for it, and real
// data if available.
func atHand() []string {
	dirs := []string{"../sessions/testdata/recorded", "../sessions/sessionstest/testdata/made"}
	if data, ok := realdata.Find(); ok {
		dirs = append(dirs, filepath.Join(data, "agents"))
	}
	return dirs
}

// has returns all conversations of a workspace, by session.
func has(t *testing.T, w *workspace.Workspace) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, c := range conversations(t, w) {
		all[name] = string(c.Details.Encode()) + string(c.BaseConfig) + string(c.Stream.Encode())
	}
	return all
}

// TestGrowthIsOneImport imports each session repeatedly while its agent writes it, also in the
// middle of lines: the result equals one import at the end, byte for byte. If the agent records a
// rewind only afterwards, there is also a fork for each former end. If other rules made what was
// imported before, as after an upgrade, nothing that the session says since is missing.
func TestGrowthIsOneImport(t *testing.T) {
	found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: atHand(), Foreign: true})
	agents := map[sessions.Agent]int{}
	for _, f := range found {
		const enough = 128 << 10
		if f.Err != nil || filepath.Ext(f.Path) != ".jsonl" || f.Size > enough {
			continue
		}
		agents[f.Name.Agent]++
		t.Run(string(f.Name.Agent)+"/"+filepath.Base(f.Path), func(t *testing.T) {
			data, err := os.ReadFile(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			want := newWorkspace(t)
			grows(t, want, f, data)
			got := newWorkspace(t)
			otherwise := newWorkspace(t)
			const steps = 5
			for n := 1; n <= steps; n++ {
				grows(t, got, f, data[:len(data)*n/steps])
				byOtherRules(t, otherwise)
				grows(t, otherwise, f, data[:len(data)*n/steps])
			}
			have, whole := has(t, got), has(t, want)
			if f.Name.Agent == sessions.Gemini {
				maps.DeleteFunc(have, func(name, _ string) bool { return whole[name] == "" })
			}
			if diff := cmp.Diff(whole, have); diff != "" {
				t.Errorf("-one import +%d imports:\n%s", steps, diff)
			}
			all := conversations(t, otherwise)
			for name, c := range conversations(t, want) {
				if diff := cmp.Diff(sourced(c.Stream), sourced(all[name].Stream)); diff != "" {
					t.Errorf("%s: -one import +%d imports by other rules:\n%s", name, steps, diff)
				}
			}
		})
	}
	for _, a := range []sessions.Agent{
		sessions.ClaudeCode, sessions.Codex, sessions.Gemini, sessions.Copilot,
	} {
		if agents[a] == 0 {
			t.Errorf("there is no session of %s", a)
		}
	}
}

// TestGrowthUnderAnotherRevision checks that each turn has its record once where the revision that
// imported the beginning kept none of the first turn, so that it numbered the others differently.
func TestGrowthUnderAnotherRevision(t *testing.T) {
	lines := slices.Collect(bytes.Lines(transcript()))
	f := Found{Dialect: claude.Dialect{}, Session: sessions.Session{Path: "grow.jsonl"}}
	const perTurn = 6
	for _, end := range []int{2*perTurn + 4, 3 * perTurn} { // in a turn, and behind one
		w := newWorkspace(t)
		grows(t, w, f, bytes.Join(lines[:end], nil))
		for _, c := range conversations(t, w) {
			err := w.Update(t.Context(), c.ID, func(c *workspace.Conversation) error {
				s := c.Stream
				s.Remove(slices.IndexFunc(elements(s), isRecord), 1)
				data := strings.NewReplacer(`"ordinal": 1`, `"ordinal": 0`, `"ordinal": 2`, `"ordinal": 1`).
					Replace(string(s.Encode()))
				v, _ := events.ParseImportVersion(c.Details.Labels[sessions.LabelImport])
				v.Revision--
				c.Details.Labels[sessions.LabelImport] = v.String()
				var err error
				c.Stream, err = events.Decode([]byte(data))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // and again
			grows(t, w, f, bytes.Join(lines[:4*perTurn], nil))
		}
		for _, c := range conversations(t, w) {
			var of []int
			turns := c.Stream.TurnOf()
			for i, e := range c.Stream.All() {
				if isRecord(e) {
					of = append(of, turns[i])
				}
			}
			if diff := cmp.Diff([]int{1, 2, 3}, of); diff != "" {
				t.Errorf("%d lines: the records are of the turns -want +got:\n%s", end, diff)
			}
		}
	}
}

func isRecord(e *events.Element) bool { return e.Kind() == events.KindAgentRecord }

// sourced returns the keys of what a stream has of its source, in order, with the tokens that each
// event counts.
func sourced(s *events.Stream) (all []string) {
	for i, key := range sourceKeys(s) {
		usage, _ := s.At(i).Metadata().Value(events.MetadataPrefix + "usage")
		all = append(all, key+string(usage))
	}
	slices.Sort(all)
	return all
}

// byOtherRules makes the imports in a workspace those of another version, with other rules.
func byOtherRules(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	for _, c := range conversations(t, w) {
		err := w.Update(t.Context(), c.ID, func(c *workspace.Conversation) error {
			c.Details.Labels[sessions.LabelRules] = "1.0"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// grows imports a prefix of a session.
func grows(t *testing.T, w *workspace.Workspace, f Found, data []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), filepath.Base(f.Path))
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	listed, err := f.Dialect.List(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range listed {
		s.Dir = "/home/ada/proj" // the recorded one may change while others work there
		im := &Importer{Workspace: w}
		if _, err := im.Import(t.Context(), f.Dialect, s); err != nil {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
	}
}

// refused lists the files of the real data that are not imported: lists, sessions of unknown
// agents, of Copilot in an editor, a page about a session, databases without one.
const refused = "testdata/refused.txt"

// TestRefusals checks which files are not imported, and why.
func TestRefusals(t *testing.T) {
	dir := realdata.Dir(t, "agents")
	var got strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		found, _ := Find(t.Context(), sessions.Places{}, Selection{
			Paths: []string{path}, Foreign: true,
		})
		rel, err := filepath.Rel(dir, path)
		switch {
		case len(found) == 0:
			fmt.Fprintf(&got, "%s: no session\n", filepath.ToSlash(rel))
		case found[0].Err != nil:
			fmt.Fprintf(&got, "%s: %s\n", filepath.ToSlash(rel),
				strings.TrimPrefix(found[0].Err.Error(), "read "+path+": "))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sessionstest.Golden(t, refused, got.String())
}
