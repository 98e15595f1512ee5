package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/scripts"
)

const (
	confinedSpace = 1 << 30   // of address space
	confinedTime  = 20        // seconds of a processor
	hookMax       = 256 << 10 // KiB that a hook may have in memory
	hangs         = 5 * time.Minute
)

// confined runs a program with little address space and time, and writes its peak memory in KiB
// into the file that its first argument names.
func confined() {
	code, most := runConfined(os.Args[2:])
	if err := os.WriteFile(os.Args[1], []byte(strconv.FormatInt(most, 10)), 0o600); err != nil {
		code = 125
	}
	os.Exit(code)
}

func runConfined(args []string) (code int, most int64) {
	// The released program is linked statically. Here a C library would take much of the space: a
	// stack for each thread, and an arena.
	limits := fmt.Sprintf("ulimit -c 0; ulimit -s 1024; ulimit -v %d; ulimit -t %d; ",
		confinedSpace>>10, confinedTime) + "export MALLOC_ARENA_MAX=1; "
	cmd := exec.Command("sh", append([]string{"-c", limits + `exec git-jp "$@"`, "sh"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 126, 0
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if code = cmd.ProcessState.ExitCode(); code < 0 {
		code = 127 // a signal
	}
	return code, usage.Maxrss
}

// A hostile file is one that a stranger commits, or something else in its place.
type hostile struct {
	name string
	put  func(r *gittest.Repository)
}

const hostileDir = ".jp/conversations/17000000001-one/"

// scaled returns a size for the soak, or else a smaller one that exceeds the same limits.
func scaled(usual, soak int) int {
	if scripts.Soaks() {
		return soak
	}
	return usual
}

// hostileFiles returns the corpus.
func hostileFiles() []hostile {
	rep := strings.Repeat
	file := func(name string, text func() string) func(*gittest.Repository) {
		return func(r *gittest.Repository) { r.WriteFile(name, text()) }
	}
	stream := func(elements func() string) func(*gittest.Repository) {
		return file(hostileDir+"events.json", func() string { return "[" + elements() + "]" })
	}
	fixed := func(text string) func() string { return func() string { return text } }
	wide := func(r *gittest.Repository) {
		line := "100644 blob " + r.RunInput("x", "hash-object", "-w", "--stdin") + "\t%08d\n"
		evilTree(r, hostileDir, r.RunInput(numberedLines(line, 1<<20), "mktree"))
	}
	all := []hostile{
		{"zeros on a branch", func(r *gittest.Repository) { zerosOnBranch(r, scaled(300, 1024)) }},
		{"doubling trees", func(r *gittest.Repository) { doubled(r, hostileDir) }},
		{"doubling stores", func(r *gittest.Repository) { doubled(r, ".jp/blobs/") }},
		{"deep trees", func(r *gittest.Repository) {
			r.RunInput("commit refs/heads/evil\ncommitter x <x> 0 +0000\ndata 0\nM 100644 inline "+
				rep("a/", 3000)+".jp/.id\ndata 0\n", "fast-import", "--quiet")
		}},
		{"zeros", func(r *gittest.Repository) { sparse(r, hostileDir+"events.json", 3<<30) }},
		{"zeros for a title", func(r *gittest.Repository) {
			sparse(r, hostileDir+"metadata.json", 3<<30)
		}},
		{"zeros for settings", func(r *gittest.Repository) { sparse(r, ".jp/config.toml", 3<<30) }},
		{"zeros for an id", func(r *gittest.Repository) { sparse(r, ".jp/.id", 3<<30) }},
		{"nested JSON5", file(".jp/config.json5", func() string { return rep("[", 300_000) })},
		{"nested JSON", file(".jp/config.json", func() string { return rep("[", 300_000) })},
		{"nested YAML", file(".jp/config.yaml", func() string { return rep("[", 300_000) })},
		{"long key", file(".jp/config.toml", func() string { return rep("a.", 20_000) + "a = 1\n" })},
		{"many keys", file(".jp/config.toml", func() string { return numberedLines("a%d = 1\n", 90_000) })},
		{"braces", file(".jp/config.toml", fixed(`extends = ["`+rep("{a,b}", 20)+`"]`))},
		{"stars", file(".jp/config.toml", fixed(`extends = ["`+rep("**/", 2000)+`x"]`))},
		{"extends", extendsAll},
		{"deltas", stream(func() string {
			return numberedLines(`,{"timestamp":"2026-05-29 19:42:36.0","type":"config_delta",`+
				`"delta":{"assistant":{"name":"%d"}}}`, 20_000)[1:]
		})},
		{"calls", stream(func() string {
			return `{"timestamp":"2026-05-29 19:42:36.0","type":"turn_start"}` +
				rep(`,{"timestamp":"2026-05-29 19:42:36.0","type":"tool_call_request","id":"a",`+
					`"name":"b","arguments":{}}`, 100_000)
		})},
		{"elements", stream(func() string { return rep("1,", scaled(8, 30)<<20) + "1" })},
		{"turns", stream(func() string {
			return rep(`{"timestamp":"2026-05-29 19:42:36.0","type":"turn_start"},`, 300_000) +
				`{"timestamp":"2026-05-29 19:42:36.0","type":"turn_start"}`
		})},
		{"honest", honest},
		{"title", file(hostileDir+"metadata.json", func() string {
			return `{"title":"` + rep("x", scaled(20, 300)<<20) + `"}`
		})},
		{"fine title", file(hostileDir+"metadata.json", func() string {
			return `{"title":"` + rep("x", 1000<<10) + `"}`
		})},
		{"conversations", func(r *gittest.Repository) { conversations(r, scaled(2_000, 20_000)) }},
		{"pipe", func(r *gittest.Repository) { pipe(r, hostileDir+"metadata.json") }},
		{"pipe for settings", func(r *gittest.Repository) { pipe(r, ".jp/config.toml") }},
		{"pipe for an id", func(r *gittest.Repository) { pipe(r, ".jp/.id") }},
		{"endless link", func(r *gittest.Repository) { link(r, "/dev/zero", hostileDir+"events.json") }},
		{"endless settings", func(r *gittest.Repository) { link(r, "/dev/zero", ".jp/config.toml") }},
		{"directory", func(r *gittest.Repository) {
			r.Remove(hostileDir + "events.json")
			r.WriteFile(hostileDir+"events.json/x", "")
		}},
	}
	if scripts.Soaks() {
		all = append(all, hostile{"wide tree", wide})
	}
	return all
}

func numberedLines(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// extendsAll makes each file of a chain extend all that follow: loading every path would take 2^30
// reads.
func extendsAll(r *gittest.Repository) {
	const n = 30
	for i := range n {
		var names []string
		for j := i + 1; j < n; j++ {
			names = append(names, strconv.Quote(fmt.Sprintf("f%d.toml", j)))
		}
		name := fmt.Sprintf(".jp/f%d.toml", i)
		if i == 0 {
			name = ".jp/config.toml"
		}
		r.WriteFile(name, "extends = ["+strings.Join(names, ", ")+"]\n")
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func sparse(r *gittest.Repository, name string, size int64) {
	_ = os.Remove(r.Path(name))
	f, err := os.Create(r.Path(name))
	must(err)
	must(f.Truncate(size))
	must(f.Close())
}

func pipe(r *gittest.Repository, name string) {
	_ = os.Remove(r.Path(name))
	must(unix.Mkfifo(r.Path(name), 0o600))
}

func link(r *gittest.Repository, to, name string) {
	_ = os.Remove(r.Path(name))
	must(os.Symlink(to, r.Path(name)))
}

// zerosOnBranch commits a stream of this many MiB on a branch that is not checked out.
func zerosOnBranch(r *gittest.Repository, mib int) {
	cmd := exec.Command("git", "-c", "core.compression=1", "-c", "core.bigFileThreshold=1m",
		"hash-object", "-w", "--stdin")
	cmd.Dir, cmd.Env = r.Dir, r.Env
	cmd.Stdin = io.LimitReader(zeros{}, int64(mib)<<20)
	id, err := cmd.Output()
	must(err)
	evilTree(r, hostileDir, r.RunInput("100644 blob "+strings.TrimSpace(string(id))+"\tevents.json\n", "mktree"))
}

// evilTree commits a tree as a directory, on a branch that is not checked out.
func evilTree(r *gittest.Repository, dir, tree string) {
	at := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	for i := len(at) - 1; i >= 0; i-- {
		tree = r.RunInput("040000 tree "+tree+"\t"+at[i]+"\n", "mktree")
	}
	r.Run("update-ref", "refs/heads/evil", r.Run("commit-tree", "-m", "evil", tree))
}

// doubled commits a directory of 30 trees that each have the next one twice.
func doubled(r *gittest.Repository, dir string) {
	tree := r.RunInput("100644 blob "+r.RunInput("x", "hash-object", "-w", "--stdin")+"\tx\n", "mktree")
	for range 30 {
		tree = r.RunInput("040000 tree "+tree+"\ta\n040000 tree "+tree+"\tb\n", "mktree")
	}
	evilTree(r, dir, tree)
}

// honest commits a real stream of the maximal size, on a branch and, changed, in the working tree.
func honest(r *gittest.Repository) {
	const head = `{"timestamp":"2026-05-29 19:42:36.0","type":`
	turn := head + `"turn_start"},` +
		head + `"chat_request","content":"` + strings.Repeat("a question ", 3000) + `"},` +
		head + `"chat_response","message":"` + strings.Repeat("an answer ", 3000) + `"}`
	all := strings.Repeat(turn+",", scaled(8, 60)<<20/len(turn))
	r.WriteFile(hostileDir+"events.json", "["+all+turn+"]")
	r.Run("-c", "core.compression=1", "add", "-A")
	r.Run("update-ref", "refs/heads/evil", r.Run("commit-tree", "-m", "x", r.Run("write-tree")))
	r.WriteFile(hostileDir+"events.json", "["+all+turn+","+turn+"]")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func conversations(r *gittest.Repository, n int) {
	for i := range n {
		dir := r.Path(fmt.Sprintf(".jp/conversations/%d", 17000000010+i))
		must(os.MkdirAll(dir, 0o755))
		must(os.WriteFile(filepath.Join(dir, "metadata.json"),
			[]byte(`{"last_activated_at":"2026-01-01 01:00:00.0"}`), 0o644))
		must(os.WriteFile(filepath.Join(dir, "events.json"), []byte("[]"), 0o644))
	}
}

// hostileRepository returns a clone with an intact conversation that is committed, and one file of
// the corpus, staged if git takes it.
func hostileRepository(t *testing.T, h hostile) *gittest.Repository {
	t.Helper()
	r := gittest.Repo(t)
	for name, text := range scripts.Conversation("One", []string{"alpha"}) {
		r.WriteFile(hostileDir+name, text)
	}
	r.WriteFile("beside", "one\n")
	r.Run("add", "-A")
	r.Commit("one")
	r.WriteFile("beside", "two\n")
	h.put(r)
	if strings.HasPrefix(h.name, "zeros") {
		return r // git would take minutes to add them
	}
	if out, err := r.Try("-c", "core.compression=1", "-c", "core.bigFileThreshold=1m", "add", "-A"); err != nil &&
		!strings.Contains(h.name, "pipe") && !strings.Contains(h.name, "endless") {
		t.Logf("add: %s", out)
	}
	return r
}

// An outcome is the result of a confined call.
type outcome struct {
	code   int
	most   int64 // KiB
	stderr string
}

func callConfined(t *testing.T, r *gittest.Repository, input string, args ...string) outcome {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), hangs)
	defer stop()
	rss := filepath.Join(t.TempDir(), "rss")
	cmd := exec.CommandContext(ctx, "confined", append([]string{rss}, args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr, cmd.WaitDelay = r.Dir, strings.NewReader(input), &stderr, time.Second
	home := t.TempDir()
	cmd.Env = append(slices.Clone(r.Env), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"EDITOR=true", "GIT_EDITOR=true", "GOTRACEBACK=single", "GOGC=100") // as for a user
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("git-jp %q hangs", args)
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("git-jp %q: %v", args, err)
	}
	data, err := os.ReadFile(rss)
	if err != nil {
		t.Fatalf("git-jp %q: %v: %s", args, err, stderr.String())
	}
	most, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), most, stderr.String()}
}

// judge fails unless a program ended by itself with a few clear lines.
func (o outcome) judge(t *testing.T, what string) {
	t.Helper()
	crashed := strings.Contains(o.stderr, "goroutine ") || strings.Contains(o.stderr, "fatal error: ")
	if crashed || o.code >= 124 {
		t.Errorf("%s: exit %d\n%.2000s", what, o.code, o.stderr)
	}
	for line := range strings.Lines(o.stderr) {
		if len(line) > 4096 {
			t.Errorf("%s: a line of %d bytes: %.200s", what, len(line), line)
		}
	}
}

// TestEveryHostileFile runs all hooks with each file of the corpus, which is made once, each
// command with some file of it, and some command with each file; a soak runs every command with
// every file.
func TestEveryHostileFile(t *testing.T) {
	files, commands := hostileFiles(), commandLines(t)
	for i, h := range files {
		t.Run(h.name, func(t *testing.T) {
			made := hostileRepository(t, h)
			t.Run("hooks", func(t *testing.T) { hooksStaySmall(t, copyOf(t, made), i) })
			t.Run("commands", func(t *testing.T) {
				var mine [][]string
				for j, args := range commands {
					if scripts.Soaks() || j%len(files) == i || i%len(commands) == j {
						mine = append(mine, args)
					}
				}
				endByThemselves(t, made, mine)
			})
		})
	}
}

// hooksStaySmall runs all hooks; if there is no time for all, a third of them, and another third
// with the next file.
func hooksStaySmall(t *testing.T, r *gittest.Repository, i int) {
	head := r.Run("rev-parse", "HEAD")
	tip := head
	if id, err := r.Try("rev-parse", "--verify", "-q", "refs/heads/evil"); err == nil {
		tip = strings.TrimSpace(id)
	}
	zero := strings.Repeat("0", 40)
	push := "refs/heads/x " + tip + " refs/heads/x " + zero + "\n"
	for j, hook := range []struct {
		input string
		args  []string
	}{
		{"", []string{"pre-commit"}},
		{"", []string{"post-commit"}},
		{"", []string{"pre-merge-commit"}},
		{"", []string{"post-merge", "0"}},
		{"", []string{"post-checkout", head, head, "1"}},
		{"", []string{"prepare-commit-msg", ".git/COMMIT_EDITMSG"}},
		{push, []string{"pre-push", "origin", "https://example.invalid/x"}},
	} {
		if !scripts.Soaks() && (i+j)%3 != 0 {
			continue
		}
		o := callConfined(t, r, hook.input, append([]string{"hook"}, hook.args...)...)
		o.judge(t, hook.args[0])
		if o.most > hookMax {
			t.Errorf("%s has %d MiB in memory", hook.args[0], o.most>>10)
		}
		t.Logf("%s: exit %d, %d MiB", hook.args[0], o.code, o.most>>10)
	}
}

// TestTreesInTreesAreRefused: 30 trees that each have the next one twice are a billion files. A
// command that has to list them says so in a line, and deletes nothing.
func TestTreesInTreesAreRefused(t *testing.T) {
	for dir, commands := range map[string][][]string{
		hostileDir:                {{"check", "--all"}, {"gc", "--dry-run"}, {"gc", "run", "--yes"}},
		".jp/blobs/":              {{"check", "--all"}},
		"a/.jp/conversations/17/": {{"check", "--all"}},
		".jp/conversations/":      {{"gc", "--dry-run"}},
	} {
		r := hostileRepository(t, hostile{"", func(r *gittest.Repository) { doubled(r, dir) }})
		for _, args := range commands {
			o := callConfined(t, r, "", args...)
			o.judge(t, strings.Join(args, " "))
			if o.code != report.ExitProblems || !strings.Contains(o.stderr, "too many files") || o.most > hookMax {
				t.Errorf("%q of %s: exit %d, %d MiB: %s", args, dir, o.code, o.most>>10, o.stderr)
			}
		}
	}
}

// commandLines returns a call of each command, from the parser's own model.
func commandLines(t *testing.T) [][]string {
	t.Helper()
	parser, err := kong.New(&cli{}, kongOptions(&environment{})...)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, leaf := range parser.Model.Leaves(false) {
		path := strings.Fields(leaf.FullPath())[2:] // after "git jp"
		if path[0] == "hook" || path[0] == "web" {
			continue // hooks have their own test; web runs until it is stopped, with the pages of site
		}
		var args []string
		for _, word := range path {
			if !strings.ContainsAny(word, "<[(") {
				args = append(args, word)
			}
		}
		words := hostileWords[strings.Join(args, " ")]
		for _, p := range leaf.Positional {
			args = append(args, hostileArgument(p)...)
		}
		args = append(args, words...)
		for _, f := range leaf.Flags {
			if f.Required {
				args = append(args, "--"+f.Name+"="+hostileDir+"events.json")
			}
		}
		all = append(all, args)
	}
	return append(all, []string{"check", "--all"}, []string{"check", "--staged"}, []string{"check", "--worktree"},
		[]string{"gc", "--dry-run"}, []string{"stage", "--all"}, []string{"repair", "--yes"})
}

// hostileWords are arguments that commands need and that the parser's model does not give.
var hostileWords = map[string][]string{
	"label rm": {"a"}, "label set": {"a=b"}, "redact": {"--apply"}, "rename": {"a"}, "review": {"HEAD"},
	"update-branch": {"HEAD"},
}

func hostileArgument(p *kong.Positional) []string {
	switch {
	case !p.Required && !slices.Contains([]string{"conversation"}, p.Name):
		return nil
	case p.Enum != "":
		return []string{p.EnumSlice()[0]}
	case strings.Contains(strings.ToLower(p.Name), "file"):
		return []string{hostileDir + "events.json"}
	case strings.Contains(strings.ToLower(p.Name), "label"):
		return []string{"a"}
	case strings.Contains(strings.ToLower(p.Name), "kind"):
		return []string{"events"}
	}
	return []string{"17000000001"}
}

// endByThemselves runs commands, each on the original file: one that a command changed would not
// test the next.
func endByThemselves(t *testing.T, made *gittest.Repository, commands [][]string) {
	var r *gittest.Repository
	var before string
	for _, args := range commands {
		if r == nil || traces(t, r) != before {
			if r != nil {
				must(os.RemoveAll(r.Dir)) // a gigabyte, or 200,000 files
			}
			r = copyOf(t, made)
			before = traces(t, r)
		}
		callConfined(t, r, "", args...).judge(t, strings.Join(args, " "))
	}
}

// copyOf returns a repository that shares r's objects, which no command writes to, and nothing
// else.
func copyOf(t *testing.T, r *gittest.Repository) *gittest.Repository {
	t.Helper()
	copied := *r
	copied.Dir = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `set -e
		tar --format=posix --exclude=./.git/objects -cSf - . | tar -xSf - -C "$0"
		cp -al .git/objects "$0/.git/objects"`, copied.Dir)
	cmd.Dir = r.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("copy: %v: %s", err, out)
	}
	return &copied
}

// traces returns the time and size of each file of a repository, except its objects and our cache.
func traces(t *testing.T, r *gittest.Repository) string {
	t.Helper()
	hash := sha256.New()
	err := filepath.WalkDir(r.Dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == r.Path(".git/objects") || name == r.Path(".git/jp/cache") {
			return cmp.Or(err, fs.SkipDir)
		}
		info, err := entry.Info()
		if err == nil && !entry.IsDir() {
			fmt.Fprintln(hash, name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	must(err)
	return string(hash.Sum(nil))
}
