package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// limitMemory makes the runtime collect garbage before it takes more memory than this, unless the
// limit is lower already. More may still be needed at once: sizes of files bound that.
func limitMemory(bytes int64) {
	if bytes < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(bytes)
	}
}

// How much memory is taken until garbage is collected, in percent of the live heap.
const (
	usualGarbage = 100
	leastGarbage = 60
	firstGarbage = 400 // of the 4 MiB with which the runtime begins
)

// roomForGarbage bounds the garbage that a command that reads a whole repository, or many sessions,
// leaves uncollected, unless that is out of proportion to the memory in use.
const roomForGarbage = 96 << 20

// A garbage decides when unused memory is collected. A percentage that was chosen for the process,
// with GOGC, is kept.
type garbage struct {
	mu      sync.Mutex
	percent int  // from the second collection on
	first   bool // the first collection has not run yet
	whole   bool // a whole repository is read
}

// collectLater delays the first collection: most commands that git runs end before it. After that
// the original setting applies.
func collectLater() *garbage {
	g := &garbage{percent: debug.SetGCPercent(firstGarbage), first: true}
	if g.percent < 0 || g.percent >= firstGarbage {
		g.begin()
		return g
	}
	g.afterNext()
	return g
}

// afterNext calls begin after the next collection.
func (g *garbage) afterNext() {
	runtime.AddCleanup(&struct{ _ *byte }{}, (*garbage).begin, g)
}

// begin sets the percentage that counts after a collection.
func (g *garbage) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first = false
	if g.whole {
		g.percent = proportion(inUse())
		g.afterNext()
	}
	debug.SetGCPercent(g.percent)
}

// seldom collects garbage seldom while the live heap is small, and often when it is large: in
// commands that read a whole repository collecting takes a tenth of the time, and those that read a
// large one should not take the machine's memory. A memory limit stays in force. On nil, where
// nothing was delayed, it sets nothing.
func (g *garbage) seldom() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.percent != usualGarbage || g.whole {
		return
	}
	if g.whole = true; !g.first {
		g.afterNext()
	}
}

// muchToRead is how many objects in packs take far longer to read than large pages to ask for.
const muchToRead = 20_000

// growLarge makes the heap grow in large pages, for a command that has much to read.
func (g *garbage) growLarge() {
	if g == nil {
		return
	}
	g.mu.Lock() // begin sets the percentage, too
	defer g.mu.Unlock()
	growInLargePages()
}

// proportion returns how much garbage there may be, in percent of the live heap.
func proportion(inUse uint64) int {
	percent := roomForGarbage * 100 / max(inUse, 1)
	return int(min(max(percent, leastGarbage), firstGarbage)) // at most firstGarbage
}

// inUse returns the live heap after the last collection.
func inUse() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}
