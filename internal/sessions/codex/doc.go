// Package codex reads the sessions of OpenAI's Codex: a "rollout" for each thread, a file of one
// JSON record a line, which Codex packs by zstd when it is a week old.
//
// The format is that of the crates protocol and rollout of its source, which changes; records of
// types that this package does not know are kept. Each text stands twice, as an item that the
// model gets and as an event that a screen shows: the item is what counts, and the event where
// there is no item.
package codex
