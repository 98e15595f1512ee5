//go:build !linux

package main

import "os"

// confined exits where a process cannot be confined as the tests need it.
func confined() { os.Exit(1) }
