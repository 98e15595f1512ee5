package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// ErrSigned reports a signed commit, which must not be changed.
var ErrSigned = errors.New("the commit is signed")

// RefsWith returns the names of the refs from which a commit can be reached.
func (r *Repo) RefsWith(ctx context.Context, commit OID) ([]string, error) {
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"for-each-ref", "--format=%(refname)", "--contains=" + commit.String(),
	}})
	if err != nil {
		return nil, fmt.Errorf("list the refs that have %s: %w", commit, err)
	}
	return strings.Fields(string(out)), nil
}

// ReplaceTree replaces the tree of the commit at HEAD with that of the index and keeps the rest of
// it. It does what git commit --amend does, but runs no hook, and works while git's state of the
// merge that made HEAD, such as MERGE_HEAD, still exists. HEAD must be the given commit.
func (r *Repo) ReplaceTree(ctx context.Context, head OID, why string) (OID, error) {
	id, err := r.replaceTree(ctx, head, why)
	if err != nil {
		return OID{}, fmt.Errorf("amend %s: %w", head, err)
	}
	return id, nil
}

func (r *Repo) replaceTree(ctx context.Context, head OID, why string) (OID, error) {
	data, err := r.unsigned(ctx, head)
	if err != nil {
		return OID{}, err
	}
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	tree, err := r.oneID(ctx, git.Command{Args: []string{"write-tree"}, Write: true})
	if err != nil {
		return OID{}, err
	}
	return r.replaceHead(ctx, head, append([]byte("tree "+tree.String()+"\n"), rest...), why)
}

// TrailHead adds trailers to the message of the commit at HEAD, which must be the given commit, and
// keeps the rest of it. It runs no hook.
func (r *Repo) TrailHead(ctx context.Context, head OID, trailers []string, why string) error {
	if err := r.trailHead(ctx, head, trailers, why); err != nil {
		return fmt.Errorf("add trailers to %s: %w", head, err)
	}
	return nil
}

func (r *Repo) trailHead(ctx context.Context, head OID, trailers []string, why string) error {
	data, err := r.unsigned(ctx, head)
	if err != nil {
		return err
	}
	header, message, _ := bytes.Cut(data, []byte("\n\n"))
	message, err = r.git.Run(ctx, git.Command{
		Args: trailerArgs(trailers), Stdin: bytes.NewReader(message),
	})
	if err == nil && !bytes.HasSuffix(data, message) {
		_, err = r.replaceHead(ctx, head, slices.Concat(header, []byte("\n\n"), message), why)
	}
	return err
}

// unsigned returns a commit as git stores it, unless it is signed.
func (r *Repo) unsigned(ctx context.Context, id OID) ([]byte, error) {
	commit, err := r.readObject(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	header, _, _ := bytes.Cut(commit.Data, []byte("\n\n"))
	switch {
	case commit.Kind != object.KindCommit || !bytes.HasPrefix(header, []byte("tree ")):
		return nil, &CorruptObjectError{OID: id, Reason: "it does not begin with its tree"}
	case bytes.Contains(header, []byte("\ngpgsig")):
		return nil, ErrSigned
	}
	return commit.Data, nil
}

// replaceHead writes a commit and sets HEAD from another commit to it.
func (r *Repo) replaceHead(
	ctx context.Context, head OID, next []byte, why string,
) (OID, error) {
	id, err := r.oneID(ctx, git.Command{
		Args:  []string{"hash-object", "-t", "commit", "-w", "--stdin"},
		Stdin: bytes.NewReader(next), Write: true,
	})
	if err != nil {
		return OID{}, err
	}
	_, err = r.git.Run(ctx, git.Command{
		Args:  []string{"update-ref", "-m", why, "HEAD", id.String(), head.String()},
		Write: true,
	})
	return id, err
}

// oneID runs a command that prints one id.
func (r *Repo) oneID(ctx context.Context, c git.Command) (OID, error) {
	out, err := r.git.Run(ctx, c)
	if err != nil {
		return OID{}, err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}
