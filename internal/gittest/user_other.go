//go:build !unix

package gittest

import "testing"

// RanAsUser reports false: this system has no superuser who may read every file.
func RanAsUser(*testing.T) bool { return false }

// GiveToMember does nothing here.
func GiveToMember(*testing.T, string) {}
