// Package attach turns attachments into resources: files, web pages, output of commands, resources
// of MCP servers, and other conversations.
//
// Words. An attachment is a URL, a path, or a table of the configuration that somebody wrote. A
// handler resolves the attachments of some schemes. A resource is a snapshot: it is made once,
// here, with its canonical URI, and not resolved again unless its URI is refreshed explicitly.
//
// What it keeps true:
//
//   - One object has one URI, so that attachments are deduplicated with what tools read.
//   - The resources of one attachment have a fixed order, without repetitions.
//   - No file outside the workspace is read, no process is started except by the caller's Starter,
//     and no address of a private network is contacted unless the caller allows its host: the
//     address is checked when the connection is made, so that neither names nor redirects lead
//     there.
//   - A failure of one attachment does not affect the others.
//
// What it does not promise: that a page in a browser has the same text as ours, and, behind a
// proxy, that the proxy resolves a name to the same address.
package attach
