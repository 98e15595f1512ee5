// Package gemini speaks Google's generateContent, through the vendor's library: it knows where
// requests go and how their settings are written. What a conversation says it may not touch:
// its types drop members that they do not know and read signatures as bytes, and it writes to
// the log. So contents and schemas are put into the body as they are, and the answer is taken
// at the [http.RoundTripper] and read here; the library sees an empty one. Time-outs, retries,
// the reading of the stream and the check of every body are those of package llm.
//
// It keeps true, beside what llm does:
//
//   - Signatures of thoughts go back byte for byte, with the part that they came with: with
//     reasoning, text or a call. A part that ended with a signature is not continued.
//   - A call without its signature, another provider's or an old one, carries the word that
//     Google gives for that, in the turn in which signatures are required.
//   - As many responses as calls follow them, in their order and by their names, and nothing
//     else stands beside them.
//   - Neither keys nor addresses nor anything else is taken from the environment.
//
// It does not promise that a model knows every keyword of a schema.
package gemini
