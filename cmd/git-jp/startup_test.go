package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// initLine is one package in what GODEBUG=inittrace=1 prints.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, \S+ ms clock, (\d+) bytes, (\d+) allocs`)

// TestNoPackageIsSlowToInitialize holds that start-up stays cheap: git starts the
// program once for each hook and each merged file, so a library that builds tables
// in its init costs every commit. What it allocates is counted, which is the same in each run.
func TestNoPackageIsSlowToInitialize(t *testing.T) {
	const mostBytes, mostAllocs = 300 << 10, 2500
	cmd := exec.Command("git-jp", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	all := initLine.FindAllStringSubmatch(stderr.String(), -1)
	if len(all) == 0 {
		t.Fatal("no package reported its initialization")
	}
	for _, m := range all {
		size, err1 := strconv.Atoi(m[2])
		allocs, err2 := strconv.Atoi(m[3])
		if err1 != nil || err2 != nil || size > mostBytes || allocs > mostAllocs {
			t.Errorf("%s allocates %s bytes in %s pieces to initialize, more than %d in %d",
				m[1], m[2], m[3], mostBytes, mostAllocs)
		}
	}
}
