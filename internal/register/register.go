package register

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Clone is one whose hooks and drivers are installed or removed.
type Clone struct {
	Repo    *gitint.Repo
	Printer *render.Printer
}

// A Request says what is installed. The zero value is what every clone needs.
type Request struct {
	Chain   bool // blocks are put into hooks that are scripts of the user's
	Drivers bool // only the drivers and the attributes
	Trailer bool // the hook that names conversations in messages too
	DryRun  bool // what would be done is printed
}

// A Record is one step in JSON.
type Record struct {
	Do      string `json:"do"`
	Hook    string `json:"hook"`
	Path    string `json:"path"`
	Reason  string `json:"reason,omitempty"`
	Snippet string `json:"snippet,omitempty"`
	Done    bool   `json:"done"`
}

// An OpenError reports steps that are left to do by hand: without them nothing will run.
type OpenError struct {
	Steps int
	Chain bool // chaining could do it
}

// Error says how many there are.
func (e *OpenError) Error() string { return render.Count(e.Steps, "step") + " left to do by hand" }

// Hints returns what to do.
func (e *OpenError) Hints() []string {
	if e.Chain {
		return []string{"add the lines above to the file, or let 'git jp install --chain' do it"}
	}
	return []string{"do what the lines above say, then run the command again"}
}

// Install installs what is missing. Steps that are left to do by hand are an [OpenError].
func (c Clone) Install(ctx context.Context, q Request) error {
	o, err := c.options(ctx, q)
	if err != nil {
		return err
	}
	plan, err := c.plan(ctx, o)
	if err != nil {
		return err
	}
	if err := c.carryOut(ctx, plan, q.DryRun); err != nil || len(plan.Open()) == 0 {
		return err
	}
	return &OpenError{len(plan.Open()), !q.Chain && c.chainHelps(ctx, plan, o)}
}

// options returns what is installed. A repository without a working tree may be pushed to, whatever
// else it is for.
func (c Clone) options(ctx context.Context, q Request) (install.Options, error) {
	names, err := install.NamesFor(ctx, c.Repo)
	bare := c.Repo.Root() == ""
	switch {
	case q.Drivers:
		names = []string{}
	case bare && len(names) > 1:
		names = append(names, install.ServerNames()...)
	}
	o := install.Options{Drivers: true, Names: names, Workspaces: c.Dirs()}
	if q.Trailer && !q.Drivers && !bare {
		o.Names = append(o.Names, install.TrailerNames()...)
	}
	if q.Chain {
		o.Foreign = install.ForeignChain
	}
	return o, err
}

func (c Clone) plan(ctx context.Context, o install.Options) (*install.Plan, error) {
	in, err := install.New(c.Repo, o)
	if err != nil {
		return nil, err
	}
	return in.Install(ctx)
}

// chainHelps reports whether chaining would leave less to do by hand.
func (c Clone) chainHelps(ctx context.Context, plan *install.Plan, o install.Options) bool {
	o.Foreign = install.ForeignChain
	other, err := c.plan(ctx, o)
	return err == nil && len(other.Open()) < len(plan.Open())
}

// Uninstall removes what was installed.
func (c Clone) Uninstall(ctx context.Context, dryRun bool) error {
	in, err := install.New(c.Repo, install.Options{Workspaces: c.Dirs()})
	if err != nil {
		return err
	}
	plan, err := in.Uninstall(ctx)
	if err != nil {
		return err
	}
	if err := c.carryOut(ctx, plan, dryRun); err != nil || len(plan.Open()) == 0 {
		return err
	}
	return &OpenError{Steps: len(plan.Open())}
}

// Dirs returns the directories .jp of the working tree in which we may write: those that a package
// manager put there are read, and left alone.
func (c Clone) Dirs() []string {
	if c.Repo.Root() == "" {
		return nil
	}
	roots, err := workspace.FindAll(c.Repo.Root())
	if err != nil { // some directories cannot be read: the others are used
		c.Printer.Warn("%v", err)
	}
	var dirs []string
	for _, root := range roots {
		rel := filepath.ToSlash(strings.TrimPrefix(root, c.Repo.Root()))
		if !strings.Contains(rel+"/", "/node_modules/") {
			dirs = append(dirs, filepath.Join(root, workspace.DirName))
		}
	}
	return dirs
}

// carryOut prints a plan and, unless it is a dry run, applies it.
func (c Clone) carryOut(ctx context.Context, plan *install.Plan, dryRun bool) error {
	if !dryRun {
		if err := plan.Apply(ctx); err != nil {
			return err
		}
	}
	for _, action := range plan.Actions {
		if err := c.print(action, !dryRun); err != nil {
			return err
		}
	}
	return nil
}

func (c Clone) print(action install.Action, done bool) error {
	p := c.Printer
	if p.JSON {
		return p.Records(Record{
			Do: string(action.Do), Hook: action.Hook, Path: action.Path, Reason: action.Reason,
			Snippet: action.Snippet, Done: done && action.Changes(),
		})
	}
	if p.Quiet && action.Snippet == "" {
		return nil
	}
	if err := p.Line(action.String()); err != nil || action.Snippet == "" {
		return err
	}
	_, err := fmt.Fprintf(p.Out, "\n%s\n", p.Output.Text(action.Snippet))
	return err
}
