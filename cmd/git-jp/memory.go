package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// limitMemory has garbage collected rather than more memory taken from here on, unless that is
// so with less already. What is needed at once may still be more: sizes of files bound that.
func limitMemory(bytes int64) {
	if bytes < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(bytes)
	}
}

// How much is taken until garbage is collected, in percent of what is in use.
const (
	usualGarbage = 100
	leastGarbage = 60
	firstGarbage = 400 // of the 4 MiB with which the runtime begins
)

// roomForGarbage is how much of it a command that reads a whole repository leaves lying, as long as
// that is not out of proportion to what is in use.
const roomForGarbage = 96 << 20

// A garbage says when memory that is not used any more is collected. A percentage that was chosen
// for the process, as GOGC chooses it, is kept.
type garbage struct {
	mu      sync.Mutex
	percent int  // from the second collection on
	first   bool // the first one has yet to come
	whole   bool // a whole repository is read
}

// collectLater puts off the first collection: most commands that git runs end before it. What
// comes after it is as it was set.
func collectLater() *garbage {
	g := &garbage{percent: debug.SetGCPercent(firstGarbage), first: true}
	if g.percent < 0 || g.percent >= firstGarbage {
		g.begin()
		return g
	}
	g.afterNext()
	return g
}

// afterNext has begin called when garbage was collected.
func (g *garbage) afterNext() {
	runtime.AddCleanup(&struct{ _ *byte }{}, (*garbage).begin, g)
}

// begin sets what counts from a collection on.
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

// seldom has garbage collected seldom while little is in use, and often when that is much: of
// commands that read a whole repository collecting takes a tenth of the time, and those that read a
// large one should not take the machine's memory. A limit of memory stays what it is. Of nil
// nothing was put off, and nothing is set.
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

// proportion is how much garbage there may be, in percent of what is in use.
func proportion(inUse uint64) int {
	percent := roomForGarbage * 100 / max(inUse, 1)
	return int(min(max(percent, leastGarbage), firstGarbage)) //nolint:gosec // at most firstGarbage
}

// inUse is what the last collection left.
func inUse() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}
