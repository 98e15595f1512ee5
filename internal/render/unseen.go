package render

import "unicode"

// The characters that have no picture of their own, so that text can have more of them than a
// person sees: a model and a program read them.
var (
	// blank are those that no text needs.
	blank = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x34f, 0x34f, 1},
			{0x115f, 0x1160, 1},
			{0x17b4, 0x17b5, 1},
			{0x2061, 0x2065, 1},
			{0x206a, 0x206f, 1},
			{0x3164, 0x3164, 1},
			{0xffa0, 0xffa0, 1},
			{0xfff0, 0xfffb, 1},
		},
		R32: []unicode.Range32{
			{0x1bca0, 0x1bca3, 1},
			{0x1d173, 0x1d17a, 1},
			{0xe0000, 0xe00ff, 1},
			{0xe01f0, 0xe0fff, 1},
		},
	}
	// marks are those that prose needs, to break or join words and to order them.
	marks = &unicode.RangeTable{R16: []unicode.Range16{
		{0xad, 0xad, 1},
		{0x61c, 0x61c, 1},
		{0x180e, 0x180e, 1},
		{0x200b, 0x200b, 1},
		{0x200e, 0x200f, 1},
		{0x2060, 0x2060, 1},
		{0x2800, 0x2800, 1},
		{0xfeff, 0xfeff, 1},
	}}
	selectors = unicode.Variation_Selector
)

const (
	emojiForm         = 0xfe0f // the selector of emoji
	nonJoiner, joiner = 0x200c, 0x200d
)

// unseen reports whether r is invisible where it stands, after prev, 0 for none. Marks count if the
// text is approved.
func unseen(prev, r rune, approved bool) bool {
	switch {
	case r < 0xad:
		return false
	case r == joiner || r == nonJoiner:
		return approved && !joins(prev)
	case unicode.Is(selectors, r):
		return !selects(prev, r)
	case unicode.Is(blank, r):
		return true
	}
	return approved && unicode.Is(marks, r)
}

// joins reports whether a joiner may follow: it forms emoji, and letters of scripts that join.
func joins(prev rune) bool {
	return prev == emojiForm || unicode.In(prev, unicode.So, unicode.Sk) ||
		prev >= 0x600 && prev < 0x2000 && unicode.In(prev, unicode.L, unicode.M)
}

// selects reports whether a selector has a character to select the form of.
func selects(prev, r rune) bool {
	switch {
	case r >= 0xe0100: // one of 240, as many as bytes
		return unicode.Is(unicode.Han, prev)
	case prev <= unicode.MaxASCII:
		return prev >= '0' && prev <= '9' || prev == '#' || prev == '*'
	}
	return unicode.IsPrint(prev) && !unicode.In(prev, selectors, blank, marks)
}
