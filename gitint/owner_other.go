//go:build !unix

package gitint

// owned is true: git asks another question here, which only git answers.
func owned(string, []string) bool { return true }
