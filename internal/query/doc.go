// Package query runs one turn: it sends a question to a model with the conversation, its resources
// and tools, and saves the answer to the record.
//
// Words. The view of a stream is the part of it that a model is given, in the order in which it is
// given. A setup holds the configured values of requests. A record is a conversation that no other
// process changes during the turn. A cycle is one request and its answer; a turn has another cycle
// for as long as the model calls tools.
//
// It keeps true:
//
//   - A request is a pure function of the view, the plan of deduplication, the tools and the setup.
//     A longer conversation has the messages of the shorter one as its prefix.
//   - Calls of the view are answered where they were made: results follow the calls directly, in
//     the order of the calls, and a call without a result gets jp's text that says so. The stored
//     stream is not changed by that.
//   - Everything in a request was saved before it is sent, and every event of an answer and every
//     result of a tool is saved as soon as it is complete. When the process dies, at most the event
//     that was being received is lost.
//   - A refused answer is removed from the stream, except for the text from before it was
//     continued. An interrupted answer keeps its partial text.
//
// It does not promise that a request fits the model's window (see [llm.OverflowError]), nor that a
// model continues seamlessly after its answer was cut off. It opens no files and no connections
// itself: the caller passes models, tools and records.
package query
