// Package ollama is the adapter for Ollama's own chat format: one address that answers with JSON
// lines. It uses no library: the vendor's has a hundred modules for one request.
//
// It keeps true, beside what llm does:
//
//   - The server never truncates the conversation. It would do so silently, from the front; so each
//     request asks for the window that the conversation needs, and a conversation larger than the
//     model's window is an [*llm.OverflowError].
//   - The requested window grows in powers of two, since the server loads the model again for each
//     other size.
//
// It does not promise that a required tool is called: the format cannot require one, so that the
// model is asked in words.
package ollama
