package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// initLine is one package in what GODEBUG=inittrace=1 prints.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// TestNoPackageIsSlowToInitialize holds that start-up stays cheap: git starts the
// program once for each hook and each merged file, so a library that builds tables
// in its init costs every commit. The least of several runs counts, because whatever
// else the machine does only adds to it.
func TestNoPackageIsSlowToInitialize(t *testing.T) {
	const runs, limit = 15, 1.0 // milliseconds
	binary := filepath.Join(t.TempDir(), "git-jp")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	least := map[string]float64{}
	for range runs {
		cmd := exec.Command(binary, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			if was, ok := least[m[1]]; !ok || ms < was {
				least[m[1]] = ms
			}
		}
	}
	if len(least) == 0 {
		t.Fatal("no package reported its initialization")
	}
	for name, ms := range least {
		if ms > limit {
			t.Errorf("%s takes %.2f ms to initialize, more than %.0f", name, ms, limit)
		}
	}
}
