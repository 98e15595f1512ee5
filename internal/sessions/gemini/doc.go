// Package gemini reads the sessions of Gemini CLI: a file for each in chats/ of a directory for
// each project.
//
// A session is a fold of its records: each new version of a message is appended, and a rewind is
// recorded, not applied to the file. Until April 2026 a session was one JSON object, which was
// rewritten at every change; when such a session was continued later, its messages were copied to a
// file of lines, which then counts.
package gemini
