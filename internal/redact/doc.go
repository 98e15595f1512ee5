// Package redact removes secrets from the conversations of a workspace, and keeps them out.
//
// # What it keeps true
//
// The original is in the quarantine, complete and synced, before anything changes. An entry, which
// records the replaced range of a text, is written before the conversation is, so that after a
// crash the text either still matches the entry or is redacted. Applying entries changes only texts
// that still match. The entries reveal nothing of a secret but its length and 8 bits of a hash.
// Conversations in conflict are not changed. What still has a secret is reported each time,
// wherever it is below .jp.
//
// # What it does not promise
//
// Commits, other clones and forges keep the secret: if it was pushed it has to be revoked.
package redact
