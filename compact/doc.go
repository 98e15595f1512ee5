// Package compact makes conversations smaller for models, and computes what that costs.
//
// # What it keeps true
//
// A strategy never makes a stream that a provider would refuse: a call is removed with its result
// and with reasoning that led to nothing else; the body of a result may be replaced, but the result
// itself is kept; and reasoning and calls that belong to the last request of the user are kept.
// Elements that are not events are kept, so every remaining event keeps its configuration, and the
// ranges of compactions are adjusted. Metadata that a provider needs back stays with the event that
// it came with.
//
// A person's words about a call are kept: a result that holds a refusal, an answer or a correction
// is neither shortened nor removed, does not count as a repetition of another result, and is
// repeated by a summary. The replacement of a result says that the call succeeded or failed only if
// the result did.
//
// If content is removed, its description stays with the event, and references to it that a model
// was given are replaced by the content. Blobs are never touched.
//
// The last turns are left alone. A turn begins with a turn_start or, in a stream without any, with
// a request of the user.
//
// The default schedule, cold, trims a prompt only when the provider has certainly evicted it from
// its cache, and only if that can never cost more later; see [Schedule.Decide].
//
// A summary is accepted only if it is smaller than what it replaces and has every fact that was
// found there without a model. An earlier summary is never summarized again: the events that it
// replaced are, if they can still be found, and otherwise its text is kept before the new summary.
//
// # Words
//
// A strategy is one way to make a stream smaller. A pipeline is a list of strategies, applied from
// left to right. A hint defines how the calls of one tool may be compacted. A result is superseded
// if a later one has everything that it had; it is trimmed if a model is no longer given it. A
// market is the prices and cache rules for the tokens of a model.
//
// # What it does not promise
//
// Tokens are estimates; the reported error is derived from the conversation's own past, if it has
// usage data. The package reads no files and calls no models: both are passed in as small
// interfaces. A prompt that is only kept in the cache by a fork of the conversation counts as cold.
package compact
