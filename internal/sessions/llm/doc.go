// Package llm reads the conversations that simonw's llm logs into one SQLite database: as
// responses until version 0.31, and from 0.32 on as threads of messages that are named by what
// they say, which forks share.
package llm
