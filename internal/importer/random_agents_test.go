package importer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// brings imports a state of a session.
func (s written) brings(t *testing.T, w *workspace.Workspace, state map[string]string) {
	t.Helper()
	if err := s.tries(t, w, state); err != nil {
		t.Fatal(err)
	}
}

// tries is brings with an error.
func (s written) tries(
	t *testing.T, w *workspace.Workspace, state map[string]string,
) error {
	t.Helper()
	dir := homeOf(t, state)
	listed, err := s.dialect.List(t.Context(), filepath.Join(dir, filepath.FromSlash(s.path)))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range listed {
		one.Dir = "/home/ada/proj"
		if _, err := (&Importer{Workspace: w}).Import(t.Context(), s.dialect, one); err != nil {
			return err
		}
	}
	return nil
}

// homeOf returns a directory with the files of a session.
func homeOf(t *testing.T, state map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range state {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// imported is a workspace with the imports of some states.
func (s written) imported(t *testing.T, states ...map[string]string) *workspace.Workspace {
	t.Helper()
	w := newWorkspace(t)
	for _, state := range states {
		s.brings(t, w, state)
	}
	return w
}

// mainOf returns the conversation of the session itself.
func mainOf(t *testing.T, w *workspace.Workspace) *workspace.Conversation {
	t.Helper()
	for name, c := range conversations(t, w) {
		if !strings.Contains(name, "@") {
			return c
		}
	}
	t.Fatal("there is no conversation")
	return nil
}

var texts = regexp.MustCompile(`(Prompt|Answer|Output|Summary) \d+\b`)

// sent returns the texts that a model is sent of a stream: the latest summary of the turns that one
// replaces, and all others.
func sent(s *events.Stream) (all []string) {
	by, turns := map[int]*events.Element{}, s.TurnOf()
	for _, e := range s.All() {
		if c, ok := e.Event().(*events.Compaction); ok && c.Summary != nil {
			for n := c.FromTurn; n <= c.ToTurn; n++ {
				by[n] = e
			}
		}
	}
	told := map[*events.Element]bool{}
	for i, e := range s.All() {
		of := e
		if c := by[turns[i]]; c != nil && e.Kind().IsEvent() {
			of = c
		}
		if _, call := e.Event().(*events.ToolCallRequest); call || told[of] || !of.Kind().IsEvent() && of == e {
			continue
		}
		told[of] = true
		text := of.Raw()
		if r, ok := of.Event().(*events.ToolCallResponse); ok {
			text = nil
			for _, b := range r.Blocks {
				content, _ := b.Content.Bytes(nil)
				text = append(text, content...)
			}
		}
		all = append(all, texts.FindAllString(string(text), -1)...)
	}
	return all
}

// TestRandomSessionsOfAgents imports random sessions of each agent: state by state, once at the end,
// and by two people, either of whom merges. Nothing is lost or doubled, importing again changes
// nothing, and a model is sent what the agent would send.
func TestRandomSessionsOfAgents(t *testing.T) {
	seeds := uint64(6)
	if os.Getenv("GIT_JP_SOAK") != "" {
		seeds = 500
	}
	for _, agent := range append(slices.Sorted(maps.Keys(agents)), "claude-code") {
		for seed := range seeds {
			checkSeed(t, agent, seed)
		}
	}
	for agent, seeds := range map[string][]uint64{
		"codex":        {87, 128}, // an answer said less before a rewind, a prompt was the agent's
		"gemini":       {14, 210}, // a message waits for its calls, with and without a merge
		"gemini, json": {23},      // an older copy is longer
	} {
		for _, seed := range seeds {
			checkSeed(t, agent, seed)
		}
	}
}

func checkSeed(t *testing.T, agent string, seed uint64) {
	t.Run(fmt.Sprint(agent, seed), func(t *testing.T) {
		steps := 4 + int(seed%12)
		s := ofLines(seed, steps)
		if agents[agent] != nil {
			s = randomSessionOf(agent, seed, steps)
		}
		s.check(t, rand.New(rand.NewPCG(seed, 6)))
	})
}

// ofLines returns a session of Claude Code.
func ofLines(seed uint64, steps int) written {
	data := randomSession(seed, steps)
	s := written{dialect: ofClaude.Dialect, path: ofClaude.Path}
	for at, b := range data {
		if b == '\n' {
			s.states = append(s.states, map[string]string{s.path: string(data[:at+1])})
		}
	}
	s.says = texts.FindAllString(string(data), -1)
	return s
}

func (s written) check(t *testing.T, r *rand.Rand) {
	whole := s.states[len(s.states)-1]
	once := s.imported(t, whole)
	want := has(t, once)
	if diff := cmp.Diff(s.sends, sent(mainOf(t, once).Stream)); s.sends != nil && diff != "" {
		t.Errorf("-the agent +we send:\n%s", diff)
	}
	for _, text := range s.says {
		if !slices.ContainsFunc(slices.Collect(maps.Values(want)), func(c string) bool {
			return regexp.MustCompile(text + `\b`).MatchString(c)
		}) {
			t.Errorf("%s is lost", text)
		}
	}
	grown := s.imported(t, s.states...)
	s.compare(t, "grown", want, grown)
	before := has(t, grown)
	all := texts.FindAllString(strings.Join(slices.Collect(maps.Values(before)), ""), -1)
	for _, state := range s.states {
		for _, text := range texts.FindAllString(strings.Join(slices.Collect(maps.Values(state)), ""), -1) {
			if !slices.Contains(all, text) {
				t.Errorf("%s is lost", text)
				all = append(all, text)
			}
		}
	}
	s.brings(t, grown, whole)
	if diff := cmp.Diff(before, has(t, grown)); diff != "" {
		t.Errorf("imported again: %s", diff)
	}
	short := 1 + r.IntN(len(s.states))
	long := short + r.IntN(len(s.states)-short+1)
	base := 1 + r.IntN(short)
	s.brings(t, grown, s.states[short-1])
	if diff := cmp.Diff(inOrder(before), inOrder(has(t, grown))); diff != "" {
		t.Errorf("an older copy changes it: %s", diff)
	}
	b, o, l := s.states[base-1], s.states[short-1], s.states[long-1]
	two := randomImports{nil, s.imported(t, b), s.imported(t, b, o), s.imported(t, b, l)}
	if s.says == nil && two.asks(t) {
		return // the agent deleted a turn that grew before: a person decides
	}
	if lost := lostBy(t, two.merge(t)); len(lost) > 0 {
		t.Errorf("merged, it lost %s", lost)
	}
	last := mainOf(t, once)
	now := &sessions.Conversation{Stream: last.Stream, Details: last.Details}
	merged := mainOf(t, two.long)
	v, _ := events.ParseImportVersion(merged.Details.Labels[sessions.LabelImport])
	if s.says == nil && isOlder(v, merged, now, false) {
		return // the merge has a longer state: what the agent deleted since stays until it says more
	}
	if s.says == nil && partingOf(merged, now).copied {
		return // a file that became shorter: the merge took the longer state for the later one
	}
	s.brings(t, two.long, whole)
	s.compare(t, "merged", want, two.long)
}

// asks reports whether a person has to decide whether a turn is removed.
func (all randomImports) asks(t *testing.T) bool {
	t.Helper()
	base, ours, theirs := mainOf(t, all.base), mainOf(t, all.short), mainOf(t, all.long)
	r, err := threeway.Merge(sideOf(base), sideOf(ours), sideOf(theirs))
	if err != nil {
		t.Fatal(err)
	}
	return len(r.Conflicts) > 0 && r.Conflicts[0].Kind == threeway.ConflictRemoved
}

// content returns what a conversation says, without what records the imports of it.
func content(c string) string {
	c = regexp.MustCompile(`(?m)^ *"(git_jp_(imported|created_at)|agent-import)": .*\n|`+
		`^ *"git_jp_rewound": \{\n( {4}.*\n)*  \},?\n`).ReplaceAllString(c, "")
	return strings.ReplaceAll(c, ",\n}", "\n}")
}

// ordered returns a conversation with the elements that are no events at its end: their order at one
// place may depend on who merged (docs/merge.md, "Limits").
func ordered(c string) string {
	all := strings.Split(c, "\n  },\n")
	isEvent := func(e string) bool {
		return !strings.Contains(e, `"type": "git_jp_agent_record"`) &&
			!strings.Contains(e, `"type": "compaction"`)
	}
	slices.SortStableFunc(all, func(a, b string) int {
		switch x, y := isEvent(a), isEvent(b); {
		case x && y:
			return 0
		case x:
			return -1
		case y:
			return 1
		}
		return strings.Compare(a, b)
	})
	return strings.Join(all, "\n")
}

func inOrder(all map[string]string) map[string]string {
	out := map[string]string{}
	for name, c := range all {
		out[name] = ordered(c)
	}
	return out
}

// compare compares a workspace with one import of the whole session. An agent that deletes what was
// rewound leaves it to earlier imports.
func (s written) compare(t *testing.T, what string, want map[string]string, w *workspace.Workspace) {
	t.Helper()
	got := has(t, w)
	if s.says == nil {
		name := mainOf(t, w).Details.Labels[sessions.LabelSession]
		want, got = map[string]string{"": content(want[name])}, map[string]string{"": content(got[name])}
	}
	if diff := cmp.Diff(inOrder(want), inOrder(got)); diff != "" {
		t.Errorf("-one import +%s:\n%s", what, diff)
	}
	for name, c := range conversations(t, w) {
		seen := map[string]bool{}
		for _, key := range sourceKeys(c.Stream) {
			if key != "" && seen[key] {
				t.Errorf("%s, %s: %s is there twice", what, name, key)
			}
			seen[key] = true
		}
	}
}
