package gitint

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// ObjectKinds returns the kind of each object, commit, tree, blob or tag, and "" for a missing one.
func (r *Repo) ObjectKinds(ctx context.Context, ids []OID) ([]string, error) {
	kinds := make([]string, len(ids))
	single := func(i int) error {
		obj, err := r.readObject(ctx, ids[i], 0)
		if _, ok := errors.AsType[*MissingObjectError](err); ok {
			return nil
		}
		kinds[i] = obj.Kind
		return err
	}
	err := r.inBulk(ctx, git.Heads, ids, single, func(i int, a git.Answer) error {
		kinds[i] = a.Kind
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("kinds of %d objects: %w", len(ids), err)
	}
	return kinds, nil
}

// Ancestors returns commits and all their ancestors, each once; those of a branch are consecutive,
// children first. A missing commit is an error. It ignores the commit-graph and reads the commits.
func (r *Repo) Ancestors(ctx context.Context, commits []OID) ([]OID, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	var all []OID
	err := r.eachLine(ctx, git.Command{
		Args:  []string{"-c", "core.commitGraph=false", "rev-list", "--topo-order", "--stdin"},
		Stdin: git.Lines(commits),
	}, func(line string) error {
		id, err := ParseOID(line)
		all = append(all, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return all, nil
}

// CommitHeads calls f with the head of each commit, in no order but one at a time. An error
// of f ends the reading and is returned.
func (r *Repo) CommitHeads(
	ctx context.Context, commits []OID, f func(i int, h CommitHead) error,
) error {
	var t turns
	return r.readObjects(ctx, commits, func(i int, obj object.Object, err error) error {
		if err != nil {
			return err
		}
		h, err := object.ParseCommit(obj, commits[i])
		if err != nil {
			return err
		}
		return t.take(func() error { return f(i, h) })
	})
}

// TagTarget returns the object that a tag object names.
func (r *Repo) TagTarget(ctx context.Context, tag OID) (OID, error) {
	obj, err := r.readObject(ctx, tag, 0)
	if err != nil {
		return OID{}, err
	}
	return obj.Target(tag, "object")
}

// ReadTrees calls f with each tree, in no order but one at a time. An error of f ends the
// reading and is returned.
func (r *Repo) ReadTrees(
	ctx context.Context, trees []OID, f func(i int, t TreeData) error,
) error {
	var turn turns
	return r.AtOnce().ReadTrees(ctx, trees, func(i int, t TreeData) error {
		return turn.take(func() error { return f(i, t) })
	})
}

// ReadTrees is [Repo.ReadTrees] with concurrent calls of f.
func (a AtOnce) ReadTrees(
	ctx context.Context, trees []OID, f func(i int, t TreeData) error,
) error {
	return a.repo.readObjects(ctx, trees, func(i int, obj object.Object, err error) error {
		if err != nil {
			return err
		}
		if n := int64(len(obj.Data)); n > maxTree && obj.Kind == object.KindTree {
			return &ObjectSizeError{OID: trees[i], Size: n, Max: maxTree}
		}
		t, err := object.ParseTree(obj, trees[i])
		if err != nil {
			return err
		}
		return f(i, t)
	})
}
