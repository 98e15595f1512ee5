package anthropic

import (
	"strings"
	"unicode/utf8"
)

// seamLimit is how much of a text that goes on is held back to find where it does: the model is
// asked to repeat up to 100 characters.
const seamLimit = 512

// minSeam is the shortest repetition that counts, in bytes: less happens by chance.
const minSeam = 5

// A joint is where a text goes on that was cut off.
type joint struct {
	key  int
	tail string // what was said last
	open bool   // the text that goes on has begun
	text string // what came of it
}

// rest returns what is new of the text that came.
func (j *joint) rest() string { return j.text[seam(j.tail, j.text):] }

// seam returns how many bytes of next repeat the end of tail: the longest repetition counts.
// White space that the model puts in front of it is part of the repetition.
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
