// Package chat is the adapter for chat completions, OpenAI's format that many servers have adopted:
// OpenRouter, DeepSeek, Mistral, xAI, Cerebras, llama.cpp, vLLM, LM Studio and others. A request is
// one POST; the types have the members that these servers agree on and those that some of them
// added. Package llm has the time-outs, the retries, the reader of the stream and the check of
// every body.
//
// It keeps true, beside what llm does:
//
//   - All differences between servers are in one table, [dialect]; an unknown server gets only the
//     common form. Requirements of a model's template apply on every server that runs it.
//   - Roles alternate except for results, since templates of local models require that. If a user's
//     message may not follow a tool's, a message of the assistant is put between.
//   - Reasoning is sent back as text to the server that it came from, in turns with tool calls, for
//     servers that need it, and not in other turns, in which some refuse it. Mistral gets it in all
//     turns, at its original position among the pieces of a reply.
//   - Thoughts in the text of a local server, between <think> tags at its beginning, become
//     reasoning.
//   - The reasoning_details of OpenRouter are sent back unchanged, and stored under jp's keys too,
//     so that either program can continue the other's conversation.
//
// It does not promise that a server supports everything that is requested: a local one may ignore a
// schema, a choice of tools or a limit.
package chat
