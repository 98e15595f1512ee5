// Package importer takes the sessions of coding agents into a workspace.
//
// It finds which sessions belong to a working tree, makes conversations of them by the package
// sessions, and saves these: a new one in the archive under the id that is derived from its
// session, one that was there as what it has become. Where somebody went on with a conversation
// here, or changed it, the source's growth and theirs are merged by the rules of docs/merge.md.
// What an agent went on with behind an export goes into the conversation that was exported.
//
// What it keeps true:
//
//   - Nothing half is ever on disk: contents first, then each conversation in one step.
//   - Importing again changes nothing; importing a source as it grows gives the bytes of one
//     import at the end.
//   - What somebody removed stays removed, and what somebody changed is not overwritten.
//   - The agents' files are only read.
package importer
