package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	// maxSought is how many blobs are searched for in history: their paths are arguments of git,
	// which are limited.
	maxSought = 1000
	// searchTime bounds the search of a long history: a hint is not worth more.
	searchTime = 3 * time.Second
)

// An Adviser knows the user's directory, for commands that work there.
type Adviser struct {
	Repo *gitint.Repo
	// Dir is the absolute directory in which commands are run.
	Dir string
	// AtRoot says that a path from the root of the repository means the same in Dir.
	AtRoot bool
	// Open opens the workspace whose .jp is in root. It may be nil.
	Open func(root string) (*workspace.Workspace, error)
}

// A lookout finds out where missing content exists, so that the hint is a command that brings it
// back.
type lookout struct {
	repo   *gitint.Repo
	root   string // of the working tree, from where commands are run
	atRoot bool
	lazy   bool // it leaves blobs out of its working tree on purpose
	index  *gitint.Index
	head   *gitint.Tree // nil without a commit
	log    map[string]gitint.OID
	onto   map[string]string // what joins a commit with later ones, "" without such a command
	// redacted has the indexes of findings about content that was redacted.
	redacted map[int]bool
}

// A remedy is a way to get content back: a command without the paths it is for.
type remedy struct {
	found   string // where the content is, for a sentence
	command string
	several string // the command for a whole directory, if it is a different one
	noPaths bool   // the command is complete
}

// Advise adds to findings of missing content where the content is and what restores it. It never
// fails: what it cannot find out it leaves unchanged.
func (ad Adviser) Advise(ctx context.Context, findings []check.Finding) {
	ad.repair(ctx, findings)
	ad.merge(ctx, findings)
	ad.foreign(ctx, findings)
	ad.restore(findings)
	if !slices.ContainsFunc(findings, isAboutContent) {
		return
	}
	l := &lookout{
		repo: ad.Repo, root: ad.fromHere(ad.Repo.Root()), atRoot: ad.AtRoot,
		onto: map[string]string{},
	}
	l.look(ctx, findings)
	l.redacted = ad.redacted(ctx, findings)
	l.apply(ctx, findings)
	for i, f := range findings {
		if f.Commit == check.WorkTreeName && f.Next == check.AskAuthor(f.Conversation) {
			findings[i].Next = ad.repairCommand(f.Path) // it looks in reflogs and quarantines too
		}
	}
}

// repair names the command for damaged files of the working tree, the only ones that it repairs:
// the command knows which version is certain, and where others are. A file that is damaged in the
// index too has to be repaired before it can be staged.
func (ad Adviser) repair(
	ctx context.Context, findings []check.Finding,
) {
	for i, f := range findings {
		repairable := f.State == check.DuplicateID || f.State == check.Malformed
		switch {
		case f.Pointer: // no older version is what it points to
		case f.State == check.Malformed && f.Commit == check.WorkTreeName &&
			IsUnmerged(ctx, ad.Repo, f.Path):
			findings[i].Next = check.Resolve(f.Conversation)
		case repairable && f.Commit == check.WorkTreeName:
			findings[i].Next = ad.repairCommand(f.Path)
		case f.State == check.Malformed && f.Commit == check.IndexName && ad.Repo.Root() != "":
			findings[i].Next = ad.repairCommand(f.Path)
			file := filepath.Join(ad.Repo.Root(), filepath.FromSlash(f.Path))
			data, err := regular.ReadFile(file, ad.Repo.Limits().Of(f.Path))
			if err == nil && repair.Loads(path.Base(f.Path), data) {
				findings[i].Next = "git jp stage " + f.Conversation
			}
		case f.State == check.Malformed && ad.isHere(ctx, f),
			f.State == check.DuplicateID && ad.isHead(ctx, f):
			findings[i].Next = ad.repairCommand(f.Path)
		}
	}
}

// IsUnmerged reports whether git left a file for a person to merge.
func IsUnmerged(ctx context.Context, repo *gitint.Repo, name string) bool {
	index, err := repo.Index(ctx)
	return err == nil && slices.Contains(index.Conflicts(), name)
}

// isHead reports whether a finding is about the commit that is checked out, with a directory that
// the working tree has.
func (ad Adviser) isHead(ctx context.Context, f check.Finding) bool {
	if ad.Repo.Root() == "" || f.Commit == check.IndexName {
		return false
	}
	head, err := ad.Repo.Head(ctx)
	if err != nil {
		return false
	}
	is, err := ad.Repo.Resolve(ctx, f.Commit)
	_, missing := os.Stat(filepath.Join(ad.Repo.Root(), filepath.FromSlash(f.Path)))
	return err == nil && is == head.Peeled && missing == nil
}

// isHere reports whether the working tree has exactly a commit's file, or lacks it like the commit:
// then the repair of the one is committed on top of the other.
func (ad Adviser) isHere(ctx context.Context, f check.Finding) bool {
	if ad.Repo.Root() == "" {
		return false
	}
	file := filepath.Join(ad.Repo.Root(), filepath.FromSlash(f.Path))
	data, missing := regular.ReadFile(file, ad.Repo.Limits().Of(f.Path))
	if _, err := os.Stat(filepath.Dir(file)); err != nil ||
		missing != nil && !errors.Is(missing, fs.ErrNotExist) {
		return false
	}
	tree, err := ad.Repo.Tree(ctx, f.Commit)
	if err != nil {
		return false
	}
	id, ok := tree.OID(f.Path)
	return ok == (missing == nil) && (!ok || id == ad.Repo.HashBlob(data))
}

// repairCommand returns the command that repairs the workspace of a path.
func (ad Adviser) repairCommand(name string) string { return ad.inWorkspace(name, RepairHere) }

// restore names the workspace in the commands that restore what a merge left out of it.
func (ad Adviser) restore(findings []check.Finding) {
	for i, f := range findings {
		if f.State == check.Lost && strings.HasPrefix(f.Next, ours) {
			findings[i].Next = ad.inWorkspace(f.Path, f.Next)
		}
	}
}

// ours begins each command of ours.
const ours = "git jp "

// inWorkspace returns a command of ours as it is run for the workspace of a path, which need not be
// the one in the user's directory.
func (ad Adviser) inWorkspace(name, command string) string {
	dir, ok := workspace.PathDir(name)
	near, err := workspace.Find(ad.Dir)
	if !ok || ad.Repo.Root() == "" {
		return command
	}
	root := filepath.Join(ad.Repo.Root(), filepath.FromSlash(path.Dir(dir)))
	if err == nil && regular.SameFile(near, root) {
		return command
	}
	return "git -C " + check.ShellQuote(ad.fromHere(root)) + " jp " +
		strings.TrimPrefix(command, ours)
}

// fromHere returns a directory in the form in which commands take it where they are run.
func (ad Adviser) fromHere(dir string) string {
	if rel, err := filepath.Rel(ad.Dir, dir); err == nil {
		dir = rel
	}
	return filepath.ToSlash(dir)
}

func isAboutContent(f check.Finding) bool {
	_, ok := blobPath(f)
	return ok
}

// blobPath returns the path of the blob that a finding misses.
func blobPath(f check.Finding) (string, bool) {
	switch f.State {
	case check.Missing, check.Corrupt, check.Unreadable:
	default:
		return "", false
	}
	if f.Next == check.ByMode || f.Next == check.ByLFS || f.Next == check.ByAttributes(f.Path) {
		return "", false // it is there, or Git LFS knows where
	}
	dir, ok := workspace.PathDir(f.Path)
	return workspace.BlobPath(dir, f.Hash), ok && !f.Hash.IsZero()
}

// look reads the places where content may be. A place that cannot be read has none.
func (l *lookout) look(ctx context.Context, findings []check.Finding) {
	l.index, _ = l.repo.Index(ctx)
	l.head, _ = l.repo.Tree(ctx, "HEAD")
	l.lazy, _ = l.repo.Lazy(ctx)
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
	l.log, _ = l.repo.LastWith(ctx, names...)
}

// apply gives each finding its remedy. Blobs with the same remedy are restored together, with
// one command for their directory.
func (l *lookout) apply(ctx context.Context, findings []check.Finding) {
	type group struct{ command, dir string }
	remedies := make([]remedy, len(findings))
	names := make(map[group]map[string]bool)
	for i, f := range findings {
		name, ok := blobPath(f)
		if !ok {
			continue
		}
		r := l.remedy(ctx, f, name)
		if l.redacted[i] {
			r = l.redactAgain(ctx, f)
		}
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
		switch {
		case l.redacted[i] && f.State == check.Missing:
			f.Detail = "has what was redacted and is not in " + whereOf(*f)
		case f.State == check.Missing:
			f.Detail = "is in " + r.found + " and not in " + whereOf(*f)
		}
		name, _ := blobPath(*f)
		f.Next = l.next(r, name, len(names[group{r.command, path.Dir(f.Path)}]))
	}
}

func whereOf(f check.Finding) string {
	if f.Commit == check.IndexName || f.Commit == check.WorkTreeName {
		return "the " + f.Commit
	}
	return "the commit"
}

// remedy returns how to get a blob, the zero remedy if that is not known.
func (l *lookout) remedy(ctx context.Context, f check.Finding, name string) remedy {
	ref := blobs.Ref{Hash: f.Hash, Size: f.Size}
	if r, ok := l.completed(ctx, f, name, ref); ok {
		return r
	}
	if f.Commit != check.WorkTreeName && l.inWorkTree(name, ref) {
		return l.stage(f)
	}
	if f.Commit == check.WorkTreeName && l.index != nil {
		if r, ok := l.fromIndex(ctx, name, ref); ok {
			return r
		}
	}
	if l.head != nil {
		if id, ok := l.head.OID(name); ok {
			if r, ok := l.fromCommit(ctx, f, id, "HEAD"); ok {
				return r
			}
		}
	}
	if commit, ok := l.log[name]; ok {
		if id, ok := l.inCommit(ctx, commit, name); ok {
			r, _ := l.fromCommit(ctx, f, id, commit.String()[:12])
			return r
		}
	}
	return remedy{}
}

// fromCommit returns how to get a blob from the object that a commit has. Git does not restore what
// a lazy clone leaves out of its working tree.
func (l *lookout) fromCommit(
	ctx context.Context, f check.Finding, id gitint.OID, rev string,
) (remedy, bool) {
	sound, promised := l.sound(ctx, id, blobs.Ref{Hash: f.Hash, Size: f.Size})
	r := fromRevision(rev)
	if l.lazy && f.Commit != check.WorkTreeName && (sound || promised) {
		staged := l.stage(f)
		staged.found = r.found
		return staged, staged.noPaths
	}
	return r, sound
}

// fromIndex returns how to get a blob that the index has. Git restores a file that a sparse
// checkout leaves out only once the checkout has it; a remote may have the object.
func (l *lookout) fromIndex(
	ctx context.Context, name string, ref blobs.Ref,
) (remedy, bool) {
	id, ok := l.index.OID(name)
	if !ok {
		return remedy{}, false
	}
	sound, promised := l.sound(ctx, id, ref)
	if l.index.IsLeftOut(name) && (sound || promised && !l.lazy) {
		dir, _ := workspace.PathDir(name)
		git := "git"
		if !l.atRoot {
			git = "git -C " + check.ShellQuote(l.root)
		}
		return remedy{
			found: "the index", noPaths: true,
			command: git + " sparse-checkout add " + check.ShellQuote(path.Join(dir, blobs.Dir)),
		}, true
	}
	return remedy{
		found: "the index", command: "git restore", several: "git restore --overlay",
	}, sound
}

// completed returns what to do about a commit that lacks content which a later one of the
// checked-out branch has: nothing that is staged now would make it complete.
func (l *lookout) completed(
	ctx context.Context, f check.Finding, name string, ref blobs.Ref,
) (remedy, bool) {
	if l.head == nil || f.Commit == check.WorkTreeName || f.Commit == check.IndexName {
		return remedy{}, false
	}
	id, ok := l.head.OID(name)
	if !ok || !l.isSound(ctx, id, ref) {
		return remedy{}, false
	}
	onto, ok := l.onto[f.Commit]
	if !ok {
		onto = l.before(ctx, f.Commit)
		l.onto[f.Commit] = onto
	}
	command := "git rebase -i " + onto
	return remedy{found: "HEAD", command: command, noPaths: true}, onto != ""
}

// before returns the arguments of git rebase for the commits from one of the checked-out branch on,
// "" for a commit that is not on it. Without -r git would leave merges out.
func (l *lookout) before(ctx context.Context, rev string) string {
	commit, err := l.repo.Resolve(ctx, rev)
	if err != nil {
		return ""
	}
	base, err := l.repo.MergeBase(ctx, commit.String(), "HEAD")
	if err != nil || base != commit {
		return ""
	}
	onto := commit.String()[:12] + "^"
	revs := []string{"HEAD", "^" + onto}
	if _, err := l.repo.Resolve(ctx, onto); err != nil {
		onto, revs = "--root", revs[:1]
	}
	commits, err := l.repo.Commits(ctx, revs...)
	if err != nil {
		return ""
	}
	if slices.ContainsFunc(commits, func(c gitint.Commit) bool { return len(c.Parents) > 1 }) {
		return "-r " + onto
	}
	return onto
}

// fromRevision restores content from a revision. Without --overlay git would delete files of a
// directory that the revision does not have.
func fromRevision(rev string) remedy {
	found, args := "commit "+rev, " --staged --worktree --source="+rev
	if rev == "HEAD" {
		found = rev
	}
	return remedy{
		found: found, command: "git restore" + args, several: "git restore --overlay" + args,
	}
}

// stage stages the conversation if the working tree has it, and else the blob.
func (l *lookout) stage(f check.Finding) remedy {
	r := remedy{found: "the working tree", command: "git add --force"}
	_, err := os.Stat(filepath.Join(l.repo.Root(), filepath.FromSlash(f.Path)))
	if r.noPaths = err == nil; r.noPaths {
		r.command = "git jp stage " + f.Conversation
	}
	return r
}

// next completes the command of a remedy for one path, or for the store of several.
func (l *lookout) next(r remedy, name string, paths int) string {
	if r.noPaths {
		return r.command
	}
	command := r.command
	if paths > 1 {
		dir, _ := workspace.PathDir(name)
		command, name = cmp.Or(r.several, command), path.Join(dir, blobs.Dir)
	}
	return fmt.Sprintf("%s -- %s", command, check.PathspecAt(l.atRoot, name))
}

func (l *lookout) inWorkTree(name string, ref blobs.Ref) bool {
	if l.repo.Root() == "" {
		return false
	}
	dir, _ := workspace.PathDir(name)
	store, err := blobs.Open(
		filepath.Join(l.repo.Root(), filepath.FromSlash(dir), blobs.Dir), blobs.Options{})
	if err != nil {
		return false
	}
	err = store.Verify(ref)
	return store.Close() == nil && err == nil
}

func (l *lookout) inCommit(
	ctx context.Context, commit gitint.OID, name string,
) (gitint.OID, bool) {
	tree, err := l.repo.Tree(ctx, commit.String())
	if err != nil {
		return gitint.OID{}, false
	}
	return tree.OID(name)
}

// sound reports whether an object has the content, or a remote may have it. Git LFS knows where the
// content of a pointer is, when git restores its file.
func (l *lookout) sound(
	ctx context.Context, id gitint.OID, ref blobs.Ref,
) (sound, promised bool) {
	const overhead = 1 << 16 // of content that gzip cannot make smaller
	data, err := l.repo.ReadObject(ctx, id, ref.Size+ref.Size/64+overhead)
	_, _, pointer := blobs.ParsePointer(data)
	return err == nil && (pointer || blobs.Verify(data, ref, ref.Size) == nil), check.IsAway(err)
}

func (l *lookout) isSound(ctx context.Context, id gitint.OID, ref blobs.Ref) bool {
	sound, _ := l.sound(ctx, id, ref)
	return sound
}
