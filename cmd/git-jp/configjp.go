package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/trust"
)

// Keys of jp's are the user's own unless another layer is named: in the workspace they would need
// the approval of everybody else.

// ownKey reports whether a key is one of git jp's.
func ownKey(key string) bool { return isOwn(key + "=") }

// A layerFlags names the layer of jp's settings that is meant.
type layerFlags struct {
	User          bool `short:"u" xor:"layer" help:"For you everywhere; where keys of jp are set by default."`
	Workspace     bool `short:"w" xor:"layer" help:"For everybody in this workspace; where keys of git jp are set by default."`
	UserWorkspace bool `xor:"layer" help:"For you in this workspace (keys of jp)."`
	Cwd           bool `xor:"layer" help:"For everybody in this directory and below it (keys of jp)."`
}

// layer returns the layer that was named, [jpconfig.BuiltIn] for none.
func (f layerFlags) layer() jpconfig.Layer {
	switch {
	case f.User:
		return jpconfig.User
	case f.Workspace:
		return jpconfig.Workspace
	case f.UserWorkspace:
		return jpconfig.UserWorkspace
	case f.Cwd:
		return jpconfig.Directory
	default:
		return jpconfig.BuiltIn
	}
}

// ours reports whether a key of git jp's is meant for the user, and refuses the layers that they
// have not.
func (f layerFlags) ours(doing, key string) (user bool, err error) {
	if f.UserWorkspace || f.Cwd {
		return false, usagef("%s %s: a key of git jp is yours (--user) or the workspace's",
			doing, key)
	}
	return f.User, nil
}

// editable returns the file of the layer that was named, the user's by default.
func editable(a *app, doing, key string, layer jpconfig.Layer) (string, error) {
	if layer == jpconfig.UserWorkspace && doing == "set" {
		if w, err := a.workspace(); err != nil {
			return "", err
		} else if err := w.MakeUserDir(); err != nil {
			return "", err
		}
	}
	s, err := jpSources(a, nil)
	if err != nil {
		return "", err
	}
	file, err := s.Editable(cmp.Or(layer, jpconfig.User))
	if err != nil {
		return "", &report.SettingError{Err: fmt.Errorf("%s %s: %w", doing, key, err)}
	}
	return file, nil
}

// setJPKey sets a key of jp's in a file of its layers, and reads it back. What is written by hand
// into a file that others share is the user's own word.
func setJPKey(a *app, key, text string, layer jpconfig.Layer) error {
	path, err := config.SplitKey(key)
	if err != nil {
		return &report.SettingError{Err: err}
	}
	file, err := editable(a, "set", key, layer)
	if err != nil {
		return err
	}
	value, err := prepare.Value(path, text, func() (*jpconfig.Config, error) {
		return a.jpConfig(nil)
	})
	switch {
	case errors.Is(err, jpconfig.ErrNoKey):
		return unknownKey("set", key)
	case err != nil:
		return &report.SettingError{Err: fmt.Errorf("set %s: %w", key, err)}
	}
	var before []trust.Claim
	if conf, err := a.jpConfig(nil); err == nil {
		before = append(conf.Claims(), conf.Held()...)
	}
	err = editSettings(file, func(data []byte) ([]byte, error) {
		return config.SetValue(data, file, key, value)
	})
	if err != nil {
		return err
	}
	a.note("set %s in %s", key, file)
	if layer == jpconfig.Workspace || layer == jpconfig.Directory {
		if err := approveJPKey(a, key, before); err != nil {
			return err
		}
	}
	return warnShadowed(a, key, path, file)
}

// approveJPKey approves what the user just wrote into a file that others share: the value, and that
// conversations go to the provider of a model. What a claim has of others' words beside it is asked
// about as ever.
func approveJPKey(a *app, key string, before []trust.Claim) error {
	conf, err := a.jpConfig(nil)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(append(conf.Claims(), conf.Held()...), func(c trust.Claim) bool {
		return c.Key != key && c.Kind != trust.Provider || slices.Contains(before, c)
	})
	approvals, err := a.host().Approvals(a.openWorkspace.Root())
	if len(own) == 0 || err != nil || approvals == nil {
		return nil //nolint:nilerr // then whoever needs it asks
	}
	return approvals.Approve(a.now(), own...)
}

// unsetJPKey removes a key of jp's from a file of its layers.
func unsetJPKey(a *app, key string, layer jpconfig.Layer) error {
	file, err := editable(a, "unset", key, layer)
	if err != nil {
		return err
	}
	changed := false
	err = editSettings(file, func(data []byte) ([]byte, error) {
		out, err := config.Unset(data, file, key)
		changed = string(out) != string(data)
		return out, err
	})
	switch {
	case err != nil:
		return err
	case changed:
		a.note("removed %s from %s", key, file)
		return nil
	}
	path, err := config.SplitKey(key)
	if err != nil {
		return &report.SettingError{Err: err}
	}
	if _, err = jpconfig.Typed(path, ""); errors.Is(err, jpconfig.ErrNoKey) {
		return unknownKey("unset", key)
	}
	a.note("%s is not in %s", key, file)
	return nil
}

// unknownKey is about a key of the command line that is not known.
func unknownKey(doing, key string) error {
	const none = "%s %s: neither a key of git jp nor one of jp"
	return &report.SettingError{Err: fmt.Errorf(none, doing, key), Key: key}
}

// printJPKey prints the value of a key of jp's that counts here, outside of conversations, or
// what the files of one layer say.
func printJPKey(a *app, key string, layer jpconfig.Layer) error {
	path, err := config.SplitKey(key)
	if err != nil {
		return &report.SettingError{Err: err}
	}
	s, err := jpSources(a, nil)
	if err != nil {
		return err
	}
	if s.Only = layer; layer != jpconfig.BuiltIn {
		s.Approved = func(trust.Claim) bool { return true } // to read is no risk
	}
	conf, err := jpconfig.Load(s)
	if err != nil {
		return err
	}
	raw, origins, ok := conf.Value(path...)
	if !ok {
		return &report.SettingError{Err: fmt.Errorf("no key %q has a value", key), Key: key}
	}
	if a.JSON {
		r := settingRecord{Key: key, Value: raw}
		if n := len(origins); n > 0 {
			r.Origin, r.Committed = origins[n-1].At(path...), origins[n-1].Foreign
		}
		return a.printJSON(r)
	}
	text := string(raw)
	var word string
	if json.Unmarshal(raw, &word) == nil {
		text = word
	}
	_, err = fmt.Fprintln(a.stdout, a.output().Text(text))
	return err
}

// warnShadowed reads the whole configuration and says when the value in file is not the one
// that counts.
func warnShadowed(a *app, key string, path []string, file string) error {
	conf, err := a.jpConfig(nil)
	if err != nil {
		return err
	}
	raw, origins, ok := conf.Value(path...)
	switch {
	case !ok && len(conf.Held()) > 0:
		a.warn("%s in %s does not count before it is approved, see 'git jp trust'", key, file)
		return nil
	case !ok || len(origins) == 0:
		return fmt.Errorf("set %s in %s: it is not read back", key, file)
	}
	from := origins[len(origins)-1]
	where := from.File
	if where != "" && !filepath.IsAbs(where) && a.openWorkspace != nil {
		where = filepath.Join(a.openWorkspace.Root(), where)
	}
	if !regular.SameFile(where, file) {
		a.warn("%s in %s does not count, %s (%s) does", key, file, raw, from.At(path...))
	}
	return nil
}
