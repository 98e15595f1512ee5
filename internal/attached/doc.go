// Package attached lists, changes and prints what is attached to a conversation.
//
// It keeps two things true: what a person adds is approved by that, and nothing beside it; what
// somebody else wrote is looked up through the gate alone. The next question looks attachments up
// by itself: see [github.com/git-jp/git-jp/internal/prepare].
package attached
