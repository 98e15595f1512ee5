package repair

import "bytes"

// The sides of a file that was merged as text; base is nil if it is unknown.
type sides struct{ base, ours, theirs []byte }

// opening is the beginning of the marker at which a conflict begins.
const opening = "<<<<<<<"

// unmark extracts the sides from a file with conflict markers, as git merge-file, git apply and
// most other programs write them. Lines outside of conflicts belong to every side. It returns false
// for a file without markers, or with markers that do not match.
func unmark(data []byte) (s sides, ok bool) {
	const (
		outside = iota
		ours
		base
		theirs
	)
	if !bytes.Contains(data, []byte(opening)) {
		return s, false // the usual case, without copying
	}
	at, length, withBase := outside, 0, true
	s.base = []byte{}
	for line := range bytes.Lines(data) {
		c, n := marker(line)
		if at != outside && n != length {
			c = 0 // a marker of another merge, or no marker
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

// marker returns the character that a marker consists of and its length, or 0 for any other line.
// Usually the length is seven; when git merges files that both sides renamed it is eight. No line
// of a stream looks like that, and a wrongly detected marker leads to a file that does not load.
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
