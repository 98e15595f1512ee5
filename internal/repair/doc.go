// Package repair completes what is incomplete, and changes the form in which conversations
// are stored.
//
// # Lost content
//
// [Search] looks for contents that a store has not, or not soundly: in other stores of this
// machine, in the quarantine of the collector, in the index, in everything that any ref,
// reflog or stash leads to, and inside other versions of the conversations that refer to
// them, which may have the content in place. [Restore] puts what it finds back. Whoever
// knows what is missing, such as a hook after a merge, calls it; with [Sources.Near] it
// costs milliseconds.
//
// What it keeps true: what is taken has the hash that was asked for, whatever its place
// says. All contents are looked for at once, with a number of processes that does not
// depend on how many they are. Nothing is asked of the network.
//
// # Everything that is incomplete
//
// [MakePlan] finds the faults of a working tree and changes nothing; [Plan.Apply] does what is
// certain about them. What is certain stands in docs/decisions.md; in short: what nobody
// could want otherwise. What is replaced or taken away lies in the quarantine before, so
// that nothing is lost, and each conversation is changed under its lock by package
// workspace. A repair can be interrupted at any time and run again.
//
// What it does not promise: the user-local store is looked into and not repaired, and of
// damage that lies in commits only the working tree is mended.
//
// # Migration
//
// What it keeps true: a conversation says the same before and after, element by element, by
// [events.Equal], and is not saved otherwise. Each conversation is changed in one step
// under its lock, so a migration can be interrupted at any time and run again: what is
// done is found done. Content is stored before anything refers to it, and migrating back
// deletes none.
//
// What it does not promise: that bytes come back. Text that was not base64 where jp
// writes base64 comes back as base64, which jp itself does with it at its next save.
package repair
