// Package redact takes secrets out of the conversations of a workspace, and keeps them out.
//
// # What it keeps true
//
// The original is in the quarantine, complete and synced, before anything changes. An entry that
// says which range of which text was replaced is written before the conversation is, so that a
// crash leaves either a text that the entry still names or one that is redacted. Applying entries
// changes only texts that still have what they name. The entries say nothing of a secret but its
// length and 8 bits of a hash.
//
// # What it does not promise
//
// What commits, other clones and forges have: a secret that was pushed has to be revoked.
package redact
