// Package compact makes conversations smaller for models, and knows what that costs.
//
// # What it keeps true
//
// A strategy never makes a stream that a provider would refuse: a call goes with its result and
// with the reasoning that led to nothing else, the body of a result is replaced and the result
// stays, and what belongs to the last request of the user keeps its reasoning and its calls.
// Elements that are no events stay, so that every event that is left has the configuration
// that it had; the ranges of compactions move along. Metadata that a provider wants back stays
// with the event that it came with.
//
// What a person said about a call stays: a result that holds a refusal, an answer or a
// correction is neither shortened nor removed, replaces nothing, and is repeated by a summary.
// What stands in the place of a result says that a call succeeded or failed only where its
// result said so.
//
// Where a content is taken out, what described it stays with the event, and nothing refers to
// it any more: the reference to it that a model was given becomes the content. Blobs are never
// touched.
//
// The last turns are left alone. A turn begins with a turn_start, or, in a stream without any,
// with a request of the user.
//
// The schedule cold, which is the default, trims a prompt only when the provider has surely
// forgotten it, and never so that it could cost later; see [Schedule.Decide].
//
// A summary is accepted only when it is smaller than what it replaces and names every fact
// that was found in that without a model. An earlier summary is never summarized again: what
// it replaced is, where that can still be found, and else it stands before the new one.
//
// # Words
//
// A strategy is one way to make a stream smaller. A pipeline is some of them, from left to
// right. A hint says what may be done with the calls of one tool. A result is superseded when a
// later one has all that it had; it is trimmed when a model is not given it any more. A market
// is what tokens of a model cost.
//
// # What it does not promise
//
// Tokens are estimates; the error that is told with them is that of the conversation's own
// past, where it has one. It knows no files and asks no models: both come in as small
// interfaces. A prompt that a fork of the conversation keeps warm counts as cold.
package compact
