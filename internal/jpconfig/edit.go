package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
)

// ErrNoKey is the error for a name that is not one of jp's keys.
var ErrNoKey = errors.New("no such key")

// Typed parses text that a user types as the value of one of jp's keys, by the type of the key: a
// string, a bool, an int64, a float64, a list of strings, or, for a key whose value is a table, a
// JSON object.
func Typed(path []string, text string) (any, error) {
	kind, ok := patterns().leaf(path)
	switch {
	case !ok:
		return nil, ErrNoKey
	case kind.open() && strings.HasPrefix(strings.TrimSpace(text), "{"),
		kind == kindAny && strings.HasPrefix(strings.TrimSpace(text), "["):
		return structure(text)
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

// structure parses an object or a list, with values of TOML's types.
func structure(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil && dec.More() {
		err = errors.New("text follows it")
	}
	if err != nil {
		return nil, fmt.Errorf("expected JSON: %w", err)
	}
	return deepPlain(v)
}

func deepPlain(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case nil:
		return nil, errors.New("TOML has no null")
	case map[string]any:
		for name, member := range v {
			if v[name], err = deepPlain(member); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return v, nil
	case []any:
		for i, element := range v {
			if v[i], err = deepPlain(element); err != nil {
				return nil, err
			}
		}
		return v, nil
	default:
		return plain(v)
	}
}

// plain converts a value from the types of JSON.
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
		return nil, fmt.Errorf("expected a number, found %q", text)
	}
	return f, nil
}

// leaf returns the kind of a key that has a value of its own, unlike a table of keys.
func (t table) leaf(path []string) (kind, bool) {
	for _, p := range t {
		is, below, _ := p.match(path)
		if is || below && p.kind.open() {
			return p.kind, true
		}
	}
	return 0, false
}

// FileOf returns the file of a layer that is or would be read: of several with one name, the first
// by extension. For directories, it is that of the working directory.
func (s Sources) FileOf(layer Layer) (string, error) {
	dir, base := "", "config"
	switch layer {
	case User:
		dir = s.User
	case Workspace:
		if s.Workspace != "" {
			dir = filepath.Join(s.Workspace, ".jp")
		}
	case Directory:
		dir, base = s.Dir, ".jp"
	case UserWorkspace:
		dir = s.UserWorkspace
	}
	if dir == "" {
		return "", fmt.Errorf("there is no place for settings of the layer %q here", layer)
	}
	for _, ext := range extensions() {
		name := filepath.Join(dir, base+ext)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return filepath.Join(dir, base+".toml"), nil
}

// Editable is [Sources.FileOf] for a file that can be changed without losing other parts of it.
func (s Sources) Editable(layer Layer) (string, error) {
	file, err := s.FileOf(layer)
	if err != nil {
		return "", err
	}
	if ext := filepath.Ext(file); ext != ".toml" {
		return "", fmt.Errorf("%s is not TOML, change it there by hand", file)
	}
	return writable(layer, file)
}

// writable returns the file that a change of a layer's file writes to. If the user's file is a
// link, its target is changed and the link stays; a link in a working tree may lead anywhere and is
// refused.
func writable(layer Layer, file string) (string, error) {
	own := layer == User || layer == UserWorkspace
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return file, nil
	case err != nil:
		return "", err
	case !own && info.Mode().Type() == os.ModeSymlink:
		return "", fmt.Errorf("%s is a link, change %s by hand", file, regular.Resolved(file))
	case own:
		return regular.Resolved(file), nil
	}
	return file, nil
}
