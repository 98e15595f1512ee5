// Package intake imports the sessions of coding agents for a person, and for the hooks of agents:
// it lists what could be imported, asks, imports, and prints what became of each session.
//
// It keeps one thing true: in a clone nothing is imported before somebody agreed to it there once,
// whether a command, a sweep or a hook begins. How a session becomes a conversation is
// [github.com/git-jp/git-jp/internal/importer]'s, and how hooks get into the settings of agents is
// [github.com/git-jp/git-jp/internal/capture]'s.
package intake
