package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrDirectories reports a conversation that has several directories in one snapshot.
var ErrDirectories = errors.New("it is in several directories")

// A Recovery restores in the working tree the elements of a conversation that a merge commit lost.
type Recovery struct {
	Resolver

	// Merge is the commit, and Loss is its loss.
	Merge gitint.Commit
	Loss  Loss
}

// Run restores the loss: the difference between the drivers' merge of the commit's sides and the
// conversation in the commit is merged into the current conversation, without what a person wrote
// in the commit. A conflict, which can no longer be decided, keeps both versions, one of them as a
// turn of its own. Run returns the directory of the conversation, and the files that it left out
// because they have redacted text.
func (r Recovery) Run(ctx context.Context) (dir string, left []string, err error) {
	tree, err := r.Repo.Tree(ctx, r.Merge.OID.String())
	if err != nil {
		return "", nil, err
	}
	m := Merge{Repo: r.Repo, Parents: r.Merge.Parents}
	b, err := m.inspect(ctx, tree, r.Dir)
	if err == nil {
		dir, left, err = r.run(ctx, b)
	}
	if err != nil {
		return "", nil, fmt.Errorf("restore what merge %s lost of %s: %w",
			r.Merge.OID, r.Loss.Conversation, err)
	}
	return dir, left, nil
}

func (r Recovery) run(ctx context.Context, b *inspection) (dir string, left []string, err error) {
	id := r.Loss.Conversation
	for _, h := range append(b.sides, b.merged) {
		if len(h.dirs[id]) > 1 {
			return "", nil, ErrDirectories
		}
	}
	if err := b.onlyRead(id); err != nil {
		return "", nil, err
	}
	_, wanted, err := b.fold(ctx, id)
	if err != nil {
		return "", nil, err
	}
	want, err := KeepBoth(wanted.Stream, wanted.Conflicts)
	if err != nil {
		return "", nil, err
	}
	at, err := r.place(id)
	if err != nil {
		return "", nil, err
	}
	if at == "" {
		return r.anew(ctx, b, want)
	}
	return at, nil, r.into(ctx, b, at, threeway.Side{
		Stream: want, BaseConfig: wanted.BaseConfig, Source: wanted.Source,
	})
}

// onlyRead leaves out the sides in which a conversation cannot be read, as counting does.
func (b *inspection) onlyRead(id events.ID) error {
	var parents []gitint.OID
	var sides []homes
	for i, h := range b.sides {
		_, err := h.side(id)
		if unlessSyntax(err) != nil {
			return err
		}
		if err == nil {
			parents, sides = append(parents, b.parents[i]), append(sides, h)
		}
	}
	b.parents, b.sides = parents, sides
	return nil
}

// place returns the directory of a conversation in the working tree, from its root, or "" if it has
// none.
func (r Resolver) place(id events.ID) (string, error) {
	dirs, err := workDirs(r.Repo, r.Dir)
	if err != nil || len(dirs[id]) == 0 {
		return "", err
	}
	return dirs[id][0], nil
}

// KeepBoth resolves each conflict by keeping both sides.
func KeepBoth(
	s *events.Stream, conflicts []threeway.Conflict,
) (_ *events.Stream, err error) {
	for _, c := range conflicts {
		choice := threeway.ChooseBoth
		if len(c.Ours) == 0 {
			choice = threeway.ChooseTheirs
		}
		if s, err = threeway.Resolve(s, c, choice); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// anew creates a conversation that the working tree does not have, with the files of the side that
// has it.
func (r Recovery) anew(
	ctx context.Context, b *inspection, want *events.Stream,
) (dir string, left []string, err error) {
	id := r.Loss.Conversation
	side := b.sides[slices.Index(b.parents, r.Loss.Side)]
	if len(side.dirs[id]) == 0 {
		return "", nil, fs.ErrNotExist
	}
	dir = side.dirs[id][0]
	all, err := side.snap.Entries(dir)
	if err != nil {
		return "", nil, err
	}
	hidden, err := hiddenIn(ctx, r.Repo, r.Dir, side, id)
	if err != nil {
		return "", nil, err
	}
	for _, e := range all {
		if !e.Mode.IsRegular() {
			continue
		}
		data, err := side.snap.ReadFile(e.Path)
		if err != nil {
			return "", nil, err
		}
		data, ok := Restorable(hidden, e.Path, data)
		if !ok {
			left = append(left, e.Path)
			continue
		}
		if e.Path == path.Join(dir, workspace.EventsFile) {
			data = want.Encode()
		}
		if err := r.write(ctx, Case{Path: e.Path, ID: id}, nil, data); err != nil {
			return "", nil, err
		}
	}
	return dir, left, nil
}

// into merges the lost elements into the stream in the working tree.
func (r Recovery) into(
	ctx context.Context, b *inspection, at string, want threeway.Side,
) error {
	id := r.Loss.Conversation
	has, err := b.merged.side(id)
	if err != nil {
		return err
	}
	name := path.Join(at, workspace.EventsFile)
	data, err := regular.ReadFile(r.file(name), r.Repo.Limits().Of(name))
	if err != nil {
		return err
	}
	now, err := events.Decode(data)
	if err != nil {
		return err
	}
	config, err := regular.ReadFile(
		r.file(path.Join(at, workspace.BaseConfigFile)), regular.MaxSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours := threeway.Side{Stream: now, BaseConfig: orNil(config), Source: has.Source}
	if has.Stream, err = b.unwritten(id, has.Stream, want.Stream); err != nil {
		return err
	}
	result, err := threeway.Merge(has, ours, want)
	if err != nil {
		return err
	}
	s, err := KeepBoth(result.Stream, result.Conflicts)
	if err != nil {
		return err
	}
	if next := s.Encode(); !bytes.Equal(next, data) {
		return r.write(ctx, Case{Path: name, ID: id}, data, next)
	}
	return nil
}

// unwritten returns the stream of a merge commit without what a person wrote there: elements that
// no side has. One with the key of a wanted element is an edit of it and becomes that element. If
// they stayed in the base that the wanted stream is compared with, restoring would remove them.
func (b *inspection) unwritten(
	id events.ID, merged, want *events.Stream,
) (*events.Stream, error) {
	if merged == nil {
		return nil, nil
	}
	var sides []threeway.Side
	for _, h := range b.sides {
		side, err := h.side(id)
		if err != nil {
			return nil, err
		}
		sides = append(sides, side)
	}
	known := tallyOf(sides)
	at := make(map[string]int)
	for i, key := range want.Keys() {
		at[key] = i
	}
	base := events.New()
	for i, key := range merged.Keys() {
		e := merged.At(i)
		if !known[e.Sum()] {
			i, ok := at[key]
			if !ok {
				continue
			}
			e = want.At(i)
		}
		base.Append(e)
	}
	return base, nil
}

// Missing returns how many elements of a loss a stream does not have.
func (l Loss) Missing(s *events.Stream) int { return len(l.missingIn(newSaid("", s))) }
