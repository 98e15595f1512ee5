package main

import (
	"runtime"
	"runtime/debug"
)

// limitMemory has garbage collected rather than more memory taken from here on, unless that is
// so with less already. What is needed at once may still be more: sizes of files bound that.
func limitMemory(bytes int64) {
	if bytes < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(bytes)
	}
}

// firstCollection is how much is taken, in percent of the 4 MiB with which the runtime begins,
// until garbage is collected for the first time.
const firstCollection = 400

// collectLater puts off the first collection of garbage: most commands that git runs end before it.
// What comes after it is as it was set.
func collectLater() {
	usual := debug.SetGCPercent(firstCollection)
	if usual < 0 || usual >= firstCollection {
		debug.SetGCPercent(usual)
		return
	}
	restore := func(percent int) { debug.SetGCPercent(percent) }
	runtime.AddCleanup(&struct{ _ *byte }{}, restore, usual)
}
