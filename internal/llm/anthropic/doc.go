// Package anthropic is the adapter for Anthropic's Messages format, with types of its own. Package
// llm has the time-outs, the retries, the reader of the stream and the check of every body.
//
// It keeps true, beside what llm does:
//
//   - Thinking is sent back unchanged, in order and with its signature, to the model that wrote it.
//     Thinking of other models is sent as text between <think> tags.
//   - Content that was sent does not change: blocks are built from the messages alone, so that a
//     longer conversation has the shorter one's blocks as its prefix. Only the positions of cache
//     breakpoints change, which are not part of what is cached.
//   - There are at most four breakpoints. One is at the end of the last request, so that its entry
//     is found however many blocks follow.
//   - An answer that was cut off at its limit is continued, up to [Options.Continue] times, and
//     arrives as one.
//
// It does not promise that a required tool is called while the model thinks, since the provider
// then forbids to force one. The model is asked in words, and if it calls nothing once more without
// thinking, when the call can be forced; a model that always thinks is asked in words again.
package anthropic
