package stage

import (
	"path"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// TestNewConversationsAreReadAhead: conversations that HEAD lacks are read while git is asked, and
// files that equal the index are dropped from what was read.
func TestNewConversationsAreReadAhead(t *testing.T) {
	r := gittest.Repo(t)
	dirs := map[string]string{}
	for i, name := range []string{"unborn", "committed", "staged", "archived", "new"} {
		parent := ".jp/conversations/"
		if name == "archived" {
			parent += ".archive/"
		}
		dirs[name] = parent + string(rune('1'+i)) + "7758406187-" + name
	}
	write := func(name string) {
		r.WriteFile(dirs[name]+"/events.json", "[]\n")
		r.WriteFile(dirs[name]+"/metadata.json", `{"title": "`+name+`"}`+"\n")
	}
	ahead, known := look(t, r, func() { write("unborn") })
	if !slices.Equal(ahead, []string{dirs["unborn"]}) || len(known[dirs["unborn"]].files) != 2 {
		t.Errorf("without a commit %q were read ahead, and %v is known", ahead, known)
	}
	ahead, known = look(t, r, func() {
		write("committed")
		write("archived")
		r.Commit("conversations")
		write("staged")
		r.Run("add", dirs["staged"])
		write("new")
		r.WriteFile(dirs["committed"]+"/events.json", "[ ]\n")
	})
	if want := []string{dirs["staged"], dirs["new"]}; !slices.Equal(ahead, want) {
		t.Errorf("read ahead were %q, want %q", ahead, want)
	}
	for name, want := range map[string]int{
		"unborn": 0, "committed": 1, "archived": 0, "staged": 0, "new": 2,
	} {
		if got := known[dirs[name]]; got == nil || len(got.files) != want {
			t.Errorf("of %s there is %v, want %d files", name, got, want)
		}
	}
}

// look surveys the changes after write. It returns the conversations that were read ahead, sorted,
// and the folders of all conversations.
func look(t *testing.T, r *gittest.Repository, write func()) ([]string, map[string]*folder) {
	t.Helper()
	write()
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // was only read
	s, err := newSurvey(t.Context(), Request{
		Repo: repo, Dir: workspace.DirName, Select: Changed, Cache: &refs.Cache{},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var ahead []string
	for name, d := range s.fsys.ahead {
		if path.Base(name) != workspace.ConversationsDir && d.files != nil {
			ahead = append(ahead, name)
		}
	}
	slices.Sort(ahead)
	return ahead, s.fsys.known
}
