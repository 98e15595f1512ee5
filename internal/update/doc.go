// Package update merges a base into the checked-out branch, with the drivers, and completes a merge
// that needs no decision. Untracked blobs are no obstacle if the base has the same content. It
// fetches and pushes nothing.
package update
