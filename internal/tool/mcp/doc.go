// Package mcp makes the tools and resources of MCP servers available. The official SDK implements
// the protocol; this package starts servers, converts their results, and keeps what the SDK
// understands: content blocks of every type, annotations, links and errors.
//
// What it keeps true: a server is started only through the caller's Starter, and contacted over
// HTTP only through the caller's client, who knows the approvals. A local server is told the root
// of the workspace, a server with an address is not. A server may ask the user, by a form, while
// one of its tools runs, as any tool may; it may not ask the model. A call that may have arrived is
// not made again; the one after that gets a new connection, if the server ended the last one. When
// a session ends, its process is asked to end, and then killed with all its descendants.
//
// What it does not promise: members of a result that the SDK does not know. If a server changes its
// tools, [Session.Tool] lists them again; the tools that a turn already offers
// do not change, since that would invalidate the prompt's cache.
package mcp
