// Package process is the one place that starts the user's programs: tools, servers and
// attachments that are commands. It asks nobody; whoever hands a Launcher on wraps it
// in what knows the approvals.
//
// What it keeps true: a program runs in a process group of its own, and when its
// context is done the whole group is told to end and then ended. A program gets the
// variables that it is meant to have and no others, so that no key of a provider
// leaks into it. A checksum that was declared is verified before anything runs.
//
// What it does not promise: to end what leaves its group on purpose, to confine what
// runs, or, on Windows, to end the children of what is ended.
package process
