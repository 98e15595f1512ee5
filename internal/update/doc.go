// Package update merges a base into the checked-out branch, with the drivers, and completes a merge
// that needs no decision. It fetches and pushes nothing.
package update
