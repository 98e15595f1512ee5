package hooks

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A served hook knows the settings of each workspace of its repository. A repository has several if
// directories below its root have their own.
type served struct {
	stage.Hook
	// settings returns the settings of a workspace, by its directory .jp. They are read only when a
	// path in it is concerned: a commit without conversations reads none.
	settings func(dir string) config.Settings
}

func (r *run) hook(ctx context.Context) (served, error) {
	repo, err := r.Open(ctx)
	if err != nil {
		return served{}, err
	}
	if repo.Root() != "" && putsBack(r.name) {
		if root, err := workspace.Find(repo.Root()); err == nil {
			r.PutBack(ctx, root, repo)
		}
	}
	h := served{settings: r.Settings(repo)}
	h.Hook = stage.Hook{
		Repo: repo, Cache: r.Cache(repo), Amends: amends,
		Secrets:  func() leaks.Options { return r.Secrets(repo) },
		TreeMade: r.name == "pre-merge-commit",
	}
	h.Rules = func(dir string) stage.Rules {
		s := h.settings(dir)
		return stage.Rules{
			MaxBlobBytes: s.Storage.MaxBlobBytes, CheckOnly: !s.Hooks.Stage, Strict: s.Hooks.Strict,
		}
	}
	return h, nil
}

// of returns the settings that hold for a file.
func (h served) of(name string) config.Settings {
	dir, _ := workspace.PathDir(name + "/")
	return h.settings(dir)
}

// changes reports whether hooks may change what is staged of a file's workspace.
func (h served) changes(name string) bool { return h.of(name).Hooks.Stage }

// restores reports whether hooks restore content that a file's workspace lost.
func (h served) restores(name string) bool { return h.changes(name) && h.of(name).Hooks.Restore }

// checked leaves out the findings of workspaces that turned the check off.
func (h served) checked(findings []check.Finding) []check.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f check.Finding) bool {
		return h.of(f.Path).Hooks.Check == "off"
	})
}

// stops reports whether a finding stops git in its workspace.
func (h served) stops(f check.Finding) bool { return h.of(f.Path).Hooks.Check == "error" }

// replaceable returns the files that hooks may merge again.
func (h served) replaceable(files []merge.MergedFile) []merge.MergedFile {
	return slices.DeleteFunc(slices.Clone(files), func(b merge.MergedFile) bool {
		return !h.changes(b.Path) || h.of(b.Path).Merge.Blended == "refuse"
	})
}

// refused returns the findings about files that their workspace wants refused.
func (h served) refused(findings []check.Finding) []check.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f check.Finding) bool {
		return f.Severity == check.Warning || h.of(f.Path).Merge.Blended != "refuse"
	})
}

// isProblem reports whether a finding stops a push; warnings do if the workspace says so.
func (h served) isProblem(f check.Finding) bool {
	return f.Severity == check.Error ||
		f.Severity == check.Warning && h.of(f.Path).Hooks.Strict
}
