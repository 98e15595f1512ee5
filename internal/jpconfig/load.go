package jpconfig

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/trust"
)

// Sources are the locations of the layers. Every field may be empty; directories are absolute.
type Sources struct {
	User          string   // the user's configuration directory
	Workspace     string   // the root of the workspace, which holds .jp
	WorkTree      string   // git's, if the environment names it
	Dir           string   // the working directory; below Workspace, or ignored
	UserWorkspace string   // the user's directory for the workspace
	Environ       []string // NAME=value, as [os.Environ] has it

	Base   []byte         // base_config.json of the conversation
	Stream *events.Stream // its events, for the deltas

	// Approved reports whether the user approved a claim; nil approves none. It decides about
	// foreign settings that are not known to be harmless.
	Approved func(trust.Claim) bool

	// Only, if it is a layer of files, restricts the load to that layer.
	Only Layer

	Options []string          // -c, in order
	Flags   map[string][]byte // settings of the command's flags: JSON objects by flag
}

// A Config is the result of merging all layers. Reading it may add warnings, so it must be used by
// one goroutine at a time.
type Config struct {
	all, own     settings.Config // effective settings; own without foreign ones
	conversation settings.Config // those of the conversation alone
	origins      []Origin
	warnings     []Warning
	warned       map[Warning]bool // by [Config.warn], once each

	settings []trust.Claim          // claims of settings that count once approved, see [judge]
	replaces []trust.Claim          // claims to replace the user's own text
	waiting  []trust.Claim          // those of settings that are not approved
	left     []string               // dotted foreign keys that do not count
	aliases  []heldAlias            // foreign short names that do not count
	held     map[string]trust.Claim // claims of foreign models, by their path

	workspace string // its root, "" if there is none
	repo      string // that of the repository around it
	programs  string // PATH
	runs      *tree  // files that commands run, as read; see [Config.tree]
}

// Load reads all layers. A missing file counts as empty; a file that cannot be decoded is an error,
// and so is a missing file that a -c option names.
func Load(s Sources) (*Config, error) {
	for _, dir := range []string{s.User, s.Workspace, s.Dir, s.UserWorkspace} {
		// The path of a file decides whether it is foreign.
		if dir != "" && !filepath.IsAbs(dir) {
			err := fmt.Errorf("read configuration: %q is not an absolute path", dir)
			if dir == s.User {
				err = fmt.Errorf("%w, as JP_GLOBAL_CONFIG_DIR has to be", err)
			}
			return nil, err
		}
	}
	s.Workspace, s.Dir = regular.Resolved(s.Workspace), regular.Resolved(s.Dir)
	c := &Config{workspace: s.Workspace, programs: variable(s.Environ, "PATH")}
	if s.Workspace != "" {
		c.repo = Around(s.Workspace, s.WorkTree)
	}
	l := &loader{sources: s, config: c, table: patterns()}
	defer l.close()
	steps := []func() error{
		l.builtIn, l.files, l.environment, l.conversation, l.options, l.flags, l.admit,
	}
	if s.Only != BuiltIn {
		steps = []func() error{l.files, l.admit}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
	}
	return l.config, nil
}

// A loader builds a Config, layer by layer.
type loader struct {
	sources Sources
	config  *Config
	table   table
	root    *os.Root // of the workspace, opened on demand
	opened  int      // files
	names   int      // file names matched with patterns
	read    int      // bytes of the opened files

	base     part // built-in values
	implicit part // the layers below the conversation and -c
}

func (l *loader) close() {
	if l.root != nil {
		_ = l.root.Close() // opened for reading
	}
}

// origin adds an origin and returns its number.
func (l *loader) origin(o Origin) int {
	l.config.origins = append(l.config.origins, o)
	return len(l.config.origins) - 1
}

func (l *loader) warn(where, key, format string, args ...any) {
	l.config.warn(Warning{Where: where, Key: key, Text: fmt.Sprintf(format, args...)})
}

// merge merges a part into the configuration.
func (l *loader) merge(p part) {
	l.config.all = l.config.all.Merge(p.all)
	l.config.own = l.config.own.Merge(p.own)
}

// A part is one or more files merged: all of them, and those that are not foreign.
type part struct {
	all, own settings.Config
}

func (p part) merge(next part) part {
	return part{p.all.Merge(next.all), p.own.Merge(next.own)}
}

// parse converts a JSON object to a part.
func (l *loader) parse(data []byte, o Origin) (part, error) {
	c, err := settings.Parse(data, l.origin(o))
	if err != nil {
		return part{}, fmt.Errorf("%s: %w", o.At(), err)
	}
	if o.Foreign {
		return part{all: c}, nil
	}
	return part{c, c}, nil
}

func (l *loader) builtIn() error {
	p, err := l.parse([]byte(defaults), Origin{Layer: BuiltIn})
	l.merge(p)
	l.base = p
	return err
}

// files reads the four layers of files. One that does not inherit drops those below; a foreign one
// does not drop the user's.
func (l *loader) files() error {
	var layers []part
	add := func(layer Layer, dir, base string) error {
		if only := l.sources.Only; only != BuiltIn && only != layer {
			return nil
		}
		p, ok, err := l.find(layer, dir, base)
		if err != nil || !ok {
			return err
		}
		for i := range layers {
			if refuses(p.all) {
				layers[i].all = settings.Config{}
			}
			if refuses(p.own) {
				layers[i].own = settings.Config{}
			}
		}
		layers = append(layers, p)
		return nil
	}
	var faults []error
	both := func(layer Layer, dir string) {
		faults = append(faults, add(layer, dir, "config"), add(layer, dir, config.BesideFile))
	}
	if dir := l.sources.User; dir != "" {
		both(User, dir)
	}
	if root := l.sources.Workspace; root != "" {
		both(Workspace, filepath.Join(root, ".jp"))
		for _, dir := range downTo(root, l.sources.Dir) {
			faults = append(faults,
				add(Directory, dir, ".jp"), add(Directory, dir, "."+config.BesideFile))
		}
	}
	if dir := l.sources.UserWorkspace; dir != "" {
		both(UserWorkspace, dir)
	}
	for _, p := range layers {
		l.merge(p)
	}
	return errors.Join(faults...)
}

// refuses reports whether a file does not inherit.
func refuses(c settings.Config) bool {
	s, ok := c.Setting("inherit")
	return ok && string(s.Value()) == "false"
}

// downTo returns root and the directories from it to dir; only root if dir is elsewhere.
func downTo(root, dir string) []string {
	dirs := []string{root}
	rel, err := filepath.Rel(root, dir)
	if err != nil || dir == "" || rel == "." || !filepath.IsLocal(rel) {
		return dirs
	}
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		dirs = append(dirs, filepath.Join(dirs[len(dirs)-1], name))
	}
	return dirs
}

func (l *loader) environment() error {
	const prefix = "JP_CFG_"
	vars := slices.Clone(l.sources.Environ)
	slices.Sort(vars)
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		o := Origin{Layer: Environment, Name: name}
		path, ok := l.table.fromEnvironment(rest)
		if !ok {
			l.warn(name, "", "no such key")
			continue
		}
		a := environmentAssignment(path, value)
		if err := l.assign(a, o); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) conversation() error {
	l.implicit = part{l.config.all, l.config.own}
	if l.sources.Base == nil && l.sources.Stream == nil {
		return nil
	}
	o := Origin{Layer: Conversation, Foreign: true}
	source := l.origin(o)
	var c settings.Config
	var err error
	if l.sources.Base != nil {
		if c, err = settings.Parse(l.sources.Base, source); err != nil {
			return fmt.Errorf("conversation: %w", err)
		}
	}
	if s := l.sources.Stream; s != nil {
		if c, err = settings.InForce(s, c, s.Len(), source); err != nil {
			return fmt.Errorf("conversation: %w", err)
		}
	}
	l.config.conversation = c
	l.merge(part{all: c})
	return nil
}

func (l *loader) options() error {
	for _, text := range l.sources.Options {
		if err := l.option(text); err != nil {
			return fmt.Errorf("-c %s: %w", text, err)
		}
	}
	return nil
}

func (l *loader) option(text string) error {
	o := Origin{Layer: Option, Name: "-c"}
	switch {
	case text == "NONE":
		l.reset(l.base)
		return nil
	case text == "WORKSPACE":
		l.reset(l.implicit)
		return nil
	case strings.HasPrefix(text, "@"):
		p, err := l.named(text[1:])
		l.enter(p)
		return err
	case strings.HasPrefix(text, "{"):
		p, err := l.parse([]byte(text), o)
		var tree map[string]any
		if err == nil && exact.Unmarshal([]byte(text), &tree) == nil {
			l.judgeTable(o, nil, tree)
		}
		l.merge(p)
		return err
	case strings.Contains(text, "="):
		if err := l.assign(optionAssignment(text), o); err != nil {
			return &config.SettingError{Err: err}
		}
		return nil
	default:
		p, err := l.lookUp(text)
		l.enter(p)
		return err
	}
}

// reset replaces the configuration by p.
func (l *loader) reset(p part) { l.config.all, l.config.own = p.all, p.own }

// enter merges a file that -c names, which may reset the configuration before. A foreign file
// resets only foreign settings.
func (l *loader) enter(p part) {
	if s, ok := p.all.Setting("loader", "reset"); ok {
		to := part{l.config.all, l.config.own}
		switch string(s.Value()) {
		case `"none"`:
			to = l.base
		case `"workspace"`:
			to = l.implicit
		}
		if own, ok := p.own.Setting("loader", "reset"); !ok || !same(own.Value(), s.Value()) {
			to.own = l.config.own
		}
		l.reset(to)
	}
	l.merge(p)
}

// assign applies an assignment.
func (l *loader) assign(a assignment, o Origin) error {
	if slices.Contains(a.path, "") {
		return errNotDotted
	}
	if a.isJSON && strings.TrimSpace(a.text) == "null" {
		return about(a.path, l.take(a))
	}
	if at, ok := l.listOn(a.path); ok {
		return about(a.path, l.element(a, at))
	}
	if a.kind = l.table.known(a.path); a.kind == 0 {
		l.warn(o.At(), strings.Join(a.path, "."), UnknownKey)
	}
	delta, err := a.delta()
	if err != nil {
		return about(a.path, err)
	}
	p, err := l.parse(delta, o)
	l.merge(p)
	return err
}

// about adds the key to an error.
func about(path []string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", strings.Join(path, "."), err)
}

func (l *loader) flags() error {
	for _, name := range slices.Sorted(maps.Keys(l.sources.Flags)) {
		p, err := l.parse(l.sources.Flags[name], Origin{Layer: Flag, Name: name})
		if err != nil {
			return err
		}
		l.merge(p)
	}
	return nil
}

// variable returns the value of a variable of the environment.
func variable(environ []string, name string) (value string) {
	for _, kv := range environ {
		if key, v, _ := strings.Cut(kv, "="); strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}
