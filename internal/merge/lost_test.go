package merge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A merging is two branches and a merge of them, however it was made. An empty stream means that
// there is no conversation.
type merging struct {
	base, ours, theirs, merged string
	message                    string
	then                       []string          // streams of the commits that follow
	accepts                    bool              // a further commit accepts the merge
	names                      string            // a trailer of a further commit
	committed                  string            // time of the merge; "" is after trailers were introduced
	imports                    map[string]string // label agent-import of a stream
}

func (m merging) commits(t *testing.T) (r *gittest.Repository, made string) {
	t.Helper()
	r = gittest.Repo(t)
	write := func(stream string) {
		r.Remove(strings.TrimSuffix(blendDir, "/"))
		if stream != "" {
			r.WriteFile(blendDir+"events.json", stream)
			labels := `"c":3`
			if v := m.imports[stream]; v != "" {
				labels = `"labels":{"agent-session":"claude-code-x","agent-import":"` + v + `"}`
			}
			r.WriteFile(blendDir+"metadata.json", metadataOf("01", labels))
		}
	}
	r.WriteFile("README", "x")
	write(m.base)
	r.Commit("base")
	r.Run("checkout", "-q", "-b", "theirs")
	write(m.theirs)
	r.WriteFile("theirs", "x")
	r.Commit("theirs")
	r.Run("checkout", "-q", "main")
	write(m.ours)
	r.WriteFile("ours", "x")
	r.Commit("ours")
	r.Run("merge", "-q", "-s", "ours", "--no-commit", "theirs")
	write(m.merged)
	r.Run("add", "-A")
	committed := m.committed
	if committed == "" {
		committed = "2027-01-01T00:00:00Z"
	}
	r.With("GIT_COMMITTER_DATE="+committed).Run("commit", "-q", "-m", "merge\n\n"+m.message)
	made = r.Run("rev-parse", "HEAD")
	for i, stream := range m.then {
		write(stream)
		r.Commit(fmt.Sprint("then ", i))
	}
	if m.accepts {
		r.Run("commit", "-q", "--allow-empty", "-m", "accept\n\nJp-Resolved: "+made)
	}
	if m.names != "" {
		r.Run("commit", "-q", "--allow-empty", "-m", "more\n\nJp-Resolved: "+m.names)
	}
	return r, made
}

// TestLost: elements of the sides that a merge lacks are found, unless a side or a later commit
// removed it, or a person decided.
func TestLost(t *testing.T) {
	first, ours, theirs := turnOf("01", "First?"), turnOf("02", "Ours?"), turnOf("03", "Theirs?")
	edited := strings.Replace(first, "yes", "no", 1)
	begun, a, b := streamOf(first), streamOf(first, ours), streamOf(first, theirs)
	both := streamOf(first, ours, theirs)
	for name, tt := range map[string]struct {
		merging
		want int // elements
		old  bool
	}{
		"as the drivers":          {merging{base: begun, ours: a, theirs: b, merged: both}, 0, false},
		"ours was taken":          {merging{base: begun, ours: a, theirs: b, merged: a}, 2, false},
		"theirs was taken":        {merging{base: begun, ours: a, theirs: b, merged: b}, 2, false},
		"only theirs went on":     {merging{base: begun, ours: begun, theirs: b, merged: begun}, 2, false},
		"only theirs has it":      {merging{theirs: b}, 4, false},
		"ours deleted it":         {merging{base: begun, theirs: begun}, 0, false},
		"deleted, and it went on": {merging{base: begun, theirs: b}, 2, false},
		"deleted by the merge":    {merging{base: begun, ours: begun, theirs: begun}, 2, false},
		"a turn was removed":      {merging{base: both, ours: a, theirs: both, merged: a}, 0, false},
		"an edit was dropped":     {merging{base: begun, ours: begun, theirs: streamOf(edited), merged: begun}, 1, false},
		"edited in the merge":     {merging{base: begun, ours: begun, theirs: streamOf(edited), merged: strings.Replace(begun, "yes", "perhaps", 1)}, 0, false},
		"a conflict, decided":     {merging{base: begun, ours: streamOf(edited), theirs: strings.Replace(begun, "yes", "maybe", 1), merged: streamOf(edited)}, 1, false},
		"no JSON":                 {merging{base: begun, ours: a, theirs: b, merged: "<<<<<<<\n"}, 0, false},
		"ours cannot be read":     {merging{base: begun, ours: "[", theirs: b, merged: streamOf(theirs)}, 2, false},
		"all that can be read":    {merging{base: begun, ours: "[", theirs: b, merged: b}, 0, false},
		"restored":                {merging{base: begun, ours: a, theirs: b, merged: a, then: []string{both}}, 0, false},
		"restored and removed":    {merging{base: begun, ours: a, theirs: b, merged: a, then: []string{both, a}}, 0, false},
		"gone on":                 {merging{base: begun, ours: a, theirs: b, merged: a, then: []string{streamOf(first, ours, turnOf("04", "More?"))}}, 2, false},
		"deleted since":           {merging{base: begun, ours: a, theirs: b, merged: a, then: []string{""}}, 0, false},
		"accepted":                {merging{base: begun, ours: a, theirs: b, merged: a, accepts: true}, 0, false},
		"asked again later": {merging{
			base: begun, ours: a, theirs: b, merged: streamOf(first, ours, turnOf("04", "Theirs?")),
		}, 2, false},
		"resolved in another commit": {merging{
			base: begun, ours: a, theirs: b, merged: a, names: "jp-c17800000000",
		}, 2, false},
		"resolved": {merging{
			base: begun, ours: a, theirs: b, merged: a, message: "Jp-Resolved: jp-c17800000000",
		}, 0, false},
		"resolved, and git lists the conflicts": {merging{
			base: begun, ours: a, theirs: b, merged: a,
			message: "Jp-Resolved: jp-c17800000000\n\n; Conflicts:\n;\tevents.json",
		}, 0, false},
		"resolved in another paragraph": {merging{
			base: begun, ours: a, theirs: b, merged: a,
			message: "Jp-Resolved: jp-c17800000000\n\nis a trailer",
		}, 2, false},
		"another was resolved": {merging{
			base: begun, ours: a, theirs: b, merged: a, message: "Jp-Resolved: jp-c17800000001",
		}, 2, false},
		"of before the trailers": {merging{
			base: begun, ours: a, theirs: b, merged: a, committed: "2026-10-01T00:00:00Z",
		}, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, made := tt.commits(t)
			lost := lostBy(t, r, made)
			if got := elementsOf(lost); got != tt.want || lost.Old != tt.old {
				t.Errorf("lost %d elements, old %v; want %d, %v", got, lost.Old, tt.want, tt.old)
			}
		})
	}
}

// TestNothingLostIfDivided: a merge takes the events of an import from the side that has more of the
// session, in which a compaction may have divided a turn.
func TestNothingLostIfDivided(t *testing.T) {
	at := func(n int, rest string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01 00:00:0%d.0",%s}`, n, rest)
	}
	start := at(0, `"type":"turn_start","metadata":{"git_jp_open":true}`)
	asked := at(1, `"type":"chat_request","content":"Q","metadata":{"git_jp_source":"a"}`)
	said := func(n int, text string) string {
		return at(n, fmt.Sprintf(`"type":"chat_response","message":%q,"metadata":{"git_jp_source":"k%d"}`, text, n))
	}
	record := at(5, `"type":"git_jp_agent_record","agent":"claude-code","session":"x","ordinal":7,"records":1`)
	short := streamOf(start, asked, said(2, "one"), said(4, "tw"), said(5, "three"), record)
	long := streamOf(at(0, `"type":"turn_start"`), asked, said(2, "one"), record, at(3, `"type":"turn_start"`),
		at(4, `"type":"chat_request","content":"Continue.","metadata":{"git_jp_source":"k4^","git_jp_split":true}`),
		said(4, "two"), said(5, "three"), said(6, "four"))
	r, made := merging{
		ours: short, theirs: long, merged: long,
		imports: map[string]string{short: "5.100.0011223344556677", long: "5.200.0011223344556677"},
	}.commits(t)
	if lost := lostBy(t, r, made); elementsOf(lost) != 0 {
		t.Errorf("%+v", lost)
	}
}

// TestLostCrissCross: the base of both sides is everything that all their common ancestors have
// together. An element that a side removed since then is not lost, whichever ancestor had it.
func TestLostCrissCross(t *testing.T) {
	first, a, b := turnOf("01", "First?"), turnOf("02", "A?"), turnOf("03", "B?")
	both := streamOf(first, a, b)
	r := gittest.Repo(t)
	commit := func(stream string) string {
		r.WriteFile(blendDir+"events.json", stream)
		r.WriteFile(blendDir+"metadata.json", metadataOf("01", `"c":3`))
		return r.Commit("change")
	}
	merged := func(with, stream string) string {
		r.Run("merge", "-q", "-s", "ours", "--no-commit", with)
		return commit(stream)
	}
	base := commit(streamOf(first))
	one := commit(streamOf(first, a))
	r.Run("checkout", "-q", "-b", "other", base)
	two := commit(streamOf(first, b))
	merged(one, both)
	removed := commit(streamOf(first))
	r.Run("checkout", "-q", "main")
	merged(two, both)
	commit(streamOf(first, a, b, turnOf("04", "More?")))
	made := merged(removed, streamOf(first, turnOf("04", "More?")))
	if n := elementsOf(lostBy(t, r, made)); n != 0 {
		t.Errorf("%d elements that a side removed are lost", n)
	}
}

func elementsOf(lost merge.Lost) (n int) {
	for _, l := range lost.Losses {
		n += len(l.Elements)
	}
	return n
}

// lostBy returns the losses of a merge, as seen from HEAD.
func lostBy(t *testing.T, r *gittest.Repository, made string) merge.Lost {
	t.Helper()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // was only read
	id, err := gitint.ParseOID(made)
	if err != nil {
		t.Fatal(err)
	}
	parents, err := repo.Parents(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	tip, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	lost, err := merge.Review{
		Repo: repo, Tips: []gitint.OID{tip}, Finder: gitint.NewDirFinder(workspace.DirName),
	}.Lost(t.Context(), gitint.Commit{OID: id, Parents: parents})
	if err != nil {
		t.Fatal(err)
	}
	return lost
}

// TestNothingLostByDrivers: the drivers' merge of two streams with random changes never counts as
// lossy, and removing an element from it by hand does.
func TestNothingLostByDrivers(t *testing.T) {
	random := rand.New(rand.NewPCG(20261122, 12))
	silent, found := 0, 0
	for range 40 {
		w := walk{random: random}
		base := w.turns(3)
		ours, theirs := w.change(base), w.change(base)
		f := merge.File{
			Kind: merge.Events, Path: blendDir + "events.json",
			Base: []byte(streamOf(base...)), Ours: []byte(streamOf(ours...)),
			Theirs: []byte(streamOf(theirs...)),
		}
		m, err := f.Merge()
		if err != nil {
			t.Fatal(err)
		}
		r, made := merging{
			base: string(f.Base), ours: string(f.Ours), theirs: string(f.Theirs),
			merged: string(m.Data),
		}.commits(t)
		lost := lostBy(t, r, made)
		switch n := elementsOf(lost); {
		case len(m.Conflicts) == 0 && n > 0:
			t.Errorf("of\n%s\nand\n%s\n%d elements are lost in\n%s", f.Ours, f.Theirs, n, m.Data)
		case len(m.Conflicts) == 0:
			silent++
		case n > 0:
			found++
		}
	}
	if silent < 20 || found == 0 {
		t.Errorf("%d merges without a conflict, %d found with one", silent, found)
	}
}

// A walk makes random changes to conversations.
type walk struct {
	random *rand.Rand
	day    int
}

func (w *walk) turn() string {
	w.day++
	return turnOf(fmt.Sprintf("%02d", w.day), fmt.Sprintf("Question %d?", w.day))
}

func (w *walk) turns(n int) (all []string) {
	for range n {
		all = append(all, w.turn())
	}
	return all
}

// change appends, removes and edits turns.
func (w *walk) change(base []string) []string {
	all := append([]string{}, base...)
	for range 1 + w.random.IntN(3) {
		i := w.random.IntN(len(all))
		switch w.random.IntN(4) {
		case 0, 1:
			all = append(all, w.turn())
		case 2:
			if len(all) > 1 {
				all = append(all[:i:i], all[i+1:]...)
			}
		default:
			all[i] = strings.Replace(all[i], `"yes`, fmt.Sprintf(`"yes %d`, w.random.IntN(100)), 1)
		}
	}
	return all
}
