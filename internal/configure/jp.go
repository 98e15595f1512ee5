package configure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// JP reads and sets jp's settings here. A value goes into the user's own settings unless another
// layer is named: in the workspace it would need everyone else's approval.
type JP struct {
	Host      *prepare.Host
	Workspace *workspace.Workspace // nil outside a workspace
}

// load reads the complete configuration, outside conversations.
func (j JP) load() (*jpconfig.Config, error) {
	return jpconfig.Load(j.Host.Sources(j.Workspace, nil))
}

// editable returns the file of the layer that was named, the user's by default, and the one beside
// it for what jp does not read.
func (j JP) editable(doing, key string, layer jpconfig.Layer) (file, beside string, err error) {
	if layer == jpconfig.UserWorkspace && doing == "set" {
		if err := j.Workspace.MakeUserDir(); err != nil {
			return "", "", err
		}
	}
	s, layer := j.Host.Sources(j.Workspace, nil), cmp.Or(layer, jpconfig.User)
	if file, err = s.Editable(layer); err == nil {
		beside, err = s.Beside(layer)
	}
	if err != nil {
		return "", "", fmt.Errorf("%s %s: %w", doing, key, err)
	}
	return file, beside, nil
}

// Set sets a key in a file of a layer, and reads it back. A value that the user sets in a shared
// file is approved.
func (j JP) Set(key, text string, layer jpconfig.Layer) error {
	path, err := config.SplitKey(key)
	if err != nil {
		return &config.SettingError{Err: err}
	}
	file, beside, err := j.editable("set", key, layer)
	if err != nil {
		return err
	}
	value, err := prepare.Value(path, text, j.load)
	switch {
	case errors.Is(err, jpconfig.ErrNoKey):
		return unknownKey("set", key)
	case err != nil:
		return &config.SettingError{Err: fmt.Errorf("set %s: %w", key, err)}
	}
	if value, err = jpconfig.Stored(path, value); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	var before []trust.Claim
	if conf, err := j.load(); err == nil {
		before = append(conf.Claims(), conf.Held()...)
	}
	if file, err = write(file, beside, key, path, value); err != nil {
		return err
	}
	j.Host.Terminal.Note("set %s in %s", key, file)
	if layer == jpconfig.Workspace || layer == jpconfig.Directory {
		if err := j.approve(jpconfig.ClaimKeys(path, value), before); err != nil {
			return err
		}
	}
	return j.warnShadowed(key, path, file)
}

// write writes a value into jp's file, or into the one beside it if jp would not start with it. The
// other file loses what would win over the value there, or what jp would not start with either, and
// the file the setting in another spelling. It returns the file that has the value.
func write(file, beside, key string, path []string, value any) (string, error) {
	set := func(name string) error {
		return Edit(name, func(data []byte) ([]byte, error) {
			data, err := config.SetValue(data, name, key, value)
			if second := jpconfig.Respelled(path); err == nil && second != nil {
				return config.Unset(data, name, config.JoinKey(second))
			}
			return data, err
		})
	}
	if !jpconfig.Unread(path, value) {
		_, err := unset(beside, key)
		return file, errors.Join(set(file), err)
	}
	if err := set(beside); err != nil {
		return "", err
	}
	return beside, Edit(file, func(data []byte) ([]byte, error) {
		f, err := config.Decode(file, data)
		if err != nil {
			return nil, err
		}
		if was, ok := valueAt(f.Values, path); !ok || !jpconfig.Unread(path, was) {
			return data, nil
		}
		return config.Unset(data, file, key)
	})
}

// valueAt returns the value at a path in a decoded file.
func valueAt(tree map[string]any, path []string) (any, bool) {
	for _, name := range path[:len(path)-1] {
		tree, _ = tree[name].(map[string]any)
	}
	v, ok := tree[path[len(path)-1]]
	return v, ok
}

// approve approves what the user just wrote into a shared file: the value, and that conversations
// are sent to the provider of a model. A claim that also contains others' settings is still asked
// about.
func (j JP) approve(keys []string, before []trust.Claim) error {
	conf, err := j.load()
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(append(conf.Claims(), conf.Held()...), func(c trust.Claim) bool {
		said := slices.Contains(keys, c.Key) || c.Kind == trust.Provider
		return !said || slices.Contains(before, c)
	})
	approvals, err := j.Host.Approvals(j.Workspace.Root())
	if len(own) == 0 || err != nil {
		return nil //nolint:nilerr // then whoever needs it asks
	}
	return approvals.Approve(j.Host.Now(), own...)
}

// Unset removes a key from a file of a layer.
func (j JP) Unset(key string, layer jpconfig.Layer) error {
	file, beside, err := j.editable("unset", key, layer)
	if err != nil {
		return err
	}
	path, err := config.SplitKey(key)
	if err != nil {
		return &config.SettingError{Err: err}
	}
	keys := []string{key}
	if second := jpconfig.Respelled(path); second != nil {
		keys = append(keys, config.JoinKey(second))
	}
	for _, name := range []string{beside, file} {
		had := false
		for _, key := range keys {
			removed, err := unset(name, key)
			if err != nil {
				return err
			}
			had = had || removed
		}
		if had {
			j.Host.Terminal.Note("removed %s from %s", key, name)
			return nil
		}
	}
	if _, err = jpconfig.Typed(path, ""); errors.Is(err, jpconfig.ErrNoKey) {
		return unknownKey("unset", key)
	}
	return notIn(file, key)
}

// unknownKey returns the error for an unknown key on the command line.
func unknownKey(doing, key string) error {
	const none = "%s %s: neither a key of git jp nor one of jp"
	return &config.SettingError{Err: fmt.Errorf(none, doing, key), Key: key}
}

// Records returns the settings of jp that someone made and that count here, outside conversations,
// and the claims of those that wait for an approval.
func (j JP) Records() (all []Record, held []trust.Claim, err error) {
	conf, err := j.load()
	if err != nil {
		return nil, nil, err
	}
	visit(conf.JSON(), nil, func(path []string) {
		key := config.JoinKey(path)
		raw, origins, ok := conf.Value(path...)
		if n := len(origins); ok && n > 0 && !IsOwn(key) {
			if from := origins[n-1]; from.Layer != jpconfig.BuiltIn {
				all = append(all, j.record(key, raw, from, path))
			}
		}
	})
	return all, conf.Held(), nil
}

// visit calls do with the path of each value of a table that is no table.
func visit(raw json.RawMessage, path []string, do func(path []string)) {
	var table map[string]json.RawMessage
	if json.Unmarshal(raw, &table) != nil || table == nil {
		do(path)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		visit(table[name], append(slices.Clone(path), name), do)
	}
}

// record returns a setting that is from one of the layers.
func (j JP) record(key string, raw json.RawMessage, from jpconfig.Origin, path []string) Record {
	r := Record{
		Key: key, Value: raw, Origin: from.At(path...), Committed: from.Foreign, text: plain(raw),
	}
	r.from = r.Origin
	if line, ok := strings.CutPrefix(r.Origin, filepath.ToSlash(from.File)); ok && from.File != "" {
		r.from = j.Host.Short(j.path(from)) + line
	}
	return r
}

// path returns the file that a setting is from.
func (j JP) path(from jpconfig.Origin) string {
	if j.Workspace != nil && from.File != "" && !filepath.IsAbs(from.File) {
		return filepath.Join(j.Workspace.Root(), from.File)
	}
	return from.File
}

// plain returns a value for people: a string without quotes, anything else as JSON.
func plain(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	return string(raw)
}

// Print prints the effective value of a key here, outside conversations, or the value in one layer.
func (j JP) Print(key string, layer jpconfig.Layer) error {
	path, err := config.SplitKey(key)
	if err != nil {
		return &config.SettingError{Err: err}
	}
	s := j.Host.Sources(j.Workspace, nil)
	if s.Only = layer; layer != jpconfig.BuiltIn {
		s.Approved = func(trust.Claim) bool { return true } // reading is no risk
	}
	conf, err := jpconfig.Load(s)
	if err != nil {
		return err
	}
	raw, origins, ok := conf.Value(path...)
	if !ok {
		return noValue(key, layer)
	}
	p := &j.Host.Terminal.Printer
	if p.JSON {
		r := Record{Key: key, Value: raw}
		if n := len(origins); n > 0 {
			r.Origin, r.Committed = origins[n-1].At(path...), origins[n-1].Foreign
		}
		return p.Records(r)
	}
	_, err = fmt.Fprintln(p.Out, p.Output.Text(plain(raw)))
	return err
}

// warnShadowed reads the complete configuration and warns if the value in file has no effect.
func (j JP) warnShadowed(key string, path []string, file string) error {
	conf, err := j.load()
	if err != nil {
		return err
	}
	raw, origins, ok := conf.Value(path...)
	switch {
	case !ok && len(conf.Held()) > 0:
		j.Host.Terminal.Warn(
			"%s in %s does not count before it is approved, see 'git jp trust'", key, file)
		return nil
	case !ok || len(origins) == 0:
		return fmt.Errorf("set %s in %s: it is not read back", key, file)
	}
	from := origins[len(origins)-1]
	if !regular.SameFile(j.path(from), file) {
		j.Host.Terminal.Warn("%s in %s does not count, %s (%s) does",
			key, file, raw, from.At(path...))
	}
	return nil
}
