// Package intake imports the sessions of coding agents for a person, and for the hooks of agents:
// it lists what could be imported, asks, imports, and prints the result for each session.
//
// It keeps one thing true: nothing is imported in a clone before the user agreed to it there once,
// whether a command, a sweep or a hook begins. Package [github.com/git-jp/git-jp/internal/importer]
// turns a session into a conversation, and [github.com/git-jp/git-jp/internal/capture] puts hooks
// into the settings of agents.
package intake
