package gitint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// rootNames returns what Roots says, "name worktree kind".
func rootNames(t *testing.T, repo *gitint.Repo) map[string]gitint.Root {
	t.Helper()
	roots, err := repo.Roots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]gitint.Root{}
	for _, r := range roots.Names {
		names[strings.TrimSpace(r.Worktree+" "+r.Name)] = r
	}
	return names
}

// TestRootsHoldEveryNameOfAnObject makes one of each kind, in two work trees, and asks from
// either of them.
func TestRootsHoldEveryNameOfAnObject(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "1")
	first := r.Commit("first")
	r.WriteFile("a", "2")
	second := r.Commit("second")
	r.Run("update-ref", "refs/jj/keep/x", first)
	r.Run("update-ref", "refs/remotes/origin/x", first)
	r.Run("notes", "add", "-m", "note", first)
	r.Run("replace", second, first)
	r.Run("tag", "-a", "-m", "x", "v1", first)
	r.WriteFile("a", "3")
	r.Run("stash", "push", "-q")
	r.WriteFile("a", "4")
	r.Run("stash", "push", "-q")
	r.Run("worktree", "add", "-q", "--detach", "../linked", first)
	linked := r.In("../linked")
	linked.Run("update-ref", "refs/bisect/bad", second)
	linked.Run("update-ref", "refs/worktree/own", second)
	r.Run("update-ref", "refs/bisect/good", first)
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "FETCH_HEAD"} {
		if err := os.WriteFile(r.Path(".git/"+name), []byte(second+"\tx\n"+first+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rebase := filepath.Join(r.Dir, ".git", "worktrees", "linked", "rebase-merge")
	if err := os.MkdirAll(rebase, 0o700); err != nil {
		t.Fatal(err)
	}
	todo := "# a comment\npick " + second[:9] + " subject\nlabel onto\n"
	if err := os.WriteFile(filepath.Join(rebase, "git-rebase-todo"), []byte(todo), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []*gittest.Repository{r, linked} {
		names := rootNames(t, open(t, at))
		for name, want := range map[string]string{
			"refs/heads/main": second, "refs/jj/keep/x": first, "refs/remotes/origin/x": first,
			"refs/replace/" + second + " (replaced)": second, "refs/replace/" + second: first,
			"refs/notes/commits": r.Run("rev-parse", "refs/notes/commits"),
			"refs/tags/v1":       r.Run("rev-parse", "v1"),
			"refs/stash@{1}":     r.Run("rev-parse", "stash@{1}"),
			"main@{1}":           first, "HEAD": second, "linked HEAD": first,
			"linked refs/bisect/bad": second, "linked refs/worktree/own": second,
			"refs/bisect/good": first, "MERGE_HEAD": first, "FETCH_HEAD": first,
			"linked rebase-merge/git-rebase-todo": second,
		} {
			if got, ok := names[name]; !ok || got.OID.String() != want {
				t.Errorf("from %s: %s is %v, want %s", at.Dir, name, got.OID, want)
			}
		}
	}
}

// TestRootsReachWhatGitReaches compares with git, which knows all of these but what lies
// beside HEAD.
func TestRootsReachWhatGitReaches(t *testing.T) {
	r := gittest.Repo(t)
	for i := range 5 {
		r.WriteFile("a", strings.Repeat("x", i))
		r.Commit("c")
	}
	r.Run("reset", "-q", "--hard", "HEAD~3")
	r.Run("tag", "-a", "-m", "x", "v1", "HEAD~1")
	r.WriteFile("a", "stashed")
	r.Run("stash", "push", "-q")
	repo := open(t, r)
	roots, err := repo.Roots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []gitint.OID
	for _, root := range roots.Names {
		ids = append(ids, root.OID)
	}
	got, err := repo.Ancestors(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, id := range got {
		names = append(names, id.String())
	}
	want := strings.Fields(r.Run("rev-list", "--all", "--reflog"))
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("reached %v, git reaches %v", names, want)
	}
	if len(roots.Incomplete) != 0 {
		t.Errorf("incomplete: %v", roots.Incomplete)
	}
}

func TestRootsSayWhatTheyCannotRead(t *testing.T) {
	for _, tt := range []struct {
		name, file, content, want string
	}{
		{"torn reflog", ".git/logs/refs/heads/main", "123", "it has the line"},
		{"unknown work tree", ".git/worktrees/x/HEAD", "ref: refs/heads/x\n", "gitdir is not there"},
		{
			"locked work tree that is gone", ".git/worktrees/x/locked", "usb\n",
			"it is locked, and nothing is at",
		},
		{
			"rebase of unknown commits", ".git/rebase-merge/git-rebase-todo",
			"pick 0123456 gone\n", `names "0123456"`,
		},
		{
			"list with zero bytes", ".git/rebase-merge/git-rebase-todo",
			"pick 01234\x00\x00\x00\x00", "git-rebase-todo has zero bytes",
		},
		{"empty ORIG_HEAD", ".git/ORIG_HEAD", "", "ORIG_HEAD is empty"},
		{
			"zero bytes in MERGE_HEAD", ".git/MERGE_HEAD", strings.Repeat("\x00", 41),
			"MERGE_HEAD has the line",
		},
		{
			"cut second line of MERGE_HEAD", ".git/MERGE_HEAD", strings.Repeat("a", 40) + "\naaaa",
			`MERGE_HEAD has the line "aaaa"`,
		},
		{
			"cut FETCH_HEAD", ".git/FETCH_HEAD", strings.Repeat("a", 40) + "\t\tbranch\n" +
				strings.Repeat("b", 39), "FETCH_HEAD has the line",
		},
		{
			"zero bytes in stopped-sha", ".git/rebase-merge/stopped-sha", "01234\x00\x00",
			"stopped-sha has the line",
		},
		{
			"unknown stopped-sha", ".git/rebase-merge/stopped-sha", "0123456\n",
			`stopped-sha names "0123456"`,
		},
		{
			"cut head of picks", ".git/sequencer/head", strings.Repeat("a", 20),
			"sequencer/head has the line",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.Repo(t)
			r.Commit("x")
			if strings.HasSuffix(tt.file, "locked") {
				r.WriteFile(".git/worktrees/x/gitdir", r.Path("nowhere/.git")+"\n")
				r.WriteFile(".git/worktrees/x/HEAD", "ref: refs/heads/main\n")
			}
			r.WriteFile(tt.file, tt.content)
			roots, err := open(t, r).Roots(t.Context())
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				for _, i := range roots.Incomplete {
					text += i.String() + "\n"
				}
			}
			if !strings.Contains(text, tt.want) {
				t.Errorf("got %q, want %q", text, tt.want)
			}
		})
	}
}

// TestRootsTakeWhatGitWrites holds that files which git may leave behind are no damage.
func TestRootsTakeWhatGitWrites(t *testing.T) {
	for _, tt := range []struct{ file, content string }{
		{".git/FETCH_HEAD", ""},
		{".git/sequencer/abort-safety", ""},
		{".git/rebase-merge/git-rebase-todo", ""},
		{".git/MERGE_RR", strings.Repeat("a", 40) + "\tfile\x00"},
		{".git/MERGE_MODE", ""},
	} {
		r := gittest.Repo(t)
		id := r.Commit("x")
		r.WriteFile(".git/ORIG_HEAD", id) // by hand, without a line feed
		r.WriteFile(".git/FETCH_HEAD", id+"\tnot-for-merge\tbranch 'x' of y\n")
		r.WriteFile(tt.file, tt.content)
		roots, err := open(t, r).Roots(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(roots.Incomplete) > 0 {
			t.Errorf("%s with %q: got %v, want nothing", tt.file, tt.content, roots.Incomplete)
		}
	}
}

// TestWorktreesAreFound asks from the main one, a linked one, and one of a bare repository.
func TestWorktreesAreFound(t *testing.T) {
	r := gittest.Repo(t)
	r.Commit("x")
	r.Run("worktree", "add", "-q", "../one")
	r.Run("worktree", "add", "-q", "../two")
	r.Remove("../two")
	r.Run("worktree", "add", "-q", "../old")
	r.Remove("../old")
	if err := os.Chtimes(r.Path(".git/worktrees/old/index"), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	bare := gittest.At(t, filepath.Join(filepath.Dir(r.Dir), "bare.git"))
	r.Run("clone", "-q", "--bare", ".", bare.Dir)
	bare.Run("worktree", "add", "-q", "../of-bare", "main")
	separate := gittest.At(t, filepath.Join(filepath.Dir(r.Dir), "separate"))
	r.Run("init", "-q", "--separate-git-dir", separate.Path("../store"), separate.Dir)
	separate.Commit("x")
	separate.Run("worktree", "add", "-q", "../of-separate")
	top := filepath.Dir(r.Dir) + "/"
	for _, tt := range []struct {
		at   *gittest.Repository
		want string
	}{
		{r, "repo; old old gone; one one; two unknown gone"},
		{r.In("../one"), "repo; old old gone; one one; two unknown gone"},
		{bare, "bare; of-bare of-bare"},
		{bare.In("../of-bare"), "bare; of-bare of-bare"},
		{separate, "separate; of-separate of-separate"},
		{separate.In("../of-separate"), "unknown; of-separate of-separate"},
	} {
		all, err := open(t, tt.at).Worktrees(t.Context())
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, w := range all {
			text := strings.TrimPrefix(w.Root, top)
			switch {
			case w.Unknown != "":
				text = "unknown"
			case w.Root == "":
				text = "bare"
			}
			if w.Name != "" {
				text = w.Name + " " + text
			}
			if w.Gone {
				text += " gone"
			}
			got = append(got, text)
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("from %s: %s, want %s", tt.at.Dir, s, tt.want)
		}
	}
}

func TestIndexOfAnotherWorktree(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := gittest.Repo(t, "--object-format="+format)
		r.Commit("x")
		r.Run("worktree", "add", "-q", "../linked")
		linked := r.In("../linked")
		linked.WriteFile("staged", "there")
		linked.Run("add", "-A")
		repo := open(t, r)
		all, err := repo.Worktrees(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		index, err := repo.IndexOf(t.Context(), all[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := index.OID("staged"); !ok {
			t.Errorf("%s: the index of the linked work tree has no such file", format)
		}
	}
}

func TestTreeDataTellsWhatDiffers(t *testing.T) {
	r := gittest.Repo(t)
	for _, name := range []string{"a", "b.c", "b/x", "c", "d"} {
		r.WriteFile(name, name)
	}
	before := r.Commit("x") + "^{tree}"
	r.WriteFile("c", "other")
	r.WriteFile("e", "new")
	r.Remove("a")
	r.Remove("b")
	r.WriteFile("b", "a file")
	after := r.Commit("y") + "^{tree}"
	repo := open(t, r)
	read := func(rev string) (data gitint.TreeData) {
		id, err := gitint.ParseOID(r.Run("rev-parse", rev))
		if err != nil {
			t.Fatal(err)
		}
		err = repo.ReadTrees(t.Context(), []gitint.OID{id}, func(_ int, d gitint.TreeData) error {
			data = d
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var got []string
	now := read(after)
	now.Differences(read(before), func(e gitint.Entry, gone bool) {
		sign := "+"
		if gone {
			sign = "-"
		}
		got = append(got, sign+e.Path)
	})
	want := []string{"-a", "+b", "-b", "-c", "+c", "+e"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if e, ok := now.Find("c"); !ok || e.Mode != gitint.ModeFile {
		t.Errorf("Find(c) = %v, %v", e, ok)
	}
	if _, ok := now.Find("a"); ok {
		t.Error("Find finds what is not there")
	}
}
