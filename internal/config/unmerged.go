package config

import (
	"bytes"
	"errors"
	"path"
)

// ErrUnmerged says that a settings file has conflict markers.
var ErrUnmerged = errors.New("unmerged: the file has conflict markers")

// Files returns the names of the settings files in a directory .jp.
func Files() []string {
	all := append(jpFiles(), OwnFile)
	for _, name := range jpFiles() {
		all = append(all, BesideFile+path.Ext(name))
	}
	return all
}

// Unmerged returns the line of the first conflict marker in a settings file, 0 for none. A file
// that can be decoded, such as one with markers in a text, counts as having none.
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

// markerLine returns the first line that begins a conflict in git's format, 0 for none.
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
