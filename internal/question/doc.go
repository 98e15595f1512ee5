// Package question composes the user's question, finds its conversation, has it answered, and
// prints the cost of the answer.
//
// It keeps one thing true: the user's text is not lost. Until it is in a conversation it is in a
// draft, which is removed last, and any earlier error names the draft. Package
// [github.com/git-jp/git-jp/internal/query] runs the turn, and
// [github.com/git-jp/git-jp/internal/prepare] opens what it needs.
package question
