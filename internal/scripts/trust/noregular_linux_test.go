package trust_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"golang.org/x/sys/unix"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
)

// An opened file is one that the program opens, in a house with every such file.
type opened struct {
	pattern string // from the root of the house
	by      string // calls that open it, a line each: they refuse
	own     bool   // the user's, or git's: it may be a link to elsewhere
	told    bool   // they continue without it, and say so
	helps   bool   // they continue without it
	not     string // a shape that the file cannot have: it counts as missing
}

// openedFiles returns all of them: a file of the house without a row fails the test.
func openedFiles() []opened {
	// A git that runs hooks of the configuration does not need the file.
	byConfig, _ := scripts.RunsConfigHooks()
	return []opened{
		{pattern: "r/.jp/.id", by: "query --new hi\ngc"},
		{pattern: "r/.jp/.gitattributes", by: "install", own: true},
		{pattern: "r/.jp/.gitignore", by: "init"},
		{pattern: "r/.jp/config.toml", by: "ls\ncheck\nquery --new hi\ntrust"},
		{pattern: "r/.jp/config.toml", by: "hook pre-commit", told: true},
		{pattern: "r/.jp/config.d/x.toml", by: "query --new hi\ntrust", not: "directory"},
		{pattern: "r/.jp/git-jp-config.toml", by: "query --new hi\ntrust"},
		{pattern: "r/.jp/git-jp.toml", by: "ls\ncheck\nquery --new hi"},
		{pattern: "r/.jp/git-jp.toml", by: "hook pre-commit", told: true},
		{pattern: "r/.jp.toml", by: "query --new hi\ntrust"},
		{pattern: "r/.git-jp-config.toml", by: "query --new hi\ntrust"},
		{
			pattern: "r/.jp/conversations/17000000001-one/events.json",
			by:      "check\nprint ONE\nstats ONE\nexport ONE\nfork ONE\nquery --id ONE hi\nstage --all\nrepair",
		},
		{
			pattern: "r/.jp/conversations/17000000001-one/metadata.json",
			by:      "check\nstage --all\nrename ONE x",
		},
		{pattern: "r/.jp/conversations/17000000001-one/base_config.json", by: "stage --all\nquery --id ONE hi"},
		{pattern: "r/.jp/blobs/*/*/*.blob.gz", by: "check"},
		{pattern: "r/attached.txt", by: "query --new -a attached.txt hi"},
		{pattern: "r/.git/hooks/pre-commit", by: "install", helps: byConfig},
		{pattern: "r/.git/info/attributes", by: "install", own: true},
		{pattern: "r/.git/jp/cache/*", by: "gc --dry-run", helps: true},
		{pattern: "r/.git/jp/gc.stamp", by: "stage --all", helps: true},
		{pattern: "home/jp/config.toml", by: "query --new hi\ntrust", own: true},
		{pattern: "home/jp/git-jp-config.toml", by: "query --new hi\ntrust", own: true},
		{pattern: "home/jp/git-jp.toml", by: "ls\ncheck", own: true},
		{pattern: "home/jp/git-jp.toml", by: "hook pre-commit", own: true, told: true},
		{pattern: "data/jp/workspace/*/conversations/*/events.json", by: "print LOCAL\nfork LOCAL"},
		{pattern: "data/jp/workspace/*/conversations/*/metadata.json", by: "rename LOCAL x"},
		{pattern: "data/jp/workspace/*/conversations/*/base_config.json", by: "query --id LOCAL hi"},
		{pattern: "data/jp/workspace/*/blobs/*/*/*.blob.gz", by: "print --full LOCAL"},
		{pattern: "data/jp/workspace/*/blobs/.tmp/gc.stamp", by: "query --id LOCAL hi", helps: true},
		{pattern: "data/git-jp/approvals.json", by: "trust --list", own: true},
		{pattern: "data/git-jp/approvals.lock", by: "trust --revoke", own: true},
		{pattern: "data/jp/workspace/*/sessions/*", by: "ls", helps: true},
		{pattern: "data/jp/workspace/*/storage", by: "ls --local", helps: true},
		{pattern: "data/git-jp/workspace/*/sessions/*", by: "ls", helps: true},
	}
}

// gits are the files of the house that only git opens, or a person.
var gits = []string{
	"r/.git/HEAD", "r/.git/config", "r/.git/index", "r/.git/description", "r/.git/info/exclude",
	"r/.git/COMMIT_EDITMSG", "r/.git/refs/", "r/.git/logs/", "r/.git/objects/",
	"r/.git/hooks/", // each like pre-commit
}

// shapes put something else in the place of a file that was moved.
var shapes = []struct {
	name string
	put  func(path, moved string) error
}{
	{"pipe", func(path, _ string) error { return unix.Mkfifo(path, 0o600) }},
	{"device", func(path, _ string) error { return os.Symlink("/dev/zero", path) }},
	{"directory", func(path, _ string) error { return os.Mkdir(path, 0o700) }},
	{"socket", func(path, _ string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) }},
	{"link", func(path, moved string) error { return os.Symlink(moved, path) }},
}

// A house is a repository and a home with each kind of file that exists.
type house struct {
	*gittest.Repository
	root  string
	names *strings.Replacer // of conversations
}

func newHouse(t *testing.T) house {
	t.Helper()
	scripts.DependOnSources(t)
	root := gittest.TempDir(t)
	r := gittest.At(t, filepath.Join(root, "r")).With("HOME="+filepath.Join(root, "home"),
		"XDG_CONFIG_HOME="+filepath.Join(root, "home"), "XDG_DATA_HOME="+filepath.Join(root, "data"),
		"JP_SESSION=house", "EDITOR=true")
	for name, text := range scripts.Conversation("One", []string{"alpha"}) {
		r.WriteFile(conversationDir+name, text)
	}
	for name, text := range map[string]string{
		".jp/config.toml": "assistant.model.parameters.seed = 7\n", ".jp/config.d/x.toml": "", ".jp.toml": "",
		".git-jp-config.toml": "",
		".jp/git-jp.toml":     "hooks.strict = true\n", "attached.txt": "open",
		"../home/jp/config.toml": "assistant.model.id = 'builtin/search'\n", "../home/jp/git-jp.toml": "",
		".jp/git-jp-config.toml": "", "../home/jp/git-jp-config.toml": "",
	} {
		r.WriteFile(name, text)
	}
	r.Run("init", "-q", ".")
	r.Run("add", "attached.txt") // an untracked attachment stops a commit
	h := house{r, root, strings.NewReplacer("ONE", "jp-c17000000001")}
	h.must(t, "init")
	approval, _ := h.call(t, "trust --json")
	id, _, _ := strings.Cut(strings.TrimPrefix(approval, `{"id":"`), `"`)
	for _, line := range []string{
		"install", "migrate", "query --new -a attached.txt open", "query --local --new open", "stage --all",
		"trust --approve " + id,
	} {
		h.must(t, line)
	}
	r.Commit("one")
	h.must(t, "gc")
	h.must(t, "query --new open")
	h.must(t, "stage --all")
	local, err := filepath.Glob(filepath.Join(root, "data/jp/workspace/*/conversations/*"))
	if err != nil || len(local) != 1 {
		t.Fatal(local, err)
	}
	of, ok := events.ParseDirname(filepath.Base(local[0]))
	if !ok {
		t.Fatal(local)
	}
	h.names = strings.NewReplacer("ONE", "jp-c17000000001", "LOCAL", of.String())
	return h
}

func (h house) must(t *testing.T, line string) {
	t.Helper()
	if out, err := h.call(t, line); err != nil {
		t.Fatalf("git jp %s: %v\n%s", line, err, out)
	}
}

// call runs a command and returns its output.
func (h house) call(t *testing.T, line string) (string, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), hangs)
	defer stop()
	cmd := exec.CommandContext(ctx, "git-jp", strings.Fields(h.names.Replace(line))...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.Dir, h.Env, &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Errorf("git jp %s hangs", line)
	}
	return out.String(), err
}

// find returns the first file of a row.
func (h house) find(t *testing.T, o opened) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(h.root, o.pattern))
	if err != nil || len(all) == 0 {
		t.Fatalf("there is no %s", o.pattern)
	}
	return all[0]
}

// TestNoFileIsOpened puts a pipe, a device, a directory, a socket and a link to elsewhere in the
// place of each file that the program opens: a command that needs it refuses and names it, and no
// command blocks. The normal run has one call for each, a soak all. A file that a person names with
// @ may be a pipe.
func TestNoFileIsOpened(t *testing.T) {
	h := newHouse(t)
	h.judgeRows(t)
	tried, turn := 0, 0
	for _, o := range openedFiles() {
		for _, shape := range shapes {
			turn++
			calls := strings.Split(o.by, "\n")
			for i, line := range calls {
				if i == turn%len(calls) || scripts.Soaks() {
					tried++
					h.try(t, o, shape.name, shape.put, line)
				}
			}
		}
	}
	if want := len(openedFiles()) * len(shapes); tried < want {
		t.Errorf("%d were tried, want %d", tried, want)
	}
}

// judgeRows fails for a file of the house without a row.
func (h house) judgeRows(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(h.root, func(p string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(h.root, p)
		if err != nil || d.IsDir() || slices.ContainsFunc(gits, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		}) {
			return err
		}
		if !slices.ContainsFunc(openedFiles(), func(o opened) bool {
			ok, err := path.Match(o.pattern, name)
			return ok && err == nil || strings.HasPrefix(name, "r/.jp/conversations/")
		}) {
			t.Errorf("no row is about %s", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// try puts a shape in the place of a file, runs a command, and puts the file back.
func (h house) try(
	t *testing.T, o opened, shape string, put func(path, moved string) error, line string,
) {
	t.Helper()
	file, moved := h.find(t, o), filepath.Join(h.root, "moved")
	if err := errors.Join(os.Rename(file, moved), put(file, moved)); err != nil {
		t.Fatal(err)
	}
	out, err := h.call(t, line)
	without := o.helps || shape == "link" && o.own || shape == o.not
	refuses := !without && !o.told
	name := strings.TrimSuffix(filepath.Base(file), ".blob.gz") // a blob by its hash
	if refuses != (err != nil) || !without && !strings.Contains(out, name) {
		t.Errorf("a %s for %s: git jp %s: %v\n%s", shape, o.pattern, line, err, out)
	}
	if err := errors.Join(os.RemoveAll(file), os.Rename(moved, file)); err != nil {
		t.Fatal(err)
	}
}
