// Package gemini is the adapter for Google's generateContent. It uses package net/http alone: the
// vendor's library was tried, but costs two milliseconds at every start of the program and a worker
// that never ends, takes keys and addresses from the environment, writes to the log, and drops
// unknown members of data that must be sent back byte for byte.
//
// It keeps true, beside what llm does:
//
//   - Signatures of thoughts are sent back byte for byte, with the part that they arrived with:
//     reasoning, text or a call. A part that ended with a signature is not continued.
//   - A call without its signature, another provider's or an old one, has the value that Google
//     prescribes for it. Signatures are required in the current turn only; the value stays
//     afterwards, so that a prompt keeps its prefix.
//   - Calls are followed by as many responses, in their order and by their names, with nothing else
//     beside them.
//
// It does not promise that a model knows every keyword of a schema.
package gemini
