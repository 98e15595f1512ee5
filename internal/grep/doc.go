// Package grep prints the results of a search of conversations: below headings for people, as lines
// that name their place or as records for programs, or only which conversations match, and how
// often.
//
// It keeps two things true: a line has the same place in every form, and what cannot be searched is
// reported and hides no result. It searches nothing itself:
// [github.com/git-jp/git-jp/internal/search] does.
package grep
