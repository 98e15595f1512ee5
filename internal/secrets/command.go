package secrets

import (
	"bytes"
	"slices"
)

// maxCommand is how far before an option its command may be.
const maxCommand = 200

// optionValue returns the range of the value of the option at start to end, if that is an option of
// one of the commands: the value follows behind a blank or an equals sign, or at once if the option
// is one letter, or is the next string of a list. Only then is the command looked for, backwards,
// so that a text with very many options takes no time.
func (r *Rule) optionValue(text []byte, start, end int) (int, int) {
	if start == 0 || text[start-1] != ' ' && !isQuote(text[start-1]) {
		return 0, 0
	}
	listed := isQuote(text[start-1])
	from := end
	switch {
	case r.paired && from < len(text) && (text[from] == ' ' || text[from] == '='):
		return 0, 0 // a rule that needs no command finds it
	case listed && from < len(text) && text[from] == text[start-1]:
		from = nextString(text, from+1)
	case from < len(text) && (text[from] == ' ' || text[from] == '='):
		from++
	case text[start+1] == '-':
		return 0, 0
	}
	if from < len(text) && isQuote(text[from]) {
		from++
	}
	to := from
	for to < len(text) && to-from <= maxValue && text[to] > ' ' && !isQuote(text[to]) {
		to++
	}
	if r.paired {
		colon := bytes.IndexByte(text[from:to], ':')
		if colon <= 0 {
			return 0, 0
		}
		from += colon + 1
	}
	if v := text[from:to]; len(v) < minValue || len(v) > maxValue || v[0] == '-' || !isRandom(v) {
		return 0, 0
	}
	line := text[max(0, start-maxCommand):start]
	if !listed {
		line = line[bytes.LastIndexAny(line, "\n|;&")+1:]
	}
	if !slices.ContainsFunc(r.commands, func(command string) bool {
		return bytes.Contains(line, []byte(command))
	}) {
		return 0, 0
	}
	return from, to
}

// nextString returns the position of the string that follows a string of a list, or of what else
// is there.
func nextString(text []byte, i int) int {
	if i == len(text) || text[i] != ',' {
		return i
	}
	for i++; i < len(text) && text[i] <= ' '; {
		i++
	}
	return i
}

// pipedValue returns the range of the value that echo or printf writes to the command at start: the
// last word in front of the pipe, or, if the rule is paired, what a user and a colon precede in it.
func (r *Rule) pipedValue(text []byte, start int) (int, int) {
	begin := max(0, start-maxCommand)
	line := text[begin:start]
	pipe := bytes.LastIndexByte(line, '|')
	begin += bytes.LastIndexByte(line, '\n') + 1
	if pipe < 0 || begin > start-len(line)+pipe {
		return 0, 0
	}
	words := bytes.TrimRight(text[begin:start-len(line)+pipe], " \"'")
	from := bytes.LastIndexAny(words, " \"'") + 1
	if r.paired {
		from += bytes.IndexByte(words[from:], ':') + 1
	}
	if v := words[from:]; len(v) < minValue || len(v) > maxValue || !isRandom(v) ||
		!bytes.Contains(words[:from], []byte("echo ")) &&
			!bytes.Contains(words[:from], []byte("printf ")) {
		return 0, 0
	}
	return begin + from, begin + len(words)
}
