package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/trust"
)

// Dirs are the locations of the layers.
type Dirs struct {
	User      string   // the user's configuration directory, see [UserDir]; "" for none
	Workspace string   // the .jp directory; "" for none
	Overrides []string // the -c options, in order
	// Lenient leaves out keys with a fault in every file, as in those of the workspace. It is for
	// hooks: what a later version knows must not turn off what this one does.
	Lenient bool
	// Approved reports whether the user approved a claim; nil approves none.
	Approved func(trust.Claim) bool
}

// A Config is the result of reading all layers.
type Config struct {
	schema schema
	stacks map[string][]setting // by canonical name, low to high

	approved func(trust.Claim) bool
	lenient  bool
	leftOut  []error
}

// Load reads all layers. Missing files count as empty. The error lists every fault, each a
// [*KeyError]. Links below dirs.Workspace that lead outside it are not followed. A fault in a key
// of a file there is no error: the key is left out, see [Config.LeftOut].
func Load(dirs Dirs) (*Config, error) {
	c := &Config{
		schema: Known(), stacks: map[string][]setting{}, approved: dirs.Approved,
		lenient: dirs.Lenient,
	}
	if c.approved == nil {
		c.approved = func(trust.Claim) bool { return false }
	}
	c.addDefaults()
	var faults []error
	if dirs.User != "" {
		open := func(name string) ([]byte, error) {
			return regular.ReadFile(filepath.Join(dirs.User, name), regular.MaxSettings)
		}
		faults = append(faults, c.addDir(reader{c.schema, open, dirs.User}, UserJP, User))
	}
	if dirs.Workspace != "" {
		faults = append(faults, c.addWorkspace(dirs.Workspace))
	}
	for _, option := range dirs.Overrides {
		st, err := parseOverride(c.schema, option)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		c.push(st)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) addDefaults() {
	for _, k := range c.schema {
		if k.Default != nil {
			c.push(setting{path: k.path, value: k.Default, key: k, ours: true})
		}
	}
}

func (c *Config) addWorkspace(dir string) error {
	root, err := regular.OpenRoot(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	open := func(name string) ([]byte, error) {
		return regular.Read(regular.In(root), name, regular.MaxSettings)
	}
	err = c.addDir(reader{c.schema, open, dir}, WorkspaceJP, Workspace)
	return errors.Join(err, root.Close())
}

func (c *Config) addDir(r reader, jp, own Layer) error {
	var faults []error
	add := func(layer Layer, name string) {
		settings, left, err := r.read(layer, name)
		faults = append(faults, err)
		if c.lenient || layer.Committed() {
			c.leftOut = append(c.leftOut, left...)
		} else {
			faults = append(faults, left...)
		}
		for _, st := range settings {
			c.push(st)
		}
	}
	for _, name := range jpFiles() {
		add(jp, name)
	}
	add(own, OwnFile)
	return errors.Join(faults...)
}

func (c *Config) push(st setting) {
	name := JoinKey(st.path)
	c.stacks[name] = append(c.stacks[name], st)
}

// Keys returns the names of all keys with a value, sorted.
func (c *Config) Keys() []string { return slices.Sorted(maps.Keys(c.stacks)) }

// Value returns the effective value of a key and its origin. The name may be any spelling of the
// key.
func (c *Config) Value(name string) (any, Origin, bool) {
	st, ok := c.effective(name)
	return st.value, st.origin, ok
}

// ValueIn returns the value that a layer has for a key, whether it takes effect or not.
func (c *Config) ValueIn(layer Layer, name string) (any, Origin, bool) {
	for _, st := range slices.Backward(c.stack(name)) {
		if st.origin.Layer == layer {
			return st.value, st.origin, true
		}
	}
	return nil, Origin{}, false
}

// stack returns a copy of the values of a key.
func (c *Config) stack(name string) []setting {
	path, err := SplitKey(name)
	if err != nil {
		return nil
	}
	return slices.Clone(c.stacks[JoinKey(canonical(path))])
}

func (c *Config) effective(name string) (setting, bool) {
	if stack, ok := c.stacks[name]; ok { // the canonical spelling, which every command uses
		return c.winner(stack)
	}
	return c.winner(c.stack(name))
}

// winner returns the value of a key that takes effect.
func (c *Config) winner(stack []setting) (setting, bool) {
	var won setting
	found := false
	for _, st := range stack {
		if st.origin.Layer.Committed() && !c.counts(st, won, found) {
			continue
		}
		won, found = st, true
	}
	return won, found
}
