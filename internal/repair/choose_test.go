package repair

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
	"pgregory.net/rapid"
)

// drawDirectories draws directories of one conversation: some turns in common, some of its own in
// each, live or archived, some with the same title.
func drawDirectories(t *rapid.T) []*workspace.Conversation {
	at := func(minutes int) time.Time {
		return time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC)
	}
	var all []*workspace.Conversation
	for i := range rapid.IntRange(2, 4).Draw(t, "directories") {
		var elems []*events.Element
		for _, n := range []int{0, 10, 10*i + 20} {
			elems = append(elems,
				events.NewElement(at(n), &events.TurnStart{}, events.Metadata{}),
				events.NewElement(at(n+1), &events.ChatRequest{Content: fmt.Sprint(n)}, events.Metadata{}))
		}
		title := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "title")
		c := &workspace.Conversation{
			Details: &events.Details{
				Title: &title, LastActivatedAt: at(rapid.IntRange(0, 3).Draw(t, "active")),
			},
			Stream: events.New(elems...), BaseConfig: []byte("{}\n"),
		}
		c.ID, c.Dirname = 1, fmt.Sprintf("1-%s%d", title, i)
		if rapid.Bool().Draw(t, "named after its title") {
			c.Dirname = "1-" + title
		}
		if rapid.Bool().Draw(t, "archived") {
			c.Partition = workspace.Archive
			// Before, at, and after the last event of one of them.
			archived := at(rapid.SampledFrom([]int{0, 20, 21, 22, 31, 41, 51, 99}).Draw(t, "archived at"))
			c.Details.ArchivedAt = &archived
		}
		c.Path = c.Partition.Dir() + "/" + c.Dirname
		if slices.ContainsFunc(all, func(o *workspace.Conversation) bool { return o.Path == c.Path }) {
			c.Dirname += fmt.Sprint("-", i)
			c.Path = c.Partition.Dir() + "/" + c.Dirname
		}
		all = append(all, c)
	}
	return all
}

// TestWhichDirectoryStays: the choice does not depend on the order, is in the partition that the
// rule names, has the expected name if one of the directories has it, and loses no turn.
func TestWhichDirectoryStays(t *testing.T) {
	// Unlike other properties of the package, this one does not wait for the disk.
	for range 50 {
		rapid.Check(t, whichDirectoryStays)
	}
}

func whichDirectoryStays(t *rapid.T) {
	all := drawDirectories(t)
	u, err := new(union).of(all)
	if err != nil {
		t.Fatal(err)
	}
	kept := all[u.keep]
	shuffled := rapid.Permutation(all).Draw(t, "order")
	v, err := new(union).of(shuffled)
	if err != nil {
		t.Fatal(err)
	}
	if shuffled[v.keep] != kept || !bytes.Equal(u.stream.Encode(), v.stream.Encode()) ||
		!bytes.Equal(u.details.Encode(), v.details.Encode()) {
		t.Fatalf("%s stays, and in another order %s", kept.Path, shuffled[v.keep].Path)
	}
	if archived := staysArchived(all); archived != (kept.Partition == workspace.Archive) ||
		archived != (u.details.ArchivedAt != nil) {
		t.Fatalf("%s stays, archived at %v", kept.Path, u.details.ArchivedAt)
	}
	name := events.Dirname(1, u.details.Name())
	for _, c := range all {
		if c.Partition == kept.Partition && c.Dirname == name && kept.Dirname != name {
			t.Fatalf("%s stays, and %s has its name", kept.Path, c.Path)
		}
		if !contains(u.stream, c.Stream) {
			t.Fatalf("a turn of %s is lost", c.Path)
		}
	}
}

// staysArchived is the rule without a known ancestor: archived by one is archived.
func staysArchived(all []*workspace.Conversation) bool {
	return slices.ContainsFunc(all, func(c *workspace.Conversation) bool {
		return c.Partition == workspace.Archive
	})
}

// TestDirectoriesThatDisagree: if both changed one turn differently nothing is chosen.
func TestDirectoriesThatDisagree(t *testing.T) {
	var all []*workspace.Conversation
	for _, text := range []string{"one", "two"} {
		c := &workspace.Conversation{Details: &events.Details{}, Stream: events.New(
			events.NewElement(time.Unix(0, 0), &events.TurnStart{}, events.Metadata{}),
			events.NewElement(time.Unix(1, 0), &events.ChatRequest{Content: "q"}, events.Metadata{}),
			events.NewElement(time.Unix(2, 0), &events.ChatResponse{Text: text}, events.Metadata{}),
		)}
		c.Path = text
		all = append(all, c)
	}
	if u, err := new(union).of(all); err == nil {
		t.Errorf("got %+v", u)
	}
}

func TestUnmark(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"two sides", "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n", "abd|acd|-"},
		{"with a base", "<<<<<<< HEAD\nb\n||||||| 123\no\n=======\nc\n>>>>>>> x\n", "b|c|o"},
		{
			"one of two with a base",
			"<<<<<<<\nb\n|||||||\no\n=======\nc\n>>>>>>>\n<<<<<<<\nd\n=======\n>>>>>>>\n", "bd|c|-",
		},
		{"longer markers", "<<<<<<<< HEAD:x\nb\n========\nc\n>>>>>>>> x:y\n", "b|c|-"},
		{"a shorter marker inside", "<<<<<<<< a\n=======\n========\nc\n>>>>>>>> x\n", "=======|c|-"},
		{"with carriage returns", "<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> x\r\n", "b\r|c\r|-"},
		{
			"a difference and a side, of jj",
			"a\n<<<<<<< conflict 1 of 1\n%%%%%%% diff from: x\n\\\\\\\\\\\\\\        to: y\n" +
				" b\n-o\n+p\n+++++++ z\nb\nc\n>>>>>>> conflict 1 of 1 ends\nd\n", "abpd|abcd|abod",
		},
		{
			"a side and a difference, of an older jj",
			"<<<<<<< Conflict 1 of 1\n+++++++ #1\nb\n%%%%%%% Changes from base to #2\n-o\n+c\n>>>>>>>\n",
			"b|c|o",
		},
		{"sides and base of jj", "<<<<<<<\n+++++++ x\nb\n------- y\no\n+++++++ z\nc\n>>>>>>>\n", "b|c|o"},
		{"a side of jj that is empty", "<<<<<<<\n+++++++\n-------\no\n+++++++\nc\n>>>>>>>\n", "|c|o"},
		{
			"three sides of jj",
			"<<<<<<<\n+++++++\nb\n-------\no\n+++++++\nc\n-------\no\n+++++++\nd\n>>>>>>>\n", "no",
		},
		{"three sides of jj, without a base", "<<<<<<<\n+++++++\nb\n+++++++\nc\n+++++++\nd\n>>>>>>>\n", "no"},
		{"two differences of jj", "<<<<<<<\n%%%%%%%\n b\n%%%%%%%\n b\n>>>>>>>\n", "no"},
		{"one side of jj", "<<<<<<<\n%%%%%%%\n b\n>>>>>>>\n", "no"},
		{"a difference without signs", "<<<<<<<\n%%%%%%%\nb\n+++++++\nb\n>>>>>>>\n", "no"},
		{"signs of jj in a conflict of git", "<<<<<<<\nb\n-------\n=======\nc\n>>>>>>>\n", "b-------|c|-"},
		{"signs of git in a conflict of jj", "<<<<<<<\n+++++++\n=======\n-------\n+++++++\n>>>>>>>\n", "=======||"},
		{"none", "a\nb\n", "no"},
		{"without an end", "<<<<<<< HEAD\nb\n=======\nc\n", "no"},
		{"six signs", "<<<<<< HEAD\nb\n======\nc\n>>>>>> x\n", "no"},
		{"empty", "", "no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, ok := unmark([]byte(test.in))
			got := "no"
			if ok {
				base := "-"
				if s.base != nil {
					base = string(s.base)
				}
				got = strings.ReplaceAll(string(s.ours)+"|"+string(s.theirs)+"|"+base, "\n", "")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
