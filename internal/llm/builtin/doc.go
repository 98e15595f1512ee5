// Package builtin has the model that is always there, builtin/search: it needs no network and no
// key. It takes the words of the question, calls the ordinary search and read tools through
// ordinary tool calls, and answers with the passages that it found, each with file and line.
//
// It keeps true:
//
//   - The first line of an answer says that no language model is configured, and how to choose
//     one.
//   - The same conversation gives the same answer: nothing is random, all orders are decided.
//   - It reads nothing by itself. What it knows is in the request: results of tools, and what
//     the user attached.
//
// It does not promise to understand a question. Asked for an answer that follows a schema, it
// fills one in with the question's own words, which does for titles and for nothing else.
package builtin
