package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type configCmd struct {
	Show  configShowCmd  `cmd:"" default:"withargs" help:"Print effective values and where they come from."`
	Get   configGetCmd   `cmd:"" help:"Print one value."`
	Set   configSetCmd   `cmd:"" help:"Set a key, of git jp or of jp."`
	Unset configUnsetCmd `cmd:"" help:"Remove a key."`
}

// Help explains the files.
func (configCmd) Help() string {
	return `Read in this order, the later winning: config.toml and git-jp.toml of your own
configuration directory, the same two below .jp, and -c. Keys of git jp are written only to
git-jp.toml: jp refuses to start on keys it does not know.

Keys of jp, such as assistant.model.id, are read and written too: in config.toml of your own
configuration directory, for you everywhere, or in the layer that you name. get prints what
counts, or what the files of a layer say. docs/models.md shows the ones that matter.

storage.checkout is of this clone alone and is in no file of a commit: full, or lazy for a working
tree that leaves blobs out until they are asked for. docs/scale.md says more.

` + keysHelp()
}

// keysHelp lists the keys with their defaults, a line each.
func keysHelp() string {
	lines := []string{"Keys and their defaults:", ""}
	for _, k := range config.Known() {
		text := "    " + k.Name
		if value := settingText(k.Default); value != "" {
			text += " = " + value
		}
		lines = append(lines, text, "        "+k.Doc)
	}
	return strings.Join(lines, "\n")
}

// settingText writes a value as it is given on a command line.
func settingText(value any) string {
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

// newSettingRecord spells durations as the file does; a number would need a unit.
func newSettingRecord(key string, value any, origin config.Origin) settingRecord {
	if d, ok := value.(time.Duration); ok {
		value = durationText(d)
	}
	return settingRecord{key, value, origin.String(), origin.Layer.Committed()}
}

// settingRecord is one key in `config --json`.
type settingRecord struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
	// Committed says that the value lies in the working tree, where others may have
	// written it.
	Committed bool `json:"committed"`
}

// loadConfig reads the configuration, with the layers of the workspace at root if there is one.
func loadConfig(a *app) (root string, c *config.Config, err error) {
	root, err = a.root()
	if err != nil && !errors.Is(err, workspace.ErrNoWorkspace) {
		return "", nil, err
	}
	c, err = a.configAt(root)
	return root, c, err
}

type configShowCmd struct {
	Key []string `arg:"" optional:"" help:"Keys, or what they begin with; all by default."`
}

// Run prints settings.
func (c configShowCmd) Run(a *app) error {
	root, conf, err := loadConfig(a)
	if err != nil {
		return err
	}
	for _, key := range c.Key {
		if !slices.ContainsFunc(conf.Keys(), func(k string) bool {
			return wantsKey([]string{key}, k)
		}) {
			return &report.SettingError{Err: fmt.Errorf("no key %q has a value", key), Key: key}
		}
	}
	tellSettings(a, root, conf)
	table := render.NewTable(a.output(), render.Column{Head: "KEY"},
		render.Column{Head: "VALUE", Shrink: true}, render.Column{Head: "FROM"})
	for _, key := range conf.Keys() {
		value, origin, _ := conf.Value(key)
		if !wantsKey(c.Key, key) {
			continue
		}
		table.Row(key, settingText(value), relative(a, origin))
		if a.JSON {
			if err := a.printJSON(newSettingRecord(key, value, origin)); err != nil {
				return err
			}
		}
	}
	if a.JSON {
		return nil
	}
	return table.Write(a.stdout)
}

// relative names an origin by a path that is short from here.
func relative(a *app, o config.Origin) string {
	if o.File != "" {
		o.File = a.short(o.File)
	}
	return o.String()
}

func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, " or ")
}

func wantsKey(keys []string, key string) bool {
	for _, k := range keys {
		if key == k || strings.HasPrefix(key, strings.TrimSuffix(k, ".")+".") {
			return true
		}
	}
	return len(keys) == 0
}

type configGetCmd struct {
	Key string `arg:"" help:"The key."`
	layerFlags
}

// Run prints one value. A key without a value is exit code 1, as in git config.
func (c configGetCmd) Run(ctx context.Context, a *app) error {
	if c.Key == checkoutKey {
		return printCheckout(ctx, a)
	}
	if !ownKey(c.Key) {
		return printJPKey(a, c.Key, c.layer())
	}
	if c.layer() != jpconfig.BuiltIn {
		return usagef("get %s: a layer can be named for a key of jp only", c.Key)
	}
	_, conf, err := loadConfig(a)
	if err != nil {
		return err
	}
	value, origin, ok := conf.Value(c.Key)
	if !ok {
		return &report.SettingError{Err: fmt.Errorf("no key %q has a value", c.Key), Key: c.Key}
	}
	if a.JSON {
		return a.printJSON(newSettingRecord(c.Key, value, origin))
	}
	_, err = fmt.Fprintln(a.stdout, a.output().Text(settingText(value)))
	return err
}

type configSetCmd struct {
	Key   string `arg:"" help:"The key."`
	Value string `arg:"" help:"The value; of a table as JSON."`
	layerFlags
}

// Run sets a key and keeps every other byte of the file.
func (c configSetCmd) Run(ctx context.Context, a *app) error {
	if c.Key == checkoutKey {
		return setCheckout(ctx, a, c.Value)
	}
	if !ownKey(c.Key) {
		return setJPKey(a, c.Key, c.Value, c.layer())
	}
	user, err := c.ours("set", c.Key)
	if err != nil {
		return err
	}
	file, err := ownFile(a, user)
	if err != nil {
		return err
	}
	err = editSettings(file, func(data []byte) ([]byte, error) {
		return config.Set(data, file, c.Key, c.Value)
	})
	if err != nil {
		return err
	}
	if !user {
		if err := approveSet(a, filepath.Dir(filepath.Dir(file)), c.Key); err != nil {
			return err
		}
	}
	warnOverridden(a, c.Key, file)
	return nil
}

// warnOverridden says when the value of a key in file is not the one that counts.
// Faults of other keys are not this command's.
func warnOverridden(a *app, key, file string) {
	a.openConfig = nil
	_, conf, err := loadConfig(a)
	if err != nil {
		return
	}
	value, origin, ok := conf.Value(key)
	if ok && !regular.SameFile(origin.File, file) {
		a.warn("%s in %s does not count, %s (%s) does",
			key, a.short(file), settingText(value), relative(a, origin))
	}
}

type configUnsetCmd struct {
	Key string `arg:"" help:"The key."`
	layerFlags
}

// Run takes a key out and keeps every other byte of the file.
func (c configUnsetCmd) Run(ctx context.Context, a *app) error {
	if c.Key == checkoutKey {
		return setCheckout(ctx, a, checkoutFull)
	}
	if !ownKey(c.Key) {
		return unsetJPKey(a, c.Key, c.layer())
	}
	user, err := c.ours("unset", c.Key)
	if err != nil {
		return err
	}
	file, err := ownFile(a, user)
	if err != nil {
		return err
	}
	return editSettings(file, func(data []byte) ([]byte, error) {
		return config.Unset(data, file, c.Key)
	})
}

// ownFile returns the file of our settings, the user's or the workspace's.
func ownFile(a *app, user bool) (string, error) {
	if user {
		dir := config.UserDir(a.getenv, a.getenv("HOME"), runtime.GOOS)
		return filepath.Join(dir, config.OwnFile), nil
	}
	root, err := a.root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, workspace.DirName, config.OwnFile), nil
}

func editSettings(file string, edit func(data []byte) ([]byte, error)) error {
	return editConfig(file, func(data []byte) ([]byte, error) {
		out, err := edit(data)
		if err != nil {
			err = &report.SettingError{Err: err}
		}
		return out, err
	})
}

// editConfig edits a configuration file. Below .jp temporaries have their place; in the user's own
// directory they lie beside the file.
func editConfig(file string, edit func([]byte) ([]byte, error)) error {
	temp := "."
	if filepath.Base(filepath.Dir(file)) == workspace.DirName {
		temp = blobs.Dir + "/.tmp"
	}
	return config.EditFile(file, temp, edit)
}
