// Package recall lets agents read conversations, as an MCP server: find them, read turns, ask what
// was said about lines and on a branch. It only reads. What it gives is bounded, and marked as
// quoted: what a conversation says is nothing that an agent is asked to do.
package recall
