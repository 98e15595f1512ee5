// Package handover writes conversations as sessions with which coding agents go on: an import the
// other way round, of any conversation.
//
// An agent gets what a model would be given: with compactions applied, every call answered, and
// contents as they were shown. What it has no form for is left out and counted. A session has an
// id of its own, which follows from the conversation and what is in it: writing it again gives
// the same bytes, and a conversation that has changed is another session. Its first line says of
// what it is an export, by which an import knows where what the agent says there belongs.
// Nothing in it runs by being read.
package handover
