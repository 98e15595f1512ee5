package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNoKey is the error of a name that is no key of jp's.
var ErrNoKey = errors.New("no such key")

// ErrTable is the error of a value that takes more than a line of text.
var ErrTable = errors.New("its value is a table")

// Typed returns what a person who types text means as the value of a key of jp's: a string, a
// bool, an int64, a float64 or a list of strings, as the key demands.
func Typed(path []string, text string) (any, error) {
	kind, ok := patterns().leaf(path)
	switch {
	case !ok:
		return nil, ErrNoKey
	case kind == kindTree && strings.HasPrefix(strings.TrimSpace(text), "{"):
		return nil, ErrTable
	case kind == kindTree && path[len(path)-1] == "reasoning":
		kind = kindLoose // a word or a number of tokens
	case kind == kindPlain:
		kind = kindList
	}
	if kind == kindList {
		return words(text), nil
	}
	v, err := assignment{path: path, text: text, kind: kind}.value()
	if err != nil {
		return nil, err
	}
	return plain(v)
}

// plain returns a value without the types of JSON.
func plain(v any) (any, error) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case json.RawMessage:
		text = string(v)
	default:
		return v, nil
	}
	if b, err := strconv.ParseBool(text); err == nil && text == strconv.FormatBool(b) {
		return b, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("want a number, have %q", text)
	}
	return f, nil
}

// leaf returns the kind of a key that has a value of its own: no table of keys.
func (t table) leaf(path []string) (kind, bool) {
	for _, p := range t {
		is, below, _ := p.match(path)
		if is || below && p.kind == kindTree {
			return p.kind, true
		}
	}
	return 0, false
}

// UserFile returns the file of the user's configuration that is read, or that would be: where
// several have one name, the first of the extensions counts.
func UserFile(dir string) string {
	for _, ext := range extensions() {
		name := filepath.Join(dir, "config"+ext)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return filepath.Join(dir, "config.toml")
}
