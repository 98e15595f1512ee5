package gitint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/gitint/internal/refstore"
	"github.com/git-jp/git-jp/internal/lists"
)

// branchRefs is the namespace of local branches, and stashRef the ref whose reflog has the stashes.
const (
	branchRefs = "refs/heads/"
	stashRef   = "refs/stash"
)

// A Ref is a name for an object.
type Ref = refstore.Ref

// headName is git's name for the checked-out commit.
const headName = refstore.Head

// refState has the faults that Refs found.
type refState struct {
	mu     sync.Mutex
	broken []Incomplete
}

// Refs returns every ref of every namespace that this working tree sees, sorted by name, including
// its own bisect, rewritten and worktree refs, but not HEAD and pseudo-refs. Dangling symbolic refs
// are omitted. A ref without a value, such as the empty file that a crash leaves, is omitted as git
// does, and Incomplete names it.
func (r *Repo) Refs(ctx context.Context) ([]Ref, error) {
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	list := r.refStore(l, r.gitDir).List
	if l.refs == refsElsewhere {
		list = r.refsOfGit
	}
	refs, broken, err := list(ctx)
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	r.refs.mu.Lock()
	r.refs.broken = brokenRefs(broken)
	r.refs.mu.Unlock()
	if err := r.peel(ctx, refs); err != nil {
		return nil, err
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs, nil
}

// brokenRefs returns what is wrong with refs as reasons.
func brokenRefs(details []string) []Incomplete {
	return lists.Map(details, func(d string) Incomplete { return Incomplete{ReasonRef, d} })
}

// refStore returns the store of a worktree's refs, if they are in the repository.
func (r *Repo) refStore(l layout, gitDir string) refstore.Store {
	if l.refs == refsInTables {
		return refstore.Tables(r.refPlace(gitDir))
	}
	return refstore.Files(r.refPlace(gitDir))
}

func (r *Repo) refPlace(gitDir string) refstore.Place {
	return refstore.Place{GitDir: gitDir, CommonDir: r.commonDir, IDSize: r.idSize()}
}

// Head returns HEAD of this working tree. Its OID is zero on a branch without a commit, its Target
// empty if it is detached.
func (r *Repo) Head(ctx context.Context) (Ref, error) {
	l, err := r.layout(ctx)
	if err != nil {
		return Ref{}, err
	}
	if l.refs == refsElsewhere {
		return r.headOfGit(ctx)
	}
	head, err := r.refStore(l, r.gitDir).Head(ctx)
	if err != nil {
		return Ref{}, fmt.Errorf("read HEAD: %w", err)
	}
	head.Peeled = head.OID
	return head, nil
}

// headInFiles returns the object of HEAD if that is found in files at once.
func (r *Repo) headInFiles(ctx context.Context) (id OID, ok bool) {
	l, err := r.layout(ctx)
	if err != nil || l.refs != refsInFiles {
		return OID{}, false
	}
	return refstore.Files(r.refPlace(r.gitDir)).LooseHead()
}

// peel sets the peeled ids that the ref store did not have. Each object is read once.
func (r *Repo) peel(ctx context.Context, refs []Ref) error {
	known := map[OID]OID{}
	for i := range refs {
		ref := &refs[i]
		if !ref.Peeled.IsZero() {
			continue
		}
		to, ok := known[ref.OID]
		if !ok {
			to = r.peelOne(ctx, ref.OID)
			known[ref.OID] = to
		}
		ref.Peeled = to
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// peelOne follows tags of tags. It returns zero for an unreadable object: a caller that needs it
// gets the error when it reads it.
func (r *Repo) peelOne(ctx context.Context, id OID) OID {
	for {
		obj, err := r.readObject(ctx, id, 0)
		if err != nil {
			return OID{}
		}
		if obj.Kind != object.KindTag {
			return id
		}
		if id, err = obj.Target(id, "object"); err != nil {
			return OID{}
		}
	}
}

// refsOfGit asks git, for ref stores that this package does not read. Git warns about refs that it
// omits, and succeeds nevertheless.
func (r *Repo) refsOfGit(ctx context.Context) (refs []Ref, broken []string, err error) {
	out, warnings, err := r.git.RunWarned(ctx, git.Command{Args: []string{
		"for-each-ref", "--format=%(objectname) %(refname) %(symref)",
	}})
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 3 {
			return nil, nil, fmt.Errorf("unexpected line %q of git for-each-ref", line)
		}
		id, err := ParseOID(fields[0])
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, Ref{Name: fields[1], Target: fields[2], OID: id})
	}
	for line := range strings.Lines(warnings) {
		if strings.HasPrefix(line, "warning:") || strings.HasPrefix(line, "error:") {
			broken = append(broken, strings.TrimSpace(line))
		}
	}
	return refs, broken, nil
}

func (r *Repo) headOfGit(ctx context.Context) (Ref, error) {
	head := Ref{Name: headName}
	out, err := r.git.Run(ctx, git.Command{Args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if err != nil && git.ExitCode(err) != 1 { // 1 means that it is detached
		return Ref{}, fmt.Errorf("read HEAD: %w", err)
	}
	head.Target = strings.TrimSpace(string(out))
	out, err = r.git.Run(ctx, git.Command{Args: []string{
		"rev-parse", "--verify", "--quiet", "HEAD",
	}})
	if err == nil {
		head.OID, err = ParseOID(strings.TrimSpace(string(out)))
	} else if git.ExitCode(err) == 1 && head.Target != "" {
		err = nil // a branch without a commit
	}
	head.Peeled = head.OID
	return head, err
}
