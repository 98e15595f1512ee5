package config

import (
	"bytes"
	"errors"
)

// ErrUnmerged says that a file of settings has both sides of a merge.
var ErrUnmerged = errors.New("it has conflict markers of a merge")

// Files returns the names of the files of settings that a directory .jp may hold.
func Files() []string { return append(jpFiles(), OwnFile) }

// Unmerged returns the line of the first conflict marker of a file of settings that has both sides
// of a merge, 0 for one that has not. A text that tells of markers has none: it can be read.
func Unmerged(name string, data []byte) int {
	line := markerLine(data)
	if line == 0 {
		return 0
	}
	if _, _, err := decode(name, data); err == nil {
		return 0
	}
	return line
}

// markerLine returns the first line that begins a conflict as git writes it, 0 for none.
func markerLine(data []byte) int {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) {
			return number
		}
	}
	return 0
}
