package main

import "runtime/debug"

// limitMemory has garbage collected rather than more memory taken from here on, unless that is
// so with less already. What is needed at once may still be more: sizes of files bound that.
func limitMemory(bytes int64) {
	if bytes < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(bytes)
	}
}
