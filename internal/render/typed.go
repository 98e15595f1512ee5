package render

import "strings"

// Typed returns a prompt as the person typed it: Claude Code records its own commands, and those
// for a shell, in tags. Any other text is returned unchanged.
func Typed(content string) string {
	line, rest, ok := typed(content)
	if !ok {
		return content
	}
	return strings.TrimSpace(line + "\n\n" + rest)
}

// IsTyped reports whether a prompt is a command in tags.
func IsTyped(content string) bool {
	_, _, ok := typed(content)
	return ok
}

// typed returns the command in a prompt, and the text after it.
func typed(content string) (line, rest string, ok bool) {
	rest = strings.TrimSpace(content)
	if command, after, ok := leading(rest, "bash-input"); ok {
		return "! " + command, after, true
	}
	tags := make(map[string]string)
	for found := true; found; {
		found = false
		for _, tag := range []string{"command-message", "command-name", "command-args"} {
			_, twice := tags[tag]
			if inner, after, is := leading(rest, tag); is && !twice {
				tags[tag], rest, found = inner, after, true
			}
		}
	}
	name := tags["command-name"]
	if said, ok := tags["command-message"]; ok && said != strings.TrimPrefix(name, "/") {
		return "", "", false // it does not only repeat the name
	}
	return strings.TrimSpace(name + " " + tags["command-args"]), rest, name != ""
}

// Printed returns the output of a command that Claude Code answered or ran, which it records in
// tags too.
func Printed(content string) (text string, ok bool) {
	rest := strings.TrimSpace(content)
	var all []string
	for found := true; found; {
		found = false
		for _, tag := range []string{
			"bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr",
		} {
			inner, after, is := leading(rest, tag)
			if !is {
				continue
			}
			rest, found, ok = after, true, true
			if inner != "" {
				all = append(all, inner)
			}
		}
	}
	return strings.Join(all, "\n"), ok && rest == ""
}

// leading returns the content of the tag at the beginning of a text, and the text after it.
func leading(s, tag string) (inner, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, "<"+tag+">")
	if !ok {
		return "", s, false
	}
	inner, rest, ok = strings.Cut(s, "</"+tag+">")
	return strings.TrimSpace(inner), strings.TrimSpace(rest), ok
}
