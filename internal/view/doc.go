// Package view makes HTML of conversations: documents that open from a disk, without a network and
// without a script.
//
// The text of a conversation is untrusted. It gets into a document only through [markup], which
// escapes it, so no text becomes markup, and no address in it is fetched. The document forbids all
// scripts and styles except those of this package, by their hashes.
package view
