// Package sessionstest reads sessions of agents for tests, holds what became of them to what
// docs/format.md says, and shows it.
package sessionstest
