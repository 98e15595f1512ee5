package config

import (
	"errors"
)

// A File is a decoded configuration file of jp, in any of jp's formats.
type File struct {
	Values map[string]any
	locate func([]string) position
}

// Decode decodes data by the extension of name: .toml, .json, .json5, .yaml or .yml. An error is a
// [*KeyError] whose origin has name and, for TOML, a position.
func Decode(name string, data []byte) (*File, error) {
	tree, locate, err := decode(name, data)
	if err != nil {
		origin := Origin{File: name, Layer: UserJP}
		if te, ok := errors.AsType[*placedError](err); ok {
			origin.Line, origin.Column = te.pos.line, te.pos.column
		}
		return nil, &KeyError{Origin: origin, Err: err}
	}
	return &File{Values: tree, locate: locate}, nil
}

// Line returns the first line of a key, counted from 1, 0 if unknown.
func (f *File) Line(path ...string) int { return f.locate(path).line }
