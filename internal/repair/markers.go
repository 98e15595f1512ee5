package repair

import "bytes"

// The sides of a file that was merged as text; base is nil if it is unknown.
type sides struct{ base, ours, theirs []byte }

// opening is the beginning of the marker at which a conflict begins.
const opening = "<<<<<<<"

// A side is one of the sides, or several as a set.
type side int

const (
	ours side = 1 << iota
	base
	theirs

	every = ours | base | theirs
)

// unmark extracts the sides from a file with conflict markers, as git merge-file, git apply and
// most other programs write them, or as jj does. Lines outside of conflicts belong to every side.
// It returns false for a file without markers, with markers that do not match, or with more sides.
func unmark(data []byte) (sides, bool) {
	if !bytes.Contains(data, []byte(opening)) {
		return sides{}, false // the usual case, without copying
	}
	u := unmarker{sides: sides{base: []byte{}}, at: every}
	for line := range bytes.Lines(data) {
		sign, n := marker(line)
		if !u.mark(sign, n) && !u.add(line) {
			return sides{}, false
		}
	}
	if u.withoutBase {
		u.base = nil
	}
	return u.sides, u.found && u.length == 0 && !u.strange
}

// hasMarkers reports whether a conflict begins in a file.
func hasMarkers(data []byte) bool {
	for line := range bytes.Lines(data) {
		if sign, _ := marker(line); sign == opening[0] {
			return true
		}
	}
	return false
}

// An unmarker reads a file with conflict markers from its beginning.
type unmarker struct {
	sides

	at      side // to which sides the next line belongs
	length  int  // of the markers of this conflict; 0 outside of one
	had     side // the sides that this conflict had until here
	begins  bool // the line before began this conflict
	isJJ    bool // this conflict is in a form of jj
	differs bool // lines begin as in a difference from base

	found, withoutBase, strange bool
}

// mark takes a line as a marker, and reports whether it is one here: it may be one of another
// merge, or no marker.
func (u *unmarker) mark(sign byte, length int) bool {
	if sign == 0 || u.length != 0 && length != u.length {
		return false
	}
	begins := u.begins
	switch {
	case u.length == 0 && sign == '<':
		u.at, u.had, u.length, u.found = ours, ours, length, true
		u.begins, u.isJJ = true, false
		return true
	case u.length == 0:
		return false
	case begins && bytes.IndexByte([]byte("+-%"), sign) >= 0:
		u.isJJ, u.had = true, 0
	}
	u.begins = false
	if u.isJJ {
		return u.markJJ(sign)
	}
	switch {
	case sign == '|' && u.at == ours:
		u.at, u.had = base, ours|base
	case sign == '=' && u.at != theirs:
		u.withoutBase = u.withoutBase || u.had&base == 0
		u.at = theirs
	case sign == '>' && u.at == theirs:
		u.at, u.length = every, 0
	default:
		return false
	}
	return true
}

// markJJ is mark in a conflict in a form of jj: each side is whole, or as its difference from base.
func (u *unmarker) markJJ(sign byte) bool {
	next := ours
	if u.had&ours != 0 {
		next = theirs
	}
	switch sign {
	case '+':
	case '-':
		next = base
	case '%':
		next |= base
	case '\\': // says more about the marker before
		return u.differs
	case '>':
		u.strange = u.strange || u.had != every
		u.at, u.length, u.differs = every, 0, false
		return true
	default:
		return false
	}
	u.strange = u.strange || u.had&next != 0
	u.at, u.had, u.differs = next, u.had|next, sign == '%'
	return true
}

// add adds a line to the sides to which it belongs. It returns false if the line is in a difference
// and does not say which.
func (u *unmarker) add(line []byte) bool {
	u.begins = false
	to := u.at
	if u.differs {
		switch line[0] {
		case ' ':
		case '-':
			to = base
		case '+':
			to &^= base
		default:
			return false
		}
		line = line[1:]
	}
	if to&ours != 0 {
		u.ours = append(u.ours, line...)
	}
	if to&base != 0 {
		u.base = append(u.base, line...)
	}
	if to&theirs != 0 {
		u.theirs = append(u.theirs, line...)
	}
	return true
}

// marker returns the character that a marker consists of and its length, or 0 for any other line.
// Usually the length is seven; when git merges files that both sides renamed it is eight. No line
// of a stream looks like that, and a wrongly detected marker leads to a file that does not load.
func marker(line []byte) (sign byte, length int) {
	const shortest = 7
	if len(line) == 0 || !bytes.ContainsRune([]byte("<|=>+-%\\"), rune(line[0])) {
		return 0, 0
	}
	rest := bytes.TrimLeft(line, string(line[:1]))
	length = len(line) - len(rest)
	if length < shortest || len(rest) > 0 && !bytes.ContainsRune([]byte(" \r\n"), rune(rest[0])) {
		return 0, 0
	}
	return line[0], length
}
