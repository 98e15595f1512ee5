// Package schema validates JSON by JSON Schemas that somebody else wrote: in a tool's
// configuration, an MCP server, or a cloned repository.
//
// # What it keeps true
//
// A schema is one document. Nothing is loaded: a reference to anything outside the document is
// refused. The size of a schema, its nesting and the work of a validation are limited, so that
// neither a schema that refers to itself nor one whose alternatives multiply exhausts the machine.
// Patterns are RE2, which is linear in the text.
//
// # What it does not promise
//
// Drafts other than 2020-12 and 7 are read as 2020-12. "format" and the keywords about content have
// no effect, and $dynamicRef and identifiers within a schema are refused.
package schema
