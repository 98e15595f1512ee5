package anthropic

import (
	"strings"
	"unicode/utf8"
)

// seamLimit is how much of a continuation is held back to find the overlap with the text before:
// the model is asked to repeat up to 100 characters.
const seamLimit = 512

// minSeam is the shortest overlap that counts, in bytes: shorter ones occur by chance.
const minSeam = 5

// A joint joins a text that was cut off with its continuation.
type joint struct {
	key  int
	tail string // the text before
	open bool   // the continuation has begun
	text string // the continuation so far
}

// rest returns the part of the continuation after the overlap.
func (j *joint) rest() string { return j.text[seam(j.tail, j.text):] }

// seam returns how many bytes of next repeat the end of tail; the longest repetition counts. It
// includes white space that the model puts before the repetition.
func seam(tail, next string) int {
	start := len(next) - len(strings.TrimLeft(next, " \n"))
	for n := min(len(tail), len(next)); n >= minSeam; n-- {
		if n < len(next) && !utf8.RuneStart(next[n]) {
			continue
		}
		if strings.HasSuffix(tail, next[:n]) {
			return n
		}
		end := min(len(next), start+n)
		if start > 0 && end == start+n && strings.HasSuffix(tail, next[start:end]) {
			return end
		}
	}
	return 0
}
