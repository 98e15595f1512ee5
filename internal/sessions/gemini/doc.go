// Package gemini reads the sessions of Gemini CLI: a file for each in chats/ of a directory for
// each project.
//
// What a session says is a fold of its records: a message stands again with each of its versions,
// and what the person went back from is named, not removed. Until April 2026 a session was one
// JSON object, which was written anew whenever it changed; where such a one was gone on with, its
// messages stand in the file of lines too, which counts then.
package gemini
