package gitint

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/refstore"
	"github.com/git-jp/git-jp/internal/regular"
)

const (
	maxOwnCommits = 1000
	maxReflog     = 16 << 20
)

// ownCommits are the reflog messages of commits that were made here and whose changes are the
// committer's: not of merges, rebases, pulls, cherry-picks or mailed patches.
var ownCommits = []string{"commit: ", "commit (initial): ", "commit (amend): "}

// CommittedHere reports whether the current content of a file in the working tree comes from a
// commit made in this clone. Author names prove nothing, since anyone can write them; but only
// this clone writes its reflog, and no fetch changes it. The commit must have changed the file:
// a commit on top of another person's change does not count, and neither does content that git
// would convert: attributes, which anyone can commit, would make another program of it. The line
// ends of core.autocrlf, which the user chose, make the same one. The name is from the root of the
// working tree, with slashes.
func (r *Repo) CommittedHere(ctx context.Context, name string) (bool, error) {
	if strings.ContainsAny(name, "\n\x00") {
		return false, nil
	}
	pairs, err := r.ownMoves(ctx)
	if err != nil || len(pairs) == 0 {
		return false, err
	}
	now, err := r.committable(ctx, name)
	if err != nil {
		return false, fmt.Errorf("look for the commit of %q: %w", name, err)
	}
	var ask strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&ask, "%s:%s\n%s:%s\n", p[0], name, p[1], name)
	}
	out, err := r.git.Run(ctx, git.Command{
		Args:  []string{"cat-file", "--batch-check=%(objectname)"},
		Stdin: strings.NewReader(ask.String()),
	})
	if err != nil {
		return false, fmt.Errorf("look for the commit of %q: %w", name, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for pair := range slices.Chunk(lines, 2) {
		if len(pair) == 2 && !slices.Contains(now, pair[0]) && slices.Contains(now, pair[1]) {
			return true, nil
		}
	}
	return false, nil
}

// committable returns the ids of the blobs whose content the user has in a file: as it is, and with
// the line ends that a commit gives it by the user's own choice, if a checkout would undo that.
func (r *Repo) committable(ctx context.Context, name string) (ids []string, err error) {
	data, err := regular.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)), regular.MaxOther)
	if err != nil {
		return nil, err
	}
	ids = append(ids, r.HashBlob(data).String())
	crlf, lf := []byte("\r\n"), []byte("\n")
	plain := bytes.ReplaceAll(data, crlf, lf)
	if bytes.Equal(plain, data) || !bytes.Equal(bytes.ReplaceAll(plain, lf, crlf), data) {
		return ids, nil
	}
	how, _, err := r.Config(ctx, "core.autocrlf")
	if strings.EqualFold(how, "true") {
		ids = append(ids, r.HashBlob(plain).String())
	}
	return ids, err
}

// ownMoves returns the values of HEAD before and after the commits that were made here, newest
// first.
func (r *Repo) ownMoves(ctx context.Context) (pairs [][2]string, err error) {
	log, err := r.headLog(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the reflog: %w", err)
	}
	for _, e := range slices.Backward(log) {
		if !slices.ContainsFunc(ownCommits, func(prefix string) bool {
			return strings.HasPrefix(e.Why, prefix)
		}) {
			continue
		}
		pairs = append(pairs, [2]string{e.Was.String(), e.Is.String()})
		if len(pairs) == maxOwnCommits {
			break
		}
	}
	return pairs, nil
}

// headLog returns the valid entries of the reflog of HEAD.
func (r *Repo) headLog(ctx context.Context) ([]refstore.LogEntry, error) {
	l, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	if l.refs == refsInTables {
		return refstore.Tables(r.refPlace(r.gitDir)).HeadLog(ctx)
	}
	data, err := regular.ReadFile(filepath.Join(r.gitDir, "logs", headName), maxReflog)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	entries, _ := refstore.ParseLog(data)
	return entries, nil
}
