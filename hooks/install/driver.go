package install

import (
	"context"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Driver is a program that git runs for one kind of file: to merge it, and to show it in diffs.
type Driver struct {
	Name    string // in the configuration and in attributes
	Kind    string // as 'git jp merge-driver' and 'git jp textconv' have it
	Pattern string // of its files, from the directory .jp
	Shown   bool   // git diff shows it as text that we make
}

// Drivers returns every driver that an installation registers.
func Drivers() []Driver {
	return []Driver{
		{Name: "jp-events", Kind: "events", Pattern: "conversations/**/events.json", Shown: true},
		{Name: "jp-metadata", Kind: "metadata", Pattern: "conversations/**/metadata.json"},
		{Name: "jp-config", Kind: "config", Pattern: "conversations/**/base_config.json"},
		{Name: "jp-blob", Kind: "blob", Pattern: "blobs/**/*.blob.gz", Shown: true},
	}
}

// TrialDrivers returns the settings that register the drivers for one trial merge, as 'git -c'
// takes them.
func TrialDrivers() []string {
	return lists.Map(Drivers(), func(d Driver) string {
		return d.MergeKey() + "=git-jp merge-driver --trial " + d.Kind + " %O %A %B %P %L"
	})
}

// MergeKey returns the configuration key that registers the driver for merges.
func (d Driver) MergeKey() string { return "merge." + d.Name + ".driver" }

// DiffKey returns the key that registers it for diffs.
func (d Driver) DiffKey() string { return "diff." + d.Name + ".textconv" }

// mergeCommand1 stops the merge of the file if there is no git-jp: git then keeps ours and marks
// the file unmerged. The command calls git-jp itself: calling it through git would be one more
// process for each file.
func mergeCommand1(d Driver) string {
	return `jp() { command -v git-jp >/dev/null 2>&1 && exec git-jp merge-driver ` + d.Kind +
		` "$@"; echo "git-jp is not installed: $4 was not merged, ours was kept" >&2; exit 1; }; ` +
		`jp %O %A %B %P %L`
}

// textCommand1 shows the file unconverted if there is no git-jp: git diff dies when a conversion
// fails.
func textCommand1(d Driver) string {
	raw := `cat "$1"`
	if d.Kind == "blob" {
		raw = `gzip -cd <"$1" || cat "$1"`
	}
	return `jp() { command -v git-jp >/dev/null 2>&1 && exec git-jp textconv ` + d.Kind +
		` "$@"; ` + raw + `; }; jp`
}

// turnLine1 matches the heading of a turn.
const turnLine1 = `^== (.*)$`

func driverTitle(d Driver) string { return "git jp: " + d.Kind }

// A driverKey is a configuration key with every value that we ever gave it, the newest first.
type driverKey struct {
	key   string
	texts []string
}

// keys returns the settings that register the driver.
func (d Driver) keys() []driverKey {
	keys := []driverKey{
		{"merge." + d.Name + ".name", []string{driverTitle(d)}},
		{d.MergeKey(), []string{mergeCommand1(d)}},
	}
	if d.Shown {
		keys = append(keys, driverKey{d.DiffKey(), []string{textCommand1(d)}})
	}
	if d.Kind == "events" {
		// Git writes the turn after the @@ of a hunk, and not just any line of it.
		keys = append(keys, driverKey{"diff." + d.Name + ".xfuncname", []string{turnLine1}})
	}
	return keys
}

// A valueState classifies the value of one of our keys in the configuration.
type valueState int

const (
	valueAbsent valueState = iota
	valueOurs              // the newest text
	valueOld               // an older text
	valueForeign
)

func (k driverKey) state(settings []gitint.Setting) valueState {
	if len(settings) == 0 {
		return valueAbsent
	}
	value := settings[len(settings)-1].Value
	for i, text := range k.texts {
		if text == value && i == 0 {
			return valueOurs
		}
		if text == value {
			return valueOld
		}
	}
	return valueForeign
}

// installDrivers plans the drivers.
func (in *Installer) installDrivers(p *Plan, all settings) {
	for _, d := range Drivers() {
		in.installDriver(p, d, all)
	}
}

func (in *Installer) installDriver(p *Plan, d Driver, all settings) {
	a := Action{Do: Keep, Hook: "driver " + d.Name, Path: d.MergeKey()}
	var steps []step
	for _, k := range d.keys() {
		switch k.state(all[k.key]) {
		case valueForeign:
			p.manual(a.Hook, k.key, "its value is not ours", k.texts[0])
			return
		case valueAbsent:
			if a.Do == Keep {
				a.Do = Create
			}
			steps = append(steps, step{key: k.key, value: k.texts[0]})
		case valueOld:
			a.Do = Update
			steps = append(steps, step{key: k.key, value: k.texts[0]})
		}
	}
	p.add(a, steps...)
}

// uninstallDrivers plans to remove the settings in the repository's own configuration.
func (in *Installer) uninstallDrivers(ctx context.Context, p *Plan, all settings) error {
	for _, d := range Drivers() {
		a := Action{Do: Remove, Hook: "driver " + d.Name, Path: d.MergeKey()}
		var steps []step
		for _, k := range d.keys() {
			switch state := k.state(all[k.key]); {
			case !anyLocal(all[k.key]):
			case state == valueForeign:
				p.manual(a.Hook, k.key, "its value is not ours", "")
			default:
				steps = append(steps, step{key: k.key})
			}
		}
		if len(steps) > 0 {
			p.add(a, steps...)
		}
	}
	return in.uninstallAttributes(ctx, p)
}
