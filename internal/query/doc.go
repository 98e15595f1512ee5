// Package query is one turn: a question goes to a model with the conversation, resources and
// tools, and what comes back goes into the record.
//
// Words. The view of a stream is what of it a model is given, in the order in which it is
// given it. A setup is what configuration says about requests. A record is a conversation that
// nobody else changes meanwhile. A cycle is one request and its answer; a turn has another
// cycle for as long as the model calls tools.
//
// It keeps true:
//
//   - A request is a pure function of the view, the plan of deduplication, the tools and the
//     setup. A longer conversation has the messages of the shorter one as its prefix.
//   - Calls of the view are answered where they were made: results stand directly after the
//     calls, in their order, and a call that never came to a result says so in jp's words.
//     The stored stream is left as it is.
//   - What is sent was saved before, and what came back is saved as soon as it is complete:
//     each event of an answer, each result of a tool. When the process dies, what is lost is
//     at most the event that was being said.
//   - An answer that is refused leaves nothing behind but what it had said before it was
//     continued, one that is interrupted what it had said.
//
// It does not promise that a request fits the model's window (see [llm.OverflowError]), nor
// that a model that was cut off goes on seamlessly. It opens no files and no connections
// itself: models, tools and records are given to it.
package query
