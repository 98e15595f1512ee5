// Package edits parses calls of tools in the forms of the known agents: the command that a call
// runs, the file that it concerns, and the changes to files that it makes.
package edits
