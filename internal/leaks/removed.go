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

// Redacts reports whether a version of a redaction entry is valid. The name is its path in the
// repository.
func Redacts(name string, read func() ([]byte, error)) bool {
	dir, _, ok := IsRedaction(name)
	_, err := NewMemo().Beside(strings.TrimPrefix(name, dir+"/"), check.Entry{}, read)
	return ok && err == nil
}

// RemovedEntries returns a warning for each valid redaction entry that is removed among paths that
// changed since a commit. Now names what they are compared with.
func RemovedEntries(
	ctx context.Context, repo *gitint.Repo, paths []gitint.StagedPath, before, now string,
) (all []check.Finding, err error) {
	var was gitint.OID
	for _, p := range paths {
		read := func() ([]byte, error) { return repo.ReadObject(ctx, p.Old, secrets.MaxFile) }
		if p.Status != 'D' || !Redacts(p.Path, read) {
			continue
		}
		if was.IsZero() {
			if was, err = repo.Resolve(ctx, before); err != nil {
				return nil, err
			}
		}
		all = append(all, RemovedEntry(now, p.Path, was))
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
