package command

import (
	"errors"
	"strings"
)

var errQuote = errors.New("a quote in the command is not closed")

// Words splits a line like a shell: it interprets quotes and backslashes, but expands nothing. Text
// in {{ }} and {% %} is never split.
func Words(line string) ([]string, error) {
	var all []string
	var w strings.Builder
	inWord := false
	for i := 0; i < len(line); {
		c := line[i]
		if n := placeholderLen(line[i:]); n > 0 {
			w.WriteString(line[i : i+n])
			i, inWord = i+n, true
			continue
		}
		switch c {
		case ' ', '\t', '\n', '\r':
			if inWord {
				all, inWord = append(all, w.String()), false
				w.Reset()
			}
			i++
			continue
		case '\'', '"':
			n, err := quoted(line[i:], &w)
			if err != nil {
				return nil, err
			}
			i += n
		case '\\':
			if i++; i == len(line) {
				return nil, errQuote
			}
			if line[i] != '\n' {
				w.WriteByte(line[i])
			}
			i++
		default:
			w.WriteByte(c)
			i++
		}
		inWord = true
	}
	if inWord {
		all = append(all, w.String())
	}
	return all, nil
}

// placeholderLen returns the length of the {{ }} or {% %} that s begins with, 0 for none.
func placeholderLen(s string) int {
	for _, pair := range [...][2]string{{"{{", "}}"}, {"{%", "%}"}} {
		if strings.HasPrefix(s, pair[0]) {
			if end := strings.Index(s, pair[1]); end > 0 {
				return end + len(pair[1])
			}
		}
	}
	return 0
}

// quoted reads a quoted piece of a word and returns its length.
func quoted(s string, w *strings.Builder) (int, error) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		if n := placeholderLen(s[i:]); n > 0 {
			w.WriteString(s[i : i+n])
			i += n - 1
			continue
		}
		switch {
		case s[i] == quote:
			return i + 1, nil
		case s[i] == '\\' && quote == '"' && i+1 < len(s) && isEscapable(s[i+1]):
			i++
			if s[i] != '\n' {
				w.WriteByte(s[i])
			}
		default:
			w.WriteByte(s[i])
		}
	}
	return 0, errQuote
}

func isEscapable(c byte) bool { return strings.IndexByte("\"\\$`\n", c) >= 0 }
