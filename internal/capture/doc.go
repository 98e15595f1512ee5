// Package capture makes coding agents report when a session grew.
//
// It adds one command to the hooks of each agent, at the user's level, and keeps that command's
// notes in a clone until an import has processed them. The agents' settings belong to the user:
// they are edited in place, so that every other byte stays, a file that does not parse is refused,
// and removing the hooks restores the original bytes.
//
// A hook never stops its agent: it reads no transcript, however long that is, waits for nothing and
// writes nothing into the working tree while the agent is in a turn.
package capture
