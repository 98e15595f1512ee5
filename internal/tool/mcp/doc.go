// Package mcp makes the tools and resources of MCP servers ours. The protocol is that
// of the official SDK; this package starts servers, translates, and keeps what the
// SDK understands: content blocks of every type, annotations, links and errors.
//
// What it keeps true: a server is started only through the caller's Starter, and
// reached over HTTP only through the caller's client, which know what was approved. It
// is told nothing of the user: no roots, no model to sample, nobody to ask. When a
// session ends, its process is told to, and then ended with all that it started.
//
// What it does not promise: members of a result that the SDK does not know, and tools
// that a server adds while a session runs.
package mcp
