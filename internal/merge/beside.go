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
// has none: 0 if it is damaged in all versions.
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

// validBeside returns the conversation of a version of a file beside conversations; false if there
// is none, or if it counts for nothing.
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

// ErrDamaged reports that no version of a file beside conversations counts.
var ErrDamaged = errors.New("counts for nothing on either side")

// DecideBeside decides a case of kind [Beside] without a question. The name of such a file
// determines what it says, so its versions differ only in whether there is one, and what one side
// changed counts: an entry that one side removed and the other gave another layout is removed, and
// so is the old entry if each side put another in its place. A damaged version is no change. The
// error is [ErrDamaged] if there are only damaged ones.
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
	for _, id := range others {
		heads = append(heads, id.String())
	}
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
