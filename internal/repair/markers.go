package repair

import "bytes"

// The sides of a file that was merged by lines, nil for a base that is not known.
type sides struct{ base, ours, theirs []byte }

// opening begins each marker of git's where a conflict begins.
const opening = "<<<<<<<"

// unmark takes the sides out of a file with the markers of a conflict, as git merge-file,
// git apply and most others write them. What stands outside of markers belongs to every
// side. It is false for a file without markers, or with markers that do not fit together.
func unmark(data []byte) (s sides, ok bool) {
	const (
		outside = iota
		ours
		base
		theirs
	)
	if !bytes.Contains(data, []byte(opening)) {
		return s, false // as most are; no copies of them
	}
	at, length, withBase := outside, 0, true
	s.base = []byte{}
	for line := range bytes.Lines(data) {
		c, n := marker(line)
		if at != outside && n != length {
			c = 0 // of another merge, or no marker at all
		}
		switch {
		case c == '<' && at == outside:
			at, length, ok = ours, n, true
		case c == '|' && at == ours:
			at = base
		case c == '=' && (at == ours || at == base):
			withBase = withBase && at == base
			at = theirs
		case c == '>' && at == theirs:
			at = outside
		default:
			if at == outside || at == ours {
				s.ours = append(s.ours, line...)
			}
			if at == outside || at == theirs {
				s.theirs = append(s.theirs, line...)
			}
			if at == outside || at == base {
				s.base = append(s.base, line...)
			}
		}
	}
	if !withBase {
		s.base = nil
	}
	return s, ok && at == outside
}

// marker returns the sign that a marker is made of and how often it has it, 0 for any other
// line. Mostly it is seven times; where git merges files that both sides renamed, once more.
// No line of a stream looks like that, and what is none does not load afterwards.
func marker(line []byte) (sign byte, length int) {
	const shortest = 7
	if len(line) == 0 || !bytes.ContainsRune([]byte("<|=>"), rune(line[0])) {
		return 0, 0
	}
	rest := bytes.TrimLeft(line, string(line[:1]))
	length = len(line) - len(rest)
	if length < shortest || len(rest) > 0 && !bytes.ContainsRune([]byte(" \r\n"), rune(rest[0])) {
		return 0, 0
	}
	return line[0], length
}
