package redact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// leastDigits is the minimal length of an abbreviated fingerprint.
const leastDigits = 8

// A NameError reports a name that is neither a fingerprint nor the hash of content.
type NameError struct{ Err error }

// Error returns what is wrong with it.
func (e *NameError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NameError) Unwrap() error { return e.Err }

// ErrNoFinding reports that no finding, or more than one, has the fingerprint.
var ErrNoFinding error = noFinding{}

type noFinding struct{}

func (noFinding) Error() string {
	return "no finding of this workspace, or more than one, has the fingerprint"
}

// Hints return the command that prints fingerprints.
func (noFinding) Hints() []string { return []string{"'git jp check --secrets' lists findings"} }

// Find scans the working tree of the workspace for the finding with a fingerprint.
func (t Tracked) Find(
	ctx context.Context, o leaks.Options, fingerprint string,
) (found secrets.Allowed, err error) {
	if len(fingerprint) < leastDigits {
		return found, &NameError{
			fmt.Errorf("%q is shorter than %d digits of a fingerprint", fingerprint, leastDigits),
		}
	}
	src, err := check.OpenWorkTree(t.Workspace.Root(), t.Repo.Limits())
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return found, err
	}
	left, err := check.LeftOutOf(ctx, t.Repo, t.Workspace.Root())
	if err != nil {
		return found, err
	}
	o.Dirs, o.LeftOut = []string{workspace.DirName}, t.Workspace
	o.Tracked = func(name string) bool { return hasFile(index, path.Join(path.Dir(t.Dir), name)) }
	return scanFor(ctx, o, check.Lazily(src, left), fingerprint)
}

func scanFor(
	ctx context.Context, o leaks.Options, src check.Source, fingerprint string,
) (found secrets.Allowed, err error) {
	s := leaks.NewScanner(o)
	if err := s.Scan(ctx, src); err != nil {
		return found, err
	}
	found, ok := s.Find(fingerprint)
	if !ok {
		return found, fmt.Errorf("%w %s", ErrNoFinding, fingerprint)
	}
	return found, nil
}

// Allow writes and stages entries for findings that are no secrets, and returns their paths.
func (t Tracked) Allow(
	ctx context.Context, entries ...secrets.Allowed,
) (names []string, err error) {
	for _, entry := range entries {
		if err := WriteEntry(t.Workspace, entry.Name(), entry.Encode()); err != nil {
			return nil, err
		}
		names = append(names, path.Join(t.Dir, entry.Name()))
	}
	_, err = t.Repo.Stage(ctx, gitint.Change{Add: names})
	return names, err
}

// Finding returns the target for the fingerprint of a finding. It also searches the index: a
// redaction may have been stopped after it changed the working tree.
func (t Tracked) Finding(
	ctx context.Context, o leaks.Options, fingerprint string,
) (Target, error) {
	rules := Rules(t.Workspace, o)
	found, err := t.Find(ctx, o, fingerprint)
	if err == nil {
		value, err := t.Value(rules, found)
		return Target{Rule: found.Rule, Value: value}, err
	}
	if !errors.Is(err, ErrNoFinding) {
		return Target{}, err
	}
	index, indexErr := t.Repo.Index(ctx)
	if indexErr != nil {
		return Target{}, indexErr
	}
	o.Dirs = []string{t.Dir}
	o.Tracked = func(name string) bool { return hasFile(index, name) }
	staged, indexErr := scanFor(ctx, o, check.Git(t.Repo, index), fingerprint)
	if indexErr != nil {
		return Target{}, err
	}
	value, indexErr := t.valueInIndex(index, rules, staged)
	return Target{Rule: staged.Rule, Value: value}, indexErr
}

// ruleText and ruleResult are the rules of targets that a person names.
const (
	ruleText   = "text"
	ruleResult = "result"
)

// maxText is the maximum length in bytes of a text that a person names.
const maxText = 16 << 20

// Text returns a target for a text.
func Text(r io.Reader) (Target, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return Target{}, err
	}
	if len(text) > maxText {
		return Target{}, fmt.Errorf("the text has more than %d bytes", maxText)
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) < secrets.LeastText {
		return Target{}, fmt.Errorf("the text has %s, fewer than %d",
			render.Count(len(text), "byte"), secrets.LeastText)
	}
	return Target{Rule: ruleText, Value: text}, nil
}

// Content returns a target for all content with a hash.
func Content(hash string) (Target, error) {
	h, err := blobs.ParseHash(hash)
	if err != nil {
		err = &NameError{err}
	}
	return Target{Rule: ruleResult, Whole: h}, err
}
