// Package builtin has the model that is always available, builtin/search: it needs no network and
// no key. It takes the words of the question, calls the ordinary search and read tools through
// ordinary tool calls, and answers with the passages that it found, each with file and line.
//
// It keeps true:
//
//   - The first line of an answer says that no language model is configured, and how to choose one.
//   - The same conversation gives the same answer: nothing is random, and every order is defined.
//   - It reads no files itself. It only knows the request: results of tools, and attachments.
//
// It does not promise to understand a question. If an answer must follow a schema, it fills the
// schema with the question's own words, which is good enough only for titles.
package builtin
