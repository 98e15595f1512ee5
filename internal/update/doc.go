// Package update merges a base into the branch that is checked out, with the drivers, and completes
// a merge that waits for nobody. It fetches and pushes nothing.
package update
