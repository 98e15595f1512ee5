package main

import (
	"runtime"
	"runtime/debug"
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
	moreGarbage  = 200
	firstGarbage = 400 // of the 4 MiB with which the runtime begins
)

// A garbage says when memory that is not used any more is collected. A percentage that was chosen
// for the process, as GOGC chooses it, is kept.
type garbage struct {
	mu      sync.Mutex
	percent int  // from the second collection on
	first   bool // the first one has yet to come
}

// collectLater puts off the first collection: most commands that git runs end before it. What
// comes after it is as it was set.
func collectLater() *garbage {
	g := &garbage{percent: debug.SetGCPercent(firstGarbage), first: true}
	if g.percent < 0 || g.percent >= firstGarbage {
		g.begin()
		return g
	}
	runtime.AddCleanup(&struct{ _ *byte }{}, (*garbage).begin, g)
	return g
}

// begin sets what counts after the first collection.
func (g *garbage) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first = false
	debug.SetGCPercent(g.percent)
}

// seldom has garbage collected half as often: in commands that read a whole repository collecting
// takes a tenth of the time. A limit of memory stays what it is. Of nil nothing was put off, and
// nothing is set.
func (g *garbage) seldom() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.percent != usualGarbage {
		return
	}
	if g.percent = moreGarbage; !g.first {
		debug.SetGCPercent(g.percent)
	}
}
