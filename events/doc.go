// Package events reads, changes and writes the files of a conversation: the stream
// of its events (events.json) and its details (metadata.json).
//
// # What it keeps true
//
// Bytes of others are sacred. [Decode] keeps the original bytes of every element
// and of everything between elements; [Stream.Encode] of an unchanged stream is the
// file, whatever its formatting. An element that changes keeps its bytes except for
// the members that differ; unknown members, kinds, blocks and number spellings
// survive. What is written new has the form that jp writes.
//
// Reading is strict: one JSON array, valid UTF-8, no duplicate names, at most
// [MaxStreamBytes] and [MaxDepth], and every known event as jp demands it. There is
// no part of a stream: an error is a [*SyntaxError] with element, offset and
// reason. What today's jp loads is read, except for duplicate names, and so are the
// older forms that it cannot load any more. docs/format.md lists what else is read
// or refused otherwise than by jp.
//
// Reading never opens a blob. Content is a [blobs.Content] that is resolved when
// somebody asks for its bytes.
//
// # Words
//
// A stream is a list of elements. An element has a timestamp, a kind and, if it is
// an event, metadata. A turn is a run of events, mostly from one turn_start to the
// next: what one query said and got. A call is a model's request for a tool and the
// response to it, if any; they are paired within a turn.
//
// A compaction is an element that changes what a model is given of some turns and
// removes nothing. A projection is the stream as a model is to be given it, its
// compactions applied. A fork is the beginning of another conversation: a choice of
// the turns, repaired as by [Stream.Sanitize].
//
// A content is bytes that belong to an event, such as a tool's result: in the stream
// it is a reference to a blob, or it stands in place as text or base64. A result in
// jp's own form, one base64 string, is called legacy. The inline form is legacy with
// the blocks beside it in the metadata, see [Stream.Inline].
//
// # What it does not promise
//
// It knows no files, locks, clocks or git. It does not check that blobs are there.
// [Stream.Canonical] is for comparing with jp, not for saving. Files before
// December 2025 (messages.json) are not read.
package events
