package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrSigned says that a commit is signed, so that nobody else may change it.
var ErrSigned = errors.New("the commit is signed")

// RefsWith returns the names of the refs from which a commit can be reached.
func (r *Repo) RefsWith(ctx context.Context, commit OID) ([]string, error) {
	out, err := r.run(ctx, command{args: []string{
		"for-each-ref", "--format=%(refname)", "--contains=" + commit.String(),
	}})
	if err != nil {
		return nil, fmt.Errorf("list the refs that have %s: %w", commit, err)
	}
	return strings.Fields(string(out)), nil
}

// ReplaceTree gives the commit of HEAD the tree of the index and leaves everything else of it
// as it is. It does what git commit --amend does, but runs no hook, and works while git still
// notes the merge that HEAD is. HEAD has to be the commit given.
func (r *Repo) ReplaceTree(ctx context.Context, head OID, why string) (OID, error) {
	id, err := r.replaceTree(ctx, head, why)
	if err != nil {
		return OID{}, fmt.Errorf("amend %s: %w", head, err)
	}
	return id, nil
}

func (r *Repo) replaceTree(ctx context.Context, head OID, why string) (OID, error) {
	commit, err := r.readObject(ctx, head, 0)
	if err != nil {
		return OID{}, err
	}
	header, _, _ := bytes.Cut(commit.data, []byte("\n\n"))
	_, rest, ok := bytes.Cut(commit.data, []byte("\n"))
	switch {
	case commit.kind != kindCommit || !ok || !bytes.HasPrefix(header, []byte("tree ")):
		return OID{}, &CorruptObjectError{OID: head, Reason: "it does not begin with its tree"}
	case bytes.Contains(header, []byte("\ngpgsig")):
		return OID{}, ErrSigned
	}
	tree, err := r.oneID(ctx, command{args: []string{"write-tree"}, write: true})
	if err != nil {
		return OID{}, err
	}
	next := append([]byte("tree "+tree.String()+"\n"), rest...)
	id, err := r.oneID(ctx, command{
		args:  []string{"hash-object", "-t", "commit", "-w", "--stdin"},
		stdin: bytes.NewReader(next), write: true,
	})
	if err != nil {
		return OID{}, err
	}
	_, err = r.run(ctx, command{
		args:  []string{"update-ref", "-m", why, "HEAD", id.String(), head.String()},
		write: true,
	})
	return id, err
}

// oneID runs a command that prints one id.
func (r *Repo) oneID(ctx context.Context, c command) (OID, error) {
	out, err := r.run(ctx, c)
	if err != nil {
		return OID{}, err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}
