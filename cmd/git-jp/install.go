package main

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

type installCmd struct {
	Chain   bool `help:"Put a marked block into hooks that are shell scripts of your own."`
	Drivers bool `help:"Only the drivers and the attributes, as for CI."`
	Trailer bool `help:"Also name the conversations that a commit changes in its message."`
	DryRun  bool `short:"n" help:"Print what would be done."`
}

// Help says what is installed and what is never touched.
func (installCmd) Help() string {
	return `Registers this clone: the drivers by which git merges conversations and shows them in
diffs, the attributes that name them, and the hooks. pre-commit stages the content that staged
conversations need and stops a commit that would dangle, post-commit completes partial commits,
pre-push checks what is about to leave, and the hooks of merges look after what git merged on
its own. A bare repository gets pre-receive instead.

.jp/.gitattributes is to be committed: with it a clone without these drivers stops at a merge
instead of blending lines. Files of others are left alone; where a hook is in the way, the line
to add to it is printed, and --chain puts it there. 'git jp uninstall' leaves the repository as
it was.`
}

// actionRecord is one step of `install --json` and `uninstall --json`.
type actionRecord struct {
	Do      string `json:"do"`
	Hook    string `json:"hook"`
	Path    string `json:"path"`
	Reason  string `json:"reason,omitempty"`
	Snippet string `json:"snippet,omitempty"`
	Done    bool   `json:"done"`
}

// Run installs the hooks.
func (c installCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	o := installed(a, repo, c.Drivers)
	if c.Trailer && !c.Drivers && repo.Root() != "" {
		o.Names = append(o.Names, install.TrailerNames()...)
	}
	if c.Chain {
		o.Foreign = install.ForeignChain
	}
	return installAll(ctx, a, o, c.DryRun)
}

// installed says what is installed: a repository without a working tree is one that is pushed to.
func installed(a *app, repo *gitint.Repo, driversOnly bool) install.Options {
	o := install.Options{
		Drivers: true, Names: install.DefaultNames(), Workspaces: jpDirs(a, repo),
	}
	switch {
	case driversOnly:
		o.Names = []string{}
	case repo.Root() == "":
		o.Names = install.ServerNames()
	}
	return o
}

// installAll installs what is not there yet. What is left for a person to do is an error.
func installAll(ctx context.Context, a *app, o install.Options, dryRun bool) error {
	in, err := installer(ctx, a, o)
	if err != nil {
		return err
	}
	plan, err := in.Install(ctx)
	if err != nil {
		return err
	}
	if err := carryOut(ctx, a, plan, dryRun); err != nil || len(plan.Open()) == 0 {
		return err
	}
	chains := o.Foreign == install.ForeignChain
	return &openError{steps: plan.Open(), chain: !chains && chainHelps(ctx, a, plan, o)}
}

// jpDirs returns the directories .jp of the working tree in which we may write: what a package
// manager has put there is read, and left as it is.
func jpDirs(a *app, repo *gitint.Repo) []string {
	if repo.Root() == "" {
		return nil
	}
	roots, err := workspace.FindAll(repo.Root())
	if err != nil { // some directories cannot be read: the others are served
		a.warn("%v", err)
	}
	var dirs []string
	for _, root := range roots {
		rel := filepath.ToSlash(strings.TrimPrefix(root, repo.Root()))
		if !strings.Contains(rel+"/", "/node_modules/") {
			dirs = append(dirs, filepath.Join(root, workspace.DirName))
		}
	}
	return dirs
}

// chainHelps reports whether --chain would leave less to do by hand.
func chainHelps(ctx context.Context, a *app, plan *install.Plan, o install.Options) bool {
	o.Foreign = install.ForeignChain
	in, err := installer(ctx, a, o)
	if err != nil {
		return false
	}
	other, err := in.Install(ctx)
	return err == nil && len(other.Open()) < len(plan.Open())
}

// An openError says that steps are left for a person: without them nothing will run.
type openError struct {
	steps []install.Action
	chain bool // --chain could do it
}

func (e *openError) Error() string {
	return render.Count(len(e.steps), "step") + " left to do by hand"
}

// Hints say what to do.
func (e *openError) Hints() []string {
	if e.chain {
		return []string{"add the lines above to the file, or let 'git jp install --chain' do it"}
	}
	return []string{"do what the lines above say, then run the command again"}
}

type uninstallCmd struct {
	DryRun bool `short:"n" help:"Print what would be done."`
}

// Run takes the hooks and drivers out again.
func (c uninstallCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	in, err := installer(ctx, a, install.Options{Workspaces: jpDirs(a, repo)})
	if err != nil {
		return err
	}
	plan, err := in.Uninstall(ctx)
	if err != nil {
		return err
	}
	if err := carryOut(ctx, a, plan, c.DryRun); err != nil || len(plan.Open()) == 0 {
		return err
	}
	return &openError{steps: plan.Open()}
}

func installer(ctx context.Context, a *app, o install.Options) (*install.Installer, error) {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, err
	}
	return install.New(repo, o)
}

// carryOut prints a plan and, unless it is only to be shown, does it.
func carryOut(ctx context.Context, a *app, plan *install.Plan, dryRun bool) error {
	if !dryRun {
		if err := plan.Apply(ctx); err != nil {
			return err
		}
	}
	for _, action := range plan.Actions {
		if err := printAction(a, action, !dryRun); err != nil {
			return err
		}
	}
	return nil
}

func printAction(a *app, action install.Action, done bool) error {
	if a.JSON {
		return a.printJSON(actionRecord{
			Do: string(action.Do), Hook: action.Hook, Path: action.Path, Reason: action.Reason,
			Snippet: action.Snippet, Done: done && action.Changes(),
		})
	}
	if a.Quiet && action.Snippet == "" {
		return nil
	}
	out := a.output()
	if _, err := fmt.Fprintln(a.stdout, out.Line(action.String())); err != nil {
		return err
	}
	if action.Snippet == "" {
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "\n%s\n", out.Text(action.Snippet))
	return err
}
