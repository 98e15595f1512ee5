package main

import (
	"math"
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
	if !hasRoom() {
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

// hasRoom reports whether the system lets the process allocate the space several times. It asks
// the system, because the runtime ends a process that is refused some: by ulimit -d for example,
// or by vm.overcommit_memory, see proc(5).
func hasRoom() bool {
	if debug.SetMemoryLimit(-1) < math.MaxInt64/8 { // GOMEMLIMIT or ulimit -v, see limitMemory
		return false
	}
	const access, kind = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANON
	space, err := unix.Mmap(-1, 0, 4*roomInLargePages, access, kind)
	return err == nil && unix.Munmap(space) == nil
}
