package install

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Repo is the part of *gitint.Repo that an [Installer] needs.
type Repo interface {
	Root() string
	CommonDir() string
	HooksDir(ctx context.Context, settings []gitint.Setting) (dir, scope string, err error)
	Index(ctx context.Context) (*gitint.Index, error)
	LeftOut(
		ctx context.Context, dir string, wanted func(path []byte) bool,
	) (*gitint.LeftOut, error)
	Version(ctx context.Context) (gitint.Version, error)
	ConfigMatching(ctx context.Context, pattern string) (map[string][]gitint.Setting, error)
	SetConfig(ctx context.Context, key, value string) error
	UnsetConfig(ctx context.Context, key string) error
}

var _ Repo = (*gitint.Repo)(nil)

// Foreign says what to do about another shell script in a hook's place.
type Foreign int

const (
	// ForeignReport leaves it alone and says what to add.
	ForeignReport Foreign = iota
	// ForeignChain puts a marked block into it.
	ForeignChain
)

// Options choose what is installed.
type Options struct {
	Names   []string // nil means [DefaultNames]
	Foreign Foreign
	// Drivers registers the merge and diff drivers as well.
	Drivers bool
	// Workspaces are the absolute paths of the directories .jp of the working tree, which get
	// attributes.
	Workspaces []string
}

// An Installer plans changes to the hooks of one repository.
type Installer struct {
	repo  Repo
	opts  Options
	texts texts
}

// New returns an installer for repo.
func New(repo Repo, o Options) (*Installer, error) {
	if o.Names == nil {
		o.Names = DefaultNames()
	}
	for _, name := range o.Names {
		if !Known(name) {
			return nil, fmt.Errorf("install hook %q: it is not one of %s",
				name, strings.Join(AllNames(), ", "))
		}
	}
	return &Installer{repo: repo, opts: o, texts: knownTexts()}, nil
}

// configVersion is the first git that runs hooks that the configuration defines.
func configVersion() gitint.Version { return gitint.Version{Major: 2, Minor: 54} }

// Do is what an [Action] does.
type Do string

// The values of [Do]. Keep, Skip and Manual change nothing.
const (
	Keep   Do = "keep"   // it is as it should be
	Create Do = "create" // write a hook file, or set the configuration
	Update Do = "update" // replace an older text of ours
	Chain  Do = "chain"  // put a block into a user's script
	Remove Do = "remove" // remove a file, a block or a setting of ours
	Skip   Do = "skip"   // leave a user's file alone; Reason says why that is enough
	Manual Do = "manual" // it has to be done by hand; Snippet is the text to add
)

// An Action is one step of a [Plan], for one hook, one driver or one file of attributes.
type Action struct {
	Do      Do
	Hook    string // its name, "hooks" for all; "driver <name>" and "attributes" for the others
	Path    string // file, or key of the configuration
	Reason  string // "" when Do says everything
	Snippet string // text to add by hand, with Manual
}

// Changes reports whether the action changes anything.
func (a Action) Changes() bool {
	return a.Do == Create || a.Do == Update || a.Do == Chain || a.Do == Remove
}

// String returns the action as a line.
func (a Action) String() string {
	s := fmt.Sprintf("%s %s: %s", a.Do, a.Hook, a.Path)
	if a.Reason != "" {
		s += " (" + a.Reason + ")"
	}
	return s
}

// A Plan lists changes that are decided and not yet made. Print Actions, then call [Plan.Apply]
// once.
type Plan struct {
	Actions []Action

	repo   Repo
	steps  []step
	shared bool // core.sharedRepository lets the group write
}

// Empty reports whether applying the plan would change nothing.
func (p *Plan) Empty() bool { return len(p.steps) == 0 }

// Open returns the actions that have to be done by hand.
func (p *Plan) Open() []Action {
	return lists.Filter(p.Actions, func(a Action) bool { return a.Do == Manual })
}

// A step is one change of a plan. Either file or key is set.
type step struct {
	file     string // slash path below the common directory, or below workspace
	old, new string
	absent   bool        // the file does not exist before
	remove   bool        // the file does not exist afterwards
	perm     fs.FileMode // 0 keeps that of the file

	workspace string // a directory .jp, "" for the common directory

	key   string
	value string // "" unsets the key
}

// Install plans an installation. It changes nothing.
func (in *Installer) Install(ctx context.Context) (*Plan, error) {
	useConfig, err := in.runsConfig(ctx)
	if err != nil {
		return nil, err
	}
	all, s, err := in.inspect(ctx)
	if err != nil {
		return nil, err
	}
	p := &Plan{repo: in.repo, shared: all.shared()}
	if err := in.installHooks(p, s, all, useConfig); err != nil {
		return nil, err
	}
	if in.opts.Drivers {
		in.installDrivers(p, all)
	}
	return p, in.installAttributes(ctx, p)
}

// installHooks plans the hooks. If the user has turned hooks off, none are installed, not even in
// the configuration.
func (in *Installer) installHooks(p *Plan, s site, all settings, useConfig bool) error {
	if s.off != "" && len(in.opts.Names) > 0 {
		p.add(Action{Do: Skip, Hook: "hooks", Path: s.dir, Reason: "hooks are off: " + s.off})
		return nil
	}
	for _, name := range in.opts.Names {
		f, err := in.look(s, name)
		if err != nil {
			return err
		}
		c := in.config(all, name)
		if useConfig {
			in.installConfig(p, f, c)
			for _, key := range c.others {
				p.add(Action{Do: Skip, Hook: name, Path: key, Reason: "git runs it beside ours"})
			}
		} else {
			in.installInstead(p, f, c)
		}
	}
	return nil
}

// runsConfig reports whether the installed git runs hooks that the configuration defines.
func (in *Installer) runsConfig(ctx context.Context) (bool, error) {
	v, err := in.repo.Version(ctx)
	if err != nil {
		return false, fmt.Errorf("inspect hooks: %w", err)
	}
	return v.AtLeast(configVersion()), nil
}

// installConfig plans a hook in the configuration, and a file beside it for an older git that uses
// the repository too, in an editor or a container. That file does nothing if git runs the hook of
// the configuration; any other file of ours would run as well, so it is removed.
func (in *Installer) installConfig(p *Plan, f found, c configured) {
	key := commandKey(f.name)
	switch {
	case c.changed != "":
		p.manual(f.name, key, "its value is not ours: "+c.changed, in.texts.commands[0](f.name))
		return
	case c.by != "":
		in.removeConfig(p, f.name, c) // it would run twice
		if f.kind == kindOurs || f.kind == kindChained {
			in.removeFile(p, f)
		}
		p.add(Action{Do: Skip, Hook: f.name, Path: c.by, Reason: "it calls the hook already"})
		return
	case c.off != "":
		p.add(Action{Do: Skip, Hook: f.name, Path: c.off, Reason: "it is turned off"})
		return
	case f.kind == kindByHand || f.kind == kindLegacy && !f.beside:
		in.removeConfig(p, f.name, c) // it would run twice
		p.add(Action{Do: Skip, Hook: f.name, Path: f.by, Reason: "it calls the hook already"})
		return
	case c.set && c.version == 0 && in.fitsBeside(f):
		p.add(Action{Do: Keep, Hook: f.name, Path: key})
		return
	case c.set && c.version == 0 && f.kind != kindChained:
		p.add(in.besideAction(f), in.beside(f)...)
		return
	case c.set && c.version == 0:
		p.add(Action{Do: Keep, Hook: f.name, Path: key})
	default:
		do := Create
		if c.set {
			do = Update
		}
		p.add(Action{Do: do, Hook: f.name, Path: key},
			// Git dies of an event without a command, so the command comes first.
			step{key: key, value: in.texts.commands[0](f.name)},
			step{key: eventKey(f.name), value: f.name})
	}
	if f.kind == kindChained {
		in.removeFile(p, f)
	}
	p.steps = append(p.steps, in.beside(f)...)
}

// fitsBeside reports whether the file at the hook's place is right beside a hook of the
// configuration.
func (in *Installer) fitsBeside(f found) bool {
	return f.kind != kindChained && len(in.beside(f)) == 0
}

// besideAction returns the action for the file when the configuration is as it should be.
func (in *Installer) besideAction(f found) Action {
	a := Action{Do: Update, Hook: f.name, Path: filepath.Join(f.site.dir, f.name)}
	if f.kind == kindAbsent {
		a.Do, a.Reason = Create, "for a git that runs no hooks of the configuration"
	}
	return a
}

// beside plans the file for an older git. There is none if the user has a hook, or if git looks for
// hooks outside the repository.
func (in *Installer) beside(f found) []step {
	text := in.texts.besides[0](f.name)
	switch {
	case f.site.rel == "", f.kind != kindAbsent && f.kind != kindOurs:
		return nil
	case f.kind == kindOurs && f.text == text && f.executable():
		return nil
	case f.kind == kindOurs:
		return []step{in.write(f, text, f.perm|0o111)}
	default:
		return []step{in.write(f, text, scriptPerm)}
	}
}

// installInstead plans a hook file, which every git runs, instead of a hook of the configuration.
// The latter stays for a newer git while a person has to do something before the file calls ours.
func (in *Installer) installInstead(p *Plan, f found, c configured) {
	file := &Plan{}
	in.installFile(file, f)
	if len(file.Open()) == 0 {
		in.removeConfig(p, f.name, c) // it would run twice
	}
	p.Actions = append(p.Actions, file.Actions...)
	p.steps = append(p.steps, file.steps...)
}

// installFile plans a hook file.
func (in *Installer) installFile(p *Plan, f found) {
	a := Action{Hook: f.name, Path: filepath.Join(f.site.dir, f.name)}
	block := in.texts.blocks[0](f.name)
	switch outside := f.site.rel == ""; {
	case f.kind == kindByHand, f.kind == kindLegacy:
		a.Do, a.Path, a.Reason = Keep, f.by, "it calls the hook"
		p.add(a)
	case f.kind == kindManaged && f.room != "" && !outside && in.opts.Foreign == ForeignChain:
		a.Do, a.Reason = Chain, f.manager.name+" runs it before its own hooks"
		a.Path = filepath.Join(f.site.dir, f.room)
		p.add(a, step{
			file: f.site.rel + "/" + f.room, new: in.texts.scripts[0](f.name), absent: true,
			perm: scriptPerm,
		})
	case f.kind == kindManaged:
		reason := cmp.Or(f.detail, f.managed())
		p.manual(a.Hook, a.Path, reason, f.manager.snippet(f.name))
	case f.kind == kindOurs && f.version == 0 && !f.beside && f.executable(),
		f.kind == kindChained && f.version == 0 && f.executable():
		a.Do = Keep
		p.add(a)
	case f.kind == kindInert && (f.by != "" || f.isManaged()):
		p.manual(a.Hook, a.Path, f.reason(), "")
	case outside:
		p.manual(a.Hook, a.Path, f.site.where, call(f.name))
	case f.kind == kindAbsent:
		a.Do, a.Reason = Create, f.site.where
		p.add(a, in.write(f, in.texts.scripts[0](f.name), scriptPerm))
	case f.kind == kindOurs:
		a.Do = Update
		p.add(a, in.write(f, in.texts.scripts[0](f.name), f.perm|0o111))
	case f.kind == kindChained && f.version > 0:
		rest, _ := unchain(f.text, f.name, in.texts.blocks)
		in.chainInto(p, f, rest, Action{Do: Update, Hook: a.Hook, Path: a.Path})
	case f.kind == kindShell && in.opts.Foreign == ForeignChain:
		a.Do, a.Reason = Chain, "behind the first line of the script that is there"
		in.chainInto(p, f, f.text, a)
	case f.kind == kindOpaque:
		// The lines are no part of another language, and a link may be that of other hooks too.
		p.manual(a.Hook, a.Path, f.reason()+": put a shell script in its place that runs it "+
			"and these lines", block)
	default:
		p.manual(a.Hook, a.Path, f.reason(), block)
	}
}

// scriptPerm is the mode of a new hook file, before the umask.
const scriptPerm = 0o777

// chainInto plans to put the newest block into text, a script without a block.
func (in *Installer) chainInto(p *Plan, f found, text string, a Action) {
	chained, ok := chain(text, in.texts.blocks[0](f.name))
	if !ok {
		p.manual(a.Hook, a.Path, f.reason(), in.texts.blocks[0](f.name))
		return
	}
	p.add(a, in.write(f, chained, 0))
}

// reason says why another file is left alone.
func (f *found) reason() string {
	switch {
	case f.kind == kindUnproved:
		return "the block of git jp in it was changed"
	case f.kind == kindInert, f.kind == kindChained && !f.executable():
		return "there is a file that git does not run, as it is not executable"
	case f.detail != "":
		return "there is " + f.detail
	default:
		return "a hook that git jp did not install is there"
	}
}

func (in *Installer) write(f found, text string, perm fs.FileMode) step {
	return step{
		file: f.site.rel + "/" + f.name, old: f.text, new: text,
		absent: f.kind == kindAbsent, perm: perm,
	}
}

func (p *Plan) add(a Action, steps ...step) {
	p.Actions = append(p.Actions, a)
	p.steps = append(p.steps, steps...)
}

func (p *Plan) manual(hook, path, reason, snippet string) {
	p.add(Action{Do: Manual, Hook: hook, Path: path, Reason: reason, Snippet: snippet})
}
