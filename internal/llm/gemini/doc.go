// Package gemini speaks Google's generateContent, with package net/http alone. The vendor's
// library was tried: it costs two milliseconds at every start of the program and a worker that
// never ends, takes keys and addresses from the environment, writes to the log, and of what
// must go back byte for byte it drops what it does not know.
//
// It keeps true, beside what llm does:
//
//   - Signatures of thoughts go back byte for byte, with the part that they came with: with
//     reasoning, text or a call. A part that ended with a signature is not continued.
//   - A call without its signature, another provider's or an old one, carries the word that
//     Google gives for that. Signatures are required in the current turn; the word stays when that
//     is over, so that a prompt keeps its beginning.
//   - As many responses as calls follow them, in their order and by their names, and nothing
//     else stands beside them.
//
// It does not promise that a model knows every keyword of a schema.
package gemini
