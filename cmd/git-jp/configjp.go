package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// Keys of jp's are the user's own: they are set in the file that jp reads of them, never in the
// workspace, where they would need the approval of everybody else.

// ownKey reports whether a key is one of git jp's.
func ownKey(key string) bool { return isOwn(key + "=") }

// userFile returns the user's file of jp's settings, which must be one that can be edited
// without losing what else is in it.
func (a *app) userFile(doing, key string) (string, error) {
	dir := config.UserDir(a.getenv, a.getenv("HOME"), runtime.GOOS)
	file := jpconfig.UserFile(dir)
	if ext := filepath.Ext(file); ext != ".toml" {
		return "", &settingError{fmt.Errorf("%s %s: %s is not TOML, change it there by hand",
			doing, key, file)}
	}
	// A link leads to where the user keeps the file, and stays.
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return file, nil
}

// setJPKey sets a key of jp's in the user's own file, and reads it back.
func (a *app) setJPKey(key, text string) error {
	path, err := config.SplitKey(key)
	if err != nil {
		return &settingError{err}
	}
	file, err := a.userFile("set", key)
	if err != nil {
		return err
	}
	value, err := a.jpValue(path, text)
	switch {
	case errors.Is(err, jpconfig.ErrNoKey):
		return &settingError{fmt.Errorf("set %s: neither a key of git jp nor one of jp", key)}
	case errors.Is(err, jpconfig.ErrTable):
		return &settingError{fmt.Errorf("set %s: %w, write it into %s", key, err, file)}
	case err != nil:
		return &settingError{fmt.Errorf("set %s: %w", key, err)}
	}
	err = editSettings(file, func(data []byte) ([]byte, error) {
		return config.SetValue(data, file, key, value)
	})
	if err != nil {
		return err
	}
	a.note("set %s in %s", key, file)
	return a.warnShadowed(key, path, file)
}

// unsetJPKey removes a key of jp's from the user's own file.
func (a *app) unsetJPKey(key string) error {
	file, err := a.userFile("unset", key)
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
	default:
		a.note("%s is not in %s", key, file)
	}
	return nil
}

// printJPKey prints the value of a key of jp's that counts here, outside of conversations.
func (a *app) printJPKey(key string) error {
	path, err := config.SplitKey(key)
	if err != nil {
		return &settingError{err}
	}
	conf, err := a.jpConfig(nil)
	if err != nil {
		return err
	}
	raw, origins, ok := conf.Value(path...)
	if !ok {
		return &settingError{fmt.Errorf("no key %q has a value", key)}
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
func (a *app) warnShadowed(key string, path []string, file string) error {
	conf, err := a.jpConfig(nil)
	if err != nil {
		return err
	}
	raw, origins, ok := conf.Value(path...)
	if !ok || len(origins) == 0 {
		return fmt.Errorf("set %s in %s: it is not read back", key, file)
	}
	from := origins[len(origins)-1]
	where := from.File
	if where != "" && !filepath.IsAbs(where) && a.openWorkspace != nil {
		where = filepath.Join(a.openWorkspace.Root(), where)
	}
	if !sameFile(where, file) {
		a.warn("%s in %s does not count, %s (%s) does", key, file, raw, from.At(path...))
	}
	return nil
}

// jpValue reads the value of a key of jp's, and refuses what could not work.
func (a *app) jpValue(path []string, text string) (any, error) {
	value, err := jpconfig.Typed(path, text)
	if err != nil {
		return nil, err
	}
	switch last := path[len(path)-1]; {
	case last == "id" && slices.Contains(path, "model"):
		err = a.reachable(text)
	case last == "base_url" && path[0] == "providers":
		err = validAddress(text)
	case last == "api_key_env" && !variableName(text):
		err = errors.New("want the name of the variable that has the key, not the key")
	}
	return value, err
}

// variableName reports whether text can name a variable of the environment.
func variableName(text string) bool {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(text)
}

func validAddress(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("want an address like http://localhost:8080/v1, have %q", text)
	}
	return nil
}

// reachable reports why a model cannot be asked: its name leads to none, or its provider has no
// address.
func (a *app) reachable(name string) error {
	if name == builtin.ID {
		return nil
	}
	conf, err := a.jpConfig(nil)
	if err != nil {
		return err
	}
	id, err := conf.ResolveModel(name)
	if err != nil {
		return fmt.Errorf("%w; want provider/name", err)
	}
	provider, _, _ := llm.SplitID(id.String())
	_, known := models.Find(provider)
	if _, _, placed := conf.Value("providers", "llm", provider, "base_url"); known || placed {
		return nil
	}
	var names []string
	for _, p := range models.Providers() {
		names = append(names, p.Name)
	}
	return fmt.Errorf("unknown provider %q; built in are %s, and another one needs "+
		"providers.llm.%s.base_url first", provider, strings.Join(names, ", "), provider)
}
