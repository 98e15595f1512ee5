package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// initLine is one package in what GODEBUG=inittrace=1 prints.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, \S+ ms clock, (\d+) bytes, (\d+) allocs`)

// TestNoPackageIsSlowToInitialize holds that start-up stays cheap: git starts the
// program once for each hook and each merged file, so a library that builds tables or compiles
// expressions in its init costs every commit. What it allocates is counted, which is the same in
// each run. A limit that a library must break is raised with the figures in docs/decisions.md.
func TestNoPackageIsSlowToInitialize(t *testing.T) {
	const (
		mostBytes, mostAllocs = 160 << 10, 1200 // of one package
		allBytes, allAllocs   = 1000 << 10, 5500
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
