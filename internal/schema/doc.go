// Package schema holds JSON to JSON Schemas that somebody else wrote: a tool's configuration,
// an MCP server, a stranger's repository.
//
// # What it keeps true
//
// A schema is one document. Nothing is loaded: a reference leads to a place in the same
// document, or the schema is refused. Its size, its nesting and the work that it makes are
// bounded, so that neither a schema that refers to itself nor one whose alternatives multiply
// takes the machine. Patterns are RE2, which is linear in the text.
//
// # What it does not promise
//
// Drafts other than 2020-12 and 7 are read as 2020-12. "format" and the keywords about content
// say nothing, and $dynamicRef and identifiers within a schema are refused.
package schema
