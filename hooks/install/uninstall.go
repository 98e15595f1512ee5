package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/internal/regular"
)

// Uninstall plans to remove every driver and every hook that was ever installed, from the directory
// where git looks for hooks now and from the repository's own. It changes nothing.
func (in *Installer) Uninstall(ctx context.Context) (*Plan, error) {
	all, s, err := in.inspect(ctx)
	if err != nil {
		return nil, err
	}
	sites := []site{s}
	if own := in.own(); own.rel != "" && own.rel != s.rel {
		sites = append(sites, own)
	}
	sites = slices.DeleteFunc(sites, func(s site) bool { return s.off != "" })
	p := &Plan{repo: in.repo}
	for _, name := range AllNames() {
		in.removeConfig(p, name, in.config(all, name))
		for _, s := range sites {
			if err := in.uninstallFile(p, s, name); err != nil {
				return nil, err
			}
		}
	}
	return p, in.uninstallDrivers(ctx, p, all)
}

func (in *Installer) uninstallFile(p *Plan, s site, name string) error {
	f, err := in.look(s, name)
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, name)
	switch {
	case f.kind == kindOurs, f.kind == kindChained:
		if s.rel == "" {
			p.manual(name, path, s.where, "")
			return nil
		}
		in.removeFile(p, f)
	case f.kind == kindByHand, f.kind == kindInert && f.by != "":
		p.manual(name, f.by, "a line in it calls the hook", "")
	case f.kind == kindUnproved:
		p.manual(name, path, f.reason(), "")
	}
	if s.rel == "" {
		return nil
	}
	return in.removeBackups(p, s, name)
}

// removeBackups plans to remove scripts of ours that a hook manager replaced and kept under another
// name.
func (in *Installer) removeBackups(p *Plan, s site, name string) error {
	for _, suffix := range []string{".legacy", ".old"} {
		backup := name + suffix
		text, err := regular.ReadFile(filepath.Join(s.dir, backup), regular.MaxOther)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("inspect hook %s: %w", backup, err)
		}
		if in.texts.wrote(string(text), name) {
			p.add(Action{Do: Remove, Hook: name, Path: filepath.Join(s.dir, backup)},
				step{file: s.rel + "/" + backup, old: string(text), remove: true})
		}
	}
	return nil
}

// removeFile plans to remove a script of ours, or our block from a user's script.
func (in *Installer) removeFile(p *Plan, f found) {
	a := Action{Do: Remove, Hook: f.name, Path: filepath.Join(f.site.dir, f.name)}
	if f.kind == kindChained {
		a.Reason = "only the block of git jp"
		rest, _ := unchain(f.text, f.name, in.texts.blocks)
		p.add(a, in.write(f, rest, 0))
		return
	}
	s := in.write(f, "", 0)
	s.remove = true
	p.add(a, s)
}

// removeConfig plans to remove the settings of one hook from the repository's own
// configuration.
func (in *Installer) removeConfig(p *Plan, name string, c configured) {
	switch {
	case !c.local:
	case c.changed != "":
		p.manual(name, commandKey(name), "its value is not ours: "+c.changed, "")
	default:
		p.add(Action{Do: Remove, Hook: name, Path: commandKey(name)},
			// Git dies of an event without a command, so the event is removed first.
			step{key: eventKey(name)}, step{key: commandKey(name)})
	}
}
