package repair_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

// splitID is a conversation with several directories.
const splitID = "17800000001"

// A splitSite commits versions of one conversation, and combines them without a driver.
type splitSite struct{ *site }

func newSplitSite(t testing.TB) splitSite { return splitSite{newSite(t)} }

// asked lists the questions of these tests in the order of their times.
var asked = []string{"one", "two", "gone", "bob", "alice", "late"}

// put creates a directory of the conversation with these questions. "note:" adds a text file beside
// it, "label:" a label, and "said:" sets the answer to the questions that follow.
func (s splitSite) put(dir string, has ...string) {
	s.t.Helper()
	answer := "yes"
	labels := map[string]string{}
	at := ".jp/conversations/" + splitID + "-" + dir + "/"
	var elements []string
	for _, what := range has {
		kind, value, _ := strings.Cut(what, ":")
		switch kind {
		case "note":
			s.WriteFile(at+"NOTES.md", value)
		case "label":
			labels[value] = "1"
		case "said":
			answer = value
		default:
			minute := slices.Index(asked, what)
			elements = append(elements, fmt.Sprintf(
				`{"timestamp": "2026-01-01 00:%02d:00.0", "type": "turn_start"}, `+
					`{"timestamp": "2026-01-01 00:%02d:01.0", "type": "chat_request", "content": %q}, `+
					`{"timestamp": "2026-01-01 00:%02d:02.0", "type": "chat_response", "message": %q}`,
				minute, minute, what, minute, answer))
		}
	}
	details, err := json.Marshal(map[string]any{
		"title": dir, "last_activated_at": "2026-01-01 01:00:00.0", "labels": labels,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.WriteFile(at+"metadata.json", string(details))
	s.WriteFile(at+"base_config.json", "{}\n")
	s.WriteFile(at+"events.json", "["+strings.Join(elements, ",\n")+"]\n")
}

// alone removes every directory of the conversation.
func (s splitSite) alone() {
	s.t.Helper()
	for _, dir := range s.dirs() {
		if err := os.RemoveAll(dir); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s splitSite) dirs() []string {
	s.t.Helper()
	live, err := filepath.Glob(s.Path(".jp/conversations/" + splitID + "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	archived, err := filepath.Glob(s.Path(".jp/conversations/.archive/" + splitID + "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return append(live, archived...)
}

// version commits the conversation in a single directory.
func (s splitSite) version(dir string, has ...string) string {
	s.t.Helper()
	s.alone()
	s.put(dir, has...)
	s.Run("add", "-A")
	return s.Commit(dir + strings.Join(has, " "))
}

// on checks out a commit.
func (s splitSite) on(commit string) {
	s.t.Helper()
	s.Run("reset", "-q", "--hard")
	s.Run("clean", "-qfd", ".jp/conversations")
	s.Run("checkout", "-q", "--detach", commit)
}

// merged commits the working tree as a merge of two commits.
func (s splitSite) merged(ours, theirs string) {
	s.t.Helper()
	s.Run("add", "-A")
	tree := s.Run("write-tree")
	s.Run("reset", "-q", "--hard", s.Run("commit-tree", "-p", ours, "-p", theirs, "-m", "m", tree))
}

// notes writes the file in which git records the commit of an operation.
func (s splitSite) notes(head, commit string) {
	s.t.Helper()
	s.WriteFile(".git/"+head, commit+"\n")
}

// unite merges the directories if that is certain, and returns the fault.
func (s splitSite) unite(sides *merge.Sides) *repair.Fault {
	s.t.Helper()
	id, err := events.ParseID(splitID)
	if err != nil {
		s.t.Fatal(err)
	}
	o := s.options()
	o.Sides = sides
	plan, err := repair.PlanUnion(s.t.Context(), o, []events.ID{id})
	if err != nil || len(plan.Faults) != 1 {
		s.t.Fatalf("%d faults, %v", len(plan.Faults), err)
	}
	if err := plan.Apply(s.t.Context(), true); err != nil {
		s.t.Fatal(err)
	}
	if err := plan.Faults[0].Err; err != nil {
		s.t.Fatal(err)
	}
	return plan.Faults[0]
}

// want expects one directory with these questions. It reads the files by its own means.
func (s splitSite) want(questions ...string) {
	s.t.Helper()
	dirs := s.dirs()
	if len(dirs) != 1 {
		s.t.Fatalf("it is in %q", dirs)
	}
	var elements []struct{ Type, Content string }
	data, err := os.ReadFile(filepath.Join(dirs[0], "events.json"))
	if err == nil {
		err = json.Unmarshal(data, &elements)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, e := range elements {
		if e.Type == "chat_request" {
			got = append(got, e.Content)
		}
	}
	slices.Sort(got)
	slices.Sort(questions)
	if !slices.Equal(got, questions) {
		s.t.Errorf("it has %q, want %q", got, questions)
	}
}

// wantQuarantine expects the files of each removed directory in the quarantine.
func (s splitSite) wantQuarantine(texts ...string) {
	s.t.Helper()
	var all strings.Builder
	for _, data := range tree(s.t, s.Path(".git/jp/trash")) {
		all.WriteString(data)
	}
	for _, text := range texts {
		if !strings.Contains(all.String(), text) {
			s.t.Errorf("%q is not in the quarantine", text)
		}
	}
}

// TestUniteFinishedMerge: a conversation came to both branches by a squash, and one renamed it. Git
// may still record what it merged, and it does not matter whose branch it was.
func TestUniteFinishedMerge(t *testing.T) {
	base := newSplitSite(t)
	begin := base.Run("rev-parse", "HEAD")
	squashed := base.version("plan", "one")
	bob := base.version("plan", "one", "bob", "note:bob", "label:b")
	base.on(begin)
	base.version("plan", "one")
	alice := base.version("better", "one", "alice", "note:alice", "label:a")
	for _, ours := range []string{bob, alice} {
		for _, noted := range []bool{false, true} {
			t.Run(fmt.Sprint(ours == bob, noted), func(t *testing.T) {
				s := splitSite{base.again()}
				s.t = t
				s.on(squashed)
				s.alone()
				s.put("plan", "one", "bob", "note:bob", "label:b")
				s.put("better", "one", "alice", "note:alice", "label:a")
				theirs := alice
				if ours == alice {
					theirs = bob
				}
				s.merged(ours, theirs)
				if noted {
					s.notes("MERGE_HEAD", theirs)
				}
				f := s.unite(nil)
				s.want("one", "bob", "alice")
				if !strings.Contains(f.Remedy, "gives way") {
					t.Errorf("nobody was told of the title: %s", f.Remedy)
				}
				s.wantBeside("bob", "alice")
				s.wantLabels("a", "b")
			})
		}
	}
}

// wantBeside expects these texts beside the conversation.
func (s splitSite) wantBeside(texts ...string) {
	s.t.Helper()
	var got []string
	for name, data := range tree(s.t, s.dirs()[0]) {
		if strings.Contains(name, "NOTES.md") {
			got = append(got, data)
		}
	}
	slices.Sort(got)
	slices.Sort(texts)
	if !slices.Equal(got, texts) {
		s.t.Errorf("beside it is %q, want %q", got, texts)
	}
}

func (s splitSite) wantLabels(labels ...string) {
	s.t.Helper()
	var details struct{ Labels map[string]string }
	data, err := os.ReadFile(filepath.Join(s.dirs()[0], "metadata.json"))
	if err == nil {
		err = json.Unmarshal(data, &details)
	}
	if got := slices.Sorted(maps.Keys(details.Labels)); err != nil || !slices.Equal(got, labels) {
		s.t.Errorf("it has the labels %q, %v, want %q", got, err, labels)
	}
}

// TestUniteUnrelated: two conversations that have only the id in common.
func TestUniteUnrelated(t *testing.T) {
	s := newSplitSite(t)
	begin := s.Run("rev-parse", "HEAD")
	ours := s.version("here", "one", "bob", "note:same")
	s.on(begin)
	theirs := s.version("there", "two", "alice", "note:same")
	s.put("here", "one", "bob", "note:same")
	s.merged(ours, theirs)
	s.unite(nil)
	s.want("one", "two", "bob", "alice")
	s.wantBeside("same")
	s.wantQuarantine(`"title":"`)
}

// TestUniteCrissCross: several merge bases do not show which elements were removed.
func TestUniteCrissCross(t *testing.T) {
	s := newSplitSite(t)
	s.version("plan", "one")
	root := s.Run("rev-parse", "HEAD")
	left := s.version("plan", "one", "two")
	s.on(root)
	right := s.version("plan", "one", "gone")
	s.on(left)
	s.alone()
	s.put("left", "one", "two", "bob")
	s.merged(left, right)
	ours := s.Run("rev-parse", "HEAD")
	s.on(right)
	s.alone()
	s.put("right", "one", "gone", "alice")
	s.merged(right, left)
	theirs := s.Run("rev-parse", "HEAD")
	s.put("left", "one", "two", "bob")
	s.merged(ours, theirs)
	s.unite(nil)
	s.want("one", "two", "gone", "bob", "alice")
}

// TestUniteRemoved: an element that one side removed from the base stays removed, also if a hook
// knows the commits. It is unknown to which side a third directory belongs.
func TestUniteRemoved(t *testing.T) {
	base := newSplitSite(t)
	root := base.version("plan", "one", "gone")
	ours := base.version("here", "one", "bob")
	base.on(root)
	theirs := base.version("there", "one", "gone", "alice")
	base.put("here", "one", "bob")
	base.merged(ours, theirs)
	s := splitSite{base.again()}
	s.t = t
	s.unite(nil)
	s.want("one", "bob", "alice")

	s = splitSite{base.again()}
	s.t = t
	s.unite(s.between(ours, theirs))
	s.want("one", "bob", "alice")

	s = splitSite{base.again()}
	s.t = t
	s.put("third", "one", "late")
	s.unite(s.between(ours, theirs))
	s.want("one", "gone", "bob", "alice", "late")
}

func (s splitSite) between(ours, theirs string) *merge.Sides {
	s.t.Helper()
	repo := s.sources().Repo
	var ids [2]string
	ids[0], ids[1] = ours, theirs
	a, err := repo.Resolve(s.t.Context(), ids[0])
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := repo.Resolve(s.t.Context(), ids[1])
	if err != nil {
		s.t.Fatal(err)
	}
	sides, err := merge.SidesBetween(s.t.Context(), repo, a, b)
	if err != nil {
		s.t.Fatal(err)
	}
	return sides
}

// TestUniteTwiceBefore: a commit with two directories of the conversation is no base.
func TestUniteTwiceBefore(t *testing.T) {
	s := newSplitSite(t)
	s.put("a", "one", "gone")
	s.put("b", "one", "two")
	s.Run("add", "-A")
	root := s.Commit("twice")
	ours := s.version("here", "one", "bob")
	s.on(root)
	theirs := s.version("there", "one", "gone", "two", "alice")
	s.put("here", "one", "bob")
	s.merged(ours, theirs)
	s.unite(nil)
	s.want("one", "gone", "two", "bob", "alice")
}

// TestUniteWaiting: while git waits, the commit that it cherry-picks, reverts or merges determines
// the base.
func TestUniteWaiting(t *testing.T) {
	s := newSplitSite(t)
	root := s.version("plan", "one")
	before := s.version("plan", "one", "gone")
	picked := s.version("better", "one", "gone", "alice")
	s.on(root)
	s.version("mine", "one", "bob")
	s.put("better", "one", "gone", "alice")
	s.Run("add", "-A")
	for _, tt := range []struct {
		head, commit string
		want         []string
	}{
		{"CHERRY_PICK_HEAD", picked, []string{"one", "bob", "alice"}},
		{"MERGE_HEAD", picked, []string{"one", "gone", "bob", "alice"}},
	} {
		t.Run(tt.head, func(t *testing.T) {
			s := splitSite{s.again()}
			s.t = t
			s.notes(tt.head, tt.commit)
			s.unite(nil)
			s.want(tt.want...)
		})
	}
	t.Run("REVERT_HEAD", func(t *testing.T) {
		s := splitSite{s.again()}
		s.t = t
		s.on(picked)
		s.version("later", "one", "gone", "late")
		s.put("plan", "one")
		s.Run("add", "-A")
		s.notes("REVERT_HEAD", before)
		s.unite(nil)
		s.want("one", "late")
	})
}

// TestUniteStash: the index matches the files of the latest stash.
func TestUniteStash(t *testing.T) {
	s := newSplitSite(t)
	root := s.version("plan", "one", "gone")
	s.alone()
	s.put("better", "one", "gone", "alice")
	s.Run("add", "-A")
	s.Run("stash", "-q")
	s.on(root)
	s.version("mine", "one", "bob")
	s.put("better", "one", "gone", "alice")
	s.unmerge(root+":-plan", "HEAD:-mine", "refs/stash:-better")
	s.unite(nil)
	s.want("one", "bob", "alice")
}

// TestUniteSquash: the only trace of merge --squash is a message, which names the commits.
func TestUniteSquash(t *testing.T) {
	base := newSplitSite(t)
	root := base.version("plan", "one", "gone")
	theirs := base.version("better", "one", "gone", "alice")
	base.on(root)
	ours := base.version("mine", "one", "bob")
	base.put("better", "one", "gone", "alice")
	base.WriteFile(".git/SQUASH_MSG", "Squashed commit of the following:\n\ncommit "+theirs+"\n")
	for _, tt := range []struct {
		name     string
		unmerged bool
		theirs   string // the index's version of theirs
		want     []string
	}{
		{"unmerged", true, theirs, []string{"one", "bob", "alice"}},
		{"staged", false, theirs, []string{"one", "bob", "alice"}},
		{"another", true, root, []string{"one", "gone", "bob", "alice"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := splitSite{base.again()}
			s.t = t
			if tt.unmerged {
				s.unmerge(root+":-plan", ours+":-mine", tt.theirs+":-"+
					map[bool]string{true: "better", false: "plan"}[tt.theirs == theirs])
			} else {
				s.Run("add", "-A", ".jp")
			}
			s.unite(nil)
			s.want(tt.want...)
		})
	}
}

// unmerge puts three versions of the stream into the index, each from a commit and a directory.
func (s splitSite) unmerge(versions ...string) {
	s.t.Helper()
	at := ".jp/conversations/" + splitID
	var list strings.Builder
	for i, v := range versions {
		rev, dir, _ := strings.Cut(v, ":")
		file := at + dir + "/events.json"
		if i == 1 {
			fmt.Fprintf(&list, "0 %040d\t%s\n", 0, file)
		}
		fmt.Fprintf(&list, "100644 %s %d\t%s\n", s.Run("rev-parse", rev+":"+file), i+1, file)
	}
	s.RunInput(list.String(), "update-index", "--index-info")
}

// TestUniteConflict: a conflict waits for a person, also if both directories have the file that the
// driver left.
func TestUniteConflict(t *testing.T) {
	s := newSplitSite(t)
	root := s.version("plan", "one")
	ours := s.version("here", "said:ours", "one")
	s.on(root)
	theirs := s.version("there", "said:theirs", "one")
	s.on(ours)
	s.put("there", "said:ours", "one")
	s.Run("add", "-A")
	s.notes("MERGE_HEAD", theirs)
	f := s.unite(nil)
	if f.Outcome != repair.Offered || f.Done || len(s.dirs()) != 2 ||
		!strings.HasPrefix(f.Command, "git jp resolve ") || !strings.Contains(f.Remedy, "the same turn") {
		t.Errorf("%s, %q, %q, done %v, in %d directories",
			f.Outcome, f.Remedy, f.Command, f.Done, len(s.dirs()))
	}
}

// TestUniteArchived: a conversation that one side archived is archived, and one that a side
// unarchived is live.
func TestUniteArchived(t *testing.T) {
	for _, tt := range []struct {
		name           string
		base, archived string
		want           workspace.Partition
	}{
		{"archived since", "plan", ".archive/", workspace.Archive},
		{"taken out since", ".archive/", ".archive/", workspace.Live},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSplitSite(t)
			put := func(dir string, has ...string) {
				s.put("x", has...)
				from, to := s.dirs()[0], s.Path(".jp/conversations/"+dir)
				for _, d := range s.dirs() {
					if strings.HasSuffix(d, "-x") {
						from = d
					}
				}
				if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			first := splitID + "-plan"
			if tt.base == ".archive/" {
				first = ".archive/" + first
			}
			put(first, "one")
			s.Run("add", "-A")
			root := s.Commit("base")
			s.alone()
			put(".archive/"+splitID+"-here", "one", "bob")
			s.Run("add", "-A")
			ours := s.Commit("archived")
			s.on(root)
			theirs := s.version("there", "one", "alice")
			put(".archive/"+splitID+"-here", "one", "bob")
			s.merged(ours, theirs)
			s.unite(nil)
			s.want("one", "bob", "alice")
			archived := strings.Contains(s.dirs()[0], ".archive")
			if archived != (tt.want == workspace.Archive) {
				t.Errorf("archived is %v", archived)
			}
		})
	}
}

// TestUniteLeavesWhatItCannotKeep: a symbolic link beside the conversation cannot be moved, so
// everything is left alone.
func TestUniteLeavesWhatItCannotKeep(t *testing.T) {
	s := newSplitSite(t)
	s.put("here", "one", "bob")
	s.put("there", "one", "alice")
	for _, dir := range s.dirs() {
		if err := os.Symlink("else", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	id, err := events.ParseID(splitID)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := repair.PlanUnion(t.Context(), s.options(), []events.ID{id})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if f := plan.Faults[0]; f.Done || len(s.dirs()) != 2 {
		t.Errorf("done %v, in %q", f.Done, s.dirs())
	}
}
