package gitint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
)

// historyOf returns "subject: status path, ..." of each commit.
func historyOf(t *testing.T, repo *gitint.Repo, h gitint.HistoryRequest) []string {
	t.Helper()
	all, err := repo.History(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, rev := range all {
		var files []string
		for _, f := range rev.Files {
			if (f.Status == 'A') != f.Old.IsZero() || (f.Status == 'D') != f.New.IsZero() {
				t.Errorf("%s: %c from %s to %s", f.Path, f.Status, f.Old, f.New)
			}
			files = append(files, string(f.Status)+" "+f.Path)
		}
		lines = append(lines, rev.Subject+": "+strings.Join(files, ", "))
	}
	return lines
}

func TestHistory(t *testing.T) {
	r, repo := showRepo(t)
	r.Run("checkout", "-q", "-b", "side")
	write(t, r, "dir/deep/ü b.txt", "z\n")
	r.Commit("on the side")
	r.Run("checkout", "-q", "-")
	r.Run("rm", "-q", "a.txt")
	r.Run("commit", "-q", "-m", "removed")
	r.Run("merge", "-q", "--no-ff", "-m", "merged", "side")
	for _, test := range []struct {
		name string
		h    gitint.HistoryRequest
		want []string
	}{
		{"one file", gitint.HistoryRequest{Globs: []string{"a.txt"}}, []string{
			"removed: D a.txt", "second: M a.txt", "first: Ä: A a.txt",
		}},
		{"a star stays in its directory", gitint.HistoryRequest{Globs: []string{"dir/*"}}, []string{
			"first: Ä: A dir/ü b.txt",
		}},
		{"two stars do not", gitint.HistoryRequest{Globs: []string{"dir/**"}, Count: 1}, []string{
			"on the side: A dir/deep/ü b.txt",
		}},
		{"a revision", gitint.HistoryRequest{Globs: []string{"*.txt"}, Revs: []string{"HEAD~2"}}, []string{
			"second: M a.txt", "first: Ä: A a.txt",
		}},
		{"nothing", gitint.HistoryRequest{Globs: []string{"none"}, All: true}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := historyOf(t, repo, test.h); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if _, err := repo.History(t.Context(), gitint.HistoryRequest{Revs: []string{"gone"}}); err == nil {
		t.Error("a revision that is not there gave a history")
	}
	r.Run("checkout", "-q", "--orphan", "empty")
	if got := historyOf(t, repo, gitint.HistoryRequest{}); got != nil {
		t.Errorf("an unborn branch has a history: %q", got)
	}
}

// TestHistoryOfMerge checks that a merge with content of no parent is listed, compared with its
// first parent.
func TestHistoryOfMerge(t *testing.T) {
	r, repo := showRepo(t)
	r.Run("checkout", "-q", "-b", "side")
	write(t, r, "a.txt", "side\n")
	r.Commit("on the side")
	r.Run("checkout", "-q", "-")
	write(t, r, "a.txt", "main\n")
	r.Commit("on main")
	_, _ = r.Try("merge", "-q", "--no-ff", "-m", "merged", "side")
	write(t, r, "a.txt", "both\n")
	r.Commit("merged")
	got := historyOf(t, repo, gitint.HistoryRequest{Globs: []string{"a.txt"}, Count: 1})
	if want := []string{"merged: M a.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	all, err := repo.History(t.Context(), gitint.HistoryRequest{Globs: []string{"a.txt"}, Count: 1})
	was, is := repo.HashBlob([]byte("main\n")), repo.HashBlob([]byte("both\n"))
	if err != nil || all[0].Files[0].Old != was || all[0].Files[0].New != is {
		t.Errorf("%+v, %v; want %s and %s", all, err, was, is)
	}
}
