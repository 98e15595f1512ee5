package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// initLine is one package in what GODEBUG=inittrace=1 prints.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, \S+ ms clock, (\d+) bytes, (\d+) allocs`)

// TestNoPackageIsSlowToInitialize verifies that start-up stays cheap: git starts the program once
// for each hook and each merged file, so a library that builds tables or compiles expressions in
// its init costs every commit. The test counts allocations, which are the same in each run. A limit
// that a library must break is raised with the figures in docs/decisions.md.
func TestNoPackageIsSlowToInitialize(t *testing.T) {
	const (
		mostBytes, mostAllocs = 160 << 10, 1200 // of one package
		allBytes, allAllocs   = 900 << 10, 5000
	)
	cmd := exec.Command("git-jp", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	all := initLine.FindAllStringSubmatch(stderr.String(), -1)
	if len(all) == 0 {
		t.Fatal("no package reported its initialization")
	}
	bytes, allocs := 0, 0
	for _, m := range all {
		size, err1 := strconv.Atoi(m[2])
		pieces, err2 := strconv.Atoi(m[3])
		if err1 != nil || err2 != nil || size > mostBytes || pieces > mostAllocs {
			t.Errorf("%s allocates %s bytes in %s pieces to initialize, more than %d in %d",
				m[1], m[2], m[3], mostBytes, mostAllocs)
		}
		bytes, allocs = bytes+size, allocs+pieces
	}
	if bytes > allBytes || allocs > allAllocs {
		t.Errorf("all packages allocate %d bytes in %d pieces to initialize, more than %d in %d",
			bytes, allocs, allBytes, allAllocs)
	}
}

// TestHooksCollectNoGarbage: a commit with a megabyte of new text makes so little garbage that
// collecting it takes longer than leaving it. A command that makes more does collect it.
func TestHooksCollectNoGarbage(t *testing.T) {
	for _, c := range []struct {
		megabytes int
		collects  bool
	}{{1, false}, {16, true}} {
		r := gittest.Repo(t)
		text := strings.Repeat(strings.Repeat("word ", 20)+`\n`, c.megabytes<<20/102)
		r.WriteFile(".jp/conversations/17000000001-a/events.json", fmt.Sprintf(`[
  {"timestamp": "2026-01-01 00:00:00.0", "type": "turn_start"},
  {"timestamp": "2026-01-01 00:00:01.0", "type": "chat_request", "content": "%s"}
]`, text))
		r.WriteFile(".jp/conversations/17000000001-a/metadata.json",
			`{"last_activated_at": "2026-01-01 00:00:00.0"}`)
		r.Run("add", "-A")
		cmd := exec.Command("git-jp", "hook", "pre-commit")
		cmd.Dir, cmd.Env = r.Dir, append(r.Env, "GOGC=100", "GODEBUG=gctrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if collects := strings.Contains(string(out), "gc 1 @"); collects != c.collects {
			t.Errorf("%d MB: garbage was collected: %v, want %v", c.megabytes, collects, c.collects)
		}
	}
}
