// Package sessionstest holds readers of agents' sessions to what docs/format.md says.
package sessionstest
