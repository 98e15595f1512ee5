// Package leaks finds the secrets in the conversations of a tree: of a revision, the index, the
// working tree, or what a stage or a commit is about to add.
//
// # What it keeps true
//
// Only what is new is scanned: an element that an earlier tree of the same scanner had is not
// scanned again, nor a blob twice. A finding shows its rule, its length and its place, and no
// character but the prefix that a provider gives to all tokens. A workspace's committed files about
// secrets are read strictly, bounded, and only if they are regular files; what they allow is
// listed, and a rule that they turn off stays on until the user approves that.
//
// # What it does not promise
//
// Missing content is not scanned: internal/check reports it. Files beside those of a conversation
// are not scanned.
package leaks
