package teams_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
)

// A sideEdit is what one person does to a conversation that the other has too.
type sideEdit struct {
	name     string
	archived bool       // the conversation is archived before
	do       [][]string // commands of git jp
	// The required state of the conversation afterwards, whatever the other side does.
	says, labels []string
	title        string // counts unless the other side gave one
	archive      string // where it is, "" if the other side decides
	// stops says that it is moved and changed in one commit: Git then does not recognize a short
	// metadata.json as renamed, and 'git jp resolve' finishes the operation without a question.
	stops bool
}

const (
	pairID     = "17800000001"
	pairBefore = "What is in the files?"
	inArchive  = ".archive"
	live       = "live"
)

// sideEdits are everything that names, moves or continues a conversation.
var sideEdits = []sideEdit{
	{
		name: "ask", do: [][]string{{"query", "-i", pairID, "asked here"}},
		says: []string{"asked here"},
	},
	{
		name: "rename", do: [][]string{{"rename", pairID, "A name of thirty letters or more"}},
		title: "A name of thirty letters or more",
	},
	{name: "archive", do: [][]string{{"archive", pairID}}, archive: inArchive},
	{
		name: "label", do: [][]string{{"label", "add", "--id", pairID, "here=1"}},
		labels: []string{"here"},
	},
	{
		name: "title", do: [][]string{{"query", "-i", pairID, "--title", "Made", "entitled"}},
		says: []string{"entitled"}, title: "Made",
	},
	{name: "unarchive", archived: true, do: [][]string{{"unarchive", pairID}}, archive: live},
	{name: "unarchive and ask", archived: true, do: [][]string{
		{"unarchive", pairID}, {"query", "-i", pairID, "asked again"},
	}, says: []string{"asked again"}, archive: live, stops: true},
	{
		name: "rename archived", archived: true, do: [][]string{{"rename", pairID, "Renamed"}},
		title: "Renamed",
	},
	{
		name: "label archived", archived: true,
		do: [][]string{{"label", "add", "--id", pairID, "there=1"}}, labels: []string{"there"},
	},
}

// others are what the other side does; both may do the same, in other words.
var others = []sideEdit{
	{
		name: "ask", do: [][]string{{"query", "-i", pairID, "asked there"}},
		says: []string{"asked there"},
	},
	{
		name: "rename", do: [][]string{{"rename", pairID, "Another name that is as long as that"}},
		title: "Another name that is as long as that",
	},
	{name: "archive", do: [][]string{{"archive", pairID}}, archive: inArchive},
	{
		name: "label", do: [][]string{{"label", "add", "--id", pairID, "other=1"}},
		labels: []string{"other"},
	},
	{name: "ask and archive", do: [][]string{
		{"query", "-i", pairID, "asked last"}, {"archive", pairID},
	}, says: []string{"asked last"}, archive: inArchive, stops: true},
	{name: "unarchive", archived: true, do: [][]string{{"unarchive", pairID}}, archive: live},
	{name: "ask unarchived", archived: true, do: [][]string{
		{"unarchive", pairID}, {"query", "-i", pairID, "asked later"},
	}, says: []string{"asked later"}, archive: live, stops: true},
	{
		name: "rename archived", archived: true, do: [][]string{{"rename", pairID, "Else"}},
		title: "Else",
	},
	{
		name: "label archived", archived: true,
		do: [][]string{{"label", "add", "--id", pairID, "else=1"}}, labels: []string{"else"},
	},
}

// A pairStep is a shell command, and the command that continues when it stopped.
type pairStep struct{ sh, goOn string }

// pick is git cherry-pick, also if both did the same and nothing is left to do.
var pick = pairStep{
	"git cherry-pick --allow-empty --keep-redundant-commits theirs",
	"git cherry-pick --continue || git cherry-pick --skip",
}

const (
	rebaseOn = "git rebase --continue || git rebase --skip"
	popped   = "git add -A .jp && git commit -q --allow-empty -m popped"
)

// pairWays are the ways in which git brings ours and theirs together, beginning on ours.
var pairWays = []struct {
	name   string
	steps  []pairStep
	undone bool // ours is reverted
}{
	{name: "merge", steps: []pairStep{{"git merge -q -m m theirs", "git commit -q --no-edit"}}},
	{name: "pull", steps: []pairStep{
		{"git pull -q --no-rebase --no-edit . theirs", "git commit -q --no-edit"},
	}},
	{name: "pull --rebase", steps: []pairStep{{"git pull -q --rebase . theirs", rebaseOn}}},
	{name: "rebase", steps: []pairStep{
		{"git checkout -q -B t theirs && git rebase -q ours", rebaseOn},
	}},
	{name: "cherry-pick", steps: []pairStep{pick}},
	{name: "stash pop", steps: []pairStep{
		{"git checkout -q -B t theirs && git reset -q --soft theirs~1 && git stash -q && " +
			"git checkout -q -B t ours && git stash pop -q && " + popped, popped},
	}},
	{name: "update-branch", steps: []pairStep{{"git jp update-branch theirs", ""}}},
	{name: "revert", undone: true, steps: []pairStep{
		pick,
		{
			"git revert --no-edit ours || git diff --quiet HEAD",
			"git revert --continue || git revert --skip",
		},
		// Git reverts files of blobs by their names, also if another turn has that content too; picks and
		// reverts run no hook before the commit.
		{"git jp repair -q --yes && git add -A .jp && git commit -q --amend --no-edit", ""},
	}},
}

// A pairRepo has a commit for each edit of each side, on one base.
type pairRepo struct{ managedRepo }

func newPairRepo(t *testing.T) pairRepo {
	scripts.DependOnSources(t)
	r := pairRepo{managedRepo{Repository: gittest.Repo(t), t: t}}
	home := gittest.TempDir(t)
	r.Env = append(r.Env, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"GIT_EDITOR=true", "JP_SESSION=pairs")
	// git pull --rebase drops commits that its upstream once had and no longer has.
	r.Run("config", "core.logAllRefUpdates", "false")
	r.jp("init", "-q")
	for name, data := range scripts.Conversation("Talk", []string{"first"}) {
		r.WriteFile(".jp/conversations/"+pairID+"-talk/"+name, data)
	}
	r.WriteFile(".jp/conversations/"+pairID+"-talk/NOTES.md", "What somebody keeps beside it.\n")
	r.jp("migrate", "-q")
	r.Commit("live")
	r.Run("tag", "base-live")
	r.jp("archive", "-q", pairID)
	r.Commit("archived")
	r.Run("tag", "base-archived")
	return r
}

// commit makes an edit on its base, once, and tags it.
func (r pairRepo) commit(e sideEdit, side string, made map[string]bool) string {
	r.t.Helper()
	tag := side + "-" + strings.ReplaceAll(e.name, " ", "-")
	if made[tag] {
		return tag
	}
	made[tag] = true
	base := "base-live"
	if e.archived {
		base = "base-archived"
	}
	r.Run("checkout", "-q", "-f", "-B", "t", base)
	for _, args := range e.do {
		r.jp(append([]string{args[0], "-q"}, args[1:]...)...)
	}
	r.Run("add", "-A", ".jp")
	r.Run("commit", "-q", "-m", tag)
	r.Run("tag", tag)
	return tag
}

// TestPairs: two concurrent changes to a conversation stop no operation of git and lose nothing.
// The normal run has every pair once, each in another way; with GIT_JP_SOAK every pair comes in
// every way and both ways round.
func TestPairs(t *testing.T) {
	r := newPairRepo(t)
	made := make(map[string]bool)
	n := 0
	for _, one := range sideEdits {
		for _, other := range others {
			if one.archived != other.archived {
				continue
			}
			tags := [2]string{r.commit(one, "one", made), r.commit(other, "other", made)}
			edits := [2]sideEdit{one, other}
			for i, way := range pairWays {
				for ours := range 2 {
					if !scripts.Soaks() && (n%len(pairWays) != i || n/len(pairWays)%2 != ours) {
						continue
					}
					name := fmt.Sprintf("%s of %s and %s", way.name, tags[ours], tags[1-ours])
					t.Run(name, func(t *testing.T) {
						r := r
						r.t = t
						r.together(tags[ours], tags[1-ours])
						for _, step := range way.steps {
							r.run(step, one.stops || other.stops)
						}
						r.settled()
						want := []sideEdit{edits[ours], edits[1-ours]}
						if way.undone {
							r.wantUndone(want[1], want[0])
						} else {
							r.wantPair(want)
						}
					})
				}
			}
			n++
		}
	}
}

// together puts two commits where a way expects them.
func (r pairRepo) together(ours, theirs string) {
	r.t.Helper()
	for _, args := range [][]string{
		{"stash", "clear"},
		{"reset", "-q", "--hard"},
		{"clean", "-qfd", ".jp"},
		{"branch", "-q", "-f", "ours", ours},
		{"branch", "-q", "-f", "theirs", theirs},
		{"checkout", "-q", "-B", "t", "ours"},
	} {
		r.Run(args...)
	}
}

// run runs a step. A step that stops is resolved without a question, if it may stop at all.
func (r pairRepo) run(step pairStep, stops bool) {
	r.t.Helper()
	out, err := r.sh("sh", "-c", step.sh)
	if err != nil && stops && step.goOn != "" {
		r.jp("resolve")
		out, err = r.sh("sh", "-c", step.goOn)
	}
	if err != nil {
		_, _ = r.sh("sh", "-c", "git merge --abort; git rebase --abort; git cherry-pick --abort; "+
			"git revert --abort")
		r.t.Fatalf("%s: %v\n%s", step.sh, err, out)
	}
}

// settled verifies that nothing is left to do.
func (r pairRepo) settled() {
	r.t.Helper()
	if out := r.Run("status", "--porcelain", "--", ".jp"); out != "" {
		r.t.Errorf("something is left to do:\n%s", out)
	}
	r.jp("check", "-q", "HEAD")
}

// A pairState is HEAD's version of the conversation, read without our code.
type pairState struct {
	dir    string
	files  []string
	title  string
	labels map[string]any
	said   []string
}

func (r pairRepo) state() pairState {
	r.t.Helper()
	var s pairState
	for _, at := range []string{"", inArchive} {
		found, err := filepath.Glob(r.Path(filepath.Join(".jp/conversations", at, pairID+"*")))
		if err != nil {
			r.t.Fatal(err)
		}
		for _, dir := range found {
			if s.dir != "" {
				r.t.Fatalf("it is in %s and in %s", s.dir, dir)
			}
			s.dir = dir
		}
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		s.files = append(s.files, e.Name())
	}
	var details struct {
		Title  string         `json:"title"`
		Labels map[string]any `json:"labels"`
	}
	r.read(filepath.Join(s.dir, "metadata.json"), &details)
	s.title, s.labels = details.Title, details.Labels
	var elements []struct {
		Type    string `json:"type"`
		Content any    `json:"content"`
	}
	r.read(filepath.Join(s.dir, "events.json"), &elements)
	for _, e := range elements {
		if e.Type == "chat_request" {
			s.said = append(s.said, fmt.Sprint(e.Content))
		}
	}
	return s
}

func (r pairRepo) read(name string, to any) {
	r.t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// wantPair verifies that both edits are there.
func (r pairRepo) wantPair(edits []sideEdit) {
	r.t.Helper()
	s := r.state()
	want := []string{pairBefore}
	var labels, titles []string
	archived := edits[0].archived
	for _, e := range edits {
		want = append(want, e.says...)
		labels = append(labels, e.labels...)
		if e.title != "" {
			titles = append(titles, e.title)
		}
		if e.archive != "" {
			archived = e.archive == inArchive
		}
	}
	if titles == nil {
		titles = []string{"Talk"}
	}
	r.wantState(s, want, labels, titles, archived)
}

// wantUndone verifies that the first edit is there, and nothing of the second. A title that the
// reverted one replaced does not come back.
func (r pairRepo) wantUndone(kept, undone sideEdit) {
	r.t.Helper()
	s := r.state()
	var titles []string
	if kept.title == "" || undone.title != "" {
		titles = append(titles, "Talk")
	}
	if kept.title != "" {
		titles = append(titles, kept.title)
	}
	archived := kept.archived
	// If both moved it, the revert moves it back.
	if kept.archive != "" && kept.archive != undone.archive {
		archived = kept.archive == inArchive
	}
	r.wantState(s, append([]string{pairBefore}, kept.says...), kept.labels, titles, archived)
}

func (r pairRepo) wantState(s pairState, said, labels, titles []string, archived bool) {
	r.t.Helper()
	slices.Sort(said)
	if got := slices.Sorted(slices.Values(s.said)); !slices.Equal(got, said) {
		r.t.Errorf("it says %q, want %q", got, said)
	}
	slices.Sort(labels)
	if got := slices.Sorted(maps.Keys(s.labels)); !slices.Equal(got, labels) {
		r.t.Errorf("it has the labels %q, want %q", got, labels)
	}
	if !slices.Contains(titles, s.title) {
		r.t.Errorf("it is called %q, want one of %q", s.title, titles)
	}
	if got := strings.Contains(s.dir, inArchive); got != archived {
		r.t.Errorf("archived is %v, want %v", got, archived)
	}
	if filepath.Base(s.dir) != pairID+"-talk" {
		r.t.Errorf("its directory is called %s", filepath.Base(s.dir))
	}
	names := []string{"NOTES.md", "base_config.json", "events.json", "metadata.json"}
	if !slices.Equal(s.files, names) {
		r.t.Errorf("it has the files %q", s.files)
	}
}
