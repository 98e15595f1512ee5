// Package mcp makes the tools and resources of MCP servers ours. The protocol is that
// of the official SDK; this package starts servers, translates, and keeps what the
// SDK understands: content blocks of every type, annotations, links and errors.
//
// What it keeps true: a server is started only through the caller's Starter, and
// reached over HTTP only through the caller's client, which know what was approved. One
// that runs here learns the root of the workspace, one that has an address does not. It
// may ask the user, by a form, while one of its tools runs, as any tool may; it may not
// ask the model. When a session ends, its process is told to, and then ended with all
// that it started.
//
// What it does not promise: members of a result that the SDK does not know. A server that
// changes its tools is listed anew by [Session.Tools] and [Session.Tool]; what a turn
// offers already stays as it was, since to change it is to lose the prompt's cache.
package mcp
