package leaks

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// IsRedaction returns the directory .jp and the conversation of a redaction entry, from its path in
// the repository.
func IsRedaction(name string) (dir string, id events.ID, ok bool) {
	dir, ok = workspace.PathDir(name)
	if !ok || path.Dir(name) != path.Join(dir, secrets.RedactedDir) {
		return "", 0, false
	}
	id, ok = BesideNamed(strings.TrimPrefix(name, dir+"/"))
	return dir, id, ok
}

// Redacts reports whether a version of a redaction entry is valid and redacts something that a tree
// does not allow: what a person redacted by mistake and then allowed is no secret. The name is its
// path in the repository.
func Redacts(name string, read func() ([]byte, error), allowing check.Source) (bool, error) {
	dir, id, ok := IsRedaction(name)
	if !ok {
		return false, nil
	}
	entry, err := NewMemo().readRedacted(strings.TrimPrefix(name, dir+"/"), check.Entry{}, read)
	if err != nil || entry.Conversation != id.Digits() {
		return false, nil //nolint:nilerr // it is ignored
	}
	r := newReader(allowing, dir, nil, nil)
	r.reports = true // what cannot be read allows nothing
	entries, err := r.all(nil, r.readAllowed, nil)
	if err != nil {
		return false, err
	}
	allowed := secrets.Exceptions{}
	for _, a := range entries.Allowed {
		allowed.Add(a)
	}
	return !allowed.AllowRedacted(entry), nil
}

// Between names a commit and what it is compared with.
type Between struct{ Before, Now string }

// RemovedEntries returns a warning for each valid redaction entry that is removed among paths that
// changed between two trees, unless a tree allows what it redacts. Of what others
// bring, that is a tree from before: who brings text back would allow it too.
func RemovedEntries(
	ctx context.Context, repo *gitint.Repo, paths []gitint.StagedPath, between Between,
	allowing check.Source,
) (all []check.Finding, err error) {
	var was gitint.OID
	for _, p := range paths {
		read := func() ([]byte, error) { return repo.ReadObject(ctx, p.Old, secrets.MaxFile) }
		if p.Status != 'D' {
			continue
		}
		if redacts, err := Redacts(p.Path, read, allowing); err != nil || !redacts {
			if err != nil {
				return nil, err
			}
			continue
		}
		if was.IsZero() {
			if was, err = repo.Resolve(ctx, between.Before); err != nil {
				return nil, err
			}
		}
		all = append(all, RemovedEntry(between.Now, p.Path, was))
	}
	return all, nil
}

// shortDigits is the length of an abbreviated object name.
const shortDigits = 12

// RemovedEntry returns a warning that a commit removes a redaction entry, which the commit before
// has: a revert of a redaction does so, and no other check sees that its text is back. The commands
// in Next restore the entry and redact again. They work in any directory of the working tree, and
// after later commits too.
func RemovedEntry(commit, name string, before gitint.OID) check.Finding {
	_, id, _ := IsRedaction(name)
	return check.Finding{
		State: check.Unredacted, Severity: check.Warning, Commit: commit, Path: name,
		Conversation: id.String(), Element: -1,
		Detail: "the commit removes a redaction entry: the redacted text is back, or an " +
			"import brings it back",
		Next: fmt.Sprintf("git restore --source=%s --staged --worktree -- %s && "+
			"git jp redact --apply", before.String()[:shortDigits], check.Pathspec(name)),
	}
}
