package gitint

import "strings"

// A Range names the commits that one revision has and another one lacks, as gitrevisions(7)
// describes.
type Range struct {
	From, To string // "" for HEAD
	// Fork says that both ends count from where they left each other, as with three dots.
	Fork bool
}

// ParseRange returns the range that a word names: A..B, A...B, A^! for what is new in A, and A^-
// or A^-N for what A has beside its parent of that number. It does not look whether they exist.
func ParseRange(word string) (r Range, ok bool) {
	if from, to, found := strings.Cut(word, ".."); found {
		to, fork := strings.CutPrefix(to, ".")
		return Range{From: from, To: to, Fork: fork}, true
	}
	if tip, found := strings.CutSuffix(word, "^!"); found {
		return Range{From: tip + "^", To: tip}, tip != ""
	}
	// No name of a ref has a circumflex, so the last one belongs to the range.
	i := strings.LastIndex(word, "^-")
	if i <= 0 || strings.Trim(word[i+2:], "0123456789") != "" {
		return Range{}, false
	}
	return Range{From: word[:i] + "^" + word[i+2:], To: word[:i]}, true
}

// IsSeveral reports whether git takes a word for several commits, or for those not to be listed.
func IsSeveral(word string) bool {
	_, ok := ParseRange(word)
	return ok || strings.HasPrefix(word, "^") || strings.HasSuffix(word, "^@")
}
