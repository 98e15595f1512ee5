// Package ollama is the adapter for Ollama's own chat format: one address that answers with JSON
// lines. It uses no library: the vendor's has a hundred modules for one request.
//
// It keeps true, beside what llm does:
//
//   - The server never truncates the conversation. It would do so silently, from the front; so each
//     request forbids it, and a conversation larger than the model's window is an
//     [*llm.OverflowError]. An answer that fills the window ends. Servers before 0.12.6 ignore
//     that.
//   - Each request asks for the window that the conversation needs by an estimate, and once for
//     twice that if the server counts more. Where the smallest default of servers is enough it asks
//     for none, so that a model which is loaded is used as it is. The requested window grows in
//     powers of two, since the server loads the model again for each other size.
//   - Nothing asks for the model's own window: all of it would take much memory, and the server
//     knows the limit.
//
// It does not promise that a required tool is called: the format cannot require one, so that the
// model is asked in words.
package ollama
