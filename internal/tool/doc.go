// Package tool defines the tools that a model can call, and admits their calls, runs them side by
// side, and limits the size of their results. The packages below it have the tools themselves.
//
// Words. A Tool has a Definition, which a model is shown, and runs a Call, which returns a Result.
// A Policy says whether the user is asked before a call runs and before its result is delivered;
// the Gate asks. A Question is asked by a tool while it runs; the Asker answers it. A Starter
// starts processes.
//
// What it keeps true:
//
//   - Every call gets exactly one result, in the order of the calls, whatever the tool does:
//     return, fail, panic, hang or be interrupted.
//   - A result is passed on as soon as it exists, one at a time.
//   - The size of the results of one batch is limited, and a cut is visible.
//   - Without a user to ask, the answer is no. A tool that needs approval does not run without a
//     Gate.
//   - The package starts no process itself: it asks a Starter, which belongs to the caller, who
//     knows the approvals.
//
// What it does not promise: that a tool which ignores its context ends. It is abandoned after a
// grace period, and its result is dropped.
package tool
