package check

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// The next commands of findings, unless a caller that knows the repository has better ones. Only
// commands that exist are named.

// ByMode is the hint for a file or directory that the operating system refuses to open for lack of
// permission.
const ByMode = "check the owner and the mode of the file and its directory"

// ByLFS is the hint for damaged content in the local store of Git LFS: the first command moves it
// away and fails, and the second fetches it again.
const ByLFS = "git lfs fsck; " + blobs.FetchPointers

// RedactAgain is the hint for a text that an entry says is redacted and that is back, and for
// content that is missing because it was redacted.
const RedactAgain = "git jp redact --apply"

// byMode is ByMode if an error is such a refusal, otherwise "".
func byMode(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return ByMode
	}
	return ""
}

// ByAttributes is the hint for a file that an attribute has git commit as something else. The file
// in the working tree is sound, so nothing has to be restored.
func ByAttributes(path string) string { return "git check-attr -a -- " + ShellQuote(path) }

// AskAuthor is the hint for content that is not available here.
func AskAuthor(id string) string {
	return "ask whoever wrote the conversation to run 'git jp stage " + id + "' and to commit"
}

// earlier returns the command that lists the versions of a file, one of which may be undamaged.
func earlier(path string) string { return "git log --oneline -- " + Pathspec(path) }

// Origin returns the command that says who added something that this version does not know: a
// later version may have written it, and whoever runs that one misses it if it is removed.
func Origin(path string) string { return "git log -1 -- " + Pathspec(path) }

// OutOfLFS returns the command that stores the conversations beside a file in Git itself, whatever
// the attributes of other directories say: no merge and no check can read a pointer.
func OutOfLFS(file string) string {
	dir, _ := workspace.PathDir(file)
	return "echo '/conversations/** -filter' >> " + ShellQuote(dir+"/.gitattributes") +
		" && git add --renormalize " + ShellQuote(dir)
}

// differences returns the command that compares two directories of one conversation in a source: a
// later commit, and the working tree with it, may have united them.
func differences(source, a, b string) string {
	if source != WorkTreeName && source != IndexName {
		rev := abbreviate(source)
		return "git diff " + ShellQuote(rev+":"+a) + " " + ShellQuote(rev+":"+b)
	}
	return "git diff --no-index -- " + ShellQuote(a) + " " + ShellQuote(b)
}

// Resolve returns the command that resolves an unmerged file. It works without a driver and drops
// no side. id is that of the conversation, or "" for content.
func Resolve(id string) string { return strings.TrimRight("git jp resolve "+id, " ") }

// ShellQuote quotes a path for pasting into a shell. If it has characters that a terminal must not
// get, such as a line feed, that takes a shell that knows $'...'.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./+,:@%~", r)
	}
	switch {
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }),
		!utf8.ValidString(s):
		return ansiQuote(s)
	case s != "" && s[0] != '~' && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }):
		return s
	default:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
}

// ansiQuote writes every byte that is no printable ASCII as an escape.
func ansiQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// Pathspec quotes a path from the root of the working tree for git commands in any directory of it.
func Pathspec(name string) string { return PathspecAt(false, name) }

// PathspecAt is [Pathspec] for commands in the root, where the path alone mostly does. In a name
// that begins with punctuation git sees more of its magic, and in others patterns.
func PathspecAt(root bool, name string) string {
	switch {
	case strings.ContainsAny(name, `*?[\`), strings.HasPrefix(name, ":"),
		!root && strings.IndexAny(name, "!\"#%&',-/;<=>@^_`~") == 0:
		return ShellQuote(":(top,literal)" + name)
	case root:
		return ShellQuote(name)
	}
	return ShellQuote(":/" + name)
}
