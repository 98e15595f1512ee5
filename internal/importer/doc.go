// Package importer imports the sessions of coding agents into a workspace.
//
// It finds the sessions that belong to a working tree, converts them with package sessions, and
// saves the conversations: a new one in the archive under the id derived from its session; an
// existing one grows. If the conversation was continued or changed here, these changes and the
// growth of the source are merged by the rules of docs/merge.md. Turns that an agent added to an
// exported conversation are added to that conversation.
//
// What it keeps true:
//
//   - Nothing incomplete is ever on disk: contents first, then each conversation in one step.
//   - Importing again changes nothing; importing a source as it grows gives the bytes of one import
//     at the end.
//   - An import removes nothing that another one, of a later state of the session, saves meanwhile.
//   - A conversation that was removed stays removed, and changes made here are not overwritten.
//   - The agents' files are only read.
package importer
