package importer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// A scribe writes a random session of Claude Code: turns with records, several calls, sub-agents,
// rewinds and compactions that keep a part of what is before.
type scribe struct {
	*rand.Rand
	out   strings.Builder
	n     int
	last  string   // uuid of the last record
	wrong bool     // whether the clock is
	chain []string // uuids that a person may go back to, or that a compaction keeps
}

// randomSession returns a session of some steps.
func randomSession(seed uint64, steps int) []byte {
	w := &scribe{Rand: rand.New(rand.NewPCG(seed, 20261127)), wrong: seed%3 == 2}
	w.ask()
	for range steps {
		switch n := w.IntN(10); {
		case n < 2:
			w.ask()
		case n < 4:
			w.calls()
		case n < 6:
			w.say(w.IntN(2) == 0)
		case n < 7:
			w.line("system", w.last, `"subtype":"turn_duration","durationMs":5`)
		case n < 8 && len(w.chain) > 2:
			w.last = w.chain[w.IntN(len(w.chain))]
			w.ask()
		case n < 9:
			w.compact()
		default:
			w.sidechain()
		}
	}
	w.say(true)
	return []byte(w.out.String())
}

// line writes a record and returns its uuid.
func (w *scribe) line(kind, parent, rest string) string {
	w.n++
	id := uuidOf(w.n)
	at := clockAt(w.n, w.wrong).Format(time.RFC3339)
	named := "null"
	if parent != "" {
		named = fmt.Sprintf("%q", parent)
	}
	fmt.Fprintf(&w.out, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"grow","timestamp":%q,`+
		`"cwd":"/home/ada/proj",%s}`+"\n", kind, id, named, at, rest)
	w.last = id
	w.chain = append(w.chain, id)
	return id
}

func (w *scribe) ask() {
	w.line("user", w.last, fmt.Sprintf(`"message":{"role":"user","content":"Prompt %d"}`, w.n))
}

func (w *scribe) answer(stop string, blocks ...string) {
	w.line("assistant", w.last, fmt.Sprintf(`"message":{"id":"m%d","model":"claude-x",`+
		`"stop_reason":%s,"content":[%s],"usage":{"input_tokens":1,"output_tokens":%d}}`,
		w.n/3, stop, strings.Join(blocks, ","), w.n))
}

func (w *scribe) say(ends bool) {
	stop := "null"
	if ends {
		stop = `"end_turn"`
	}
	w.answer(stop, fmt.Sprintf(`{"type":"text","text":"Answer %d"}`, w.n))
}

// calls calls one to three tools, whose results may stand behind other records.
func (w *scribe) calls() {
	var blocks, ids []string
	for i := range 1 + w.IntN(3) {
		id := fmt.Sprintf("t%d.%d", w.n, i)
		ids = append(ids, id)
		blocks = append(blocks, fmt.Sprintf(
			`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls /home/ada/proj"}}`, id))
	}
	w.answer(`"tool_use"`, blocks...)
	for _, id := range ids {
		w.line("user", w.last, fmt.Sprintf(`"message":{"role":"user","content":`+
			`[{"type":"tool_result","tool_use_id":%q,"content":"a\nb"}]},`+
			`"toolUseResult":{"stdout":"a\nb","n":%d}`, id, w.n))
	}
}

// compact keeps everything from a record on, or names nothing that is there.
func (w *scribe) compact() {
	kept := slices.Clone(w.chain[w.IntN(len(w.chain)):])
	if w.IntN(5) == 0 {
		kept = []string{"77777777-0000-4000-8000-777777777777"}
	}
	w.line("system", "", fmt.Sprintf(`"subtype":"compact_boundary",`+
		`"compactMetadata":{"preservedMessages":{"uuids":["%s"]}}`, strings.Join(kept, `","`)))
	w.line("user", w.last, fmt.Sprintf(
		`"isCompactSummary":true,"message":{"role":"user","content":"Summary %d"}`, w.n))
}

func (w *scribe) sidechain() {
	last, chain := w.last, slices.Clone(w.chain)
	w.line("user", "", fmt.Sprintf(`"isSidechain":true,"agentId":"a%d","message":{"role":"user","content":"Sub %d"}`, w.n%3, w.n))
	w.line("assistant", w.last, fmt.Sprintf(`"isSidechain":true,"agentId":"a%d","message":{"id":"s%d","model":"claude-x",`+
		`"content":[{"type":"text","text":"Sub answer"}]}`, w.n%3, w.n))
	w.last, w.chain = last, chain
}

// randomImports are imports of a random session by two people, who have one import in common.
type randomImports struct {
	data              []byte
	base, short, long *workspace.Workspace
}

var ofClaude = Found{Session: sessions.Session{Path: "grow.jsonl"}, Dialect: claude.Dialect{}}

func newRandomImports(t *testing.T, seed uint64, steps int) randomImports {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	all := randomImports{randomSession(seed, steps), newWorkspace(t), newWorkspace(t), newWorkspace(t)}
	lines := slices.Collect(bytes.Lines(all.data))
	short := 1 + r.IntN(len(lines))
	long := short + r.IntN(len(lines)-short+1)
	base := r.IntN(short + 1)
	for w, n := range map[*workspace.Workspace]int{all.base: base, all.short: short, all.long: long} {
		for _, n := range []int{min(n, base), n} {
			if n > 0 {
				grows(t, w, ofClaude, slices.Concat(lines[:n]...))
			}
		}
	}
	return all
}

// TestRandomSessionsMerge merges imports of random sessions by two people, either way: nothing is
// lost, and one import of the whole session on top of it gives what it gives alone.
func TestRandomSessionsMerge(t *testing.T) {
	for _, of := range []struct {
		seed  uint64
		steps int
	}{
		{5036, 12}, {5108, 14}, {5122, 14}, {5355, 9}, // rewound since, with records
		{2, 9}, {3, 7}, {9, 13}, {41, 15}, {1041, 15}, {1118, 13}, {1222, 17}, {1345, 14},
	} {
		t.Run(fmt.Sprint(of.seed), func(t *testing.T) {
			all := newRandomImports(t, of.seed, of.steps)
			made := all.merge(t)
			if lost := lostBy(t, made); len(lost) > 0 {
				t.Errorf("it lost %s", lost)
			}
			grows(t, all.long, ofClaude, all.data)
			want := newWorkspace(t)
			grows(t, want, ofClaude, all.data)
			if diff := cmp.Diff(has(t, want), has(t, all.long)); diff != "" {
				t.Errorf("-one import +two, merged, and another:\n%s", diff)
			}
		})
	}
}

// TestRandomPrefixesMerge merges imports of all prefixes of sessions that compact more than once,
// with records between a compaction and the rest of its turn: the longer one is the result.
func TestRandomPrefixesMerge(t *testing.T) {
	for seed, steps := range map[uint64]int{3: 7, 9: 13, 1041: 17} {
		mergeAll(t, prefixes(t, randomSession(seed, steps)))
	}
}

// merge merges the shorter imports into the longer ones, and commits all four states.
func (all randomImports) merge(t *testing.T) *gittest.Repository {
	t.Helper()
	m := gittest.Repo(t)
	commit(t, m, all.base, "base")
	m.Run("checkout", "-q", "-b", "theirs")
	commit(t, m, all.long, "theirs")
	m.Run("checkout", "-q", "main")
	commit(t, m, all.short, "ours")
	base, short := conversations(t, all.base), conversations(t, all.short)
	for name, long := range conversations(t, all.long) { // the others only one side has
		ours := short[name]
		if ours == nil {
			continue
		}
		sides := [3]threeway.Side{{}, sideOf(ours), sideOf(long)}
		var was []byte
		if b := base[name]; b != nil {
			sides[0], was = sideOf(b), b.Details.Encode()
		}
		one := merged(t, sides[0], sides[1], sides[2]).Stream
		if other := merged(t, sides[0], sides[2], sides[1]).Stream; !bytes.Equal(one.Encode(), other.Encode()) {
			t.Errorf("%s depends on who merges", name)
		}
		details, err := threeway.Metadata(was, ours.Details.Encode(), long.Details.Encode())
		if err != nil {
			t.Fatal(err)
		}
		err = all.long.Update(t.Context(), long.ID, func(c *workspace.Conversation) (err error) {
			c.Stream = one
			c.Details, err = events.DecodeDetails(details)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	long := conversations(t, all.long)
	for name, c := range short {
		if long[name] == nil {
			must(all.long.Create(t.Context(), &workspace.NewConversation{
				ID: c.ID, Details: c.Details, Stream: c.Stream, BaseConfig: c.BaseConfig, Archived: true,
			}))
		}
	}
	m.Run("merge", "-q", "-s", "ours", "--no-commit", "theirs")
	commit(t, m, all.long, "merge")
	return m
}

func conversations(t *testing.T, w *workspace.Workspace) map[string]*workspace.Conversation {
	t.Helper()
	entries, problems, err := w.List(workspace.ListOptions{Archived: true})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	all := map[string]*workspace.Conversation{}
	for _, e := range entries {
		c := loaded(t, w, e.ID)
		all[c.Details.Labels[sessions.LabelSession]] = c
	}
	return all
}

func sideOf(c *workspace.Conversation) threeway.Side {
	return threeway.Side{
		Stream: c.Stream, BaseConfig: c.BaseConfig, Source: threeway.SourceOf(c.Details),
	}
}

// commit commits the conversations of a workspace.
func commit(t *testing.T, r *gittest.Repository, w *workspace.Workspace, message string) {
	t.Helper()
	r.Remove(workspace.DirName)
	if err := os.CopyFS(r.Path(workspace.DirName), os.DirFS(w.Dir())); err != nil {
		t.Fatal(err)
	}
	r.Commit(message)
}

// lostBy returns what the merge at HEAD lost.
func lostBy(t *testing.T, r *gittest.Repository) (lost []string) {
	t.Helper()
	repo := must(gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env}))
	defer repo.Close() // was only read
	head := must(repo.Resolve(t.Context(), "HEAD"))
	parents := must(repo.Parents(t.Context(), head))
	all := must(merge.Review{
		Repo: repo, Tips: []gitint.OID{head}, Finder: gitint.NewDirFinder(workspace.DirName),
	}.Lost(t.Context(), gitint.Commit{OID: head, Parents: parents}))
	for _, l := range all.Losses {
		for _, e := range l.Elements {
			lost = append(lost, string(e.Raw()))
		}
	}
	return lost
}
