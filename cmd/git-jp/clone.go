package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/register"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

type cloneCmd struct {
	URL       string `arg:"" help:"The repository, as git clone takes it."`
	Directory string `arg:"" optional:"" help:"Where; a directory of the repository's name by default."`
	Branch    string `short:"b" placeholder:"NAME" help:"Check out this branch."`
	Depth     *int   `placeholder:"N" help:"Fetch the last N commits only."`
}

// Help says what is left out.
func (cloneCmd) Help() string {
	return `Clones a repository with its conversations and without the blobs that they refer to,
and installs hooks and drivers as 'git jp install' does. Blobs are fetched when a command shows
them, all that it needs in one request, and stay out of the working tree. --offline fetches
nothing.

'git jp config set storage.checkout full' fetches the blobs of the working tree and makes it an
ordinary clone, 'lazy' makes this of one. docs/scale.md says which is for whom.`
}

// Run clones.
func (c cloneCmd) Run(ctx context.Context, a *app) error {
	if c.Depth != nil && *c.Depth < 1 {
		return usagef("--depth %d: expected a positive number", *c.Depth)
	}
	dir, err := c.target(a)
	if err != nil {
		return err
	}
	log, err := openTrace(a)
	if err != nil {
		return err
	}
	request := gitint.CloneRequest{
		URL: c.URL, Dir: dir, Branch: c.Branch, Depth: *cmp.Or(c.Depth, new(int)),
		Pattern: stage.LeftOut,
	}
	if out, ok := unwrapped(a.stderr).(*os.File); ok && a.stderrTerminal && !a.Quiet {
		request.Terminal = out
	}
	repo, err := gitint.Clone(ctx, gitint.Options{
		Dir: a.directory(), Env: a.env, Trace: log, Now: a.now, LockTimeout: indexLockWait,
		Limits: a.limits(),
	}, request)
	if repo != nil {
		a.openRepo = repo
		a.closers = append(a.closers, repo.Close)
	}
	if err != nil {
		return err
	}
	whole, err := hasContent(ctx, repo)
	if err != nil {
		return err
	}
	if whole {
		a.note("cloned into %s", a.short(dir))
		a.warn("%s sent all content, and only the working tree is without blobs: "+
			"it has to allow filters ('git config uploadpack.allowFilter true'), and "+
			"a path has to begin with file://", c.URL)
	} else {
		a.note("cloned into %s, without blobs", a.short(dir))
	}
	return installed(ctx, a, repo, register.Request{})
}

// hasContent reports whether a clone has the content of a blob that it left out of the working
// tree: then the remote ignored the filter, with a warning of git's that is not shown, and sent
// everything.
func hasContent(ctx context.Context, repo *gitint.Repo) (bool, error) {
	var found string
	index, err := repo.IndexWhere(ctx, func(path []byte, _ gitint.Mark) bool {
		if found == "" && bytes.Contains(path, []byte(workspace.DirName+"/"+blobs.Dir+"/")) {
			found = string(path)
		}
		return string(path) == found
	})
	if err != nil || found == "" {
		return false, err
	}
	id, _ := index.OID(found)
	missing, err := repo.HasObject(ctx, []gitint.OID{id})
	return len(missing) == 0, err
}

// target returns the directory of the clone: the one that git would choose.
func (c cloneCmd) target(a *app) (string, error) {
	name := c.Directory
	if name == "" {
		url := strings.TrimSuffix(strings.TrimRight(c.URL, "/"), "/.git")
		name = strings.TrimSuffix(path.Base(url), ".git")
		name = name[strings.LastIndex(name, ":")+1:]
	}
	if name == "" || name == "." || name == ".." {
		return "", usagef("clone %s: name a directory", c.URL)
	}
	dir := a.path(name)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return "", fmt.Errorf("clone into %s: it exists and is not empty", a.short(dir))
	}
	return dir, nil
}
