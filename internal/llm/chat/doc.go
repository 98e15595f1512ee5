// Package chat speaks chat completions, the format that OpenAI made and many servers took
// over: OpenRouter, DeepSeek, Mistral, xAI, Cerebras, llama.cpp, vLLM, LM Studio and others. It
// is one POST; its types have the members that these servers agree on and those that some of
// them added. Time-outs, retries, the reading of the stream and the check of every body are
// those of package llm.
//
// It keeps true, beside what llm does:
//
//   - What servers differ in stands in one table, [dialect]; a server that it does not know
//     gets nothing but the common form. What a model's template insists on holds on every
//     server that runs it.
//   - Roles alternate except for results, since templates of local models insist on it. Where a
//     tool may not be followed by the user, the assistant speaks between.
//   - Reasoning goes back as text to the server that it came from, in the turns in which tools
//     were called, where servers need it, and not in others, where some refuse it. Mistral is
//     given it in all turns, in the place among the pieces of a reply where it sent it.
//   - Thoughts that a server of one's own leaves in what is said, between <think> tags at its
//     beginning, are thoughts.
//   - The reasoning_details of OpenRouter go back as they came, and are kept under jp's keys
//     too, so that either program can continue the other's conversation.
//
// It does not promise that a server knows what it is asked for: a local one may overlook a
// schema, a choice of tools or a limit.
package chat
