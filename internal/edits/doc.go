// Package edits reads what calls of tools are about, as the agents that are known write them: the
// command that one runs, the file that it is about, and the changes to files that it asks for.
package edits
