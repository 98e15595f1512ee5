package gitint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// openAt opens the repository as a program that runs in its directory would.
func openAt(tb testing.TB, r *gittest.Repository) *gitint.Repo {
	tb.Helper()
	repo, err := gitint.Open(context.Background(), gitint.Options{
		Dir: r.Dir, Env: r.Env, LockTimeout: 50 * time.Millisecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = repo.Close() })
	return repo
}

// oddNames returns names that are difficult for line protocols, quoting, options, pathspecs or
// encodings.
func oddNames() []string {
	names := []string{
		"sp ace", "new\nline", `qu"ote`, "-dash", "--", "tab\t", "\xff\xfe\x80", "star*",
		":(top)x", "!bang", "#hash", "é", "back\\slash", "HEAD", "a=b", "é\u0301",
	}
	for i, n := range names {
		names[i] = ".jp/conversations/178-x/" + n
	}
	return append(names, "-top", ":colon", ".jp/blobs/ab/cd/ef.blob.gz")
}

// A shape is a kind of repository. The base has keep.txt and dir/other.txt committed, and nothing
// of .jp unless it says so.
type shape struct {
	name    string
	init    []string
	prepare string // shell, after the first commit, in the working tree
	paths   []string
	// noAdd is set if git add intentionally does something else.
	noAdd bool
}

func shapes() []shape {
	odd := oddNames()
	one := []string{".jp/x/events.json", ".jp/x/metadata.json"}
	return []shape{
		{name: "plain", paths: odd},
		{name: "sha256", init: []string{"--object-format=sha256"}, paths: odd},
		{name: "ignored", prepare: `printf '.jp\n*.json\n' >.gitignore; git add .`, paths: odd},
		{name: "excluded", prepare: `echo .jp >.git/info/exclude`, paths: odd},
		{name: "autocrlf", prepare: `git config core.autocrlf true`, paths: odd},
		{name: "eol=crlf", prepare: `echo '* text eol=crlf' >.gitattributes`, paths: odd},
		{name: "ident", prepare: `echo '* ident' >.gitattributes`, paths: one},
		{
			name:  "filter",
			paths: odd,
			prepare: `git config filter.up.clean 'tr a-z A-Z'
				git config filter.up.smudge 'tr A-Z a-z'
				echo '*.json filter=up' >.gitattributes`,
		},
		{name: "index v4", prepare: `git update-index --index-version 4`, paths: odd},
		{name: "split index", prepare: `git update-index --split-index`, paths: odd},
		{name: "split index always", prepare: `git config core.splitIndex true`, paths: odd},
		{
			name:    "untracked cache",
			prepare: `git update-index --untracked-cache; git status`,
			paths:   odd,
		},
		{name: "cone", prepare: `git sparse-checkout set --cone dir`, paths: odd},
		{
			name:    "no cone",
			prepare: `git sparse-checkout set --no-cone '/dir/' '!/.jp/'`,
			paths:   odd,
		},
		{
			name:    "sparse index",
			prepare: `git sparse-checkout set --cone --sparse-index dir`,
			paths:   odd,
		},
		{
			name:  "outside the cone",
			paths: one,
			prepare: `mkdir -p .jp/x; echo old >.jp/x/events.json; echo old >.jp/x/gone.json
				git add .; git commit -qm jp; git sparse-checkout set --cone --sparse-index dir`,
		},
		{
			name:  "outside the cone, expected",
			paths: one, noAdd: true,
			prepare: `mkdir -p .jp/x; echo old >.jp/x/events.json; git add .; git commit -qm jp
				git config sparse.expectFilesOutsideOfPatterns true
				git sparse-checkout set --no-cone '/dir/'`,
		},
		{
			name:  "skip-worktree",
			paths: one, noAdd: true,
			prepare: `mkdir -p .jp/x; echo old >.jp/x/events.json; git add .
				git update-index --skip-worktree .jp/x/events.json`,
		},
		{
			name:  "assume-unchanged",
			paths: one, noAdd: true,
			prepare: `mkdir -p .jp/x; echo old >.jp/x/events.json; git add .
				git update-index --assume-unchanged .jp/x/events.json`,
		},
		{
			name:  "intent to add",
			paths: one,
			prepare: `mkdir -p .jp/x; echo old >.jp/x/events.json; : >.jp/x/metadata.json
				git add -N .`,
		},
		{
			name:  "no file modes",
			paths: one,
			prepare: `mkdir -p .jp/x; echo old >.jp/x/events.json; git add .
				git update-index --chmod=+x .jp/x/events.json; git config core.fileMode false
				: >.jp/x/metadata.json; chmod +x .jp/x/metadata.json`,
		},
		{
			name:    "executable",
			paths:   one,
			prepare: `mkdir -p .jp/x; : >.jp/x/metadata.json; chmod +x .jp/x/metadata.json`,
		},
		{name: "many files", prepare: `git config feature.manyFiles true`, paths: odd},
	}
}

func TestStageIsWhatAddWouldDo(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			testShape(t, s)
		})
	}
}

func testShape(t *testing.T, s shape) {
	r := gittest.Repo(t, s.init...)
	r.WriteFile("keep.txt", "keep\n")
	r.WriteFile("dir/other.txt", "other\n")
	r.Commit("base")
	shell(t, r, s.prepare)
	for i, p := range s.paths {
		write(t, r, p, fmt.Sprintf("content $Id$ %d\nsecond line\n", i))
	}
	want := addedByGit(t, r, s.paths)

	res, err := openAt(t, r).Stage(t.Context(), gitint.Change{Add: s.paths})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Run("ls-files", "-s", "-v", "-z")
	if !s.noAdd && got != want {
		t.Errorf("index differs from git add:\n got %q\nwant %q", got, want)
	}
	if len(res.Added) != len(s.paths) {
		t.Errorf("%d entries reported, want %d", len(res.Added), len(s.paths))
	}
	for _, e := range res.Added {
		line := fmt.Sprintf("H %o %s 0\t%s\x00", uint32(e.Mode), e.OID, e.Path)
		if !strings.Contains(got, line) {
			t.Errorf("index has no %q", line)
		}
	}
	assertClean(t, r, s.paths)
	assertNoLeftovers(t, r)
}

// addedByGit returns the index after git add, on a copy of it.
func addedByGit(t *testing.T, r *gittest.Repository, paths []string) string {
	t.Helper()
	index := r.Path(r.Run("rev-parse", "--git-path", "index"))
	data, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index+".reference", data, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(index + ".reference")
	c := r.With("GIT_INDEX_FILE="+index+".reference", "GIT_LITERAL_PATHSPECS=1")
	c.RunInput(strings.Join(paths, "\x00"), "add", "--force", "--sparse",
		"--pathspec-from-file=-", "--pathspec-file-nul")
	return c.Run("ls-files", "-s", "-v", "-z")
}

// assertClean checks that the paths of the working tree equal those of the index.
func assertClean(t *testing.T, r *gittest.Repository, paths []string) {
	t.Helper()
	status := r.Run("status", "--porcelain=v1", "-z", "--no-renames", "-uall")
	for line := range strings.SplitSeq(strings.TrimSuffix(status, "\x00"), "\x00") {
		if len(line) > 3 && slices.Contains(paths, line[3:]) && line[1] != ' ' {
			t.Errorf("not clean: %q", line)
		}
	}
	if out := r.Run("diff-files", "--name-only"); out != "" {
		t.Errorf("diff-files reports %q", out)
	}
}

func assertNoLeftovers(t *testing.T, r *gittest.Repository) {
	t.Helper()
	dir := r.Path(r.Run("rev-parse", "--git-dir"))
	if filepath.IsAbs(r.Run("rev-parse", "--git-dir")) {
		dir = r.Run("rev-parse", "--git-dir")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".lock") || strings.Contains(e.Name(), ".jp") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestStageRemoves(t *testing.T) {
	r := committed(t, map[string]string{"a/x": "1", "a/y": "2", "b": "3"})
	r.Remove("a/x")
	res, err := openAt(t, r).Stage(t.Context(), gitint.Change{Remove: []string{"a/x", "never"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(res.Removed, []string{"a/x"}) {
		t.Errorf("removed %q", res.Removed)
	}
	if got := r.Run("status", "--porcelain"); got != "D  a/x" {
		t.Errorf("status %q", got)
	}
}

// TestStageReplacesWhatItRemoves replaces a file with a directory, and the reverse.
func TestStageReplacesWhatItRemoves(t *testing.T) {
	r := committed(t, map[string]string{"a/x": "1", "b": "2"})
	r.Remove("a")
	r.Remove("b")
	r.WriteFile("a", "file now")
	r.WriteFile("b/x", "directory now")
	_, err := openAt(t, r).Stage(t.Context(), gitint.Change{
		Add: []string{"a", "b/x"}, Remove: []string{"a/x", "b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Run("ls-files"); got != "a\nb/x" {
		t.Errorf("index %q", got)
	}
}

func TestStageKnownObjects(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	id, err := gitint.ParseOID(r.RunInput("elsewhere", "hash-object", "-w", "--stdin"))
	if err != nil {
		t.Fatal(err)
	}
	change := gitint.Change{AddObjects: []gitint.Entry{
		{Path: "new\nline", Mode: gitint.ModeFile, OID: id},
		{Path: "a", Mode: gitint.ModeExecutable, OID: id},
	}}
	repo := openAt(t, r)
	if _, err := repo.Stage(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("100755 %s 0\ta\x00100644 %[1]s 0\tnew\nline\x00", id)
	if got := r.Run("ls-files", "-s", "-z"); got != want {
		t.Errorf("index %q, want %q", got, want)
	}
	r.Run("write-tree")

	change.AddObjects[0].OID, _ = gitint.ParseOID(strings.Repeat("12", 20))
	if _, err := repo.Stage(t.Context(), change); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an object that is not there: %v", err)
	}
}

func TestStageKeepsWhatIsThere(t *testing.T) {
	r := committed(t, map[string]string{"a": "1", "b": "1"})
	id, err := gitint.ParseOID(r.RunInput("2", "hash-object", "-w", "--stdin"))
	if err != nil {
		t.Fatal(err)
	}
	r.WriteFile("a", "2")
	r.WriteFile("new", "2")
	r.Run("add", "-N", "new")
	res, err := openAt(t, r).Stage(t.Context(), gitint.Change{
		Add: []string{"a", "new"}, KeepExisting: true,
		AddObjects: []gitint.Entry{
			{Path: "b", Mode: gitint.ModeFile, OID: id},
			{Path: "other", Mode: gitint.ModeFile, OID: id},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Added) != 2 || res.Added[0].Path != "new" || res.Added[1].Path != "other" {
		t.Errorf("added %v", res.Added)
	}
	if got := r.Run("diff", "--cached", "--name-status"); got != "A\tnew\nA\tother" {
		t.Errorf("staged %q", got)
	}
}

// TestStageIsAllOrNothing checks that every failure leaves the index unchanged, byte for byte, and
// no lock.
func TestStageIsAllOrNothing(t *testing.T) {
	verdict := errors.New("no")
	many := make([]string, 0, 300)
	for i := range 300 {
		many = append(many, fmt.Sprintf(".jp/blobs/%03d", i))
	}
	tests := map[string]struct {
		prepare string
		change  gitint.Change
	}{
		"gone":        {change: gitint.Change{Add: append(many[:299:299], ".jp/blobs/gone")}},
		"directory":   {change: gitint.Change{Add: append(many[:9:9], ".jp/blobs")}},
		"outside":     {change: gitint.Change{Add: append(many[:9:9], "../x")}},
		"repository":  {change: gitint.Change{Add: append(many[:9:9], ".git/config")}},
		"twice":       {change: gitint.Change{Add: append(many[:9:9], many[0])}},
		"two lists":   {change: gitint.Change{Add: many, Remove: many[:1]}},
		"file exists": {change: gitint.Change{Add: append(many[:9:9], "file/x")}},
		"symlink": {
			prepare: `mkdir real; : >real/x; ln -s real link`,
			change:  gitint.Change{Add: append(many[:9:9], "link/x")},
		},
		"filter": {
			prepare: `git config filter.bad.clean false; git config filter.bad.required true
				echo '*250 filter=bad' >.gitattributes`,
			change: gitint.Change{Add: many},
		},
		"submodule": {
			prepare: `git init -q sub; git -C sub commit -q --allow-empty -m x
				git add sub 2>/dev/null; : >sub/x`,
			change: gitint.Change{Add: append(many[:9:9], "sub/x")},
		},
		"verdict": {change: gitint.Change{
			Add:    many,
			Verify: func(context.Context, []gitint.Entry) error { return verdict },
		}},
		"mode": {change: gitint.Change{
			Add: many, AddObjects: []gitint.Entry{{Path: "m", Mode: gitint.ModeSubmodule}},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := committed(t, map[string]string{"file": "in the way of file/x"})
			for _, p := range many {
				write(t, r, p, p)
			}
			shell(t, r, tt.prepare)
			if name == "file exists" {
				r.Remove("file")
				r.WriteFile("file/x", "")
			}
			before := readIndex(t, r)
			_, err := openAt(t, r).Stage(t.Context(), tt.change)
			if err == nil {
				t.Error("no error")
			}
			t.Log(err)
			if !bytes.Equal(before, readIndex(t, r)) {
				t.Error("the index changed")
			}
			assertNoLeftovers(t, r)
		})
	}
}

func TestStageRefusesConflicts(t *testing.T) {
	r := conflicted(t)
	repo := openAt(t, r)
	r.WriteFile("x", "resolved\n")
	before := readIndex(t, r)
	var unmerged *gitint.UnmergedError
	_, err := repo.Stage(t.Context(), gitint.Change{Add: []string{"x", "y"}})
	if !errors.As(err, &unmerged) || !slices.Equal(unmerged.Paths, []string{"x"}) {
		t.Fatalf("got %v", err)
	}
	if !bytes.Equal(before, readIndex(t, r)) {
		t.Error("the index changed")
	}
	_, err = repo.Stage(t.Context(), gitint.Change{
		Add: []string{"x", "y"}, ResolveConflicts: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Run("status", "--porcelain"); got != "M  x\nA  y" {
		t.Errorf("status %q", got)
	}
}

func TestStageInTheIndexThatIsNamed(t *testing.T) {
	for _, name := range []string{".git/next-index-1.lock", "absolute", "does not exist"} {
		t.Run(name, func(t *testing.T) {
			r := committed(t, map[string]string{"a": "1"})
			r.WriteFile(".jp/x", "x")
			file := name
			if name != ".git/next-index-1.lock" {
				file = filepath.Join(gittest.TempDir(t), "index")
			}
			if name != "does not exist" {
				write(t, r, "copy", string(readIndex(t, r)))
				if err := os.Rename(r.Path("copy"), abs(r, file)); err != nil {
					t.Fatal(err)
				}
			}
			before := readIndex(t, r)
			hook := r.With("GIT_INDEX_FILE=" + file)
			_, err := openAt(t, hook).Stage(t.Context(), gitint.Change{Add: []string{".jp/x"}})
			if err != nil {
				t.Fatal(err)
			}
			if got := hook.Run("ls-files", ".jp"); got != ".jp/x" {
				t.Errorf("temporary index has %q", got)
			}
			if !bytes.Equal(before, readIndex(t, r)) {
				t.Error("the real index changed")
			}
			if _, err := openAt(t, r).Stage(t.Context(), gitint.Change{
				Add: []string{".jp/x"}, IndexFile: file,
			}); err != nil || !bytes.Equal(before, readIndex(t, r)) {
				t.Errorf("by field: %v, or the real index changed", err)
			}
		})
	}
}

func TestStageInWorktreesAndSubmodules(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	r.Run("worktree", "add", "-q", "../tree")
	r.Run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.Dir, "sub")
	before := readIndex(t, r)
	for _, dir := range []string{"../tree", "sub"} {
		sub := r.In(dir)
		sub.WriteFile(".jp/x", "x")
		_, err := openAt(t, sub).Stage(t.Context(), gitint.Change{Add: []string{".jp/x"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := sub.Run("status", "--porcelain"); got != "A  .jp/x" {
			t.Errorf("%s: status %q", dir, got)
		}
		assertNoLeftovers(t, sub)
	}
	if !bytes.Equal(before, readIndex(t, r)) {
		t.Error("the index of the main worktree changed")
	}
}

// TestStageKeepsDoubtAboutYoungFiles checks that git still reads a file that was changed within the
// clock tick of the index, at the same size: it looks clean unless git compares the time of the
// index.
func TestStageKeepsDoubtAboutYoungFiles(t *testing.T) {
	r := committed(t, map[string]string{"young": "aaa", "a": "1"})
	r.Run("config", "core.trustctime", "false")
	tick := time.Now().Add(-time.Hour).Truncate(time.Second)
	stamp := func(name string) {
		if err := os.Chtimes(r.Path(name), tick, tick); err != nil {
			t.Fatal(err)
		}
	}
	stamp("young")
	r.Run("update-index", "--refresh")
	r.WriteFile("young", "bbb")
	stamp("young")
	stamp(".git/index")
	r.WriteFile("new", "x")
	if _, err := openAt(t, r).Stage(t.Context(), gitint.Change{Add: []string{"new"}}); err != nil {
		t.Fatal(err)
	}
	if got := r.Run("status", "--porcelain"); got != "A  new\n M young" {
		t.Errorf("status %q", got)
	}
}

// TestStageRunsNoHooks checks that no hook and no gc runs.
func TestStageRunsNoHooks(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	for _, h := range []string{"post-index-change", "pre-auto-gc"} {
		write(t, r, ".git/hooks/"+h, "#!/bin/sh\necho ran >ran\n")
		if err := os.Chmod(r.Path(".git/hooks/"+h), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.Run("config", "gc.auto", "1")
	r.WriteFile("b", "2")
	if _, err := openAt(t, r).Stage(t.Context(), gitint.Change{Add: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.Path("ran")); err == nil {
		t.Error("a hook ran")
	}
}

func BenchmarkStage1000(b *testing.B) {
	r := gittest.Repo(b)
	paths := make([]string, 0, 1000)
	for i := range 1000 {
		paths = append(paths, fmt.Sprintf(".jp/blobs/%02x/%03d", i%256, i))
		write(b, r, paths[i], strings.Repeat(fmt.Sprint(i), 500))
	}
	repo := openAt(b, r)
	empty := func(b *testing.B) {
		b.StopTimer()
		_ = os.Remove(r.Path(".git/index"))
		_ = os.RemoveAll(r.Path(".git/objects"))
		_ = os.MkdirAll(r.Path(".git/objects/pack"), 0o755)
		b.StartTimer()
	}
	b.Run("stage", func(b *testing.B) {
		for range b.N {
			empty(b)
			if _, err := repo.Stage(b.Context(), gitint.Change{Add: paths}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("add", func(b *testing.B) {
		for range b.N {
			empty(b)
			r.Run("add", ".jp")
		}
	})
}

// TestStage_unreadInput stages with a git that takes its input for empty, as one does that cannot
// read it.
func TestStage_unreadInput(t *testing.T) {
	r := committed(t, map[string]string{"here": "x", "there": "y"})
	bin := t.TempDir()
	script := `#!/bin/sh
case " $* " in *" update-index "*) exit 0 ;; esac
PATH=${PATH#*:}
exec git "$@"
`
	gittest.WriteProgram(t, filepath.Join(bin, "git"), script)
	path := "PATH=" + bin + ":" + os.Getenv("PATH")
	t.Setenv("PATH", strings.TrimPrefix(path, "PATH="))
	before := readIndex(t, r)
	for name, change := range map[string]gitint.Change{
		"removed": {Remove: []string{"here"}},
		"added":   {Add: []string{"new"}},
	} {
		r.WriteFile("new", "z")
		repo := openAt(t, r.With(path))
		if res, err := repo.Stage(t.Context(), change); err == nil {
			t.Errorf("%s: %+v", name, res)
		}
	}
	if !bytes.Equal(before, readIndex(t, r)) {
		t.Error("the index is another")
	}
}
