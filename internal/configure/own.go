package configure

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Record is one key in JSON.
type Record struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
	// Committed says that the value is in the working tree, where others may have written it.
	Committed bool `json:"committed"`

	text, from string // for people
}

// newRecord writes durations in the form of the file; a number would need a unit.
func newRecord(key string, value any, origin config.Origin) Record {
	if d, ok := value.(time.Duration); ok {
		value = durationText(d)
	}
	return Record{
		Key: key, Value: value, Origin: origin.String(), Committed: origin.Layer.Committed(),
	}
}

// IsOwn reports whether a key is one of git jp's.
func IsOwn(key string) bool {
	words := strings.Split(key, ".")
	return slices.ContainsFunc(config.Known(), func(k config.Key) bool {
		return slices.EqualFunc(strings.Split(k.Name, "."), words, func(known, word string) bool {
			return known == word || known == "<name>"
		})
	})
}

// Help lists the keys of git jp with their defaults, a line each.
func Help() string {
	lines := []string{"Keys and their defaults:", ""}
	for _, k := range config.Known() {
		line := "    " + k.Name
		if value := text(k.Default); value != "" {
			line += " = " + value
		}
		lines = append(lines, line, "        "+k.Doc)
	}
	return strings.Join(lines, "\n")
}

// text returns a value in its form on a command line.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case time.Duration:
		return durationText(v)
	case []string:
		return strings.Join(v, ",")
	default:
		return fmt.Sprint(v)
	}
}

// durationText returns a duration in the form of a setting: 2w, 36h, 1m30s.
func durationText(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{7 * 24 * time.Hour, "w"}, {24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.size && d%u.size == 0 {
			return fmt.Sprintf("%d%s", d/u.size, u.name)
		}
	}
	return d.String()
}

// A Printer prints settings of git jp.
type Printer struct {
	*render.Printer

	Config *config.Config
	// Short returns a path as the user would write it here.
	Short func(string) string
}

// Find returns an error if one of the keys or prefixes has no value.
func Find(all []Record, keys []string) error {
	for _, key := range keys {
		if !slices.ContainsFunc(all, func(r Record) bool {
			return config.Covers([]string{key}, r.Key)
		}) {
			return noValue(key, jpconfig.BuiltIn)
		}
	}
	return nil
}

// noValue returns the error for a key without a value in a layer, or in all.
func noValue(key string, layer jpconfig.Layer) error {
	where := ""
	if layer != jpconfig.BuiltIn {
		where = fmt.Sprintf(" in the %s layer", layer)
	}
	return &config.SettingError{
		Err: fmt.Errorf("no key %q has a value%s", key, where), Key: key, Unset: true,
	}
}

// Own returns the settings of git jp that count.
func (p Printer) Own() (all []Record) {
	for _, key := range p.Config.Keys() {
		if value, origin, ok := p.Config.Value(key); ok && IsOwn(key) {
			r := newRecord(key, value, origin)
			r.text, r.from = text(value), p.relative(origin)
			all = append(all, r)
		}
	}
	return all
}

// Table prints settings, or those with these prefixes.
func (p Printer) Table(all []Record, keys []string) error {
	all = slices.DeleteFunc(slices.Clone(all), func(r Record) bool {
		return !config.Covers(keys, r.Key)
	})
	slices.SortStableFunc(all, func(a, b Record) int { return strings.Compare(a.Key, b.Key) })
	if p.JSON {
		return render.Records(p.Printer, all)
	}
	table := render.NewTable(p.Output, render.Column{Head: "KEY"},
		render.Column{Head: "VALUE", Shrink: true}, render.Column{Head: "FROM"})
	for _, r := range all {
		table.Row(r.Key, r.text, r.from)
	}
	return table.Write(p.Out)
}

// Value prints the value of a key.
func (p Printer) Value(key string) error {
	value, origin, ok := p.Config.Value(key)
	if !ok {
		return noValue(key, jpconfig.BuiltIn)
	}
	return p.value(key, value, origin)
}

// ValueIn prints the value that the user's file has for a key, or that of the workspace.
func (p Printer) ValueIn(layer jpconfig.Layer, key string) error {
	own := config.Workspace
	if layer == jpconfig.User {
		own = config.User
	}
	value, origin, ok := p.Config.ValueIn(own, key)
	if !ok {
		return noValue(key, layer)
	}
	return p.value(key, value, origin)
}

func (p Printer) value(key string, value any, origin config.Origin) error {
	if p.JSON {
		return p.Records(newRecord(key, value, origin))
	}
	_, err := fmt.Fprintln(p.Out, p.Output.Text(text(value)))
	return err
}

// WarnOverridden warns if the value of a key in file has no effect.
func (p Printer) WarnOverridden(key, file string) {
	value, origin, ok := p.Config.Value(key)
	if ok && !regular.SameFile(origin.File, file) {
		p.Warn("%s in %s does not count, %s (%s) does",
			key, p.Short(file), text(value), p.relative(origin))
	}
}

// relative returns an origin with a path that is short from here.
func (p Printer) relative(o config.Origin) string {
	if o.File != "" {
		o.File = p.Short(o.File)
	}
	return o.String()
}

// Set sets a key of git jp in a file of its settings.
func Set(file, key, value string) error {
	return Edit(file, func(data []byte) ([]byte, error) {
		return config.Set(data, file, key, value)
	})
}

// Unset removes a key of git jp from a file of its settings, which has to have it.
func Unset(file, key string) error {
	had, err := unset(file, key)
	if err == nil && !had {
		err = notIn(file, key)
	}
	return err
}

// notIn returns the error for a key that is removed from a file without it.
func notIn(file, key string) error {
	return &config.SettingError{
		Err: fmt.Errorf("unset %s: it is not in %s", key, file), Key: key, Unset: true,
	}
}

// unset removes a key from a file of settings. It reports whether the file had it.
func unset(file, key string) (had bool, err error) {
	err = Edit(file, func(data []byte) ([]byte, error) {
		out, err := config.Unset(data, file, key)
		had = string(out) != string(data)
		return out, err
	})
	return had, err
}

// Edit edits a configuration file. Below .jp temporary files have their own place, and a link,
// which may be committed, is not followed; in the user's own directory they are beside the file,
// and links are followed, as git does.
func Edit(file string, edit func([]byte) ([]byte, error)) error {
	if filepath.Base(filepath.Dir(file)) == workspace.DirName {
		return config.EditFile(file, blobs.Dir+"/.tmp", edit)
	}
	return config.EditFile(regular.Resolved(file), ".", edit)
}
