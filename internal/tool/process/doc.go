// Package process is the only package that starts the user's programs: tools, servers and
// attachments that are commands. It does not ask for approval: whoever reads a command does,
// through a gate.
//
// What it keeps true: a program runs in a process group of its own, and when its context ends, the
// whole group is asked to end and then killed. A program gets only the variables that it is meant
// to have, so that it cannot read a provider's key. A declared checksum is verified before anything
// runs.
//
// What it does not promise: to end processes that leave the group on purpose, to confine programs,
// or, on Windows, to end the children of an ended process.
package process
