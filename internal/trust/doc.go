// Package trust prevents foreign values from starting processes, choosing hosts and naming
// environment variables until the user has approved them.
//
// # What it keeps true
//
// A value that somebody else may have written is passed as a [Guarded], which can only be opened
// through a [Gate], so that a caller cannot forget to ask.
//
// An approval is for one claim: its hash has the kind, the key, the exact value and the workspace,
// by its id and its place. If any of them changes, it is another claim, which is not approved.
// Approvals are stored in the user's own directory, never below the workspace.
//
// Questions are asked on the terminal device, not on the standard streams: redirecting output
// approves nothing. If no user can answer, the answer is no. An approvals file that cannot be read
// approves nothing.
//
// Values are shown with all invisible characters escaped, so that they cannot change what the
// terminal shows about them.
//
// # What it does not promise
//
// An approved command is bound to the files that its line names and its runner looks for, but not
// to what these run or include.
package trust
