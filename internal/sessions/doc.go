// Package sessions reads the sessions of coding agents and converts them to conversations.
//
// A [Dialect] knows one agent: where it stores sessions, how to recognize them, and how to read
// their records. It calls a [Builder], which knows how to build a conversation: turns, keys,
// contents, configuration, records without a counterpart, forks where the person rewound.
// docs/format.md, "Agent sessions", has the rules.
//
// What it keeps true:
//
//   - A conversation is a pure function of the bytes of its source, of [Revision], and of
//     [Options]: no clock, no settings of the user, no paths of the machine.
//   - Nothing that was said is lost: a part without a counterpart is kept as a record, and
//     repetitions are counted where they are dropped.
//   - A record of an unknown type, a broken line or a member of an unexpected type is kept or
//     reported, and never stops the import of the rest.
//   - Memory holds one turn beside the stream of the conversation.
//
// It writes blobs through the writer that it is given, and nothing else. Package importer decides
// whether a conversation exists already, was changed since or was removed.
package sessions
