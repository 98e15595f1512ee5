package main

import (
	"encoding/json"
)

// An app is one run of one command: the world, the global flags, and what was
// opened on the way. What a command does not ask for is not opened.
type app struct {
	*world
	globals

	closers []func() error
}

func newApp(w *world, g globals) *app {
	return &app{world: w, globals: g}
}

// close closes what was opened, last first.
func (a *app) close() error {
	var first error
	for i := len(a.closers) - 1; i >= 0; i-- {
		if err := a.closers[i](); err != nil && first == nil {
			first = err
		}
	}
	a.closers = nil
	return first
}

// printJSON writes one record as one line.
func (a *app) printJSON(record any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(record)
}
