// Package llm reads the conversations that simonw's llm logs in one SQLite database: as responses
// until version 0.31, and from 0.32 on as threads of messages, which are named by a hash of their
// content and shared by forks.
package llm
