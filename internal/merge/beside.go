package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// nameBeside returns the path below .jp of a file beside conversations.
func nameBeside(name string) (below string, ok bool) {
	dir, ok := workspace.PathDir(name)
	if !ok {
		return "", false
	}
	below = strings.TrimPrefix(name, dir+"/")
	return below, slices.Contains(leaks.BesideDirs(), path.Dir(below))
}

// besideID returns the conversation of a file beside conversations. The name of an allowed finding
// does not contain it: besideID reads the versions, and returns 0 if all are damaged.
func besideID(ctx context.Context, repo *gitint.Repo, dir string, c Case) events.ID {
	if id, ok := leaks.BesideNamed(strings.TrimPrefix(c.Path, dir+"/")); ok {
		return id
	}
	for _, oid := range c.Stages {
		if id, ok := validBeside(ctx, repo, dir, c, oid); ok {
			return id
		}
	}
	return 0
}

// validBeside returns the conversation of a version of a file beside conversations, or false if the
// version does not exist or is damaged.
func validBeside(
	ctx context.Context, repo *gitint.Repo, dir string, c Case, version gitint.OID,
) (events.ID, bool) {
	if version.IsZero() {
		return 0, false
	}
	id, err := leaks.NewMemo().Beside(
		strings.TrimPrefix(c.Path, dir+"/"), check.Entry{},
		func() ([]byte, error) { return repo.ReadObject(ctx, version, secrets.MaxFile) })
	return id, err == nil
}

// ErrDamaged reports that all versions of a file beside conversations are damaged.
var ErrDamaged = errors.New("has no valid version on either side")

// DecideBeside decides a case of kind [Beside] without a question. The name of such a file
// determines its content, so a side can only add or remove the file, and the change of one side
// wins: an entry that one side removed and the other only reformatted is removed. The old entry is
// removed too if each side replaced it by another. A damaged version is not a change. The error is
// [ErrDamaged] if all versions are damaged.
func (r Resolver) DecideBeside(ctx context.Context, c Case) error {
	var has [stages]bool
	var version gitint.OID
	for _, stage := range []int{stageBase, stageTheirs, stageOurs} {
		oid := c.Stages[stage]
		_, valid := validBeside(ctx, r.Repo, r.Dir, c, oid)
		if valid {
			version = oid // that of ours, if it is valid
		}
		has[stage] = valid || !oid.IsZero() && has[stageBase]
	}
	base, ours, theirs := has[stageBase], has[stageOurs], has[stageTheirs]
	keep := ours
	if ours == base {
		keep = theirs
	}
	damaged := !c.Stages[stageOurs].IsZero() || !c.Stages[stageTheirs].IsZero()
	switch {
	case version.IsZero() && damaged:
		// If both sides renamed a file, git leaves a textual merge in both places.
		if data, ok := r.besideOfSides(ctx, c); ok {
			return r.keepBeside(ctx, c, data)
		}
		return fmt.Errorf("%s %w", c.Path, ErrDamaged)
	case keep:
		data, err := r.object(ctx, version)
		if err != nil {
			return fmt.Errorf("resolve %s: %w", c.Path, err)
		}
		return r.keepBeside(ctx, c, data)
	default:
		return r.remove(ctx, c)
	}
}

// keepBeside stages a file beside conversations: as it is in the working tree if that is valid,
// else a valid version.
func (r Resolver) keepBeside(ctx context.Context, c Case, data []byte) error {
	was, err := regular.ReadFile(r.file(c.Path), r.Repo.Limits().Of(c.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	below := strings.TrimPrefix(c.Path, r.Dir+"/")
	read := func() ([]byte, error) { return was, err }
	if _, err := leaks.NewMemo().Beside(below, check.Entry{}, read); err == nil {
		return r.staged(ctx, c)
	}
	return r.settle(ctx, c, was, data)
}

// besideOfSides returns a valid version that HEAD or a commit that is merged has.
func (r Resolver) besideOfSides(ctx context.Context, c Case) ([]byte, bool) {
	heads := []string{"HEAD"}
	others, _ := r.Repo.MergeHeads() // without them there is only HEAD
	heads = append(heads, lists.Map(others, gitint.OID.String)...)
	below := strings.TrimPrefix(c.Path, r.Dir+"/")
	for _, head := range heads {
		data, err := at(ctx, r.Repo, head, c.Path)
		read := func() ([]byte, error) { return data, err }
		if _, err := leaks.NewMemo().Beside(below, check.Entry{}, read); err == nil {
			return data, true
		}
	}
	return nil, false
}
