// Package openai speaks OpenAI's Responses format. Time-outs, retries, the reading of the stream
// and the check of every body are those of package llm.
//
// It keeps true, beside what llm does:
//
//   - Nothing is stored with the provider. Reasoning comes encrypted and goes back as it
//     came, with its id and in front of what it led to; a message keeps its id only behind the
//     reasoning that it needs. Reasoning that lost what it led to, and another provider's, goes
//     as text between <think> tags.
//   - The provider cuts nothing out of a conversation that is too long (jp lets it): that is
//     an [*llm.OverflowError].
//   - A tool or an answer is held to its schema strictly when the schema is one that the
//     provider can enforce, and else is told of it.
//   - There are at most four breakpoints, and only for models that have them.
//
// It does not promise what the format has no word for: stop sequences and top-k are not sent,
// nor are temperature and top-p to models that reason, and a result does not say that it is an
// error. What the provider's own tools did is kept beside the answer and not given back, except for
// what it compacted.
package openai
