// Package tool is what a model can call: what a tool is, how calls are admitted, run
// side by side, and cut to size. The tools themselves are the packages below it.
//
// Words. A Tool has a Definition, which a model is shown, and runs a Call, which gives a
// Result. A Policy says whether somebody is asked before a call runs and before its
// result is delivered; the Gate is who is asked. A Question is what a tool asks while
// it runs; the Asker answers it. A Starter starts processes.
//
// What it keeps true:
//
//   - Every call gets exactly one result, in the order of the calls, whatever the tool
//     does: return, fail, panic, hang or be interrupted.
//   - A result is handed over as soon as it is there, one at a time.
//   - What a model is given of one batch is bounded, and a cut is visible.
//   - Nobody to ask means no. A tool that wants to be asked for is not run without a
//     Gate.
//   - Nothing here starts a process: it is asked of a Starter, which belongs to the
//     caller and knows what was approved.
//
// What it does not promise: that a tool which ignores its context ends. It is left
// behind after a grace period, and its result is dropped.
package tool
