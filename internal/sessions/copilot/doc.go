// Package copilot reads the sessions of GitHub's Copilot CLI: a directory for each, whose
// events.jsonl has an event a line; early versions had a file for each. It also reads sessions that
// Copilot in VS Code writes in the same form.
//
// The schema of the events is not published: this package follows the events that versions 0.37 to
// 1.0 wrote. Events of unknown types are kept.
package copilot
