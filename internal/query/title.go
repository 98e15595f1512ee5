package query

import "strings"

// maxTitle is how long a title is that is made of a question, in characters.
const maxTitle = 50

// Title returns a title for a conversation that begins with a question: the heading that the
// question begins with, as it is, or the first of its words.
func Title(question string) string {
	question = strings.TrimSpace(question)
	first, _, _ := strings.Cut(question, "\n")
	heading := strings.TrimLeft(first, "#")
	if heading != first && strings.HasPrefix(heading, " ") && strings.TrimSpace(heading) != "" {
		return strings.TrimSpace(heading)
	}
	words := strings.Join(strings.Fields(question), " ")
	runes := []rune(words)
	if len(runes) <= maxTitle {
		return words
	}
	cut := string(runes[:maxTitle])
	if i := strings.LastIndexByte(cut, ' '); i > 0 && runes[maxTitle] != ' ' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:.-")
}
