// Package codex reads the sessions of OpenAI's Codex: a "rollout" for each thread, a file of one
// JSON record a line, which Codex compresses with zstd when it is a week old.
//
// The format is that of the crates protocol and rollout of its source, which changes; records of
// unknown types are kept. Each text occurs twice, as an item that the model gets and as an event
// that a screen shows: the item counts, and the event is used if there is no item.
package codex
