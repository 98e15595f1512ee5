package install

import "strings"

// texts are all texts that we ever wrote, the newest first. Texts are never changed, only added at
// the front: they identify an installation of an older release.
type texts struct {
	scripts  []template // complete hook files
	besides  []template // complete hook files beside a hook of the configuration
	blocks   []template // blocks in other hook files
	commands []template // values of hook.jp-<name>.command
}

// A template makes the text for one hook.
type template func(name string) string

func knownTexts() texts {
	return texts{
		scripts:  []template{direct(script1), script1},
		besides:  []template{direct(beside1), beside1},
		blocks:   []template{direct(block1), block1},
		commands: []template{direct(command1), command1},
	}
}

// direct calls the program itself instead of calling it through git, which took a seventh of a
// commit's time with all hooks. The text has found the program in PATH a line before.
func direct(before template) template {
	return func(name string) string {
		return strings.ReplaceAll(before(name), "git jp hook ", "git-jp hook ")
	}
}

// is returns the index of the template that made text, -1 if none did.
func is(text, name string, known []template) int {
	for i, t := range known {
		if t(name) == text {
			return i
		}
	}
	return -1
}

// wrote reports whether we wrote the file, and nothing else is in it.
func (t texts) wrote(text, name string) bool {
	return is(text, name, t.scripts) >= 0 || is(text, name, t.besides) >= 0
}

// fill inserts the name of a hook into a text, and the message for a machine without the program.
func fill(text, name string) string {
	absent := `echo "git-jp is not installed: its NAME hook was skipped" >&2`
	if !speaks(name) {
		absent = ":"
	}
	return strings.NewReplacer("NAME", name, "ABSENT", strings.ReplaceAll(absent, "NAME", name)).
		Replace(text)
}

func script1(name string) string {
	return fill(`#!/bin/sh
# Installed by 'git jp install' and removed by 'git jp uninstall'.
if ! command -v git-jp >/dev/null 2>&1; then
	ABSENT
	exit 0
fi
exec git jp hook NAME "$@"
`, name)
}

// beside1 does nothing if git has run the hook of the configuration, or if the user disabled that.
// A git that does not know hooks in the configuration does not know the command either.
func beside1(name string) string {
	return fill(`#!/bin/sh
# Installed by 'git jp install' and removed by 'git jp uninstall'. It is for a git that runs no
# hooks of the configuration; one that does has run this one already.
case $(git hook list NAME 2>/dev/null </dev/null) in
*jp-NAME*) exit 0 ;;
esac
if ! command -v git-jp >/dev/null 2>&1; then
	ABSENT
	exit 0
fi
exec git jp hook NAME "$@"
`, name)
}

// command1 is run by git as a shell command, to which git appends "$@" when the hook has arguments.
// So it must end in a word that takes them.
func command1(name string) string {
	return fill(`jp() { command -v git-jp >/dev/null 2>&1 && exec git jp hook NAME "$@"; `+
		`ABSENT; }; jp`, name)
}

func block1(name string) string {
	call := `	git jp hook NAME "$@" ELSE
`
	if readsInput(name) {
		// The script after it reads the same input, so it is read once and given to both. The shell
		// cuts trailing line feeds and a here-document adds one.
		call = `	jp_input=$(cat)
	if [ -n "$jp_input" ]; then
		printf '%s\n' "$jp_input" | git jp hook NAME "$@" ELSE
		exec <<jp_end
$jp_input
jp_end
	else
		git jp hook NAME "$@" </dev/null ELSE
		exec </dev/null
	fi
`
	}
	otherwise := "|| :"
	if canRefuse(name) {
		otherwise = "|| exit $?"
	}
	return fill(`# >>> git jp >>> (removed by 'git jp uninstall')
if command -v git-jp >/dev/null 2>&1; then
`+strings.ReplaceAll(call, "ELSE", otherwise)+`else
	ABSENT
fi
# <<< git jp <<<
`, name)
}

// chain returns the script text with block after its first line, and whether that is possible: the
// script must be one for a POSIX shell with LF line ends.
func chain(text, block string) (string, bool) {
	end := strings.IndexByte(text, '\n') + 1
	if end == 0 || !isShell(text[:end]) {
		return "", false
	}
	return text[:end] + block + text[end:], true
}

// unchain returns text without the first block that one of the templates made, and the index of
// that template, -1 without a block.
func unchain(text, name string, known []template) (string, int) {
	for i, t := range known {
		if before, after, ok := strings.Cut(text, t(name)); ok {
			return before + after, i
		}
	}
	return text, -1
}

// isShell reports whether a script that begins with line is run by a shell that
// understands the block.
func isShell(line string) bool {
	command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "#!")
	if !ok || strings.HasSuffix(command, "\r") {
		return false
	}
	for word := range strings.FieldsSeq(command) {
		switch base := word[strings.LastIndexByte(word, '/')+1:]; base {
		case "env", "-S":
			continue
		case "sh", "bash", "dash", "ash", "ksh", "zsh":
			return true
		default:
			return false
		}
	}
	return false
}

// callsHook reports whether text has a line that calls our hook, in any spelling.
func callsHook(text, name string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, call := range []string{"git jp hook " + name, "git-jp hook " + name} {
			if _, rest, ok := strings.Cut(line, call); ok && endsWord(rest) {
				return true
			}
		}
	}
	return false
}

// endsWord reports whether rest does not continue the name before it: "pre-commit" is not
// "pre-commit-msg".
func endsWord(rest string) bool {
	return rest == "" || !strings.ContainsAny(rest[:1], "-_abcdefghijklmnopqrstuvwxyz")
}
