package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/scripts"
)

// A cost is what a command took that can be counted, whatever else the machine does.
type cost struct {
	bytes, objects uint64 // that were allocated, freed or not
	read           uint64 // bytes of files and of other programs
}

// A crowd is a large number of one thing that a stranger commits.
type crowd struct {
	name        string
	usual, soak int
	put         func(r *gittest.Repository, n int)
}

func crowds() []crowd {
	const at = `,{"timestamp":"2026-05-29 19:42:36.0","type":`
	const turn = at + `"turn_start"}` + at + `"chat_request","content":"q%"}`
	const request = at + `"tool_call_request","id":"a","name":"b","arguments":{}}`
	const response = at + `"tool_call_response","id":"a","content":"eA==","is_error":false}`
	stream := func(each string) func(*gittest.Repository, int) {
		return func(r *gittest.Repository, n int) {
			var b strings.Builder
			b.WriteString(turn)
			for i := range n {
				b.WriteString(strings.ReplaceAll(each, "%", strconv.Itoa(i)))
			}
			r.WriteFile(hostileDir+"events.json", "["+b.String()[1:]+"]\n")
		}
	}
	return []crowd{
		{"deltas", 500, 10_000, stream(
			at + `"config_delta","delta":{"assistant":{"name":"%"}}}` + turn)},
		{"calls of one id", 500, 25_000, stream(request + response)},
		{"calls of one id in turns", 500, 25_000, stream(turn + request + response)},
		{"open calls of one id", 500, 50_000, stream(request)},
		{"conversations", 300, 50_000, conversations},
	}
}

// TestCommandsAreLinear counts the cost of each command for many items, and for twice as many:
// nothing that is done with foreign data takes quadratic time. A short run has each command with half
// of the things.
func TestCommandsAreLinear(t *testing.T) {
	commands := slices.DeleteFunc(commandLines(t), func(args []string) bool {
		return !slices.Contains(counted, args[0])
	})
	all := crowds()
	if slices.Contains(gittest.BuildFlags(), "-race") && !scripts.Soaks() {
		all = all[len(all)-1:] // conversations are what commands read side by side
	}
	for k, c := range all {
		n := c.usual
		if scripts.Soaks() {
			n = c.soak
		}
		small, large := c.repository(t, n), c.repository(t, 2*n)
		for i, args := range commands {
			if !scripts.Soaks() && len(all) > 1 && (i+k)%2 != 0 {
				continue // the next crowd is for this command
			}
			name := strings.Join(args, " ")
			one, two := costOf(t, small, args), costOf(t, large, args)
			t.Logf("%s: %s: %d of %d, %d of %d", c.name, name, one, n, two, 2*n)
			// These costs do not depend on the number; and from 4 MiB on git reads an object, which is not
			// compressed then.
			few := cost{bytes: 1 << 20, objects: 2000, read: uint64(scaled(64, 16<<10)) << 10}
			for what, count := range map[string][]uint64{
				"bytes":   {one.bytes, two.bytes, few.bytes},
				"objects": {one.objects, two.objects, few.objects},
				"read":    {one.read, two.read, few.read},
			} {
				if count[1] > count[0]*23/10+count[2] {
					t.Errorf("%s of %s: %d %s, and %d of twice as many",
						name, c.name, count[0], what, count[1])
				}
			}
		}
	}
}

// counted are the commands that look at everything.
var counted = []string{
	"ls", "stats", "stage", "check", "print", "grep", "show", "log", "diff", "export", "gc",
	"compact", "fork", "status", "migrate", "repair",
}

func (c crowd) repository(t *testing.T, n int) *gittest.Repository {
	t.Helper()
	r := gittest.Repo(t)
	for name, text := range scripts.Conversation("One", []string{"alpha"}) {
		r.WriteFile(hostileDir+name, text)
	}
	r.WriteFile(".jp/.id", "abcde")
	r.Run("add", "-A")
	r.Commit("one")
	c.put(r, n)
	r.Run("add", "-A")
	return r
}

// costOf runs a command in this process, without the caches of earlier ones: of two repositories
// one may have a stream in its cache that the other does not have.
func costOf(t *testing.T, r *gittest.Repository, args []string) cost {
	t.Helper()
	var stderr bytes.Buffer
	home := t.TempDir()
	w := &environment{
		args: args, dir: r.Dir, stdin: strings.NewReader(""), stdout: io.Discard, stderr: &stderr,
		now: time.Now, random: func() float64 { return 1 }, pid: os.Getpid(), session: sessionID,
		env: append(slices.Clone(r.Env), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "c"),
			"XDG_DATA_HOME="+filepath.Join(home, "d"), "EDITOR=true"),
	}
	if err := os.RemoveAll(r.Path(".git/jp/cache")); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	read := bytesRead(t)
	runtime.ReadMemStats(&before)
	code := run(t.Context(), w)
	runtime.ReadMemStats(&after)
	if code == report.ExitUsage {
		t.Fatalf("git jp %q: exit %d: %s", args, code, stderr.String())
	}
	return cost{
		after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs, bytesRead(t) - read,
	}
}

// bytesRead returns how much this process has read so far.
func bytesRead(t *testing.T) (n uint64) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "rchar: ")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
