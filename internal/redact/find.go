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
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// leastDigits is the minimal length of an abbreviated fingerprint.
const leastDigits = 8

// Find scans the working tree of the workspace for the finding with a fingerprint.
func (t Tracked) Find(
	ctx context.Context, o leaks.Options, fingerprint string,
) (found secrets.Allowed, err error) {
	if len(fingerprint) < leastDigits {
		return found, fmt.Errorf("%q is shorter than %d digits", fingerprint, leastDigits)
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
	o.Dirs = []string{workspace.DirName}
	o.Tracked = func(name string) bool { return hasFile(index, path.Join(path.Dir(t.Dir), name)) }
	s := leaks.NewScanner(o)
	if err := s.Scan(ctx, check.Lazily(src, left)); err != nil {
		return found, err
	}
	found, ok := s.Find(fingerprint)
	if !ok {
		return found, fmt.Errorf(
			"no finding, or several, of this workspace have the fingerprint %s", fingerprint)
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

// Finding returns the target for the finding with a fingerprint.
func (t Tracked) Finding(
	ctx context.Context, o leaks.Options, fingerprint string,
) (Target, error) {
	found, err := t.Find(ctx, o, fingerprint)
	if err != nil {
		return Target{}, err
	}
	value, err := t.Value(Rules(t.Workspace, o), found)
	return Target{Rule: found.Rule, Value: value}, err
}

// ruleText and ruleResult are the rules of targets that a person names.
const (
	ruleText   = "text"
	ruleResult = "result"
)

// leastText is the minimal length of a text that is removed everywhere.
const leastText = 6

// Text returns a target for a text.
func Text(r io.Reader) (Target, error) {
	text, err := io.ReadAll(io.LimitReader(r, secrets.MaxFile))
	if err != nil {
		return Target{}, err
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) < leastText {
		return Target{}, fmt.Errorf("the text has %d bytes, fewer than %d", len(text), leastText)
	}
	return Target{Rule: ruleText, Value: text}, nil
}

// Content returns a target for all content with a hash.
func Content(hash string) (Target, error) {
	h, err := blobs.ParseHash(hash)
	return Target{Rule: ruleResult, Whole: h}, err
}
