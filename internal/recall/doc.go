// Package recall is an MCP server by which agents read conversations: find them, read turns, and
// list what was said about lines and on a branch. It only reads. Its answers are limited in size,
// and conversations in them are marked as quotations: an agent must not treat their text as
// instructions.
package recall
