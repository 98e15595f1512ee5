package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

const (
	// maxSought is how many contents are searched for in history: their paths are
	// arguments of git, which are limited.
	maxSought = 1000
	// searchTime bounds the search of a long history: a hint is not worth more.
	searchTime = 3 * time.Second
)

// An adviser finds out where content that a check did not find is to be had, so that
// the hint is a command that brings it back.
type adviser struct {
	repo   *gitint.Repo
	atRoot bool // the user stands at the root of the work tree
	index  *gitint.Index
	head   *gitint.Tree // nil without a commit
	log    map[string]gitint.OID
}

// A remedy is a way to get content back: a command without the paths it is for.
type remedy struct {
	found   string // where the content is, for a sentence
	command string
	several string // the command for a whole directory, where that is another one
}

// advise changes what findings say of content that is not there to where it is and
// what brings it back. It never fails: what it cannot find out stays as it was.
func (a *app) advise(ctx context.Context, repo *gitint.Repo, findings []check.Finding) {
	a.adviseRepair(ctx, repo, findings)
	a.adviseMerge(ctx, repo, findings)
	a.adviseForeign(ctx, repo, findings)
	if !slices.ContainsFunc(findings, isAboutContent) {
		return
	}
	ad := &adviser{repo: repo, atRoot: a.atRoot(repo)}
	ad.look(ctx, findings)
	ad.apply(ctx, findings)
}

// adviseRepair names the command for what is wrong with files of the work tree, which alone
// it repairs: it knows which version is certain, and where others are. What is damaged in the
// index too has to be repaired before it can be staged.
func (a *app) adviseRepair(
	ctx context.Context, repo *gitint.Repo, findings []check.Finding,
) {
	for i, f := range findings {
		repairable := f.State == check.DuplicateID || f.State == check.Malformed
		switch {
		case f.State == check.Malformed && f.Commit == check.WorkTreeName &&
			isUnmerged(ctx, repo, f.Path):
			findings[i].Next = check.Resolve(f.Conversation)
		case repairable && f.Commit == check.WorkTreeName:
			findings[i].Next = a.repairCommand(repo, f.Path)
		case f.State == check.Malformed && f.Commit == check.IndexName && repo.Root() != "":
			findings[i].Next = a.repairCommand(repo, f.Path)
			file := filepath.Join(repo.Root(), filepath.FromSlash(f.Path))
			data, err := regular.ReadFile(file, repo.Limits().Of(f.Path))
			if err == nil && repair.Loads(path.Base(f.Path), data) {
				findings[i].Next = "git jp stage " + f.Conversation
			}
		case f.State == check.Malformed && a.isHere(ctx, repo, f):
			findings[i].Next = a.repairCommand(repo, f.Path)
		}
	}
}

// isUnmerged reports whether git left a file for a person to merge.
func isUnmerged(ctx context.Context, repo *gitint.Repo, name string) bool {
	index, err := repo.Index(ctx)
	return err == nil && slices.Contains(index.Conflicts(), name)
}

// isHere reports whether the working tree has the very file of a commit: what repairs the one
// is then to be committed on top of the other.
func (a *app) isHere(ctx context.Context, repo *gitint.Repo, f check.Finding) bool {
	if repo.Root() == "" {
		return false
	}
	file := filepath.Join(repo.Root(), filepath.FromSlash(f.Path))
	data, err := regular.ReadFile(file, repo.Limits().Of(f.Path))
	if err != nil {
		return false
	}
	tree, err := repo.Tree(ctx, f.Commit)
	if err != nil {
		return false
	}
	id, ok := tree.OID(f.Path)
	return ok && id == repo.HashBlob(data)
}

// repairCommand is the command that repairs the workspace of a path, which need not be the one
// that the user stands in.
func (a *app) repairCommand(repo *gitint.Repo, name string) string {
	dir, ok := workspace.PathDir(name)
	near, err := workspace.Find(a.directory())
	if !ok || repo.Root() == "" {
		return repairHere
	}
	root := filepath.Join(repo.Root(), filepath.FromSlash(path.Dir(dir)))
	if err == nil && sameFile(near, root) {
		return repairHere
	}
	rel, err := filepath.Rel(a.directory(), root)
	if err != nil {
		rel = root
	}
	return "git -C " + check.ShellQuote(filepath.ToSlash(rel)) + " jp repair"
}

func isAboutContent(f check.Finding) bool {
	_, ok := blobPath(f)
	return ok
}

// atRoot reports whether paths from the root mean the same where the user stands.
func (a *app) atRoot(repo *gitint.Repo) bool {
	return a.getenv("GIT_PREFIX") == "" && (repo.Root() == "" || a.dir == repo.Root())
}

// blobPath returns the path of the blob that a finding misses.
func blobPath(f check.Finding) (string, bool) {
	switch f.State {
	case check.Missing, check.Corrupt, check.Unreadable:
	default:
		return "", false
	}
	dir, ok := workspace.PathDir(f.Path)
	return workspace.BlobPath(dir, f.Hash), ok && !f.Hash.IsZero()
}

// look reads where content may be. What cannot be read has none.
func (ad *adviser) look(ctx context.Context, findings []check.Finding) {
	ad.index, _ = ad.repo.Index(ctx)
	ad.head, _ = ad.repo.Tree(ctx, "HEAD")
	var names []string
	for _, f := range findings {
		if name, ok := blobPath(f); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	names = names[:min(len(names), maxSought)]
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	ad.log, _ = ad.repo.LastWith(ctx, names...)
}

// apply gives each finding its remedy. Contents with the same one are brought back
// together, for their directory as a whole.
func (ad *adviser) apply(ctx context.Context, findings []check.Finding) {
	type group struct{ command, dir string }
	remedies := make([]remedy, len(findings))
	names := make(map[group]map[string]bool)
	for i, f := range findings {
		name, ok := blobPath(f)
		if !ok {
			continue
		}
		r := ad.remedy(ctx, f, name)
		remedies[i] = r
		g := group{r.command, path.Dir(f.Path)}
		if names[g] == nil {
			names[g] = make(map[string]bool)
		}
		names[g][name] = true
	}
	for i := range findings {
		f, r := &findings[i], remedies[i]
		if r.command == "" {
			continue
		}
		if f.State == check.Missing {
			f.Detail = "is in " + r.found + " and not in " + whereOf(*f)
		}
		name, _ := blobPath(*f)
		f.Next = ad.next(r, name, len(names[group{r.command, path.Dir(f.Path)}]))
	}
}

func whereOf(f check.Finding) string {
	if f.Commit == check.IndexName || f.Commit == check.WorkTreeName {
		return "the " + f.Commit
	}
	return "the commit"
}

// remedy returns how to get a blob, the zero remedy where nobody knows.
func (ad *adviser) remedy(ctx context.Context, f check.Finding, name string) remedy {
	ref := blobs.Ref{Hash: f.Hash, Size: f.Size}
	if f.Commit != check.WorkTreeName && ad.inWorkTree(name, ref) {
		return remedy{found: "the work tree", command: ad.stageCommand(f)}
	}
	if f.Commit == check.WorkTreeName && ad.index != nil {
		if id, ok := ad.index.OID(name); ok && ad.sound(ctx, id, ref) {
			return remedy{
				found: "the index", command: "git restore", several: "git restore --overlay",
			}
		}
	}
	if ad.head != nil {
		if id, ok := ad.head.OID(name); ok && ad.sound(ctx, id, ref) {
			return fromRevision("HEAD", "HEAD")
		}
	}
	if commit, ok := ad.log[name]; ok {
		if id, ok := ad.inCommit(ctx, commit, name); ok && ad.sound(ctx, id, ref) {
			short := commit.String()[:12]
			return fromRevision(short, "commit "+short)
		}
	}
	return remedy{}
}

// fromRevision restores content from a revision. Without --overlay git would delete
// what a directory of the revision does not have.
func fromRevision(rev, found string) remedy {
	args := " --staged --worktree --source=" + rev
	return remedy{
		found: found, command: "git restore" + args, several: "git restore --overlay" + args,
	}
}

// stageCommand stages the conversation if the work tree has it, and else the blob.
func (ad *adviser) stageCommand(f check.Finding) string {
	if _, err := os.Stat(filepath.Join(ad.repo.Root(), filepath.FromSlash(f.Path))); err != nil {
		return "git add --force"
	}
	return "git jp stage " + f.Conversation
}

// next completes the command of a remedy for one path, or for the store of several.
func (ad *adviser) next(r remedy, name string, paths int) string {
	if strings.HasPrefix(r.command, "git jp stage ") {
		return r.command
	}
	command := r.command
	if paths > 1 {
		dir, _ := workspace.PathDir(name)
		command, name = cmp.Or(r.several, command), path.Join(dir, blobs.Dir)
	}
	if !ad.atRoot {
		name = ":/" + name
	}
	return fmt.Sprintf("%s -- %s", command, check.ShellQuote(name))
}

func (ad *adviser) inWorkTree(name string, ref blobs.Ref) bool {
	if ad.repo.Root() == "" {
		return false
	}
	dir, _ := workspace.PathDir(name)
	store, err := blobs.Open(
		filepath.Join(ad.repo.Root(), filepath.FromSlash(dir), blobs.Dir), blobs.Options{})
	if err != nil {
		return false
	}
	err = store.Verify(ref)
	return store.Close() == nil && err == nil
}

func (ad *adviser) inCommit(
	ctx context.Context, commit gitint.OID, name string,
) (gitint.OID, bool) {
	tree, err := ad.repo.Tree(ctx, commit.String())
	if err != nil {
		return gitint.OID{}, false
	}
	return tree.OID(name)
}

// sound reports whether an object has the content.
func (ad *adviser) sound(ctx context.Context, id gitint.OID, ref blobs.Ref) bool {
	const overhead = 1 << 16 // of what gzip cannot make smaller
	data, err := ad.repo.ReadObject(ctx, id, ref.Size+ref.Size/64+overhead)
	return err == nil && blobs.Verify(data, ref, ref.Size) == nil
}
