package gitint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// rootNames returns the roots by "name worktree kind".
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

// TestRootsHoldEveryNameOfAnObject creates a root of each kind, in two worktrees, and lists them
// from both.
func TestRootsHoldEveryNameOfAnObject(t *testing.T) {
	t.Run("files", func(t *testing.T) { everyName(t) })
	t.Run("reftable", func(t *testing.T) { everyName(t, gittest.RefTables(t)...) })
}

func everyName(t *testing.T, initArgs ...string) {
	t.Helper()
	r := gittest.Repo(t, initArgs...)
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

// TestRootsReachWhatGitReaches compares with git, which knows all of these except the files beside
// HEAD.
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
		{"unknown worktree", ".git/worktrees/x/HEAD", "ref: refs/heads/x\n", "gitdir is not there"},
		{
			"locked worktree that is gone", ".git/worktrees/x/locked", "usb\n",
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
		{
			"cut list", ".git/rebase-merge/git-rebase-todo", "noop\nexec git checkout 01",
			"git-rebase-todo ends within a line",
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
		{
			"mail in base64", ".git/rebase-apply/0002", "Subject: x\n" +
				"Content-Transfer-Encoding: base64\n\neA==\n",
			`rebase-apply/0002 is a mail in the transfer encoding "base64"`,
		},
		{
			"mail in quoted-printable", ".git/rebase-apply/0002", "Subject: x\r\n" +
				"content-transfer-encoding:\r\n\tQuoted-Printable\r\n\r\nx=3D\r\n",
			`is a mail in the transfer encoding "quoted-printable"`,
		},
		{
			"mail in an encoding of the future", ".git/rebase-apply/0002",
			"Content-Transfer-Encoding: base85\n\nx\n", `the transfer encoding "base85"`,
		},
		{
			"part of a mail in base64", ".git/rebase-apply/10002",
			"Content-Type: multipart/mixed; boundary=\"x\"\n\n--x\n" +
				"Content-Type: text/x-patch\nContent-Transfer-Encoding: base64\n\neA==\n--x--\n",
			`10002 is a mail in the transfer encoding "base64"`,
		},
		{
			"mail in a charset of its own", ".git/rebase-apply/0001",
			"Content-Type: text/plain; format=fixed;\n charset=\"UTF-7\"\n\nx\n",
			`is a mail in the charset "utf-7"`,
		},
		{
			"mail in UTF-16", ".git/rebase-apply/0001", "\xff\xfeS\x00:\x00\r\x00\n",
			"0001 contains zero bytes",
		},
		{
			"compressed mail", ".git/rebase-apply/0001",
			"Content-Type: application/gzip\n\n\x1f\x8b\n", `of the type "application/gzip"`,
		},
		{
			"mail that came compressed", ".git/rebase-apply/0001",
			"Content-Encoding: gzip\n\n\x1f\x8b\n", `compressed or encrypted ("gzip")`,
		},
		{
			"mail with a binary patch", ".git/rebase-apply/0001",
			"Subject: x\n\n---\nGIT binary patch\nliteral 1\nIcmZ\n", "0001 has a binary patch",
		},
		{
			"cut mail", ".git/rebase-apply/0001", "Subject: x\n\n---\n+x",
			"0001 ends within a line",
		},
		{"empty mail", ".git/rebase-apply/0001", "", "0001 is empty"},
		{
			"binary patch that is being applied", ".git/rebase-apply/patch",
			"diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZ\n", "patch has a binary patch",
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

// TestRootsTakeWhatGitWrites checks that files which git may leave behind are not reported as
// damage.
func TestRootsTakeWhatGitWrites(t *testing.T) {
	for _, tt := range []struct{ file, content string }{
		{".git/FETCH_HEAD", ""},
		{".git/sequencer/abort-safety", ""},
		{".git/rebase-merge/git-rebase-todo", ""},
		{".git/MERGE_RR", strings.Repeat("a", 40) + "\tfile\x00"},
		{".git/MERGE_MODE", ""},
		{".git/rebase-apply/0001", "From: a <a@b>\nSubject: x\nMIME-Version: 1.0\n" +
			"Content-Type: text/plain; charset=ISO-8859-15\nContent-Transfer-Encoding: 8bit\n" +
			"\ncaf\xe9\n---\n+Content-Transfer-Encoding: base64\n GIT binary patch\n"},
		{".git/rebase-apply/0001", "Subject: x\nContent-Type: multipart/mixed; boundary=y\n\n" +
			"--y\nContent-Type: text/plain; charset=\"utf-8\"\n\nx\n--y\n" +
			"Content-Type: application/octet-stream; name=\"x.patch\"\n" +
			"Content-Transfer-Encoding: 7bit\nContent-Disposition: attachment\n\nx\n--y--\n"},
		{".git/rebase-apply/patch", ""},
		{".git/rebase-apply/final-commit", "Content-Transfer-Encoding: base64\n"},
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

// TestWorktreesAreFound lists from the main worktree, a linked one, and one of a bare repository.
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
			t.Errorf("%s: the index of the linked worktree has no such file", format)
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

// TestShortNamesInLists checks that a commit is a root in whatever form a todo list names it.
func TestShortNamesInLists(t *testing.T) {
	for _, line := range []string{
		"pick SHORT x", "p SHORT", "fixup -C SHORT x", "edit SHORT~1 x", "pick v1-1-gSHORT x",
		"reset SHORT", "t SHORT # x", "exec git checkout SHORT -- file", "x git show 'SHORT:file'",
		"exec git merge --no-ff \"SHORT\"", "merge -C SHORT topic # x", "merge SHORT # x",
		"merge -c 0123abcd SHORT", "drop SHORT x", "pick UPPER x", "reset UPPER", "pick WHOLE x",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r := gittest.Repo(t)
			r.Commit("x")
			id := r.Run("commit-tree", "-p", "HEAD", "-m", "only there", "HEAD^{tree}")
			text := strings.NewReplacer("SHORT", id[:9], "UPPER", strings.ToUpper(id[:9]),
				"WHOLE", strings.ToUpper(id)).Replace(line)
			r.WriteFile(".git/rebase-merge/git-rebase-todo", text+"\n")
			roots, err := open(t, r).Roots(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(roots.Names, func(root gitint.Root) bool {
				return root.OID.String() == id
			}) {
				t.Errorf("not a root: %s", id)
			}
		})
	}
}

// TestWordsInLists checks that a word which need not be a commit is no damage if it is none.
func TestWordsInLists(t *testing.T) {
	r := gittest.Repo(t)
	r.Commit("x")
	r.WriteFile(".git/rebase-merge/git-rebase-todo", "label feed\nreset feed\nmerge dead # x\n"+
		"exec echo 12345678 deadbeef\nupdate-ref refs/heads/added\nbreak\n# pick 0123456\n"+
		"reset [new root]\nnoop\n")
	roots, err := open(t, r).Roots(t.Context())
	if err != nil || len(roots.Incomplete) > 0 {
		t.Errorf("got %v and %v, want nothing", roots.Incomplete, err)
	}
}

// reflogOf writes a reflog of steps from one object to the next, so many days old. A nil step
// leaves a gap.
func reflogOf(days int, steps [][2]string) string {
	at := time.Now().Add(-time.Duration(days) * 24 * time.Hour).Unix()
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "%s %s Ada <a@b> %d +0000\tx\n", s[0], s[1], at)
	}
	return b.String()
}

// TestReflogsThatLackSomething distinguishes entries that git expired from lost ones.
func TestReflogsThatLackSomething(t *testing.T) {
	none, nowhere := strings.Repeat("0", 40), strings.Repeat("1", 40)
	for _, tt := range []struct {
		name string
		make func(r *gittest.Repository, a, b, c string)
		want string // "" if git itself leaves it so
	}{
		{"whole", func(r *gittest.Repository, a, b, c string) {
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(1, [][2]string{{a, b}, {b, c}}))
		}, ""},
		{"line is missing", func(r *gittest.Repository, a, b, c string) {
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(1, [][2]string{{none, a}, {b, c}}))
		}, "main: entries are missing before main@{0}"},
		{"line is missing, of the stash", func(r *gittest.Repository, a, b, c string) {
			r.Run("update-ref", "refs/stash", c)
			r.WriteFile(".git/logs/refs/stash", reflogOf(1, [][2]string{{none, a}, {b, c}, {c, c}}))
		}, "refs/stash: entries are missing before refs/stash@{1}"},
		{"line is missing, of HEAD", func(r *gittest.Repository, a, b, c string) {
			r.WriteFile(".git/logs/HEAD", reflogOf(1, [][2]string{{none, a}, {nowhere, c}}))
		}, "HEAD: entries are missing before HEAD@{0}"},
		{"line is missing, in another worktree", func(r *gittest.Repository, a, b, c string) {
			r.Run("worktree", "add", "-q", "--detach", "../linked")
			r.WriteFile(".git/worktrees/linked/logs/HEAD",
				reflogOf(1, [][2]string{{none, a}, {nowhere, c}}))
		}, `HEAD of worktree "linked": entries are missing`},
		{"entries that git has expired", func(r *gittest.Repository, a, b, c string) {
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(31, [][2]string{{none, a}, {b, c}}))
		}, ""},
		{"entries that git has expired sooner", func(r *gittest.Repository, a, b, c string) {
			r.Run("config", "gc.refs/heads/*.reflogExpireUnreachable", "2.days")
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(3, [][2]string{{none, a}, {b, c}}))
		}, ""},
		{"entries that git expires at once", func(r *gittest.Repository, a, b, c string) {
			r.Run("config", "gc.reflogExpireUnreachable", "now")
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(0, [][2]string{{none, a}, {b, c}}))
		}, ""},
		{"entries that git would have expired later", func(r *gittest.Repository, a, b, c string) {
			r.Run("config", "gc.reflogExpireUnreachable", "60.days")
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(31, [][2]string{{none, a}, {b, c}}))
		}, "main: entries are missing"},
		{"entries that git never expires", func(r *gittest.Repository, a, b, c string) {
			r.Run("config", "gc.reflogExpireUnreachable", "never")
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(999, [][2]string{{none, a}, {b, c}}))
		}, "main: entries are missing"},
		{"joined, as the advice says", func(r *gittest.Repository, a, b, c string) {
			r.WriteFile(".git/logs/refs/heads/main", reflogOf(1, [][2]string{{none, a}, {b, c}}))
			r.Run("reflog", "expire", "--rewrite", "--expire=never", "--expire-unreachable=never",
				"refs/heads/main")
		}, ""},
		{"made anew", func(r *gittest.Repository, a, b, c string) {
			r.WriteFile(".git/logs/HEAD", reflogOf(1, [][2]string{{none, a}, {none, c}}))
		}, ""},
		{"HEAD that was made to name another branch", func(r *gittest.Repository, a, b, c string) {
			r = r.With("GIT_COMMITTER_DATE=")
			r.Run("branch", "other", a)
			r.Run("symbolic-ref", "HEAD", "refs/heads/other")
			r.Run("commit", "-q", "--allow-empty", "-m", "x")
		}, ""},
		{"HEAD without a commit", func(r *gittest.Repository, a, b, c string) {
			r.Run("switch", "-q", "--orphan", "other")
		}, ""},
		{"branch that git deleted", func(r *gittest.Repository, a, b, c string) {
			r.Run("branch", "other/one", a)
			r.Run("branch", "-D", "-q", "other/one")
		}, ""},
		{"packed branch", func(r *gittest.Repository, a, b, c string) {
			r.Run("branch", "other", a)
			r.Run("pack-refs", "--all", "--prune")
		}, ""},
		{"symbolic ref that leads nowhere", func(r *gittest.Repository, a, b, c string) {
			r.Run("update-ref", "refs/remotes/origin/HEAD", a)
			r.WriteFile(".git/logs/refs/remotes/origin/HEAD", reflogOf(1, [][2]string{{none, a}}))
			r.Run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/none")
		}, ""},
		{"empty log of a branch to come", func(r *gittest.Repository, a, b, c string) {
			r.Run("checkout", "-q", "-l", "--orphan", "other")
			r.WriteFile(".git/logs/refs/heads/other", "")
		}, ""},
		{"log without its ref", func(r *gittest.Repository, a, b, c string) {
			r.Run("branch", "other", a)
			r.Remove(".git/refs/heads/other")
		}, "refs/heads/other: the ref is gone"},
		{"log of the branch of HEAD", func(r *gittest.Repository, a, b, c string) {
			r.Remove(".git/refs/heads/main")
		}, "refs/heads/main: the ref is gone"},
		{"log of a packed ref", func(r *gittest.Repository, a, b, c string) {
			r.Run("branch", "other", a)
			r.Run("pack-refs", "--all", "--prune")
			packed := r.ReadFile(".git/packed-refs")
			r.WriteFile(".git/packed-refs", packed[:strings.Index(packed, "\n")+1])
			r.Run("update-ref", "refs/heads/main", c)
		}, "refs/heads/other: the ref is gone"},
		{"log of a ref of another worktree", func(r *gittest.Repository, a, b, c string) {
			r.Run("worktree", "add", "-q", "--detach", "../linked")
			r.In("../linked").Run("update-ref", "refs/worktree/own", a)
			r.WriteFile(".git/worktrees/linked/logs/refs/worktree/own",
				reflogOf(1, [][2]string{{none, a}}))
			r.WriteFile(".git/worktrees/linked/logs/refs/worktree/gone",
				reflogOf(1, [][2]string{{none, a}}))
		}, `refs/worktree/gone of worktree "linked": the ref is gone`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.Repo(t)
			tt.make(r, r.Commit("a"), r.Commit("b"), r.Commit("c"))
			roots, err := open(t, r).Roots(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" && len(roots.Incomplete) > 0 {
				t.Errorf("got %v, want nothing", roots.Incomplete)
			}
			if tt.want != "" && (len(roots.Incomplete) != 1 ||
				!strings.Contains(roots.Incomplete[0].String(), tt.want)) {
				t.Errorf("got %v, want %q", roots.Incomplete, tt.want)
			}
		})
	}
}
