// Package sessionstest reads sessions of agents for tests, checks the conversations by the rules of
// docs/format.md, and prints them.
package sessionstest
