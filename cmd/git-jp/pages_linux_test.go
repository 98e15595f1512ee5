package main

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHeapGrowsInLargePages: 64 MiB that are written to are provided in pages of 2 MiB, and the space
// asked for takes no memory by itself.
func TestHeapGrowsInLargePages(t *testing.T) {
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(enabled), "[never]") {
		t.Skip("this system provides no large pages")
	}
	if !hasRoom() {
		t.Skip("the memory of this process or system is limited")
	}
	before := usage(t)
	growInLargePages()
	if grown := usage(t).Maxrss - before.Maxrss; grown > 32<<10 {
		t.Errorf("asking for large pages took %d KiB", grown)
	}

	before = usage(t)
	space := make([]byte, 64<<20)
	for i := 0; i < len(space); i += 4096 {
		space[i] = 1
	}
	if faults := usage(t).Minflt - before.Minflt; faults > 64<<20/4096/4 {
		t.Errorf("writing to %d pages of 4 KiB took %d page faults", len(space)/4096, faults)
	}
}

// TestLimitedMemoryStaysSmall: a process whose memory is limited asks for no space, of which the
// runtime would die if it were refused.
func TestLimitedMemoryStaysSmall(t *testing.T) {
	for _, c := range []struct {
		name     string
		resource int
		limit    uint64
	}{
		{"ulimit -d", unix.RLIMIT_DATA, 900 << 20},
		{"ulimit -v", unix.RLIMIT_AS, 4 << 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			var was unix.Rlimit
			if err := unix.Getrlimit(c.resource, &was); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = unix.Setrlimit(c.resource, &was) })
			if err := unix.Setrlimit(c.resource, &unix.Rlimit{Cur: c.limit, Max: was.Max}); err != nil {
				t.Fatal(err)
			}
			limit := debug.SetMemoryLimit(-1)
			t.Cleanup(func() { debug.SetMemoryLimit(limit) })
			limitMemory(addressSpace() / 8)
			if hasRoom() {
				t.Error("there is room")
			}
		})
	}
	t.Run("GOMEMLIMIT", func(t *testing.T) {
		limit := debug.SetMemoryLimit(1 << 30)
		t.Cleanup(func() { debug.SetMemoryLimit(limit) })
		if hasRoom() {
			t.Error("there is room")
		}
	})
}

func usage(t *testing.T) unix.Rusage {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u
}
