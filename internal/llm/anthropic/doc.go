// Package anthropic speaks Anthropic's Messages format, with types of its
// own. Time-outs, retries, the reading of the stream and the check of every body are those of
// package llm.
//
// It keeps true, beside what llm does:
//
//   - Thinking goes back as it came, in order and with its signature, to the model that wrote
//     it. Another model's thinking goes as text between <think> tags.
//   - What was sent stays as it was sent: blocks are built from the messages alone, so a
//     longer conversation has the shorter one's blocks as its prefix. Only where cache
//     breakpoints stand moves, and they are not part of what is cached.
//   - There are at most four breakpoints, and one stands where the request before ended, so
//     that its entry is found however many blocks came since.
//   - An answer that was cut off at its limit is continued, up to [Options.Continue] times,
//     and arrives as one.
//
// It does not promise that a tool is called when the choice says so and the model thinks: the
// provider forbids to force it then. The model is told in words, and one that calls nothing is
// asked once more without thinking, when it can be forced; one that cannot but think is told
// again.
package anthropic
