// Package shelf moves conversations into the archive and out of it, and deletes them, for a person.
//
// It keeps two things true: the index follows, as with git mv, so that a commit of all changes has
// the conversation in one place; and nothing is deleted that a person did not agree to, who is told
// what HEAD does not have. An imported conversation leaves a note, else the next import would make
// it again.
package shelf
