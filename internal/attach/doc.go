// Package attach makes resources of what people attach: files, web pages, output of
// commands, resources of MCP servers, and other conversations.
//
// Words. An attachment is what somebody wrote: a URL, a path, or a table of the
// configuration. A handler resolves the attachments of some schemes. A resource is a
// snapshot: it is made once, here, with its canonical URI, and never looked up again
// unless somebody asks for it by that URI.
//
// What it keeps true:
//
//   - One thing has one URI, so that what is attached deduplicates with what tools read.
//   - What one attachment names comes in a fixed order, without repetitions.
//   - No file outside the workspace is read, no process starts but through the caller's
//     Starter, and no address of a private network is reached unless the caller allows
//     its host: the address is looked at when the connection is made, so that neither
//     names nor redirects lead there.
//   - A failure of one attachment leaves the others.
//
// What it does not promise: that a page in a browser has the text of ours, and, behind
// a proxy, that the proxy resolves a name as we did.
package attach
