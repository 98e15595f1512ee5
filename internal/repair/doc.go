// Package repair completes conversations and stores that are incomplete, and changes the form in
// which conversations are stored.
//
// # Lost content
//
// [Search] looks for content that a store lacks or has only damaged: in other stores on this
// machine, in the quarantine of garbage collection, in the index, in everything that any ref,
// reflog or stash can reach, and in other versions of the conversations that refer to it, which may
// hold the content inline. [Restore] stores the content that it finds. It is for callers that know
// which content is missing, such as a hook after a merge.
//
// What it keeps true: restored content has the requested hash, whatever its place claims. All
// content is searched for at once, with a number of processes that does not depend on how much is
// lost. The network is not used.
//
// # Everything that is incomplete
//
// [MakePlan] finds the faults of a working tree and changes nothing; [Plan.Apply] carries out the
// certain repairs. docs/decisions.md defines which are certain; in short: those to which there is
// no sensible alternative. Files are quarantined before they are replaced or removed, so nothing is
// lost, and package workspace changes each conversation under its lock. A repair can be interrupted
// at any time and run again.
//
// What it does not promise: user-local storage is searched but not repaired, and damage in commits
// is only repaired in the working tree.
//
// # Migration
//
// What it keeps true: every element of a conversation is equal before and after, by [events.Equal];
// otherwise the conversation is not saved. Each conversation is changed in one step under its lock,
// so a migration can be interrupted at any time and run again: it finds that a conversation is
// done. Content is stored before anything refers to it, and migrating back deletes none.
//
// What it does not promise: that migrating back restores the same bytes. Text that was not base64
// where jp writes base64 becomes base64, as it would when jp saves it.
package repair
