package gitint_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/internal/gittest"
)

// A repositoryShape makes a repository of some shape and returns where to open it.
type repositoryShape struct {
	name string
	make func(*testing.T) *gittest.Repository
	// incomplete has the expected reasons, in order.
	incomplete []string
	// byGit is true if git reads the index, which touches the base of a split one.
	byGit bool
}

// populated returns a repository with every kind of tree entry, ref and history, all in loose
// objects and loose refs.
func populated(t *testing.T, initArgs ...string) *gittest.Repository {
	t.Helper()
	if len(initArgs) > 0 {
		return populate(t, initArgs...)
	}
	r := gittest.At(t, filepath.Join(gittest.TempDir(t), "repo"))
	copied, err := exec.Command("cp", "-a", templateDir(t), r.Dir).CombinedOutput()
	if err != nil {
		t.Fatalf("copy the template: %v\n%s", err, copied)
	}
	r.Run("update-index", "-q", "--refresh") // the copies are other files
	return r
}

// template is one populated repository, which is made once, copied by the tests that need one, and
// removed by TestMain.
var template struct {
	sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if template.dir != "" {
		_ = os.RemoveAll(template.dir) // at worst it stays in the temporary directory
	}
	os.Exit(code)
}

func templateDir(t *testing.T) string {
	t.Helper()
	template.Lock()
	defer template.Unlock()
	if template.dir == "" {
		made := populate(t)
		dir, err := os.MkdirTemp("", "gitint")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(made.Dir, filepath.Join(dir, "repo")); err != nil {
			t.Fatal(err)
		}
		template.dir = dir
	}
	return filepath.Join(template.dir, "repo")
}

func populate(t *testing.T, initArgs ...string) *gittest.Repository {
	t.Helper()
	r := gittest.Repo(t, initArgs...)
	for _, name := range []string{
		"a", "b/x", "b.c", "b/y/z", "b0", "with space", `with "quotes"`, "with\nnewline", "ümlaut",
		".jp/conversations/17838257194-x/events.json", ".jp/blobs/a1/b2/c3.blob.gz",
	} {
		write(t, r, name, "content of "+name+"\n")
	}
	write(t, r, "empty", "")
	if runtime.GOOS == "linux" {
		write(t, r, "not utf-8 \xff", "content\n")
	}
	if err := os.Symlink("a", r.Path("link")); err != nil {
		t.Fatal(err)
	}
	write(t, r, "run", "#!/bin/sh\n")
	if err := os.Chmod(r.Path("run"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Commit("first")
	r.Run("checkout", "-q", "-b", "side")
	r.WriteFile("b/side", "side\n")
	r.Commit("side: ümlaut\n\nbody")
	r.Run("checkout", "-q", "main")
	r.WriteFile("a", "second\n")
	r.Commit("")
	r.Run("merge", "-q", "-m", "merge", "side")
	r.Run("tag", "light")
	r.Run("tag", "-m", "annotated", "annotated")
	r.Run("tag", "-m", "of a tag", "tag-of-tag", "annotated")
	r.Run("tag", "-m", "of a tree", "tag-of-tree", "HEAD^{tree}")
	r.Run("tag", "-m", "of a blob", "tag-of-blob", "HEAD:a")
	r.Run("update-ref", "refs/jp/tree", "HEAD^{tree}")
	r.Run("update-ref", "refs/deep/er/name", "HEAD~1")
	r.Run("update-ref", "refs/bisect/bad", "HEAD~1")
	r.Run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/side")
	r.Run("symbolic-ref", "refs/remotes/origin/dangling", "refs/heads/gone")
	r.Run("notes", "add", "-m", "a note")
	return r
}

// big adds an object that is read in another way than small ones.
func big(t *testing.T, r *gittest.Repository) {
	t.Helper()
	line := strings.Repeat("0123456789abcdef", 64) + "\n"
	for i := range 3 {
		r.WriteFile("big", strings.Repeat(line, 200)+strings.Repeat("x", i*1000))
		r.Commit("big")
	}
}

func readShapes() []repositoryShape {
	return slices.Concat(plainShapes(), placeShapes(), sharedShapes(), oddShapes(), tableShapes())
}

func plainShapes() []repositoryShape {
	return []repositoryShape{
		{name: "loose", make: func(t *testing.T) *gittest.Repository { return populated(t) }},
		{name: "from a subdirectory", make: func(t *testing.T) *gittest.Repository {
			return populated(t).In("b/y")
		}},
		{name: "packed", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			big(t, r)
			r.Run("gc", "-q")
			return r
		}},
		{name: "several packs with bitmap, midx and commit-graph", make: severalPacks},
		{name: "packed refs under newer loose ones", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("pack-refs", "--all")
			r.Run("update-ref", "refs/heads/side", "HEAD")
			r.Run("update-ref", "refs/heads/new", "HEAD")
			r.Run("update-ref", "-d", "refs/tags/light")
			return r
		}},
		{name: "unborn", make: func(t *testing.T) *gittest.Repository { return gittest.Repo(t) }},
		{name: "unborn with an index", make: func(t *testing.T) *gittest.Repository {
			r := gittest.Repo(t)
			r.WriteFile("a/b", "staged\n")
			r.Run("add", "-A")
			return r
		}},
		{name: "detached", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("checkout", "-q", "--detach", "HEAD~1")
			return r
		}},
		{name: "conflicts", make: func(t *testing.T) *gittest.Repository { return conflicted(t) }},
		{name: "replace refs", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("replace", "HEAD", "side")
			return r
		}},
	}
}

func severalPacks(t *testing.T) *gittest.Repository {
	r := populated(t)
	r.Run("repack", "-q", "-a", "-d", "--write-bitmap-index")
	big(t, r)
	r.Run("repack", "-q", "-d")
	r.WriteFile("last", "last\n")
	r.Commit("last")
	r.Run("multi-pack-index", "write")
	r.Run("commit-graph", "write", "--reachable")
	return r
}

func sharedShapes() []repositoryShape {
	return []repositoryShape{
		{name: "clone --shared", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("clone", "-q", "--shared", ".", "../shared")
			c := r.In("../shared")
			c.WriteFile("more", "more\n")
			c.Commit("more")
			return c
		}},
		{name: "alternates relative, nested, commented", make: nestedAlternates},
		{
			name: "alternate that is gone", incomplete: []string{"alternates"},
			make: func(t *testing.T) *gittest.Repository {
				r := populated(t)
				r.WriteFile(".git/objects/info/alternates", "/no/such/objects\n")
				return r
			},
		},
		{name: "quarantine", make: quarantine},
		{name: "somebody else's quarantine", make: foreignQuarantine},
		{
			name: "shallow", incomplete: []string{"shallow"},
			make: func(t *testing.T) *gittest.Repository {
				r := populated(t)
				r.Run("clone", "-q", "--depth", "1", "file://"+r.Dir, "../shallow")
				return r.In("../shallow")
			},
		},
		{
			name: "partial", incomplete: []string{"partial"},
			make: func(t *testing.T) *gittest.Repository {
				r := populated(t)
				r.Run("config", "uploadpack.allowFilter", "true")
				from := "file://" + r.Dir
				r.Run("clone", "-q", "--filter=blob:none", "--no-checkout", from, "../partial")
				return r.In("../partial")
			},
		},
		{
			name: "grafts", incomplete: []string{"grafts"},
			make: func(t *testing.T) *gittest.Repository {
				r := populated(t)
				r.WriteFile(".git/info/grafts", "# comment\n"+r.Run("rev-parse", "HEAD")+"\n")
				return r
			},
		},
	}
}

func nestedAlternates(t *testing.T) *gittest.Repository {
	r := populated(t)
	r.Run("clone", "-q", "--shared", ".", "../middle")
	middle := r.In("../middle")
	middle.WriteFile("middle", "middle\n")
	middle.Commit("middle")
	middle.WriteFile(".git/objects/info/alternates", "# a comment\n../../../repo/.git/objects\n")
	middle.Run("clone", "-q", "--shared", ".", "../last")
	last := r.In("../last")
	last.WriteFile(".git/objects/info/alternates",
		"# a comment\n\"../../../\\155iddle/.git/objects\"\n")
	last.WriteFile("last", "last\n")
	last.Commit("last")
	return last
}

// quarantine returns the view of a pre-receive hook: the new objects are in a directory that is not
// called "objects", and all others are in its alternate.
func quarantine(t *testing.T) *gittest.Repository {
	r := populated(t)
	if err := os.Mkdir(r.Path(".git/objects/tmp_objdir-incoming-abc"), 0o755); err != nil {
		t.Fatal(err)
	}
	q := r.With(
		"GIT_OBJECT_DIRECTORY="+r.Path(".git/objects/tmp_objdir-incoming-abc"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+r.Path(".git/./objects"),
	)
	q.WriteFile("pushed", "pushed\n")
	q.Run("update-ref", "--no-deref", "refs/heads/quarantined", q.Commit("in quarantine"))
	return q
}

// foreignQuarantine has objects that git does not see.
func foreignQuarantine(t *testing.T) *gittest.Repository {
	q := quarantine(t)
	q.Run("reset", "-q", "--hard", "HEAD~1")
	q.Run("update-ref", "-d", "refs/heads/quarantined")
	plain := gittest.At(t, q.Dir)
	plain.Run("reset", "-q", "--hard")
	return plain
}

func oddShapes() []repositoryShape {
	config := func(kv ...string) func(*testing.T) *gittest.Repository {
		return func(t *testing.T) *gittest.Repository {
			r := populated(t)
			for i := 0; i < len(kv); i += 2 {
				r.Run("config", kv[i], kv[i+1])
			}
			r.Run("update-index", "--really-refresh")
			return r
		}
	}
	return []repositoryShape{
		{name: "sha256", make: func(t *testing.T) *gittest.Repository {
			return populated(t, "--object-format=sha256")
		}},
		{name: "sha256 with intent to add", make: func(t *testing.T) *gittest.Repository {
			r := populated(t, "--object-format=sha256")
			r.WriteFile("announced", "not yet\n")
			r.Run("add", "--intent-to-add", "announced")
			return r
		}},
		{name: "sha256 packed", make: func(t *testing.T) *gittest.Repository {
			r := populated(t, "--object-format=sha256")
			r.Run("gc", "-q")
			return r
		}},
		{name: "worktreeConfig", make: config("extensions.worktreeConfig", "true")},
		{name: "preciousObjects", make: config("core.repositoryformatversion", "1",
			"extensions.preciousObjects", "true")},
		{
			name: "unknown extension of version 0", incomplete: []string{"extension"},
			make: config("extensions.fromTheFuture", "true"),
		},
		{name: "index version 4", make: indexVersion("4")},
		{name: "index version 3 with intent to add", make: intentToAdd},
		{name: "split index", make: splitIndex},
		{name: "split index of version 4", byGit: true, make: splitIndex4},
		{name: "sparse index", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("sparse-checkout", "set", "--cone", "--sparse-index", "b")
			return r
		}},
		{name: "index without a checksum", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			index := []byte(r.ReadFile(".git/index"))
			copy(index[len(index)-20:], make([]byte, 20))
			r.WriteFile(".git/index", string(index))
			return r
		}},
		{name: "index that is gone", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Remove(".git/index")
			return r
		}},
		{name: "untracked cache", make: config("core.untrackedCache", "true")},
		{name: "empty loose ref", incomplete: []string{"ref"}, make: brokenRef("")},
		{name: "garbage in a ref", incomplete: []string{"ref"}, make: brokenRef("garbage\n")},
		{
			name: "long id in a ref", incomplete: []string{"ref"},
			make: brokenRef(strings.Repeat("0a", 32) + "\n"),
		},
		{
			name: "short id in a ref", incomplete: []string{"ref"},
			make: brokenRef("0123456789abcdef0123\n"),
		},
		{name: "locks of refs", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			for _, name := range []string{
				"refs/heads/main.lock", "packed-refs.lock", "HEAD.lock", "index.lock",
				"refs/heads/.x",
			} {
				r.WriteFile(".git/"+name, "")
			}
			return r
		}},
		{name: "ref to a missing object", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.WriteFile(".git/refs/heads/lost", strings.Repeat("1234567890", 4)+"\n")
			return r
		}},
		{
			name: "circle of symbolic refs", incomplete: []string{"ref", "ref"},
			make: func(t *testing.T) *gittest.Repository {
				r := populated(t)
				r.WriteFile(".git/refs/heads/one", "ref: refs/heads/two\n")
				r.WriteFile(".git/refs/heads/two", "ref: refs/heads/one\n")
				return r
			},
		},
		{name: "HEAD as a symbolic link", make: func(t *testing.T) *gittest.Repository {
			r := populated(t)
			r.Run("pack-refs", "--all")
			r.Remove(".git/HEAD")
			symlink(t, "refs/heads/main", r.Path(".git/HEAD"))
			return r
		}},
	}
}

func brokenRef(content string) func(*testing.T) *gittest.Repository {
	return func(t *testing.T) *gittest.Repository {
		r := populated(t)
		r.WriteFile(".git/refs/heads/broken", content)
		return r
	}
}

func indexVersion(version string) func(*testing.T) *gittest.Repository {
	return func(t *testing.T) *gittest.Repository {
		r := populated(t)
		r.Run("update-index", "--index-version", version)
		return r
	}
}

func intentToAdd(t *testing.T) *gittest.Repository {
	t.Helper()
	r := populated(t)
	r.WriteFile("announced", "not yet\n")
	r.Run("add", "--intent-to-add", "announced")
	return r
}

// splitIndex has entries that are kept, replaced, deleted and added.
func splitIndex(t *testing.T) *gittest.Repository {
	r := intentToAdd(t)
	for i := range 200 {
		r.WriteFile(fmt.Sprintf("many/%s%d", strings.Repeat("x", i%7), i), "")
	}
	r.Run("add", "many")
	r.Run("config", "splitIndex.maxPercentChange", "100")
	r.Run("update-index", "--split-index")
	r.WriteFile("after the split", "x\n")
	r.WriteFile("a", "changed\n")
	r.Run("add", "a", "after the split")
	r.Run("rm", "-q", "--cached", "b/x", "many/0")
	r.Run("rm", "-q", "-r", "--cached", "--ignore-unmatch", "many/xx*")
	return r
}

func splitIndex4(t *testing.T) *gittest.Repository {
	r := indexVersion("4")(t)
	r.Run("update-index", "--split-index")
	r.WriteFile("a", "changed\n")
	r.Run("add", "a")
	return r
}

func TestReadShapes(t *testing.T) {
	for _, shape := range readShapes() {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			r := shape.make(t)
			repo := open(t, r)
			before := listing(t, repo.CommonDir(), repo.Root())
			readAll(t, repo)
			after := listing(t, repo.CommonDir(), repo.Root())
			if !shape.byGit {
				newOracle(t, r).same("files", before, after)
			}
			newOracle(t, r).compare(repo)
			if got := reasons(repo); !slices.Equal(got, shape.incomplete) {
				t.Errorf("incomplete: %q, want %q", repo.Incomplete(), shape.incomplete)
			}
		})
	}
}

// TestFS checks a Tree and an Index with the standard library's test of file systems.
func TestFS(t *testing.T) {
	r := gittest.Repo(t)
	for _, name := range []string{"a", "b/x", "b.c", "b/y/z", "b0", ".jp/blobs/a1"} {
		r.WriteFile(name, "content of "+name)
	}
	r.Commit("first")
	repo := open(t, r)
	tree, err := repo.Tree(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	index, err := repo.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(tree, "a", "b/x", "b.c", "b/y/z", "b0", ".jp/blobs/a1"); err != nil {
		t.Errorf("tree: %v", err)
	}
	if err := fstest.TestFS(index, "a", "b/x", "b.c", "b/y/z", "b0", ".jp/blobs/a1"); err != nil {
		t.Errorf("index: %v", err)
	}
}
