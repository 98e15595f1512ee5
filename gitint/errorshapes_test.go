package gitint_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/trace"
)

// tryOpen opens a repository, which may fail.
func tryOpen(t *testing.T, r *gittest.Repository) (*gitint.Repo, error) {
	t.Helper()
	return gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(*testing.T) *gittest.Repository
		want func(error) bool
	}{
		{"no repository", func(t *testing.T) *gittest.Repository {
			return gittest.At(t, gittest.TempDir(t))
		}, func(err error) bool { return errors.Is(err, gitint.ErrNotRepository) }},
		{"no directory", func(t *testing.T) *gittest.Repository {
			return gittest.At(t, filepath.Join(gittest.TempDir(t), "none"))
		}, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{"GIT_DIR that is none", func(t *testing.T) *gittest.Repository {
			return gittest.Repo(t).With("GIT_DIR=/no/such/dir")
		}, func(err error) bool { return errors.Is(err, gitint.ErrNotRepository) }},
		{"of another user", func(t *testing.T) *gittest.Repository {
			return gittest.Repo(t).With("GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
		}, isUnsafe},
		{"format version 2", func(t *testing.T) *gittest.Repository {
			r := gittest.Repo(t)
			r.Run("config", "core.repositoryformatversion", "2")
			return r
		}, isExit},
		{"unknown extension", func(t *testing.T) *gittest.Repository {
			r := gittest.Repo(t)
			r.Run("config", "extensions.fromTheFuture", "true")
			r.Run("config", "core.repositoryformatversion", "1")
			return r
		}, isExit},
		{"bare in the working tree of another", func(t *testing.T) *gittest.Repository {
			r := gittest.Repo(t)
			r.Run("init", "-q", "--bare", "inner.git")
			return r.In("inner.git/refs")
		}, func(err error) bool {
			embedded := new(gitint.EmbeddedError)
			return errors.As(err, &embedded) && filepath.Base(embedded.Dir) == "inner.git"
		}},
		{"no git", func(t *testing.T) *gittest.Repository {
			t.Setenv("PATH", "")
			return gittest.At(t, gittest.TempDir(t))
		}, isExit},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			repo, err := tryOpen(t, test.make(t))
			if repo != nil || !test.want(err) {
				t.Errorf("Open = %v, %v (%T)", repo, err, err)
			}
		})
	}
}

func isUnsafe(err error) bool {
	unsafe := new(gitint.UnsafeError)
	return errors.As(err, &unsafe) && filepath.Base(unsafe.Dir) == "repo"
}

func isExit(err error) bool {
	exit := new(gitint.ExitError)
	return errors.As(err, &exit) && !errors.Is(err, gitint.ErrNotRepository)
}

// TestDamagedRefs checks that an invalid line is an error, not a shorter list.
func TestDamagedRefs(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"cut off":    func(s string) string { return s[:len(s)-5] },
		"no newline": func(s string) string { return s[:len(s)-1] },
		"cut name":   func(s string) string { return s[:strings.LastIndex(s, "/")] },
		"short id":   func(s string) string { return s + "0123 refs/heads/x\n" },
		"no name":    func(s string) string { return s + strings.Repeat("1", 40) + "\n" },
		"CRLF":       func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"empty line": func(s string) string { return s + "\n" },
	} {
		t.Run(name, func(t *testing.T) {
			r := populated(t)
			r.Run("pack-refs", "--all")
			r.WriteFile(".git/packed-refs", damage(r.ReadFile(".git/packed-refs")))
			if refs, err := open(t, r).Refs(t.Context()); err == nil {
				t.Errorf("%d refs and no error", len(refs))
			}
		})
	}
}

// TestDamagedObjects reads objects with the bytes of another one, truncated or missing.
func TestDamagedObjects(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "a\n")
	r.WriteFile("b", "b\n")
	r.Commit("first")
	loose := func(rev string) string {
		id := r.Run("rev-parse", rev)
		return ".git/objects/" + id[:2] + "/" + id[2:]
	}
	other := r.ReadFile(loose("HEAD:a"))
	victim := loose("HEAD:b")
	tests := []struct {
		name    string
		content string
		check   func(error) bool
	}{
		{"another object", other, isCorrupt},
		{"cut off", r.ReadFile(victim)[:8], isCorrupt},
		{"no zlib", "garbage", isCorrupt},
		{"empty", "", isCorrupt},
		{"gone", "gone", func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r.Remove(victim)
			if test.content != "gone" {
				r.WriteFile(victim, test.content)
			}
			repo := open(t, r)
			tree, err := repo.Tree(t.Context(), "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			if data, err := tree.ReadFile("b"); !test.check(err) {
				t.Errorf("ReadFile = %q, %v", data, err)
			}
			if data, err := tree.ReadFile("a"); err != nil || string(data) != "a\n" {
				t.Errorf("the sound file: %q, %v", data, err)
			}
		})
	}
}

func isCorrupt(err error) bool {
	corrupt := new(gitint.CorruptObjectError)
	return errors.As(err, &corrupt)
}

func TestMissingObjects(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := gittest.Repo(t, "--object-format="+format)
			r.WriteFile("a", "a\n")
			r.Commit("first")
			repo := open(t, r)
			here, err := repo.Resolve(t.Context(), "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			digits := strings.Repeat("12", len(here.String())/2)
			gone, err := gitint.ParseOID(digits)
			if err != nil {
				t.Fatal(err)
			}
			missing, err := repo.HasObject(t.Context(), []gitint.OID{gone, here, {}})
			if err != nil || !slices.Equal(missing, []gitint.OID{gone, {}}) {
				t.Errorf("HasObject = %v, %v", missing, err)
			}
			if _, err := repo.ReadObject(t.Context(), gone, 0); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("ReadObject: %v", err)
			}
			if _, err := repo.ObjectSize(t.Context(), gone); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("ObjectSize: %v", err)
			}
			tooLarge := new(gitint.ObjectSizeError)
			if _, err := repo.ReadObject(t.Context(), here, 10); !errors.As(err, &tooLarge) {
				t.Errorf("ReadObject of more than 10 bytes: %v", err)
			}
			if data, err := repo.ReadObject(t.Context(), here, 1000); err != nil || len(data) == 0 {
				t.Errorf("ReadObject after all that: %q, %v", data, err)
			}
			_, err = repo.Resolve(t.Context(), "no-such")
			if !errors.Is(err, gitint.ErrUnknownRevision) {
				t.Errorf("Resolve(no-such): %v", err)
			}
		})
	}
}

// TestRepackWhileOpen checks that objects that are moved, and new ones, are found.
func TestRepackWhileOpen(t *testing.T) {
	r := populated(t)
	big(t, r)
	r.Run("repack", "-q", "-a", "-d")
	repo := open(t, r)
	entries := func() []gitint.Entry {
		tree, err := repo.Tree(t.Context(), "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		all, err := tree.Entries(".")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := entries()
	if _, err := repo.ReadObject(t.Context(), before[0].OID, 0); err != nil {
		t.Fatal(err)
	}
	r.WriteFile("new", "new\n")
	r.Commit("new")
	r.Run("repack", "-q", "-a", "-d", "-f")
	r.Run("prune-packed")
	for _, e := range entries() {
		if !e.Mode.IsRegular() {
			continue
		}
		if _, err := repo.ReadObject(t.Context(), e.OID, 0); err != nil {
			t.Errorf("%s: %v", e.Path, err)
		}
	}
	if n := len(entries()); n != len(before)+1 {
		t.Errorf("%d entries, want %d", n, len(before)+1)
	}
	if n := repo.Processes(); n != 0 {
		t.Errorf("%d processes: git had to be asked for HEAD or objects", n)
	}
}

// TestForeignPackNames checks that packs are recognized by their suffixes.
func TestForeignPackNames(t *testing.T) {
	r := populated(t)
	r.Run("repack", "-q", "-a", "-d")
	packs, err := filepath.Glob(r.Path(".git/objects/pack/pack-*"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, p := range packs {
		if err := os.Rename(p, filepath.Join(filepath.Dir(p), "mine"+filepath.Ext(p))); err != nil {
			t.Fatal(err)
		}
	}
	newOracle(t, r).compare(open(t, r))
}

func TestConcurrentReaders(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := populated(t, "--object-format="+format)
			repo := open(t, r)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { readAll(t, repo) })
			}
			wg.Wait()
		})
	}
}

// TestNoProcessTooMany counts processes: a hook cannot afford more.
func TestNoProcessTooMany(t *testing.T) {
	r := populated(t)
	repo := open(t, r)
	count := func(what string, want int) {
		t.Helper()
		if got := repo.Processes(); got != want {
			t.Errorf("%s: %d processes so far, want %d", what, got, want)
		}
	}
	count("Open", 0)
	index, err := repo.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count("Index", 0)
	if _, err := index.ReadFile("a"); err != nil {
		t.Fatal(err)
	}
	count("reading a file", 0)
	if _, err := repo.Refs(t.Context()); err != nil {
		t.Fatal(err)
	}
	repo.Incomplete()
	head, err := repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Tree(t.Context(), head.OID.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Entries("."); err != nil {
		t.Fatal(err)
	}
	count("refs and a tree by its id", 1) // the configuration, once, for Incomplete
	if _, err := repo.Tree(t.Context(), "HEAD"); err != nil {
		t.Fatal(err)
	}
	count("the tree of HEAD", 1)
	if _, err := repo.Tree(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	count("a tree by another name", 2)
}

// TestReadsInProcess checks that git is asked only for the location and the configuration, in a
// plain repository not even that, and for no object. Without this, TestReadShapes would not notice
// a store that finds nothing and leaves everything to git.
func TestReadsInProcess(t *testing.T) {
	processes := map[string]int{
		"loose": 0, "packed": 0, "several packs with bitmap, midx and commit-graph": 0,
		"clone --shared": 0, "alternates relative, nested, commented": 0, "grafts": 0,
		"preciousObjects": 0, "replace refs": 0,
		"partial":         1, // the configuration, for missing objects
		"linked worktree": 2, "bare": 2, "submodule": 2, "separate git dir": 2,
		"symlinked .git, objects and refs": 2, "quarantine": 2, "shallow": 2, "worktreeConfig": 2,
	}
	needProcesses(t, processes, func(repo *gitint.Repo) {
		head, err := repo.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tree, err := repo.Tree(t.Context(), head.OID.String())
		if err != nil {
			t.Fatal(err)
		}
		readSnapshot(t, repo, tree)
		if _, err := repo.Refs(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// needProcesses checks how many processes a use of a repository starts, by the name of its shape.
func needProcesses(t *testing.T, processes map[string]int, use func(*gitint.Repo)) {
	t.Helper()
	for _, shape := range readShapes() {
		want, ok := processes[shape.name]
		if !ok {
			continue
		}
		delete(processes, shape.name)
		repo := open(t, shape.make(t))
		use(repo)
		if got := repo.Processes(); got != want {
			t.Errorf("%s: %d processes, want %d", shape.name, got, want)
		}
	}
	if len(processes) > 0 {
		t.Errorf("no such shapes: %v", processes)
	}
}

// TestForeignQuarantineIsNotRead checks that objects of another unfinished push are not found.
func TestForeignQuarantineIsNotRead(t *testing.T) {
	q := quarantine(t)
	id, err := gitint.ParseOID(q.Run("rev-parse", "HEAD:pushed"))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := open(t, q).ReadObject(t.Context(), id, 0); string(data) != "pushed\n" {
		t.Errorf("inside: %q, %v", data, err)
	}
	outside := gittest.At(t, q.Dir)
	for range 2 {
		data, err := open(t, outside).ReadObject(t.Context(), id, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("outside: %q, %v", data, err)
		}
	}
}

// TestHookOfAPush checks a hook in which git takes the repository for its own working tree.
func TestHookOfAPush(t *testing.T) {
	r := populated(t)
	repo := open(t, r.In(".git").With("GIT_DIR=."))
	if repo.Root() != "" || repo.GitDir() != r.Path(".git") {
		t.Errorf("root %q, git dir %q", repo.Root(), repo.GitDir())
	}
	readAll(t, repo)
}

// TestIndexNeedsNoProcess also covers the shapes that go-git refuses.
func TestIndexNeedsNoProcess(t *testing.T) {
	processes := map[string]int{
		"loose": 0, "index version 4": 0, "index version 3 with intent to add": 0, "conflicts": 0,
		"split index": 0, "GIT_INDEX_FILE, relative to the root": 0,
		"sparse index":             2, // to find it, and the configuration, to read trees
		"split index of version 4": 2, // git, and about empty files once more
		"index without a checksum": 2, // likewise
	}
	needProcesses(t, processes, func(repo *gitint.Repo) {
		if _, err := repo.Index(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestPartialCloneFetchesNothing checks that promised objects are reported as missing.
func TestPartialCloneFetchesNothing(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := populated(t, "--object-format="+format)
			r.Run("config", "uploadpack.allowFilter", "true")
			from := "file://" + r.Dir
			r.Run("clone", "-q", "--filter=blob:none", "--no-checkout", from, "../partial")
			clone := r.In("../partial")
			repo := open(t, clone)
			before := listing(t, clone.Dir)
			tree, err := repo.Tree(t.Context(), "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err = tree.ReadFile("b/x")
				missing := new(gitint.MissingObjectError)
				if !errors.As(err, &missing) || !missing.Promised {
					t.Errorf("ReadFile: %v", err)
				}
			}
			id, _ := tree.OID("b/x")
			ids, err := repo.HasObject(t.Context(), []gitint.OID{id})
			if err != nil || len(ids) != 1 {
				t.Errorf("HasObject = %v, %v", ids, err)
			}
			newOracle(t, clone).same("files", before, listing(t, clone.Dir))
		})
	}
}

// TestTreeKinds checks that a tag of a tree has a tree, and a blob has none.
func TestTreeKinds(t *testing.T) {
	r := populated(t)
	repo := open(t, r)
	for rev, want := range map[string]bool{
		"tag-of-tree": true, "tag-of-tag": true, "refs/jp/tree": true, "HEAD:b": true,
		"tag-of-blob": false, "HEAD:a": false, "none": false, "--help": false, "": false,
	} {
		tree, err := repo.Tree(t.Context(), rev)
		if want != (err == nil) {
			t.Errorf("Tree(%q) = %v, %v", rev, tree, err)
		}
		if err != nil && !errors.Is(err, gitint.ErrUnknownRevision) {
			t.Errorf("Tree(%q): %v is not ErrUnknownRevision", rev, err)
		}
		if id, err := r.Try("rev-parse", rev); err == nil && rev != "--help" {
			if _, err := repo.Tree(t.Context(), id); want != (err == nil) {
				t.Errorf("Tree(%q), which is %q: %v", id, rev, err)
			}
		}
	}
}

func TestEntriesOfADirectory(t *testing.T) {
	r := populated(t)
	repo := open(t, r)
	tree, err := repo.Tree(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	index, err := repo.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []gitint.Snapshot{tree, index} {
		for dir, want := range map[string]string{
			"b": "b/side b/x b/y/z", "b/y": "b/y/z", "a": "", "none": "", "a/none": "", "link": "",
			".jp/blobs": ".jp/blobs/a1/b2/c3.blob.gz",
		} {
			entries, err := s.Entries(dir)
			var got []string
			for _, e := range entries {
				got = append(got, e.Path)
			}
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("%s: Entries(%q) = %q, %v; want %q", s.Name(), dir, got, err, want)
			}
		}
		for _, name := range []string{"/a", "b/", "../a", "b//x", "", "./a", "none", "b", "link"} {
			data, err := s.ReadFile(name)
			if invalid := !fs.ValidPath(name); err == nil || errors.Is(err, fs.ErrInvalid) != invalid {
				t.Errorf("%s: ReadFile(%q) = %q, %v", s.Name(), name, data, err)
			}
		}
		if _, ok := s.OID("b"); ok {
			t.Errorf("%s: a directory has an OID", s.Name())
		}
	}
}

func TestRanges(t *testing.T) {
	r := populated(t)
	repo := open(t, r)
	for _, revs := range [][]string{
		{"HEAD~1..HEAD"}, {"side..main"}, {"^side", "main"}, {"main..main"}, {"main", "side"},
	} {
		commits, err := repo.Commits(t.Context(), revs...)
		var got []string
		for _, c := range commits {
			got = append(got, c.OID.String())
		}
		want := r.Run(append([]string{"rev-list", "--topo-order", "--reverse"}, revs...)...)
		if err != nil || strings.Join(got, "\n") != want {
			t.Errorf("Commits(%q) = %q, %v; want %q", revs, got, err, want)
		}
	}
	for _, revs := range [][]string{{"none"}, {"--all"}, {"main..none"}} {
		if commits, err := repo.Commits(t.Context(), revs...); err == nil {
			t.Errorf("Commits(%q) = %v", revs, commits)
		}
	}
}

func TestOID(t *testing.T) {
	for _, digits := range []string{strings.Repeat("0a", 20), strings.Repeat("F0", 32)} {
		id, err := gitint.ParseOID(digits)
		if err != nil || id.IsZero() || id.String() != strings.ToLower(digits) {
			t.Errorf("ParseOID(%q) = %v, %v", digits, id, err)
		}
		if back, err := gitint.ParseOID(id.String()); err != nil || back != id {
			t.Errorf("%s came back as %v, %v", id, back, err)
		}
	}
	for _, digits := range []string{"", "0a", strings.Repeat("0g", 20), strings.Repeat("0a", 21)} {
		if id, err := gitint.ParseOID(digits); err == nil {
			t.Errorf("ParseOID(%q) = %v", digits, id)
		}
	}
	zero, err := gitint.ParseOID(strings.Repeat("0", 40))
	if err != nil || zero != (gitint.OID{}) || !zero.IsZero() {
		t.Errorf("forty zeroes are %v, %v", zero, err)
	}
}

func TestReadsDoNotRunTheUsersPrograms(t *testing.T) {
	r := populated(t)
	marker := r.Path("../marker")
	script := "#!/bin/sh\ntouch '" + marker + "'\n"
	for _, hook := range []string{"post-index-change", "reference-transaction"} {
		r.WriteFile(".git/hooks/"+hook, script)
		if err := os.Chmod(r.Path(".git/hooks/"+hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.WriteFile("../program", script)
	if err := os.Chmod(r.Path("../program"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.WriteFile(".git/config", r.ReadFile(".git/config")+"[core]\n\tfsmonitor = ../program\n")
	os.Remove(marker) // need not be there
	readAll(t, open(t, r))
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program was run")
	}
}

func TestTraceNamesTheCommands(t *testing.T) {
	var out bytes.Buffer
	r := populated(t)
	opts := gitint.Options{Dir: r.Dir, Env: r.Env, Trace: trace.New(&out)}
	repo, err := gitint.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // no process runs
	repo.Incomplete()
	if !strings.Contains(out.String(), "git config") {
		t.Errorf("trace: %q", out.String())
	}
}

// TestExitErrorNamesTheCommand checks that the error has git's command and message, but no internal
// options or formats.
func TestExitErrorNamesTheCommand(t *testing.T) {
	e := &gitint.ExitError{
		Args:   []string{"-c", "a.b=c", "log", "--format=%H%x00%an", "--", "x"},
		Stderr: "fatal: ambiguous argument",
	}
	if got := e.Error(); got != "git log: fatal: ambiguous argument" {
		t.Errorf("got %q", got)
	}
}
