// Package ollama speaks Ollama's own chat format: one address, JSON lines back. It has no
// library behind it: the vendor's brings a hundred modules for one request.
//
// It keeps true, beside what llm does:
//
//   - The server never cuts the conversation. It would do so silently, from the front; so the
//     window is asked for that the conversation needs, and what is larger than the model's is
//     an [*llm.OverflowError].
//   - The window that is asked for grows in powers of two: each other size makes the server
//     load the model anew.
//
// It does not promise that a tool is called when the choice says so: the format cannot say it,
// and the model is told in words.
package ollama
