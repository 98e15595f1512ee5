package gitint

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/refstore"
)

// A RootKind is the kind of a root.
type RootKind int

// The kinds of roots.
const (
	RootRef       RootKind = iota // a ref that is neither a tag nor the stash
	RootTag                       // a ref below refs/tags
	RootStash                     // the stash, each of its entries
	RootHead                      // HEAD of a working tree
	RootOperation                 // beside HEAD: MERGE_HEAD, a rebase, a bisect
	RootReflog                    // an entry of a reflog other than that of the stash
)

// A Root is a name that keeps an object, or may be used to restore it.
type Root struct {
	Kind RootKind
	// Name is git's name: refs/heads/main, main@{2}, MERGE_HEAD, rebase-merge/onto.
	Name string
	// Worktree is the worktree to which it belongs, "" for the main one or all.
	Worktree string
	OID      OID
	// Needed is true if the object must exist. Reflogs and files beside HEAD may name objects that
	// git has collected since.
	Needed bool
}

// Title names the root for people.
func (r Root) Title() string {
	if r.Worktree == "" {
		return r.Name
	}
	return fmt.Sprintf("%s of worktree %q", r.Name, r.Worktree)
}

// A RootFile is a file of an operation in progress, which may contain text that git restores, such
// as a patch.
type RootFile struct {
	Name, Path string
}

// Roots has every place from which the repository's objects are reachable.
type Roots struct {
	Worktrees []Worktree
	Names     []Root
	Files     []RootFile
	// Incomplete says why there may be more roots. It includes [Repo.Incomplete].
	Incomplete []Incomplete
}

// Roots returns every name for an object in any worktree: refs of all namespaces, loose or packed,
// per-worktree refs, HEADs, pseudo-refs and the files of operations, and both columns of every
// reflog. It reads names before reflogs: a ref that is deleted in between is found in one of them.
func (r *Repo) Roots(ctx context.Context) (*Roots, error) {
	s, err := r.shape(ctx)
	if err != nil {
		return nil, err
	}
	c := rootCollector{
		repo: r, shape: s, roots: &Roots{}, seen: map[rootKey]bool{}, named: map[string]bool{},
	}
	if c.roots.Worktrees, err = r.Worktrees(ctx); err != nil {
		return nil, err
	}
	if err := c.refs(ctx); err != nil {
		return nil, err
	}
	for _, w := range c.roots.Worktrees {
		if err := c.worktree(ctx, w); err != nil {
			return nil, fmt.Errorf("read roots of %s: %w", w.Title(), err)
		}
	}
	if err := c.reflogs(ctx); err != nil {
		return nil, err
	}
	for _, strange := range r.git.Env.Strange() {
		c.incomplete(ReasonEnvironment, strange)
	}
	c.roots.Incomplete = append(c.roots.Incomplete, r.Incomplete()...)
	if s.refs == refsElsewhere {
		c.incomplete(ReasonExtension, "refs are where they are not read: reflogs and HEADs "+
			"of other work trees")
	}
	return c.roots, nil
}

type rootKey struct {
	name, worktree string
	id             OID
}

type rootCollector struct {
	repo  *Repo
	shape *shape
	roots *Roots
	seen  map[rootKey]bool
	named map[string]bool // the refs, "<worktree> <name>"
}

func (c *rootCollector) add(root Root) {
	k := rootKey{root.Name, root.Worktree, root.OID}
	if root.OID.IsZero() || c.seen[k] {
		return
	}
	c.seen[k] = true
	c.roots.Names = append(c.roots.Names, root)
}

func (c *rootCollector) incomplete(reason, detail string) {
	c.roots.Incomplete = append(c.roots.Incomplete, Incomplete{reason, detail})
}

const replaceRefs = "refs/replace/"

// refs adds the refs that the working tree sees, and the per-worktree refs of others. An object
// with a replacement is a root too.
func (c *rootCollector) refs(ctx context.Context) error {
	refs, err := c.repo.Refs(ctx)
	if err != nil {
		return err
	}
	own := ""
	for _, w := range c.roots.Worktrees {
		if w.GitDir == c.repo.gitDir {
			own = w.Name
		}
	}
	c.addRefs(refs, own)
	for _, ref := range refs {
		replaced, isReplacement := strings.CutPrefix(ref.Name, replaceRefs)
		if id, err := ParseOID(replaced); isReplacement && err == nil {
			c.add(Root{Kind: RootRef, Name: ref.Name + " (replaced)", OID: id})
		}
	}
	return nil
}

func (c *rootCollector) addRefs(refs []Ref, worktree string) {
	for _, ref := range refs {
		root := Root{Kind: refKind(ref.Name), Name: ref.Name, OID: ref.OID, Needed: true}
		if refstore.IsPerWorktree(ref.Name) || refstore.IsPseudo(ref) {
			root.Kind, root.Worktree, root.Needed = RootOperation, worktree, !refstore.IsPseudo(ref)
		}
		c.named[root.Worktree+" "+root.Name] = true
		c.add(root)
	}
}

func refKind(name string) RootKind {
	switch {
	case name == stashRef:
		return RootStash
	case strings.HasPrefix(name, "refs/tags/"):
		return RootTag
	default:
		return RootRef
	}
}

// worktree adds the HEAD of a worktree, its own refs and the files beside HEAD.
func (c *rootCollector) worktree(ctx context.Context, w Worktree) error {
	if w.Unknown != "" {
		c.incomplete(ReasonWorktree, w.Title()+": "+w.Unknown)
	}
	store := c.repo.refStore(c.shape.layout, w.GitDir)
	head, err := store.Head(ctx)
	switch {
	case err == nil:
		c.add(Root{
			Kind: RootHead, Name: headName, Worktree: w.Name, OID: head.OID, Needed: true,
		})
	case !gitfile.IsMissing(err):
		c.incomplete(ReasonRef, Root{Name: headName, Worktree: w.Name}.Title()+": "+err.Error())
	}
	if w.GitDir != c.repo.gitDir || c.shape.refs == refsInTables {
		refs, broken, err := store.Own(ctx)
		if err != nil {
			return err
		}
		c.addRefs(refs, w.Name)
		if w.GitDir != c.repo.gitDir { // otherwise they are known
			c.roots.Incomplete = append(c.roots.Incomplete, brokenRefs(broken)...)
		}
	}
	return c.operations(ctx, w)
}

// reflogs adds both columns of every reflog: the value of a branch before its first entry is
// recorded nowhere else.
func (c *rootCollector) reflogs(ctx context.Context) error {
	var logs []reflog
	for _, w := range c.roots.Worktrees {
		known := func(name string) bool { return c.named[w.Name+" "+name] }
		all, err := c.repo.refStore(c.shape.layout, w.GitDir).Logs(ctx, known)
		if err != nil {
			return fmt.Errorf("read reflogs of %s: %w", w.Title(), err)
		}
		for _, one := range all {
			l := reflog{one, w.Name}
			if l.Torn != nil { // only the collector refuses
				c.incomplete(ReasonUnreadable, l.title()+": "+l.Torn.Error())
			}
			c.addReflog(l)
			if l.Orphan {
				c.incomplete(ReasonReflog, l.title()+": the ref is gone, and its log is not")
			}
			logs = append(logs, l)
		}
	}
	if err := c.judgeReflogs(ctx, logs); err != nil {
		return fmt.Errorf("read reflogs: %w", err)
	}
	return nil
}

func (c *rootCollector) addReflog(l reflog) {
	kind := RootReflog
	if refKind(l.Name) == RootStash {
		kind = RootStash
	}
	last := len(l.Entries) - 1
	for i, e := range slices.Backward(l.Entries) {
		name := reflogName(l.Name, last-i)
		c.add(Root{Kind: kind, Name: name, Worktree: l.worktree, OID: e.Is})
		if i > 0 && l.Entries[i-1].Is == e.Was {
			continue
		}
		c.add(Root{
			Kind: RootReflog, Name: name + " (before)", Worktree: l.worktree, OID: e.Was,
		})
	}
}

func reflogName(name string, n int) string {
	return fmt.Sprintf("%s@{%d}", strings.TrimPrefix(name, branchRefs), n)
}

// lookAlike reports whether a name in a git directory can be a pseudo-ref.
func lookAlike(name string) bool {
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" && name != headName &&
		path.Base(name) == name
}
