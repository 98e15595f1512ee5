// Package blame finds the turns of conversations that lines of a file come from: git's blame gives
// the commit, which may have added turns too, and calls of tools may have written the line.
package blame
