// Package question puts together what a person asks a model, finds the conversation that it goes
// to, has it answered, and prints what the answer has cost.
//
// It keeps one thing true: what a person wrote is not lost. Until it is in a conversation it is in
// a draft, which is removed last, and whatever fails before says where that is. The turn itself is
// [github.com/git-jp/git-jp/internal/query]'s, and what it needs
// [github.com/git-jp/git-jp/internal/prepare]'s.
package question
