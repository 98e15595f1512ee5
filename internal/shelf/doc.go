// Package shelf archives, unarchives and deletes conversations, for a person.
//
// It keeps two things true. The index follows, as with git mv, so that a commit of all changes has
// the conversation in one place. Nothing is deleted without the user's consent, after saying what
// HEAD does not have. A deleted imported conversation leaves a note; otherwise the next import
// would make it again.
package shelf
