//go:build !unix

package gittest

import "testing"

// RanAsUser reports false: there is no superuser here to whom every file is open.
func RanAsUser(*testing.T) bool { return false }
