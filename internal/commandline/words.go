package commandline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Words returns the words for the parser from the arguments, and the command among them, "" for
// none. Without a command they ask for help.
func Words(args []string) (words []string, command string) {
	words = negativeValues(asInGit(versionFlag(slices.Clone(args))))
	if len(words) == 0 {
		words = []string{"--help"}
	}
	if i := commandIndex(words); i == len(words)-1 && slices.Contains(namespaces(), words[i]) {
		words = append(words, "--help")
	}
	words = DropNamespace(words)
	if i := commandIndex(words); i < len(words) {
		command = words[i]
	}
	return words, command
}

// versionFlag turns the version flag that other programs have into the command.
func versionFlag(args []string) []string {
	for i := 0; i < commandIndex(args); i++ {
		switch args[i] {
		case "--version", "-V":
			args[i] = "version"
		case "-C", "-c", "--directory", "--config":
			i++ // its value
		}
	}
	return args
}

// asInGit gives log, diff and blame the words that they have in git: the number of commits as a
// flag, -- between revisions and what they are about, and the revision before a file.
func asInGit(args []string) []string {
	i := commandIndex(args)
	if i == len(args) {
		return args
	}
	end := len(args)
	if at := slices.Index(args[i:], "--"); at >= 0 {
		end = i + at
	}
	switch args[i] {
	case "log":
		for j := i; j < end; j++ {
			if isNegative(args[j]) {
				args[j] = "-n" + args[j][1:]
			}
		}
	case "diff":
	case "blame":
		return revisionFirst(args, i+1, end)
	default:
		return args
	}
	if end < len(args) && !slices.ContainsFunc(args[end+1:], isFlag) {
		args = slices.Delete(args, end, end+1) // the parser takes no more revisions after it
	}
	return args
}

// revisionFirst gives the flag of a revision to the first of two arguments.
func revisionFirst(args []string, begin, end int) []string {
	var at []int
	for i := begin; i < len(args); i++ {
		switch arg := args[i]; {
		case i == end:
		case i > end, !isFlag(arg):
			at = append(at, i)
		case slices.Contains([]string{"-L", "-C", "-c", "--lines", "--directory", "--config"}, arg):
			i++ // its value
		case strings.HasPrefix(arg, "--ref"):
			return args
		}
	}
	if len(at) == 2 && at[0] < end {
		args[at[0]] = "--ref=" + args[at[0]]
	}
	return args
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// negativeValues joins a flag and the negative number after it, such as a turn counted from the
// end, which would be parsed as a flag: none of our flags is a digit.
func negativeValues(args []string) []string {
	for i := 1; i < len(args); i++ {
		flag := args[i-1]
		switch {
		case flag == "--":
			return args
		case !isNegative(args[i]) || len(flag) < 2 || flag[0] != '-' || strings.Contains(flag, "="):
			continue
		case flag[1] == '-':
			flag += "="
		}
		args[i-1] = flag + args[i]
		args = slices.Delete(args, i, i+1)
	}
	return args
}

func isNegative(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && '0' <= arg[1] && arg[1] <= '9'
}

// DropNamespace removes the word `conversation` of jp's own command line, below which it has these
// commands, so that habits keep working.
func DropNamespace(args []string) []string {
	i := commandIndex(args)
	if i >= len(args)-1 || !slices.Contains(namespaces(), args[i]) {
		return args
	}
	args = slices.Delete(slices.Clone(args), i, i+1)
	if name, ok := jpNames[args[i]]; ok {
		args[i] = name
	}
	return args
}

func namespaces() []string { return []string{"conversation", "conversations", "c"} }

// jpNames are jp's short names in its namespace. Outside it, some of them are other commands of
// ours.
var jpNames = map[string]string{
	"s": "show", "g": "grep", "f": "fork", "u": "use", "e": "edit", "l": "label", "a": "archive",
	"ua": "unarchive",
}

// commandIndex returns the index of the first argument that is not a global flag.
func commandIndex(args []string) int {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case !strings.HasPrefix(arg, "-"):
			return i
		case arg == "-C", arg == "-c", arg == "--directory", arg == "--config":
			i++ // its value
		}
	}
	return len(args)
}

// FullFlag returns the arguments with a flag of names in place of the one that the parser does not
// know, if one alone begins like it, as git takes them, and an error if several do. Otherwise it
// returns nil.
func FullFlag(args []string, problem string, names []string) ([]string, error) {
	begin, ok := strings.CutPrefix(problem, "unknown flag --")
	if !ok {
		return nil, nil
	}
	begin, _, _ = strings.Cut(begin, ", did you mean")
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, begin)
	})
	switch {
	case len(names) == 0:
		return nil, nil
	case len(names) > 1:
		return nil, fmt.Errorf("ambiguous flag --%s: it may be --%s", begin,
			strings.Join(names, " or --"))
	}
	for i, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); name == "--"+begin {
			args = slices.Clone(args)
			args[i] = "--" + names[0] + arg[len(name):]
			return args, nil
		}
	}
	return nil, nil
}

// Guess returns the parser's suggestion for a word that is not a command, "" without one. It leaves
// out commands that have not most of their letters from the word: in two letters the parser finds
// any other two.
func Guess(problem string) string {
	said, guess, _ := strings.Cut(problem, ", ")
	word := said[strings.LastIndexByte(said, ' ')+1:]
	quoted := slices.DeleteFunc(regexp.MustCompile(`"[^"]*"`).FindAllString(guess, -1),
		func(name string) bool { return !alike(word, strings.Trim(name, `"`)) })
	switch len(quoted) {
	case 0:
		return ""
	case 1:
		return "did you mean " + quoted[0] + "?"
	}
	return "did you mean one of " + strings.Join(quoted, ", ") + "?"
}

// alike reports whether a command begins with a word or has most of its letters from it.
func alike(word, command string) bool {
	n, left := 0, word
	for _, r := range command {
		if i := strings.IndexRune(left, r); i >= 0 {
			n, left = n+1, left[:i]+left[i+len(string(r)):]
		}
	}
	return strings.HasPrefix(command, word) || 2*n > len(command)
}

// PlainUsage rewrites the parser's messages in the wording of our own.
func PlainUsage(text string) string {
	for _, r := range []struct{ found, say string }{
		{`^(\S+) must be one of (.*) but got (".*")$`, "$1 $3: expected one of $2"},
		{`^(--\S+): expected \w+ value but got "EOL".*$`, "$1 needs a value"},
		{`^(--\S+): missing value, expecting "<arg>"$`, "$1 needs a value"},
		{
			`^(--\S+): expected a valid 16 bit uint but got (".*")$`,
			"$1 $2: expected a number from 0 to 65535",
		},
		{
			`^(--\S+): expected a valid \d+ bit u?int but got (".*")$`,
			"$1 $2: expected a whole number",
		},
		{`^(--\S+): expected a float but got (".*") \(string\)$`, "$1 $2: expected a number"},
		{`^expected one of "init", .*$`, "a command is missing"},
		{`(expected one of )"",`, "$1"},
		// The parser proposes all flags of one letter.
		{`^(unknown flag -[^-]), did you mean one of .*$`, "$1"},
		{`^unknown flag -=$`, "a value after = needs the long name of a flag, as in --fork=3"},
		{`^(--\S+ and --\S+) can't be used together$`, "$1 cannot be used together"},
		{`^expected "(<.*)"$`, "$1 is missing"},
	} {
		text = regexp.MustCompile(r.found).ReplaceAllString(text, r.say)
	}
	return text
}
