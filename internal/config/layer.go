package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/regular"
	"go.yaml.in/yaml/v3"
)

// A setting is one value in one layer.
type setting struct {
	path   []string // canonical
	value  any      // of the key's type if it is ours
	origin Origin
	key    Key // zero if it is jp's
	ours   bool
}

// jpFiles returns the names of jp's files in a directory, in the order in which they are read.
func jpFiles() []string {
	return []string{"config.toml", "config.json", "config.json5", "config.yaml", "config.yml"}
}

// OwnFile is the name of our file, beside jp's config.toml.
const OwnFile = "git-jp.toml"

// BesideFile is the name, without extension, of the file for settings with which jp does not start
// in its own: providers that it does not have, and their models. It is beside jp's config.toml, has
// the same form, and wins over that. Beside a directory's .jp.toml its name has a dot too.
const BesideFile = "git-jp-config"

// A reader turns the files of a directory into settings.
type reader struct {
	schema schema
	open   func(name string) ([]byte, error) // fs.ErrNotExist for a missing file
	dir    string                            // for messages
}

// read returns the settings of one file, none if it does not exist, and the faults of its keys.
func (r reader) read(layer Layer, name string) (all []setting, faults []error, err error) {
	origin := Origin{Layer: layer, File: path.Join(r.dir, name)}
	data, err := r.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, &fs.PathError{
			Op: "read configuration", Path: origin.File, Err: regular.Cause(err),
		}
	}
	tree, locate, err := decode(name, data)
	if err != nil {
		if te, ok := errors.AsType[*placedError](err); ok {
			origin.Line, origin.Column = te.pos.line, te.pos.column
		}
		return nil, nil, &KeyError{Origin: origin, Err: err}
	}
	f := file{schema: r.schema, origin: origin, locate: locate, own: name == OwnFile}
	f.walk(nil, tree)
	return f.settings, f.faults, nil
}

// decode reads data by the extension of name.
func decode(name string, data []byte) (map[string]any, func([]string) position, error) {
	if path.Ext(name) == ".toml" {
		doc, err := parseDocument(data)
		if err != nil {
			return nil, nil, err
		}
		return doc.tree, doc.position, nil
	}
	tree, err := decodeTree(path.Ext(name), data)
	return tree, func([]string) position { return position{} }, err
}

// decodeTree decodes the formats without positions.
func decodeTree(ext string, data []byte) (tree map[string]any, err error) {
	switch ext {
	case ".json":
		if err = shallowJSON(data); err == nil {
			err = exact.Unmarshal(data, &tree)
		}
	case ".json5":
		tree, err = decodeJSON5(data)
	default:
		err = yaml.Unmarshal(data, &tree)
	}
	if err != nil {
		return nil, err
	}
	return tree, bounded(tree, maxDepth)
}

// A file is a decoded file while it is converted to settings.
type file struct {
	schema   schema
	origin   Origin
	locate   func([]string) position
	own      bool
	seen     map[string]bool // names of settings
	settings []setting
	faults   []error
}

// walk visits table, whose path is at, in the order of the keys.
func (f *file) walk(at []string, table map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		spelled := slices.Concat(at, []string{name})
		sub, isTable := table[name].(map[string]any)
		if _, known := f.schema.find(canonical(spelled)); isTable && !known {
			if len(sub) == 0 {
				f.empty(spelled)
			}
			f.walk(spelled, sub)
			continue
		}
		f.leaf(spelled, table[name])
	}
}

// empty reports an unknown table without keys: a misspelled table is a fault like a misspelled key.
func (f *file) empty(spelled []string) {
	if f.own && !f.schema.leadsTo(canonical(spelled)) {
		f.fault(spelled, errors.New("unknown key"))
	}
}

func (f *file) leaf(spelled []string, v any) {
	full := canonical(spelled)
	k, ours := f.schema.find(full)
	if !ours && f.own {
		f.fault(spelled, errors.New("unknown key"))
		return
	}
	if ours {
		typed, err := k.coerce(v)
		if err != nil {
			f.fault(spelled, err)
			return
		}
		v = typed
	}
	name := JoinKey(full)
	if f.seen[name] {
		f.fault(spelled, fmt.Errorf("set twice, also under its other name %s", name))
		return
	}
	if f.seen == nil {
		f.seen = make(map[string]bool)
	}
	f.seen[name] = true
	f.settings = append(f.settings, setting{
		path: full, value: v, origin: f.at(spelled), key: k, ours: ours,
	})
}

func (f *file) at(spelled []string) Origin {
	o, pos := f.origin, f.locate(spelled)
	o.Line, o.Column = pos.line, pos.column
	return o
}

func (f *file) fault(spelled []string, err error) {
	f.faults = append(f.faults, &KeyError{Origin: f.at(spelled), Key: JoinKey(spelled), Err: err})
}

// parseOverride reads one -c option: key=value or key:=json.
func parseOverride(s schema, option string) (setting, error) {
	name, text, found := strings.Cut(option, "=")
	fail := func(err error) (setting, error) {
		return setting{}, &KeyError{Origin: Origin{Layer: Command}, Key: name, Err: err}
	}
	if !found {
		return fail(errors.New("expected key=value or key:=json"))
	}
	if strings.HasSuffix(name, "+") {
		return fail(errors.New("expected key=value or key:=json; += is not understood"))
	}
	name, isJSON := strings.CutSuffix(name, ":")
	spelled, err := SplitKey(name)
	if err != nil {
		return fail(err)
	}
	st := setting{path: canonical(spelled), origin: Origin{Layer: Command}, value: text}
	st.key, st.ours = s.find(st.path)
	if !st.ours && !jpSection(st.path[0]) {
		return fail(errors.New("unknown key"))
	}
	if isJSON {
		if err := exact.Unmarshal([]byte(text), &st.value); err != nil {
			return fail(fmt.Errorf("value is not JSON: %w", err))
		}
	}
	switch {
	case st.ours && isJSON:
		st.value, err = st.key.coerce(st.value)
	case st.ours:
		st.value, err = st.key.parse(text)
	}
	if err != nil {
		return fail(err)
	}
	return st, nil
}
