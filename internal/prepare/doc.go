// Package prepare opens everything that a question to a model or a compaction needs: the effective
// configuration of a conversation, the model, the tools, MCP servers and attachments.
//
// Its name says that it does everything before a turn or a compaction, but runs neither: that is
// done by [github.com/git-jp/git-jp/internal/query] and [github.com/git-jp/git-jp/compact]. Foreign
// settings pass a [trust.Gate] here. The program provides a [Host] and the user's options; a fault
// in the options is an [*AskedError].
package prepare
