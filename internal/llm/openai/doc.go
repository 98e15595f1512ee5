// Package openai is the adapter for OpenAI's Responses format. Package llm has the time-outs, the
// retries, the reader of the stream and the check of every body.
//
// It keeps true, beside what llm does:
//
//   - Nothing is stored with the provider. Reasoning arrives encrypted and is sent back unchanged,
//     with its id and before the item that it led to; a message keeps its id only after the
//     reasoning that it needs. Reasoning whose following item is gone, and another provider's, is
//     sent as text between <think> tags.
//   - The provider truncates no conversation that is too long (for jp it does): that is an
//     [*llm.OverflowError].
//   - The schema of a tool or an answer is enforced if the provider can enforce it; otherwise it is
//     sent without enforcement.
//   - There are at most four breakpoints, and only for models that support them.
//
// It does not promise what the format cannot express: stop sequences and top-k are not sent, nor
// are temperature and top-p to models that reason, and a result does not say that it is an error.
// The work of the provider's own tools is stored with the answer and not sent back, except for its
// compactions.
package openai
