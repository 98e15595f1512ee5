// Package grep prints what a search of conversations finds: below heads for people, by lines that
// name their place or by records for programs, or only in which conversations, and how often.
//
// It keeps two things true: a line has the same place in every form, and what cannot be searched
// is reported and hides nothing that was found. It searches nothing itself:
// [github.com/git-jp/git-jp/internal/search] does.
package grep
