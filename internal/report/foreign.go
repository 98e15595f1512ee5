package report

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// foreign names the command that removes files that do not belong in a workspace. None of these
// commands loses what no commit has: git removes a file whose version HEAD has, untracks one that
// HEAD has in another version, and untracked files are moved out of the workspace.
// A file that belongs there, such as rules that cannot be parsed, has its next step already.
func (ad Adviser) foreign(ctx context.Context, findings []check.Finding) {
	var known *gitState
	for i, f := range findings {
		if f.State != check.Foreign || f.Next != "" || ad.Repo.Root() == "" {
			continue
		}
		if known == nil {
			known = newGitState(ctx, ad.Repo)
		}
		name := check.PathspecAt(ad.AtRoot, f.Path)
		switch staged, changed := below(known.staged, f.Path), below(known.changed, f.Path); {
		case path.Base(f.Path) == ".git": // where it would be moved to has another one
			findings[i].Next = nestedHint
		case !known.tracks(f.Path):
			findings[i].Next = ad.moveOut(f.Path)
		case f.Commit == check.WorkTreeName && known.displaced(ad.Repo.Root(), f.Path):
			findings[i].Next = ad.moveOut(f.Path)
			if !ad.leavesOut(ctx, f.Path) {
				findings[i].Next += " && git restore -- " + name
			}
		case staged && changed:
			findings[i].Next = "git rm -r -f --cached -- " + name
		case staged || changed:
			findings[i].Next = "git rm -r --cached -- " + name
		case mayBeLater(f.Path):
			findings[i].Next = check.Origin(f.Path)
		default:
			findings[i].Next = "git rm -r -- " + name
		}
	}
}

// leavesOut reports whether the working tree leaves a path out, so that git restores nothing there.
func (ad Adviser) leavesOut(ctx context.Context, name string) bool {
	lazy, err := ad.Repo.Lazy(ctx)
	dir, ok := workspace.PathDir(name)
	return err == nil && lazy && ok && strings.HasPrefix(name+"/", dir+"/"+blobs.Dir+"/")
}

// mayBeLater reports whether a later version may have written a file that this one does not know:
// a kind of content, or an entry about secrets.
func mayBeLater(name string) bool {
	dir, ok := workspace.PathDir(name)
	below := strings.TrimPrefix(name, dir+"/")
	return ok && (strings.HasPrefix(below, "blobs/") || strings.HasPrefix(below, "secrets/"))
}

// moveOut returns "" for a file that is not in the working tree.
func (ad Adviser) moveOut(name string) string {
	dir, ok := workspace.PathDir(name)
	file := filepath.Join(ad.Repo.Root(), filepath.FromSlash(name))
	if _, err := os.Lstat(file); err != nil || !ok {
		return ""
	}
	outside := filepath.Join(ad.Repo.Root(), filepath.FromSlash(path.Dir(dir)))
	return "mv -i -- " + check.ShellQuote(ad.fromHere(file)) + " " +
		check.ShellQuote(ad.fromHere(outside))
}

// A gitState is what git tracks, and what differs from it. Anything unreadable counts as unknown.
type gitState struct {
	index           *gitint.Index
	staged, changed []string // from HEAD to the index, from there to the working tree
}

func newGitState(ctx context.Context, repo *gitint.Repo) *gitState {
	s := new(gitState)
	s.index, _ = repo.Index(ctx)
	staged, _ := repo.StagedPaths(ctx)
	s.staged = lists.Map(staged, func(p gitint.StagedPath) string { return p.Path })
	changed, _ := repo.WorkChanges(ctx)
	for _, p := range changed {
		if p.State != gitint.Untracked && p.State != gitint.IgnoredNew {
			s.changed = append(s.changed, p.Path)
		}
	}
	return s
}

// tracks reports whether git has a file, or something in a directory.
func (s *gitState) tracks(name string) bool {
	if s.index == nil {
		return false
	}
	if _, ok := s.index.OID(name); ok {
		return true
	}
	entries, err := s.index.Entries(name)
	return err == nil && len(entries) > 0
}

// displaced reports whether a file is in the place of a directory that git tracks: removing the
// directory from the index would remove what is missing.
func (s *gitState) displaced(root, name string) bool {
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
	_, is := s.index.OID(name)
	return err == nil && !info.IsDir() && !is
}

// below reports whether one of the names is name, or is below it as a directory.
func below(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == name || strings.HasPrefix(n, name+"/")
	})
}
