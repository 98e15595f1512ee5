// Package capture has coding agents say when a session grew.
//
// It puts one command into the hooks of each agent, at the user's level, and keeps what that
// command notes in a clone until an import has taken it. The agents' settings belong to the user:
// they are edited in place, so that every other byte stays, a file that does not parse is refused,
// and taking the hooks out again gives the bytes of before.
//
// A hook never stops its agent: it reads no transcript, however long that is, waits for nobody and
// writes nothing into the working tree while the agent is in a turn.
package capture
