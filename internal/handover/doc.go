// Package handover writes conversations as sessions that coding agents can continue: an import in
// reverse, for any conversation.
//
// An agent gets the same context as a model: with compactions applied, every call answered, and
// contents as they were shown. Anything that it has no form for is left out and counted. A session
// has its own id, which follows from the conversation and its content: writing it again gives the
// same bytes, and a conversation that has changed is another session. Its first line says which
// conversation it is an export of, so that an import knows where the agent's continuation belongs.
// Reading it runs nothing.
package handover
