package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// Set returns data, the content of the TOML file called file, with key set to the value of text.
// Text is parsed by the kind of the key, and as a string for a key of jp's. All other bytes stay:
// comments, order, spelling.
func Set(data []byte, file, name, text string) ([]byte, error) {
	path, k, err := target(file, name)
	if err != nil {
		return nil, err
	}
	var v any = text
	if k.Name != "" {
		if v, err = k.parse(text); err != nil {
			return nil, &SettingError{Err: fmt.Errorf("set %s: %w", name, err)}
		}
	}
	return set(data, file, name, change{path: path, literal: tomlLiteral(k, text, v)})
}

func set(data []byte, file, name string, c change) ([]byte, error) {
	out, err := edit(data, c)
	if err != nil {
		return nil, fmt.Errorf("set %s in %s: %w", name, file, err)
	}
	return out, nil
}

// SetValue is [Set] for a key of jp's, with a value that package jpconfig parsed: a string, a bool,
// an int64, a float64, a list or a map of those.
func SetValue(data []byte, file, name string, v any) ([]byte, error) {
	path, k, err := target(file, name)
	if err != nil {
		return nil, err
	}
	if k.Name != "" {
		return nil, &SettingError{Err: fmt.Errorf("set %s: it is not a key of jp", name)}
	}
	return set(data, file, name, change{path: path, literal: tomlLiteral(k, "", v)})
}

// Valid returns an error if a text is no value of one of our keys.
func Valid(name, text string) error {
	path, err := SplitKey(name)
	if err == nil {
		k, _ := schema(Known()).find(path)
		_, err = k.parse(text)
	}
	return err
}

// Unset returns data without key. A missing key is no error.
func Unset(data []byte, file, name string) ([]byte, error) {
	path, _, err := target(file, name)
	if err != nil {
		return nil, err
	}
	out, err := edit(data, change{path: path, remove: true})
	if err != nil {
		return nil, fmt.Errorf("unset %s in %s: %w", name, file, err)
	}
	return out, nil
}

// target returns the key that name spells, or a [*SettingError] if the key does not belong in the
// file.
func target(file, name string) (path []string, k Key, err error) {
	defer func() {
		if err != nil {
			err = &SettingError{Err: err}
		}
	}()
	if path, err = SplitKey(name); err != nil {
		return nil, Key{}, err
	}
	path = canonical(path)
	k, ours := schema(Known()).find(path)
	switch base := filepath.Base(file); {
	case ours && base != OwnFile:
		return nil, k, fmt.Errorf("%s in %s: jp refuses it there, it belongs into %s",
			name, base, OwnFile)
	case !ours && base == OwnFile:
		return nil, k, fmt.Errorf("%s: no key of %s", name, OwnFile)
	case !ours && !jpSection(path[0]):
		return nil, k, fmt.Errorf("%s: unknown key", name)
	}
	return path, k, nil
}

// A change sets path to a TOML literal, or removes it.
type change struct {
	path    []string
	literal string
	remove  bool
}

// edit tries the ways to write c, in the order of how well they fit the file, and returns the first
// document with exactly this change.
func edit(data []byte, c change) ([]byte, error) {
	doc, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	spelled := doc.spelling(c.path)
	want, err := doc.expect(spelled, c)
	if err != nil {
		return nil, err
	}
	if c.remove && reflect.DeepEqual(doc.tree, want) {
		return data, nil
	}
	for _, try := range []func([]string, change) []byte{
		doc.replace, doc.intoTable, doc.intoInline, doc.besideSibling, doc.newTable,
	} {
		out := try(spelled, c)
		if out == nil {
			continue
		}
		got, err := parseDocument(out)
		if err == nil && (reflect.DeepEqual(got.tree, want) || c.remove && isSame(got.tree, want)) {
			return out, nil
		}
	}
	return nil, errors.New("no place found for it, edit the file by hand")
}

// isSame reports whether two trees differ in nothing but tables without a key.
func isSame(a, b map[string]any) bool { return reflect.DeepEqual(pruned(a), pruned(b)) }

// pruned returns a tree without tables that have no key.
func pruned(tree map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range tree {
		if sub, ok := v.(map[string]any); ok {
			if sub = pruned(sub); len(sub) > 0 {
				out[k] = sub
			}
			continue
		}
		out[k] = v
	}
	return out
}

// spelling returns the spelling of path that the document already has.
func (d *document) spelling(path []string) []string {
	for _, it := range d.items {
		if slices.Equal(canonical(it.path), path) {
			return it.path
		}
	}
	return path
}

// expect returns the tree after the change.
func (d *document) expect(path []string, c change) (map[string]any, error) {
	tree := clone(d.tree)
	at := tree
	for _, seg := range path[:len(path)-1] {
		sub, ok := at[seg].(map[string]any)
		switch {
		case ok:
		case at[seg] != nil:
			return nil, fmt.Errorf("%s is not a table", quoteKey(seg))
		case c.remove:
			return tree, nil
		default:
			sub = map[string]any{}
			at[seg] = sub
		}
		at = sub
	}
	last := path[len(path)-1]
	if c.remove {
		delete(at, last)
		return tree, nil
	}
	var v map[string]any
	if err := toml.Unmarshal([]byte("v = "+c.literal), &v); err != nil {
		return nil, err
	}
	at[last] = v["v"]
	return tree, nil
}

func clone(tree map[string]any) map[string]any {
	out := maps.Clone(tree)
	for k, v := range out {
		if sub, ok := v.(map[string]any); ok {
			out[k] = clone(sub)
		}
	}
	return out
}

// replace replaces the value of an existing key. To remove the key, it removes the complete line,
// and with the last line of a [table] its header, as git does: jp does not start with an empty
// table of a provider that it does not have.
func (d *document) replace(path []string, c change) []byte {
	it, ok := d.find(path)
	switch {
	case !ok && c.remove:
		return bytes.Clone(d.data)
	case !ok:
		return nil
	case !c.remove:
		return d.splice(it.value, c.literal)
	case it.inline:
		return nil
	default:
		return d.splice(span{d.removedFrom(it), d.lineEnd(it.value.end)}, "")
	}
}

// removedFrom returns where the text begins that is removed with a key: its line, or the header
// above it and a blank line above that, if the table has nothing else.
func (d *document) removedFrom(it item) int {
	line := d.lineStart(it.start)
	i := slices.IndexFunc(d.heads, func(h header) bool {
		return !h.array && slices.Equal(h.path, it.table)
	})
	if i < 0 || slices.ContainsFunc(d.items, func(other item) bool {
		return other.start != it.start && !other.inline && slices.Equal(other.table, it.table)
	}) {
		return line
	}
	start := d.lineStart(d.heads[i].start)
	if bytes.IndexByte(d.data[start:line], '#') >= 0 {
		return line // a comment
	}
	if nl := d.newline(); bytes.HasSuffix(d.data[:start], []byte(nl+nl)) {
		start -= len(nl)
	}
	return start
}

// intoTable adds a line at the end of the key's [table].
func (d *document) intoTable(path []string, c change) []byte {
	parent := path[:len(path)-1]
	for _, h := range d.heads {
		if !c.remove && !h.array && slices.Equal(h.path, parent) {
			return d.addLine(d.sectionEnd(h), quoteKey(path[len(path)-1])+" = "+c.literal)
		}
	}
	return nil
}

// intoInline adds a member to the innermost inline table around the key.
func (d *document) intoInline(path []string, c change) []byte {
	for n := len(path) - 1; n > 0 && !c.remove; n-- {
		it, ok := d.find(path[:n])
		if !ok || d.data[it.value.end-1] != '}' {
			continue
		}
		body := bytes.TrimRight(d.data[it.value.start:it.value.end-1], " \t")
		separator := ", "
		if len(bytes.TrimSpace(body[1:])) == 0 {
			separator = " "
		}
		member := separator + JoinKey(path[n:]) + " = " + c.literal + " "
		return d.splice(span{it.value.start + len(body), it.value.end - 1}, member)
	}
	return nil
}

// besideSibling adds a line below that of a dotted key of the same table.
func (d *document) besideSibling(path []string, c change) []byte {
	parent := path[:len(path)-1]
	for _, it := range slices.Backward(d.items) {
		shares := len(it.path) > len(parent) && slices.Equal(it.path[:len(parent)], parent)
		if c.remove || it.inline || it.array || !shares || len(it.table) >= len(path) {
			continue
		}
		return d.addLine(d.lineEnd(it.value.end), JoinKey(path[len(it.table):])+" = "+c.literal)
	}
	return nil
}

// newTable adds a [table] at the end of the file.
func (d *document) newTable(path []string, c change) []byte {
	nl := d.newline()
	parent, line := path[:len(path)-1], quoteKey(path[len(path)-1])+" = "+c.literal
	if len(parent) > 0 {
		line = "[" + JoinKey(parent) + "]" + nl + line
		if len(bytes.TrimSpace(d.data)) > 0 {
			line = nl + line
		}
	} else if len(d.heads) > 0 {
		return d.addLine(d.lineStart(d.heads[0].start), line)
	}
	return d.addLine(len(d.data), line)
}

// sectionEnd returns the end of the last key of h's section, or of its header: comments and blank
// lines before the next section belong to that.
func (d *document) sectionEnd(h header) int {
	end := d.lineEnd(h.start)
	for _, it := range d.items {
		if !it.inline && it.start > h.start && slices.Equal(it.table, h.path) {
			end = d.lineEnd(it.value.end)
		}
	}
	return end
}

func (d *document) addLine(at int, line string) []byte {
	if at > 0 && d.data[at-1] != '\n' {
		line = d.newline() + line
	}
	return d.splice(span{at, at}, line+d.newline())
}

func (d *document) splice(s span, text string) []byte {
	out := append([]byte{}, d.data[:s.start]...) // never nil, which says that there is no place
	return append(append(out, text...), d.data[s.end:]...)
}

func (d *document) lineStart(offset int) int {
	return bytes.LastIndexByte(d.data[:offset], '\n') + 1
}

// lineEnd returns the offset after the next line break.
func (d *document) lineEnd(offset int) int {
	i := bytes.IndexByte(d.data[offset:], '\n')
	if i < 0 {
		return len(d.data)
	}
	return offset + i + 1
}

func (d *document) newline() string {
	if bytes.Contains(d.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
