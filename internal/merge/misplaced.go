package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// misplaced examines a file that at most one parent changed. Git detects renames by content, and a
// fork can have that of its conversation: if both are moved, or one is removed, git may merge the
// change of one into the other. A file is misplaced if it differs from the only version that there
// is, and is the file of another conversation in a parent or has elements of one.
func (b *inspection) misplaced(
	ctx context.Context, id events.ID, name string,
) (*MergedFile, error) {
	at, oid, err := b.merged.file(id, name)
	if err != nil || oid.IsZero() {
		return nil, err
	}
	side, version, err := b.onlyVersion(ctx, id, name)
	if err != nil || version.IsZero() || version == oid {
		return nil, err
	}
	is, err := b.isOfAnother(id, name, oid)
	if err == nil && !is && name == workspace.EventsFile {
		is, err = b.hasForeign(ctx, id, at)
	}
	if err != nil || !is {
		return nil, err
	}
	file := &MergedFile{Path: at, Outcome: Misplaced}
	if file.earlier, err = b.wasOwn(ctx, id, name, oid); err != nil {
		return nil, err
	}
	file.Data, err = side.read(id, name)
	if err != nil || name != workspace.EventsFile {
		return file, err
	}
	said, err := side.side(id)
	if err != nil {
		return nil, nil //nolint:nilerr // checking the tree reports a side that cannot be read
	}
	if is := b.redacted.without(id, said).Stream; is != said.Stream {
		file.Data = is.Encode()
	}
	if data, err := b.merged.snap.ReadFile(at); err != nil || bytes.Equal(data, file.Data) {
		return nil, err
	}
	return file, nil
}

// displaced examines the streams of which the merge has one side unchanged. If something that it
// left out of one is in a stream where git misplaced it, nobody chose that side: git took the other
// side's file for that of the other conversation.
func (b *inspection) displaced(ctx context.Context, all []MergedFile) error {
	elsewhere := make(tally)
	for _, f := range all {
		if f.Outcome == Misplaced && path.Base(f.Path) == workspace.EventsFile {
			is, err := b.merged.snap.ReadFile(f.Path)
			if err != nil {
				return err
			}
			maps.Copy(elsewhere, beyond(is, f.Data))
		}
	}
	for i, f := range all {
		if len(elsewhere) == 0 || f.Outcome != Decided {
			continue
		}
		b.redacted.texts = nil
		_, r, err := b.fold(ctx, f.Conversation)
		if _, ok := errors.AsType[*events.SyntaxError](err); ok || len(r.Conflicts) > 0 {
			continue // checking the tree reports it, or a person decided
		}
		if err != nil {
			return fmt.Errorf("compare the merge of %s: %w", f.Conversation, err)
		}
		is, err := b.merged.snap.ReadFile(f.Path)
		if err != nil {
			return err
		}
		data := r.Stream.Encode()
		for sum := range beyond(data, is) {
			if elsewhere[sum] {
				all[i].Outcome, all[i].Data, all[i].texts = Misplaced, data, b.redacted.texts
			}
		}
	}
	return nil
}

// beyond returns the elements that a stream has and another lacks; none if either cannot be read.
func beyond(stream, other []byte) tally {
	is, err := events.Decode(stream)
	lacks, otherErr := events.Decode(other)
	if err != nil || otherErr != nil {
		return nil
	}
	t := tally(lists.Set(sumsOf(is)))
	for _, sum := range sumsOf(lacks) {
		delete(t, sum)
	}
	return t
}

// trulyMisplaced leaves out misplaced files that have what their conversation had, unless other
// files are misplaced: git exchanges the files of two conversations, and a person keeps what one
// side has.
func trulyMisplaced(all []MergedFile) []MergedFile {
	if slices.ContainsFunc(all, func(f MergedFile) bool {
		return f.Outcome == Misplaced && !f.earlier
	}) {
		return all
	}
	return slices.DeleteFunc(all, func(f MergedFile) bool { return f.earlier })
}

// wasOwn reports whether a parent or the merge base has an object as a file of a conversation.
func (b *inspection) wasOwn(
	ctx context.Context, id events.ID, name string, oid gitint.OID,
) (bool, error) {
	before, ok, err := b.base(ctx)
	if err != nil {
		return false, err
	}
	versions := b.sides
	if ok {
		versions = append(slices.Clone(versions), before)
	}
	for _, h := range versions {
		if _, is, err := h.file(id, name); err != nil || is == oid {
			return err == nil, err
		}
	}
	return false, nil
}

// onlyVersion returns the version of a file if at most one of two parents changed it, and a parent
// that has it. The version is zero if a parent removed the file, or if the merge base is not
// certain.
func (b *inspection) onlyVersion(
	ctx context.Context, id events.ID, name string,
) (side *homes, version gitint.OID, err error) {
	versions := make([]gitint.OID, len(b.sides))
	for i, h := range b.sides {
		if _, versions[i], err = h.file(id, name); err != nil {
			return nil, version, err
		}
	}
	if distinct := slices.Compact(slices.Clone(versions)); len(distinct) == 1 {
		return &b.sides[0], versions[0], nil
	}
	was, ok, err := b.base(ctx)
	if err != nil || !ok {
		return nil, version, err
	}
	_, before, err := was.file(id, name)
	if err != nil {
		return nil, version, err
	}
	for i, version := range versions {
		if !version.IsZero() && versions[1-i] == before {
			return &b.sides[i], version, nil
		}
	}
	return nil, version, nil
}

// base returns the conversations of the single merge base of two parents.
func (b *inspection) base(ctx context.Context) (h homes, ok bool, err error) {
	if len(b.parents) != 2 { // several bases and octopus merges are not certain
		return h, false, nil
	}
	bases, err := b.family.mergeBases(ctx, b.parents[1], b.parents[:1])
	if err != nil || len(bases) != 1 {
		return h, false, err
	}
	h, err = b.family.at(ctx, bases[0])
	return h, err == nil, err
}

// isOfAnother reports whether a parent has an object as the file of another conversation.
func (b *inspection) isOfAnother(id events.ID, name string, oid gitint.OID) (bool, error) {
	for _, h := range b.sides {
		for other := range h.dirs {
			_, is, err := h.file(other, name)
			if err != nil || other != id && is == oid {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// hasForeign reports whether a stream of the merge has elements that no parent has in its
// conversation, and all of these are in other conversations that a parent changed.
func (b *inspection) hasForeign(ctx context.Context, id events.ID, at string) (bool, error) {
	data, err := b.merged.snap.ReadFile(at)
	if err != nil {
		return false, err
	}
	is, err := events.Decode(data)
	if err != nil {
		return false, nil //nolint:nilerr // checking the tree reports it
	}
	var own []threeway.Side
	for _, h := range b.sides {
		if side, err := h.side(id); err == nil {
			own = append(own, side)
		}
	}
	known := tallyOf(own)
	foreign := slices.DeleteFunc(sumsOf(is), func(sum blobs.Hash) bool { return known[sum] })
	if len(foreign) == 0 {
		return false, nil
	}
	others, err := b.changedBeside(ctx, id)
	known = tallyOf(others)
	return !slices.ContainsFunc(foreign, func(sum blobs.Hash) bool { return !known[sum] }), err
}

// changedBeside returns other conversations, as parents changed or added them.
func (b *inspection) changedBeside(
	ctx context.Context, id events.ID,
) (all []threeway.Side, err error) {
	was, ok, err := b.base(ctx)
	if err != nil || !ok {
		return nil, err
	}
	for _, h := range b.sides {
		for other := range h.dirs {
			_, is, err := h.file(other, workspace.EventsFile)
			if err != nil {
				return nil, err
			}
			_, before, err := was.file(other, workspace.EventsFile)
			if err != nil {
				return nil, err
			}
			if other == id || is == before || is.IsZero() {
				continue
			}
			if side, err := h.side(other); err == nil {
				all = append(all, side)
			}
		}
	}
	return all, nil
}
