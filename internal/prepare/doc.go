// Package prepare opens what a question to a model or a compaction needs: the configuration as
// it counts for a conversation, the model, the tools, MCP servers and attachments.
//
// It is called so since it does all that comes before a turn or a compaction and nothing of
// either: [github.com/git-jp/git-jp/internal/query] runs the one,
// [github.com/git-jp/git-jp/compact] the other. Whatever others wrote passes a [trust.Gate]
// here. The program gives a [Host] and what its user said; a fault of that is an [*AskedError].
package prepare
