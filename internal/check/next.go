package check

import "strings"

// What helps with a finding that says where nothing else is known. Callers that know a
// repository may know better. Only commands that exist are named.

// askAuthor is for content that is not to be had here.
func askAuthor(id string) string {
	return "ask whoever wrote the conversation to run 'git jp stage " + id + "' and to commit"
}

// earlier lists the versions of a file, one of which may be sound.
func earlier(path string) string { return "git log --oneline -- " + ShellQuote(path) }

// differences shows what two directories of one conversation have in common.
func differences(a, b string) string {
	return "git diff --no-index -- " + ShellQuote(a) + " " + ShellQuote(b)
}

// Resolve decides an unmerged file: it needs no driver to have run, and drops no side. id is
// that of the conversation, "" for content.
func Resolve(id string) string { return strings.TrimRight("git jp resolve "+id, " ") }

// ShellQuote makes a word of a path that a person may paste into a shell.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./+,:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
