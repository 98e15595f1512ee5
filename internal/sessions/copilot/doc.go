// Package copilot reads the sessions of GitHub's Copilot CLI: a directory for each, whose
// events.jsonl has an event a line; early versions had a file for each. What Copilot in VS Code
// writes in the same form is read too.
//
// The schema of the events is not published: this package goes by those that versions 0.37 to
// 1.0 wrote. Events of types that it does not know are kept.
package copilot
