// Package view makes HTML of conversations: documents that open from a disk, without a network and
// without a script.
//
// What a conversation says is a stranger's. It gets into a document only through [markup], which
// escapes it, so nothing that it says is markup, and no address that it names is fetched. The
// document forbids scripts and styles but the ones of this package by their hashes.
package view
