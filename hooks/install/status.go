package install

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
)

// A Status is the state of one hook.
type Status struct {
	Hook   string
	Active bool   // git runs it, in this clone, as far as files and settings show
	Via    string // "file", "chain", "config", or what calls it; "" when nothing does
	Path   string // file, or key of the configuration
	Old    bool   // an older text of ours, which an installation would replace
	Twice  bool   // a file and the configuration both call it
	Detail string // why it is not active, "" if it was never installed
	// Beside says that the file does nothing if git runs the hook of the configuration.
	Beside bool
	// Off says that no hook can run, because core.hooksPath is not a directory; Scope is where that
	// is set, "" if it is not.
	Off   bool
	Scope string
	// Setting is the key that turns off this hook of the configuration, "" without one; Scope is
	// where that is set.
	Setting string
}

// viaCall is a user's hook that calls ours.
const viaCall = "called"

// Status reports on every hook of the installer's names.
func (in *Installer) Status(ctx context.Context) ([]Status, error) {
	able, err := in.runsConfig(ctx)
	if err != nil {
		return nil, err
	}
	values, s, err := in.inspect(ctx)
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, name := range in.opts.Names {
		file, err := in.fileStatus(s, name)
		if err != nil {
			return nil, err
		}
		all = append(all, in.merged(file, in.ofConfig(name, in.config(values, name), able)))
	}
	return all, nil
}

func (in *Installer) fileStatus(s site, name string) (Status, error) {
	if s.off != "" {
		return Status{
			Hook: name, Path: filepath.Join(s.dir, name), Detail: s.off, Off: true, Scope: s.scope,
		}, nil
	}
	f, err := in.look(s, name)
	return in.ofFile(f), err
}

// merged combines the states of a file and a setting.
func (in *Installer) merged(file, config Status) Status {
	switch {
	case file.Beside && config.Via == "config", file.Beside && config.Setting != "":
		return config
	case file.Active && config.Active:
		config.Twice = true
		return config
	case config.Active, config.Detail != "" && !file.Active:
		return config
	default:
		return file
	}
}

func (in *Installer) ofFile(f found) Status {
	st := Status{Hook: f.name, Path: filepath.Join(f.site.dir, f.name)}
	switch f.kind {
	case kindOurs, kindChained:
		st.Active, st.Old, st.Beside = f.executable(), f.version > 0, f.beside
		st.Via = "file"
		if f.kind == kindChained {
			st.Via = "chain"
		}
		if !st.Active {
			st.Detail = "the file is not executable"
		}
	case kindByHand, kindLegacy:
		st.Active, st.Via, st.Path, st.Beside = true, viaCall, f.by, f.beside
	case kindManaged:
		st.Detail = cmp.Or(f.detail, "the hook is "+f.manager.name+"'s")
	case kindAbsent:
		st.Detail = in.dormant(f)
	default:
		st.Detail = f.reason()
	}
	return st
}

// dormant reports a hook of ours in a directory where git does not look any more.
func (in *Installer) dormant(f found) string {
	own := in.own()
	if own.rel == "" || own.rel == f.site.rel {
		return ""
	}
	old, err := in.look(own, f.name)
	if err == nil && (old.kind == kindOurs || old.kind == kindChained) {
		return f.site.where + ", so git does not run " + filepath.Join(own.dir, f.name)
	}
	return ""
}

func (in *Installer) ofConfig(name string, c configured, able bool) Status {
	st := Status{Hook: name, Path: commandKey(name)}
	switch {
	case c.changed != "":
		st.Detail = "the value of " + commandKey(name) + " is not ours"
	case able && c.by != "":
		st.Active, st.Via, st.Path, st.Twice = true, viaCall, c.by, c.set && c.off == ""
	case c.set && able && c.off != "":
		st.Detail = fmt.Sprintf("%s (%s) is false", c.off, c.scope)
		st.Setting, st.Scope = c.off, c.scope
	case c.set && able:
		st.Active, st.Via, st.Old = true, "config", c.version > 0
	case c.set:
		st.Detail = "this git does not run hooks of the configuration"
	}
	return st
}
