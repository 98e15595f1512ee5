//go:build !unix

package plain

// deviceOf returns false: git has other rules for the owner of a repository on this system.
func deviceOf(string) (device uint64, ok bool) { return 0, false }

// searchable returns false, as above.
func searchable(string) bool { return false }
