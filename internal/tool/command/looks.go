package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// plain are programs that look for no code in the directory where they start but what the tables
// have.
var plain = []string{
	"awk", "gawk", "mawk", "sed", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "paste",
	"grep", "egrep", "fgrep", "rg", "ls", "tree", "stat", "file", "du", "df", "diff", "cmp", "comm",
	"echo", "printf", "true", "false", "test", "date", "sleep", "basename", "dirname", "realpath",
	"cp", "mv", "rm", "mkdir", "rmdir", "touch", "ln", "chmod", "tee", "md5sum", "sha256sum",
	"base64", "od", "xxd", "jq", "curl", "which", "pwd", "id", "uname", "seq",
}

// whole are runners that look for the files in their table and no others. Most tools of tests find
// theirs by a pattern, in any directory; what installs packages obeys their files and lists of
// sources.
var whole = []string{"just", "make", "gmake", "bmake", "ninja", "task"}

// gitReads are the commands of git that run no hooks. For the others, such as diff, which may write
// the index, core.hooksPath may name a directory of the repository.
var gitReads = []string{
	"annotate", "blame", "cat-file", "check-attr", "check-ignore", "cherry", "config",
	"count-objects", "diff-files", "diff-index", "diff-tree", "for-each-ref", "format-patch",
	"fsck", "grep", "help", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev",
	"range-diff", "reflog", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "var",
	"version",
}

// Words of a shell that start no program.
var builtins = []string{
	"cd", "pushd", "popd", "exit", "return", "umask", "shift", "set", "unset", "export", "local",
	"readonly", "trap", "read", "wait", "break", "continue", ":", ".", "source", "[", "[[", "for",
	"case", "esac", "done", "fi", "}",
}

// Looks names the program of a line if it may run files that no table lists, "" otherwise: a
// program that is not known, a language, whose modules may be anywhere, and a runner of tests. Of a
// line that starts others it names what starts them. What a file of the repository runs in turn is
// another matter.
func Looks(words []string, shell bool) string {
	if len(words) == 0 {
		return ""
	}
	name := Base(words[0])
	starts := "a program that " + name + " starts"
	switch {
	case shell:
		if finds(strings.Join(words, " ")) {
			return "a program that sh starts"
		}
	case slices.Contains(shells, name):
		for i := range words {
			if isCode(words[:i]) && finds(words[i]) {
				return starts
			}
		}
	case gitStarts(words):
		return starts
	case name == "git":
		if c := gitCommand(words); c != "" && !slices.Contains(gitReads, c) {
			return name
		}
	case name == "find" && !slices.ContainsFunc(words, isExec):
	case slices.Contains(prefixes, name):
		rest := words[1:]
		for len(rest) > 0 && isBefore(rest[0]) {
			rest = rest[1:]
		}
		if slices.Contains(takers, name) || len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			return starts // any of the words may be the program
		}
		return Looks(rest, false)
	case searches(words[0]):
		return name
	}
	return ""
}

// takers are the prefixes that take other words before the program.
var takers = []string{"su", "chroot", "unshare", "ssh", "parallel", "entr", "find"}

func isExec(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") }

// isBefore reports whether a word between a prefix and its program is a variable or a number.
func isBefore(w string) bool {
	return assignment().MatchString(w) || w != "" && w[0] >= '0' && w[0] <= '9'
}

// searches reports whether a program may run files that it finds by itself. One that a line names
// by its path in the repository is such a file.
func searches(program string) bool {
	name := Base(program)
	return !slices.Contains(plain, name) && !slices.Contains(whole, name) &&
		(!strings.Contains(program, "/") || path.IsAbs(program))
}

var singleQuoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'[^']*'`) })

// finds reports whether a script has a program that [Looks] names. Text in single quotes is one
// word, and no known program.
func finds(script string) bool {
	script = singleQuoted().ReplaceAllStringFunc(script, func(text string) string {
		if strings.ContainsAny(text, ";&|()`\n \t") {
			return "'…'"
		}
		return text
	})
	for part := range strings.FieldsFuncSeq(script, func(r rune) bool {
		return strings.ContainsRune(";&|()`\n", r)
	}) {
		words := strings.Fields(part)
		for len(words) > 0 && (slices.Contains(openers, words[0]) || isBefore(words[0])) {
			words = words[1:]
		}
		if len(words) == 0 || words[0][0] == '#' || slices.Contains(builtins, words[0]) {
			continue
		}
		words[0] = strings.Trim(words[0], `"'`)
		if Looks(words, false) != "" {
			return true
		}
	}
	return false
}
