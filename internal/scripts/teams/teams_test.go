package teams_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
)

// TestTeams makes two or three people work on the same conversations, through git with our hooks
// and drivers, and keeps its own account of the required content of each commit. After every
// command of git the working tree has it: no turn, answer, setting of a turn, label, title, note or
// place is lost, and nothing that was removed is back.
//
// Each of the conversations is a separate sequence: what happens to one does not affect the others.
// GIT_JP_TEAMS is the number of teams, and GIT_JP_TEAMS_SEED the first seed.
func TestTeams(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	teams, seed := environNumber(t, "GIT_JP_TEAMS", 2), environNumber(t, "GIT_JP_TEAMS_SEED", 1)
	all := &teamCount{stopped: map[string]int{}, answered: map[string]int{}}
	for n := range teams {
		t.Run(fmt.Sprint("seed ", seed+n), func(t *testing.T) {
			newTeam(t, uint64(seed+n), all).play()
			t.Logf("%d sequences: %s", (n+1)*teamTalks, all)
		})
	}
	if all.stops*50 > all.merges && all.merges > 1000 {
		t.Errorf("%d of %d merges stopped, 2 in 100 may", all.stops, all.merges)
	}
}

// A teamCount counts how often something happened.
type teamCount struct {
	merges   int            // of conversations that both sides changed
	stops    int            // of these, the ones left to a person
	stopped  map[string]int // stops, by how
	answered map[string]int // conversations that were counted again after an answer
}

func (c teamCount) String() string {
	share := 100 * float64(c.stops) / float64(max(c.merges, 1))
	return fmt.Sprintf("%d conversations merged, %d (%.2f %%) stopped: %v; counted after %v",
		c.merges, c.stops, share, c.stopped, c.answered)
}

// teamAnswers are the ways in which one answer settles everything that is left to a person.
var teamAnswers = []string{"--both", "--ours", "--theirs", "--fork"}

func environNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const teamTalks = 10

// A snapshot is the content of all conversations in one commit.
type snapshot map[string]ledger

// A team is people, each on a branch, and the required content of each commit.
type team struct {
	managedRepo
	*rand.Rand
	*teamCount
	people  []string
	forgets bool                // answers of earlier merges do not count
	has     map[string]snapshot // by commit
	clock   int
	history []string
}

func newTeam(t *testing.T, seed uint64, count *teamCount) *team {
	scripts.DependOnSources(t)
	tm := &team{
		managedRepo: managedRepo{Repository: gittest.Repo(t), t: t},
		Rand:        rand.New(rand.NewPCG(seed, 12)), // small
		teamCount:   count,
		has:         map[string]snapshot{},
	}
	home := gittest.TempDir(t)
	tm.Env = append(tm.Env, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"GIT_EDITOR=true")
	if tm.forgets = tm.IntN(2) > 0; tm.forgets {
		tm.Run("config", "rerere.enabled", "false")
	}
	tm.jp("init", "-q")
	for i := range teamTalks {
		tm.WriteFile(tm.newPath(i)+"/metadata.json", fmt.Sprintf(
			"{\n  \"last_activated_at\": \"2026-01-01 %02d:%02d:00.0\",\n  \"title\": %q\n}\n",
			tm.IntN(24), tm.IntN(60), tm.words(8)))
		tm.WriteFile(tm.newPath(i)+"/base_config.json", "{}\n")
		tm.WriteFile(tm.newPath(i)+"/events.json", "[]\n")
		tm.append(talkID(i), tm.turns(10)...)
	}
	tm.commit("base")
	tm.people = []string{"ada", "ben", "cai"}[:2+tm.IntN(2)]
	for _, p := range tm.people {
		tm.Run("branch", p)
	}
	return tm
}

func talkID(i int) string { return fmt.Sprint(17800000000 + i) }

func (tm *team) newPath(i int) string {
	return fmt.Sprintf(".jp/conversations/%s-talk-%d", talkID(i), i)
}

func (tm *team) play() {
	defer func() {
		if tm.t.Failed() {
			tm.t.Log(strings.Join(tm.history, "\n"))
		}
	}()
	for range 12 + tm.IntN(12) {
		who := tm.one(tm.people)
		tm.note("checkout %s", who)
		tm.Run("checkout", "-q", who)
		if tm.IntN(3) > 0 {
			tm.work()
		} else {
			tm.meet(who)
		}
		if tm.t.Failed() {
			return
		}
	}
	tm.Run("checkout", "-q", "main")
	for _, p := range tm.people {
		tm.merge(p, "merge", "--no-edit", p)
	}
	tm.jp("check", "-q", "HEAD")
	tm.jp("check", "-q", "--worktree")
}

func (tm *team) note(format string, args ...any) {
	tm.history = append(tm.history, fmt.Sprintf(format, args...))
}

func (tm *team) one(all []string) string { return all[tm.IntN(len(all))] }

// work changes some conversations and commits that.
func (tm *team) work() {
	for i := range teamTalks {
		if tm.IntN(3) > 0 {
			continue
		}
		id := talkID(i)
		what := tm.IntN(10)
		tm.note("work %d at %s", what, id)
		switch what {
		case 0:
			tm.jp("rename", "-q", id, fmt.Sprintf("%s %d", tm.words(6), tm.tick()))
		case 1:
			tm.archive(id)
		case 2:
			tm.jp("label", "add", "-q", "--id", id, fmt.Sprintf("l%d=v%d", tm.IntN(9), tm.tick()))
		case 3:
			name := fmt.Sprintf("note-%d.md", tm.tick())
			tm.WriteFile(tm.dir(id)+"/"+name, "text of "+name+" "+tm.words(30)+"\n")
		case 4:
			tm.append(id, tm.setting(), tm.turn(), tm.turn())
		case 5:
			tm.editAnswer(id)
		default:
			tm.append(id, tm.turn())
		}
	}
	tm.commit("work")
}

func (tm *team) archive(id string) {
	command := "archive"
	if strings.Contains(tm.dir(id), "/.archive/") {
		command = "unarchive"
	}
	tm.jp(command, "-q", id)
}

// tick returns a time after all others.
func (tm *team) tick() int { tm.clock++; return tm.clock }

func (tm *team) when() string {
	at := time.Date(2026, 1, 1, 0, 0, tm.tick(), 0, time.UTC)
	return at.Format("2006-01-02 15:04:05.0")
}

func (tm *team) turn() string {
	at := tm.when()
	return fmt.Sprintf(`{"timestamp":%q,"type":"turn_start"},
{"timestamp":%q,"type":"chat_request","content":"question %d: %s?"},
{"timestamp":%q,"type":"chat_response","message":"answer %d: %s."}`,
		at, tm.when(), tm.clock, tm.words(12), tm.when(), tm.clock, tm.words(40))
}

// words returns unique text, like real messages: Git detects renames by that.
func (tm *team) words(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.FormatUint(uint64(tm.Uint32()), 36)
	}
	return strings.Join(all, " ")
}

func (tm *team) turns(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = tm.turn()
	}
	return all
}

func (tm *team) setting() string {
	key := tm.one([]string{"temperature", "top_p", "top_k"})
	return fmt.Sprintf(
		`{"timestamp":%q,"type":"config_delta","delta":{"assistant":{"model":{"parameters":{%q:%d}}}}}`,
		tm.when(), key, tm.tick())
}

func (tm *team) dir(id string) string {
	tm.t.Helper()
	dir, err := onlyDirectory(tm.Path(".jp"), id)
	if err != nil {
		tm.t.Fatal(err)
	}
	below, err := filepath.Rel(tm.Dir, dir)
	if err != nil {
		tm.t.Fatal(err)
	}
	return filepath.ToSlash(below)
}

// append writes at the end of a stream, in jp's layout.
func (tm *team) append(id string, elements ...string) {
	tm.t.Helper()
	name := tm.dir(id) + "/events.json"
	var all []json.RawMessage
	more := "[" + strings.Join(elements, ",\n") + "]"
	for _, text := range []string{tm.ReadFile(name), more} {
		var part []json.RawMessage
		if err := json.Unmarshal([]byte(text), &part); err != nil {
			tm.t.Fatal(err)
		}
		all = append(all, part...)
	}
	tm.writeStream(name, all)
}

func (tm *team) writeStream(name string, all []json.RawMessage) {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		tm.t.Fatal(err)
	}
	tm.WriteFile(name, string(data)+"\n")
}

// editAnswer corrects a word of an answer, which two people may do at once.
func (tm *team) editAnswer(id string) {
	name := tm.dir(id) + "/events.json"
	parts := strings.Split(tm.ReadFile(name), `"answer `)
	if len(parts) > 1 {
		i := 1 + tm.IntN(len(parts)-1)
		parts[i] = fmt.Sprintf("mended %d of ", tm.tick()) + parts[i]
		tm.WriteFile(name, strings.Join(parts, `"answer `))
	}
}

// commit commits the working tree, whose content becomes that of the commit.
func (tm *team) commit(message string) {
	tm.t.Helper()
	tm.Run("add", "-A", ".jp")
	if out, err := tm.Try("diff", "--cached", "--quiet"); err == nil {
		tm.note("nothing to commit%s", out)
		return
	}
	tm.Run("commit", "-q", "-m", message)
	tm.remember(tm.read())
}

func (tm *team) remember(s snapshot) { tm.has[tm.Run("rev-parse", "HEAD")] = s }

func (tm *team) read() snapshot {
	tm.t.Helper()
	s := snapshot{}
	for i := range teamTalks {
		l, err := readLedger(tm.Path(".jp"), talkID(i))
		if err != nil {
			tm.t.Fatal(err)
		}
		s[talkID(i)] = l
	}
	return s
}

// at returns the required content of a commit.
func (tm *team) at(commit string) snapshot {
	tm.t.Helper()
	s, ok := tm.has[tm.Run("rev-parse", commit)]
	if !ok {
		tm.t.Fatalf("no account of %s", commit)
	}
	return s
}

// base returns the required content of the common ancestor of two commits, or of the merge of
// several common ancestors.
func (tm *team) base(a, b string) snapshot {
	bases := strings.Fields(tm.Run("merge-base", "--all", a, b))
	s := tm.at(bases[0])
	for _, next := range bases[1:] {
		below := tm.base(bases[0], next)
		both := snapshot{}
		for id := range s {
			merged, open := mergedLedger(below[id], s[id], tm.at(next)[id])
			if open["title"] != nil {
				merged.title = "" // either may be the one that a side has changed
			}
			both[id] = merged
		}
		s = both
	}
	return s
}

// meet merges the work of another person, in one of the ways of git.
func (tm *team) meet(who string) {
	other := tm.one(slices.DeleteFunc(slices.Clone(tm.people), func(p string) bool {
		return p == who
	}))
	switch tm.IntN(7) {
	case 0, 1:
		tm.merge(other, "merge", "--no-edit", other)
	case 2:
		tm.merge(other, "jp", "update-branch", other)
	case 3:
		tm.squash(other)
	case 4:
		tm.rebase(other)
	case 5:
		tm.pick(other)
	default:
		tm.revert()
	}
}

func (tm *team) merge(other string, command ...string) {
	tm.note("%s", strings.Join(command, " "))
	m := meeting{command[0], tm.base("HEAD", other), tm.at("HEAD"), tm.at(other)}
	if _, err := tm.Try("merge-base", "--is-ancestor", other, "HEAD"); err == nil {
		return
	}
	out, err := tm.sh(append([]string{"git"}, command...)...)
	tm.settle(out, err, m, "commit", "-q", "--no-edit")
}

func (tm *team) squash(other string) {
	tm.note("squash %s", other)
	m := meeting{"squash", tm.base("HEAD", other), tm.at("HEAD"), tm.at(other)}
	out, err := tm.sh("git", "merge", "-q", "--squash", other)
	if err == nil {
		if _, same := tm.Try("diff", "--cached", "--quiet"); same == nil {
			return
		}
		out, err = tm.sh("git", "commit", "-q", "-m", "squashed "+other)
	}
	tm.settle(out, err, m, "commit", "-q", "-m", "squashed "+other)
}

func (tm *team) pick(other string) {
	if !tm.isPlain(other) {
		return
	}
	tm.note("cherry-pick %s", other)
	m := meeting{"cherry-pick", tm.at(other + "^"), tm.at("HEAD"), tm.at(other)}
	out, err := tm.sh("git", "cherry-pick", other)
	tm.settle(out, err, m, "cherry-pick", "--continue")
}

func (tm *team) revert() {
	if !tm.isPlain("HEAD") || tm.Run("rev-parse", "HEAD") == tm.Run("rev-parse", "main") {
		return
	}
	back := "HEAD"
	if tm.isPlain("HEAD^") && tm.Run("rev-parse", "HEAD^") != tm.Run("rev-parse", "main") {
		back = tm.one([]string{"HEAD", "HEAD^"})
	}
	tm.note("revert %s", back)
	m := meeting{"revert", tm.at(back), tm.at("HEAD"), tm.at(back + "^")}
	out, err := tm.sh("git", "revert", "--no-edit", back)
	tm.settle(out, err, m, "revert", "--continue")
}

// isPlain reports whether a commit has one parent.
func (tm *team) isPlain(commit string) bool {
	_, first := tm.Try("rev-parse", "-q", "--verify", commit+"^1")
	_, second := tm.Try("rev-parse", "-q", "--verify", commit+"^2")
	return first == nil && second != nil
}

// rebase moves commits one by one, and each is accounted for.
func (tm *team) rebase(other string) {
	if tm.Run("rev-list", "--merges", "HEAD", "^"+other) != "" {
		return
	}
	all := strings.Fields(tm.Run("rev-list", "--reverse", "--topo-order", "HEAD", "^"+other))
	tm.note("rebase %d on %s", len(all), other)
	tm.Run("checkout", "-q", "--detach", other)
	who := tm.Run("for-each-ref", "--points-at", "@{-1}", "--format=%(refname:short)", "refs/heads")
	branch := strings.TrimPrefix(tm.Run("rev-parse", "--symbolic-full-name", "@{-1}"), "refs/heads/")
	tm.note("branch %s of %s", branch, who)
	for _, c := range all {
		m := meeting{"rebase", tm.at(c + "^"), tm.at("HEAD"), tm.at(c)}
		out, err := tm.sh("git", "rebase", "-q", "--reapply-cherry-picks", "--onto", "HEAD", c+"^", c)
		tm.settle(out, err, m, "rebase", "--continue")
		tm.Run("checkout", "-q", "--detach", "HEAD")
	}
	tm.Run("checkout", "-q", "-B", branch)
}

// A meeting is a merge of two versions: their common base, and each of them.
type meeting struct {
	how                string
	base, ours, theirs snapshot
}

// settle answers what was left to a person, and checks the result: in copies after each answer,
// here after one of them.
func (tm *team) settle(out string, err error, m meeting, goOn ...string) {
	tm.t.Helper()
	for id := range m.ours {
		if !same(m.base[id], m.ours[id]) && !same(m.base[id], m.theirs[id]) {
			tm.merges++
		}
	}
	if strings.Contains(out, "panic:") {
		tm.t.Fatal(out)
	}
	tm.note("%s", out)
	answer := ""
	if err != nil && tm.unmerged() > 0 {
		if said, left := tm.sh("git", "jp", "resolve"); left != nil {
			open := tm.unmerged()
			tm.note("%d left: %s", open, said)
			tm.stops += open
			tm.stopped[m.how] += open
			for _, answer := range teamAnswers {
				other := tm.again()
				other.finish(err, answer, goOn)
				other.account(m, answer)
				other.jp("check", "-q", "HEAD")
				tm.answered[answer] += open
			}
			answer = tm.one(teamAnswers[:3])
		}
	}
	tm.finish(err, answer, goOn)
	tm.remember(tm.account(m, answer))
}

// again returns a copy of the repository for trying another answer.
func (tm *team) again() *team {
	tm.t.Helper()
	dir := filepath.Join(gittest.TempDir(tm.t), "repo")
	if err := os.CopyFS(dir, os.DirFS(tm.Dir)); err != nil {
		tm.t.Fatal(err)
	}
	other := *tm
	other.Repository = gittest.At(tm.t, dir)
	other.Env = tm.Env
	return &other
}

// finish continues from where git stopped, with an answer for everything that is left to a person.
func (tm *team) finish(err error, answer string, goOn []string) {
	tm.t.Helper()
	for n := 0; err != nil; n++ {
		if n == 3 {
			tm.t.Fatalf("%s: it does not end", answer)
		}
		_, merges := os.Lstat(tm.Path(".git/MERGE_HEAD"))
		_, changed := tm.Try("diff", "--quiet", "HEAD")
		if merges != nil && changed == nil && tm.unmerged() == 0 { // a merge is one without changes too
			tm.note("nothing to commit")
			err = nil
			if tm.isWaiting() {
				_, err = tm.sh("git", goOn[0], "--skip")
			}
			continue
		}
		resolve := []string{"git", "jp", "resolve"}
		if answer != "" {
			resolve = append(resolve, answer)
		}
		tm.note("%s", tm.must(resolve...))
		var out string
		if out, err = tm.sh(append([]string{"git"}, goOn...)...); err != nil {
			tm.note("%s: %s", goOn, out)
		}
	}
}

// account compares the working tree with its required content, and returns that.
func (tm *team) account(m meeting, answer string) snapshot {
	tm.t.Helper()
	if out := tm.Run("status", "--porcelain", "--untracked-files=all"); out != "" {
		tm.t.Errorf("%s: left behind:\n%s", answer, out)
	}
	have := tm.read()
	forks, err := readForks(tm.Path(".jp"), have)
	if err != nil {
		tm.t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(have)) {
		want, open := mergedLedger(m.base[id], m.ours[id], m.theirs[id])
		for _, d := range have[id].differences(want, open) {
			tm.t.Errorf("%s: %s: %s", answer, id, d)
		}
		if !tm.forgets {
			continue // it may be an earlier answer
		}
		for _, d := range have[id].unanswered(open, answer, forks) {
			tm.t.Errorf("%s: %s: %s", answer, id, d)
		}
	}
	return have
}

// isWaiting reports whether git is in the middle of something that can be skipped.
func (tm *team) isWaiting() bool {
	return slices.ContainsFunc([]string{
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge",
	}, func(name string) bool {
		_, err := os.Lstat(tm.Path(".git/" + name))
		return err == nil
	})
}

// unmerged counts the conversations that git left to a person.
func (tm *team) unmerged() int {
	ids := map[string]bool{}
	for line := range strings.Lines(tm.Run("ls-files", "-u")) {
		_, name, _ := strings.Cut(line, "\t")
		dir := strings.TrimPrefix(strings.TrimPrefix(name, ".jp/conversations/"), ".archive/")
		ids[dir[:min(len(dir), 11)]] = true
	}
	return len(ids)
}

func same(a, b ledger) bool {
	return maps.Equal(a.turns, b.turns) && maps.Equal(a.labels, b.labels) &&
		maps.Equal(a.notes, b.notes) && a.title == b.title && a.archived == b.archived
}
