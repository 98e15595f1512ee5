//go:build !linux

package scripts

import "github.com/rogpeppe/go-internal/testscript"

// dialogue needs a terminal, which scripts only make on Linux.
func dialogue(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there is no terminal here")
}
