// Package leaks finds the secrets in the conversations of a tree: of a revision, the index, the
// working tree, or what a stage or a commit is about to add.
//
// # What it keeps true
//
// Only what is new is scanned: an element that an earlier tree of the same scanner had is not
// looked at again, nor a blob twice. A finding shows its rule, its length and its place, and no
// character but the prefix that a provider gives to all tokens. What a workspace commits about
// secrets is read strictly, bounded, and only where it is a regular file; what it allows is
// listed, and a rule that it switches off counts once the user approved that.
//
// # What it does not promise
//
// Content that is not there is not scanned: internal/check reports that. Files beside those of a
// conversation are nobody's business here.
package leaks
