// Package trust keeps what others wrote from starting processes, choosing hosts and
// naming environment variables until the user has approved it.
//
// # What it keeps true
//
// A value that somebody else may have written travels as a [Guarded], which gives it
// out only through a [Gate]. There is no other way to it, so that a caller cannot
// forget to ask.
//
// An approval holds for one claim: the kind, the key, the exact value and the
// workspace, by its id and its place, are in its hash. When any of them changes, it
// is another claim and nobody has approved it. Approvals lie in the user's own
// directory, never below the workspace.
//
// Questions are put on the terminal device, not on the standard streams: to redirect
// output approves nothing. Where nobody can answer, the answer is no. An approvals
// file that cannot be read approves nothing.
//
// What is shown of a value is written with everything escaped that is not visible, so
// that it cannot change what the terminal says about it.
//
// # What it does not promise
//
// An approved command is bound to the files that its line names and its runner looks for, and
// not to what these run or include. Two processes that approve at the same moment may lose
// one approval, which is then asked for again.
package trust
