package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/configure"
	"github.com/git-jp/git-jp/internal/jpconfig"
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
git-jp.toml: jp refuses to start on keys it does not know. Providers that jp does not have, and
their models, are written to git-jp-config.toml beside config.toml, and to
.git-jp-config.toml beside a directory's .jp.toml, for the same reason.

Keys of jp, such as assistant.model.id, are read and written too: in config.toml of your own
configuration directory, for you everywhere, or in the layer that you name. The list and get print
what counts, get also what the files of a layer say. docs/models.md shows the keys that matter.

storage.checkout is of this clone alone and is in no file of a commit: full, or lazy for a working
tree that leaves blobs out until they are asked for. docs/scale.md says more.

` + configure.Help()
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

func settingsPrinter(a *app, c *config.Config) configure.Printer {
	return configure.Printer{Printer: &a.terminal.Printer, Config: c, Short: a.short}
}

// settings returns all settings that count, and reports those that wait for an approval.
func settings(a *app) (p configure.Printer, all []configure.Record, err error) {
	root, conf, err := loadConfig(a)
	if err != nil {
		return p, nil, err
	}
	jp, err := jpSettings(a)
	if err != nil {
		return p, nil, err
	}
	all, held, err := jp.Records()
	if err != nil {
		return p, nil, err
	}
	tellSettings(a, root, conf, held...)
	p = settingsPrinter(a, conf)
	return p, append(all, p.Own()...), nil
}

type configShowCmd struct {
	Key []string `arg:"" optional:"" help:"Keys, or what they begin with; all by default."`
}

// Run prints settings.
func (c configShowCmd) Run(a *app) error {
	p, all, err := settings(a)
	if err != nil {
		return err
	}
	if err := configure.Find(all, c.Key); err != nil {
		if len(c.Key) == 2 && configure.Find(all, c.Key[:1]) == nil { // as git sets one
			return &situation{err.Error(), "'git jp config set <key> <value>' sets one"}
		}
		return err
	}
	return p.Table(all, c.Key)
}

type configGetCmd struct {
	Key string `arg:"" help:"The key."`
	layerFlags
}

// Run prints one value. For a key without a value the exit code is 1, as in git config.
func (c configGetCmd) Run(ctx context.Context, a *app) error {
	if c.Key == checkoutKey {
		return printCheckout(ctx, a)
	}
	err := c.print(a)
	if none, ok := errors.AsType[*config.SettingError](err); ok && none.Unset {
		if _, _, err := settings(a); err != nil {
			return err
		}
	}
	return err
}

func (c configGetCmd) print(a *app) error {
	if !configure.IsOwn(c.Key) {
		jp, err := jpSettings(a)
		if err != nil {
			return err
		}
		return jp.Print(c.Key, c.layer())
	}
	layer := c.layer()
	if layer != jpconfig.BuiltIn {
		if _, err := c.ownFile(a, "get", c.Key); err != nil {
			return err
		}
	}
	_, conf, err := loadConfig(a)
	switch {
	case err != nil:
		return err
	case layer != jpconfig.BuiltIn:
		return settingsPrinter(a, conf).ValueIn(layer, c.Key)
	default:
		return settingsPrinter(a, conf).Value(c.Key)
	}
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
	if !configure.IsOwn(c.Key) {
		return setJPKey(a, c.Key, c.Value, c.layer())
	}
	if !c.User && config.IsOfUsers(c.Key) {
		return usagef("set %s: it counts only in your own configuration, give --user", c.Key)
	}
	file, err := c.ownFile(a, "set", c.Key)
	if err != nil {
		return err
	}
	if err := configure.Set(file, c.Key, c.Value); err != nil {
		return err
	}
	a.note("set %s in %s", c.Key, a.short(file))
	if !c.User {
		if err := approveSet(a, filepath.Dir(filepath.Dir(file)), c.Key); err != nil {
			return err
		}
	}
	a.openConfig = nil
	if _, conf, err := loadConfig(a); err == nil { // faults of other keys are not this command's
		settingsPrinter(a, conf).WarnOverridden(c.Key, file)
	}
	return nil
}

type configUnsetCmd struct {
	Key string `arg:"" help:"The key."`
	layerFlags
}

// Run removes a key and keeps every other byte of the file.
func (c configUnsetCmd) Run(ctx context.Context, a *app) error {
	if c.Key == checkoutKey {
		return setCheckout(ctx, a, checkoutFull)
	}
	if !configure.IsOwn(c.Key) {
		jp, err := jpSettings(a)
		if err != nil {
			return err
		}
		return jp.Unset(c.Key, c.layer())
	}
	file, err := c.ownFile(a, "unset", c.Key)
	if err != nil {
		return err
	}
	if err = configure.Unset(file, c.Key); err == nil {
		a.note("removed %s from %s", c.Key, a.short(file))
	}
	return err
}
