// Package attached lists, changes and prints the attachments of a conversation.
//
// It keeps two things true: adding an attachment approves it, and nothing else; foreign attachments
// are resolved only through the gate. The next question resolves attachments by itself: see
// [github.com/git-jp/git-jp/internal/prepare].
package attached
