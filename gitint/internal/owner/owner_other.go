//go:build !unix

package owner

// Owns returns true: git has another rule on this system, which only git checks.
func Owns(string, []string) bool { return true }
