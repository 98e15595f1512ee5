package gitint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Ref is a name for an object.
type Ref struct {
	// Name is the full name, such as refs/heads/main.
	Name string
	// Target is the ref that a symbolic one names.
	Target string
	// OID is what the name stands for, symbolic refs followed. It is zero only for
	// a HEAD whose branch has no commit.
	OID OID
	// Peeled is what an annotated tag leads to in the end, and OID for everything
	// else. It is zero when an object on the way is missing or damaged.
	Peeled OID
}

// refState is what Refs found besides refs.
type refState struct {
	mu     sync.Mutex
	broken []Incomplete
}

// Refs returns every ref of every namespace that this working tree sees, sorted by
// name: also its own bisect, rewritten and worktree refs; not HEAD and not what
// lies beside it. Symbolic refs that lead nowhere name nothing and are left out.
// A ref that is there and says nothing, such as the empty file that a crash
// leaves, is left out as git does, and then Incomplete names it.
func (r *Repo) Refs(ctx context.Context) ([]Ref, error) {
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	var broken []Incomplete
	if l.refs == refsElsewhere {
		refs, broken, err = r.refsOfGit(ctx)
	} else {
		refs, broken, err = r.refStore(l, r.gitDir).list(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	r.refs.mu.Lock()
	r.refs.broken = broken
	r.refs.mu.Unlock()
	if err := r.peel(ctx, refs); err != nil {
		return nil, err
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs, nil
}

// refStore is where the part of a working tree has its refs, where this is read.
func (r *Repo) refStore(l layout, gitDir string) refStore {
	if l.refs == refsInTables {
		return refTables{gitDir, r.commonDir, r.idSize()}
	}
	return refFiles{gitDir, r.commonDir, 2 * r.idSize()}
}

// Head returns HEAD of this working tree. Its OID is zero on a branch without a
// commit, its Target empty when it is detached.
func (r *Repo) Head(ctx context.Context) (Ref, error) {
	l, err := r.layout(ctx)
	if err != nil {
		return Ref{}, err
	}
	if l.refs == refsElsewhere {
		return r.headOfGit(ctx)
	}
	head, err := r.refStore(l, r.gitDir).head(ctx)
	if err != nil {
		return Ref{}, fmt.Errorf("read HEAD: %w", err)
	}
	head.Peeled = head.OID
	return head, nil
}

// peel sets what the refs lead to, where the store of refs did not know it. The
// same object is looked at once.
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

// peelOne follows tags of tags. An object that cannot be read leads nowhere:
// whoever needs it will be told why when he reads it.
func (r *Repo) peelOne(ctx context.Context, id OID) OID {
	for {
		obj, err := r.readObject(ctx, id, 0)
		if err != nil {
			return OID{}
		}
		if obj.kind != kindTag {
			return id
		}
		if id, err = headerOID(obj.data, "object"); err != nil {
			return OID{}
		}
	}
}

// refsOfGit asks git, for stores of refs that we do not read. It warns about refs
// that it leaves out, and ends well all the same.
func (r *Repo) refsOfGit(ctx context.Context) ([]Ref, []Incomplete, error) {
	out, warnings, err := r.runWarned(ctx, command{args: []string{
		"for-each-ref", "--format=%(objectname) %(refname) %(symref)",
	}})
	if err != nil {
		return nil, nil, err
	}
	var refs []Ref
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
	var broken []Incomplete
	for line := range strings.Lines(warnings) {
		if strings.HasPrefix(line, "warning:") || strings.HasPrefix(line, "error:") {
			broken = append(broken, Incomplete{ReasonRef, strings.TrimSpace(line)})
		}
	}
	return refs, broken, nil
}

func (r *Repo) headOfGit(ctx context.Context) (Ref, error) {
	head := Ref{Name: headName}
	out, err := r.run(ctx, command{args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if err != nil && exitCode(err) != 1 { // 1 says that it is detached
		return Ref{}, fmt.Errorf("read HEAD: %w", err)
	}
	head.Target = strings.TrimSpace(string(out))
	out, err = r.run(ctx, command{args: []string{"rev-parse", "--verify", "--quiet", "HEAD"}})
	if err == nil {
		head.OID, err = ParseOID(strings.TrimSpace(string(out)))
	} else if exitCode(err) == 1 && head.Target != "" {
		err = nil // a branch without a commit
	}
	head.Peeled = head.OID
	return head, err
}
