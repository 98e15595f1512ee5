package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// roomInLargePages is more than commands take that read a repository of a hundred thousand blobs.
// It is address space: the system provides memory only where something is written.
const roomInLargePages = 256 << 20

// growInLargePages asks the system to provide pages of 2 MiB where the heap will grow, as it does
// where /sys/kernel/mm/transparent_hugepage/enabled says madvise or always. To provide each page of
// 4 KiB by itself takes a tenth of the time of a command that reads a whole repository; this takes
// two milliseconds.
//
// The runtime has no call for it. So the space is allocated, by a builder because make might write
// to it, and is returned to the runtime, which allocates from it what follows. Collection stops
// meanwhile: a collection that met the space in use would allow as much garbage.
func growInLargePages() {
	if !hasRoom(roomInLargePages) {
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var space strings.Builder
	space.Grow(roomInLargePages)
	space.WriteByte(0) // a string without bytes has no address
	start := unsafe.StringData(space.String())
	// A system without large pages refuses, and the heap grows as before.
	_ = unix.Madvise(unsafe.Slice(start, roomInLargePages), unix.MADV_HUGEPAGE)
	runtime.GC()
}

// hasRoom reports whether the system surely lets the process allocate so many bytes. The runtime
// ends a process that is refused some.
func hasRoom(bytes uint64) bool {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64/8 {
		return false // GOMEMLIMIT or ulimit -v, see limitMemory
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return false
	}
	ram := uint64(info.Totalram) * uint64(info.Unit) //nolint:unconvert // 32 bits on some
	if ram < 8*bytes {
		return false
	}
	policy, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	const strict = "2" // space counts as memory: proc(5)
	return err == nil && !strings.HasPrefix(string(policy), strict)
}
