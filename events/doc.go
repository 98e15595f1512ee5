// Package events reads, changes and writes the files of a conversation: its stream of events
// (events.json) and its details (metadata.json).
//
// # What it keeps true
//
// The bytes of other writers are kept. [Decode] keeps the original bytes of every element and of
// everything between elements, so [Stream.Encode] of an unchanged stream returns the file as it was
// read, however it is formatted. A changed element keeps its bytes except for the members that
// differ: unknown members, kinds, blocks and number spellings survive. New elements are written in
// the form that jp writes.
//
// Reading is strict. A file is one JSON array in valid UTF-8, without duplicate names, within
// [maxStreamBytes] and [MaxDepth], and every known event has what jp requires of it. A file is read
// completely or not at all: the error is a [*SyntaxError] with element, offset and reason.
// Everything that today's jp loads can be read, except for duplicate names; so can the older forms
// that jp no longer loads. docs/format.md lists where this package and jp differ in what they
// accept.
//
// Reading never opens a blob. Content is a [blobs.Content], which is resolved when a caller asks
// for its bytes.
//
// # Words
//
// A stream is a list of elements. An element has a timestamp, a kind and, if it is an event,
// metadata. A turn is a run of events, usually from one turn_start to the next: one query and
// everything that answered it. A call is a model's request for a tool and the response to it, if
// any; the two are paired within a turn.
//
// A compaction is an element that changes how some turns are presented to a model and removes
// nothing. A projection is the stream as a model receives it, with its compactions applied. A fork
// is the beginning of another conversation: a selection of the turns, repaired as by
// [Stream.Sanitize].
//
// Content is the bytes that belong to an event, such as a tool's result. The stream holds either a
// reference to a blob, or the bytes themselves as text or base64. A result in jp's own form, one
// base64 string, is called legacy. The inline form is legacy with the blocks beside it in the
// metadata, see [Stream.Inline].
//
// # What it does not promise
//
// It does not touch files, locks, clocks or git. It does not check that blobs exist. Files from
// before December 2025 (messages.json) are not read.
package events
