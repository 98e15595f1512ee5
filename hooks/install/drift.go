package install

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
)

// A Mismatch says how attributes and configuration disagree about a driver.
type Mismatch string

// The mismatches.
const (
	// Blends: the attributes name a driver that is not registered, so git merges the files by lines
	// and says nothing.
	Blends Mismatch = "blends"
	// Stops: the driver is not registered, and git stops at every merge of the files.
	Stops Mismatch = "stops"
	// Converts: git would commit another text than the file has.
	Converts Mismatch = "converts"
	// Unnamed: the driver is registered, and the attributes do not name it.
	Unnamed Mismatch = "unnamed"
	// Unshared: this clone is in order, but one without our drivers would merge by lines.
	Unshared Mismatch = "unshared"
	// Changed: the configuration has a value that we never wrote.
	Changed Mismatch = "changed"
	// Old: the configuration has a text of an older release.
	Old Mismatch = "old"
)

// A Drift is one mismatch in one workspace.
type Drift struct {
	Driver    Driver
	Workspace string // slash path of the directory .jp from the root of the working tree
	Mismatch  Mismatch
}

// Drifts compares the attributes with the drivers that the clone has registered. Dirs are the slash
// paths of the directories .jp. A workspace that asks for no drivers, by attributes or by the
// configuration, has no drifts.
func Drifts(ctx context.Context, repo *gitint.Repo, dirs []string) ([]Drift, error) {
	values, err := readSettings(ctx, repo)
	if err != nil {
		return nil, err
	}
	var samples []string
	for _, dir := range dirs {
		for _, d := range Drivers() {
			samples = append(samples, path.Join(dir, d.sample()))
		}
	}
	attrs, err := repo.CheckAttr(ctx, []string{
		"merge", "diff", attrShared, attrIdent, attrEncoding,
	}, samples)
	if err != nil {
		return nil, fmt.Errorf("inspect attributes: %w", err)
	}
	var all []Drift
	for _, dir := range dirs {
		for _, d := range Drivers() {
			m := d.mismatch(values, attrs[path.Join(dir, d.sample())])
			if m != "" {
				all = append(all, Drift{Driver: d, Workspace: dir, Mismatch: m})
			}
		}
	}
	return all, nil
}

// UrgentDrifts returns the drifts that do damage before anyone runs the doctor, one for each
// workspace: drivers that attributes name and this clone has not registered, and conversions by
// git.
func UrgentDrifts(ctx context.Context, repo *gitint.Repo, dirs []string) ([]Drift, error) {
	drifts, err := Drifts(ctx, repo, dirs)
	seen := make(map[string]bool)
	return slices.DeleteFunc(drifts, func(d Drift) bool {
		if seen[d.Workspace] || !slices.Contains([]Mismatch{Blends, Stops, Converts}, d.Mismatch) {
			return true
		}
		seen[d.Workspace] = true
		return false
	}), err
}

// sample returns the path of a file of the driver, from .jp.
func (d Driver) sample() string { return strings.ReplaceAll(d.Pattern, "*", "x") }

func (d Driver) mismatch(values settings, attrs map[string]string) Mismatch {
	registered := len(values[d.MergeKey()]) > 0
	switch {
	case isGiven(attrs[attrIdent]) || isGiven(attrs[attrEncoding]):
		return Converts
	case !registered && attrs["merge"] == d.Name:
		return Blends
	case !registered && attrs["diff"] == d.Name:
		return Stops
	case !registered:
		return ""
	case attrs["merge"] != d.Name:
		return Unnamed
	case attrs[attrShared] != gitint.AttrSet:
		return Unshared
	}
	for _, k := range d.keys() {
		switch k.state(values[k.key]) {
		case valueForeign:
			return Changed
		case valueOld, valueAbsent:
			return Old
		}
	}
	return ""
}

// attrShared is an attribute that only the committed attributes give: the clone's own have all
// those that keep git from changing a file.
const attrShared = "linguist-generated"

// The attributes by which git changes the text of a file.
const (
	attrIdent    = "ident"
	attrEncoding = "working-tree-encoding"
)

// isGiven reports whether an attribute has a value for a file.
func isGiven(value string) bool {
	return value != gitint.AttrUnspecified && value != gitint.AttrUnset
}

// Sentence describes a drift.
func (d Drift) Sentence() string {
	switch name := d.Driver.Name; d.Mismatch {
	case Blends:
		return "the attributes name the driver " + name +
			", which this clone has not registered: git would merge line by line"
	case Stops:
		return "the attributes name the driver " + name +
			", which this clone has not registered: git stops at every merge"
	case Converts:
		return "the attributes ident and working-tree-encoding change what conversations say"
	case Unnamed:
		return "the driver " + name + " is registered, and the attributes do not name it"
	case Unshared:
		return "no committed attributes: a clone without the driver " + name +
			" would merge line by line"
	case Changed:
		return "the configuration of the driver " + name + " is not ours"
	default:
		return "the driver " + name + " is that of an older release"
	}
}
