// Package sessions reads the sessions of coding agents and makes conversations of them.
//
// A [Dialect] knows one agent: where its sessions are, how they are recognised, and what the
// records of one say. It calls a [Builder], which knows what a conversation is: turns, keys,
// contents, configuration, records without a counterpart, forks where the person rewound.
// docs/format.md, "Agent sessions", has the rules.
//
// What it keeps true:
//
//   - A conversation is a pure function of the bytes of its source, of [Revision], and of what
//     [Options] gives: no clock, no settings of the user, no paths of the machine.
//   - Nothing that was said is lost: what has no counterpart is kept as a record, and what only
//     repeats is counted where it is dropped.
//   - A record of an unknown type, a broken line or a member of another type is kept or
//     reported, and never stops the rest.
//   - What is in memory beside the skeleton of the conversation is one turn.
//
// It writes blobs through a writer that it is given, and nothing else. Whether a conversation is
// there already, was touched since or was removed is the business of the package importer.
package sessions
