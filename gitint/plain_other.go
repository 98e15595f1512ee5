//go:build !unix

package gitint

// deviceOf knows nothing: whose a repository is git decides by other rules here.
func deviceOf(string) (device uint64, ok bool) { return 0, false }

// searchable is false, as above.
func searchable(string) bool { return false }
