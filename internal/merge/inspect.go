package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Outcome is the relation of a file that git merged to the drivers' result.
type Outcome string

// The outcomes. A textual merge differs from an edit by a person in its content: git merges only
// lines that a side has.
const (
	// Same: it equals the drivers' result, or continues it.
	Same Outcome = "same"
	// TextMerged: git interleaved the lines of both sides, and the result differs from the drivers'
	// or cannot be decoded.
	TextMerged Outcome = "blended"
	// Altered: it differs from the drivers' result and has elements that no side has. Either a
	// person edited it, or interleaved lines form another element.
	Altered Outcome = "altered"
	// Misplaced: git put what another conversation has, or a part of it, into a file, or left part
	// of it out of the file that had it.
	Misplaced Outcome = "misplaced"
	// Decided: a person had to decide and did, or took one side unchanged.
	Decided Outcome = "decided"
)

// A MergedFile reports on a file of a conversation that a merge changed.
type MergedFile struct {
	Conversation events.ID
	Path         string
	Outcome      Outcome
	// Data is the drivers' result, or nil if a person has to decide.
	Data []byte
	// Conflicts counts the decisions that are still needed, because the file cannot be read.
	Conflicts int

	earlier bool     // misplaced, and what the conversation had
	texts   contents // what Data may refer to, and the store may lack
}

// A Merge is a merge by git, finished or in progress.
type Merge struct {
	Repo *gitint.Repo
	// Parents holds the merged commits, ours first.
	Parents []gitint.OID
	// Dirs holds the directories .jp to examine, from the root.
	Dirs []string
}

// MergedFiles examines every conversation file that more than one parent changed, even if
// directories were renamed. Of the others it returns those with content of another conversation.
// Files that are unmerged, and conversations with two directories, are left to other functions.
func (m Merge) MergedFiles(ctx context.Context, merged gitint.Snapshot) ([]MergedFile, error) {
	var all []MergedFile
	for _, dir := range m.Dirs {
		b, err := m.inspect(ctx, merged, dir)
		if err != nil {
			return nil, err
		}
		found, err := b.all(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// inspect reads a workspace in the merge and in its parents.
func (m Merge) inspect(
	ctx context.Context, merged gitint.Snapshot, dir string,
) (*inspection, error) {
	b := &inspection{family: newFamily(m.Repo, dir), parents: m.Parents}
	var err error
	if b.merged, err = homesIn(merged, dir); err != nil {
		return nil, err
	}
	for _, p := range m.Parents {
		h, err := b.family.at(ctx, p)
		if err != nil {
			return nil, err
		}
		b.sides = append(b.sides, h)
	}
	b.redacted.dir = dir
	if err := b.redacted.add(check.Git(m.Repo, merged), nil); err != nil {
		return nil, err
	}
	for _, h := range b.sides { // they have content that the merge may lack
		b.redacted.sources = append(b.redacted.sources, check.Git(m.Repo, h.snap))
	}
	b.redacted.versions = b.versions
	return b, nil
}

// versions returns the streams of a conversation in the merge and its parents that can be read.
func (b *inspection) versions(id events.ID) (all []*events.Stream) {
	for _, h := range append([]homes{b.merged}, b.sides...) {
		if side, err := h.side(id); err == nil && side.Stream != nil {
			all = append(all, side.Stream)
		}
	}
	return all
}

// An inspection compares one workspace in a merge with its parents.
type inspection struct {
	family  *family
	parents []gitint.OID
	merged  homes
	sides   []homes // of the parents
	// redacted holds the redactions that the merge lists; the sides are compared without the
	// redacted text.
	redacted redactions
}

// A looker examines one file of a conversation, and a mergeBytes merges three versions of it.
type (
	looker     func(ctx context.Context, id events.ID) (*MergedFile, error)
	mergeBytes func(base, ours, theirs []byte) ([]byte, error)
)

func (b *inspection) all(ctx context.Context) ([]MergedFile, error) {
	var all []MergedFile
	for _, id := range slices.Sorted(maps.Keys(b.merged.dirs)) {
		if b.untouched(id) {
			continue
		}
		for _, look := range []looker{
			b.stream,
			b.details(workspace.MetadataFile, threeway.Metadata, validDetails),
			b.details(workspace.BaseConfigFile, mergeConfigs, validConfig),
		} {
			b.redacted.texts = nil
			found, err := look(ctx, id)
			if err != nil {
				return nil, fmt.Errorf("compare the merge of %s: %w", id, err)
			}
			if found != nil {
				found.Conversation, found.texts = id, b.redacted.texts
				all = append(all, *found)
			}
		}
	}
	all = trulyMisplaced(all)
	return all, b.displaced(ctx, all)
}

// changed reports whether more than one parent has a version of a file that differs from the merge
// base, and the merge has the file; settled whether the merge has the only version that parents
// have.
func (b *inspection) changed(
	ctx context.Context, id events.ID, name string,
) (is, settled bool, err error) {
	var versions []gitint.OID
	for _, h := range b.sides {
		_, oid, err := h.file(id, name)
		if err != nil {
			return false, false, err
		}
		if !oid.IsZero() && !slices.Contains(versions, oid) {
			versions = append(versions, oid)
		}
	}
	_, oid, err := b.merged.file(id, name)
	if err != nil || oid.IsZero() || len(versions) < 2 {
		return false, len(versions) == 1 && versions[0] == oid, err
	}
	for i := 1; i < len(b.parents); i++ {
		bases, err := b.family.mergeBases(ctx, b.parents[i], b.parents[:i])
		if err != nil || len(bases) > 1 {
			return true, false, err
		}
		for _, base := range bases {
			h, err := b.family.at(ctx, base)
			if err != nil {
				return false, false, err
			}
			_, was, err := h.file(id, name)
			if err != nil {
				return false, false, err
			}
			versions = slices.DeleteFunc(versions, func(v gitint.OID) bool { return v == was })
		}
	}
	return len(versions) > 1, false, nil
}

// stream compares a stream with the drivers' merge of its versions.
func (b *inspection) stream(ctx context.Context, id events.ID) (*MergedFile, error) {
	is, settled, err := b.changed(ctx, id, workspace.EventsFile)
	switch {
	case err != nil || settled:
		return nil, err
	case !is:
		return b.misplaced(ctx, id, workspace.EventsFile)
	}
	at, oid, err := b.merged.file(id, workspace.EventsFile)
	file := &MergedFile{Path: at, Outcome: Same}
	for _, h := range b.sides {
		_, other, sideErr := h.file(id, workspace.EventsFile)
		if err = cmp.Or(err, sideErr); err != nil {
			return nil, err
		}
		if other == oid {
			file.Outcome = Decided
			return file, nil
		}
	}
	sides, r, err := b.fold(ctx, id)
	if _, ok := errors.AsType[*events.SyntaxError](err); ok {
		return nil, nil // checking the tree reports a side that cannot be read
	}
	if err != nil {
		return nil, err
	}
	data, err := b.merged.snap.ReadFile(at)
	if err != nil {
		return nil, err
	}
	if len(r.Conflicts) == 0 {
		file.Data = r.Stream.Encode()
	}
	file.Outcome = judge(data, file.Data, r, sides)
	switch {
	case file.Outcome == TextMerged:
		file.Conflicts = len(r.Conflicts)
	case file.Data == nil, file.Outcome == Same && bytes.Equal(data, file.Data):
	default:
		// What was added may be another conversation's.
		is, err := b.hasForeign(ctx, id, at)
		if err != nil {
			return nil, err
		}
		if is {
			file.Outcome = Misplaced
		}
	}
	return file, nil
}

// fold merges the versions of the parents as the drivers do. It also returns the versions, all
// without redacted text.
func (b *inspection) fold(
	ctx context.Context, id events.ID,
) (sides []threeway.Side, r threeway.Result, err error) {
	var steps []threeway.Step
	for i, h := range b.sides {
		side, err := h.side(id)
		if err != nil {
			return nil, r, err
		}
		b.merged.keepForks(side.Source.Rewound)
		side = b.redacted.without(id, side)
		if sides = append(sides, side); i == 0 {
			continue
		}
		base, err := b.family.base(ctx, id, b.parents[i], b.parents[:i])
		if err != nil {
			return nil, r, err
		}
		base = b.redacted.without(id, base)
		steps = append(steps, threeway.Step{Base: base, Theirs: side})
	}
	r, err = threeway.Fold(sides[0], steps...)
	return sides, r, err
}

// judge returns the outcome for a stream, given the drivers' merge and the sides.
func judge(data, want []byte, r threeway.Result, sides []threeway.Side) Outcome {
	if want != nil && bytes.Equal(data, want) {
		return Same
	}
	is, err := events.Decode(data)
	if err == nil {
		err = is.Validate()
	}
	switch {
	case err != nil:
		return TextMerged
	case len(r.Conflicts) > 0:
		return Decided
	}
	switch goesOn, altered := compare(r.Stream, is, tallyOf(sides)); {
	case goesOn:
		return Same
	case altered:
		return Altered
	default:
		return TextMerged
	}
}

// A tally is the set of elements in streams, by their hashes.
type tally map[blobs.Hash]bool

func tallyOf(sides []threeway.Side) tally {
	t := make(tally)
	for _, s := range sides {
		if s.Stream != nil {
			maps.Copy(t, lists.Set(sumsOf(s.Stream)))
		}
	}
	return t
}

// compare compares a stream with the expected one. goesOn reports whether it has the expected
// elements in order and no other element of a side, and altered whether it has elements that no
// side has.
func compare(want, is *events.Stream, known tally) (goesOn, altered bool) {
	goesOn = true
	i := 0
	for _, e := range is.All() {
		switch ours := known[e.Sum()]; {
		case i < want.Len() && events.Equal(want.At(i), e):
			i++
		case ours:
			goesOn = false
		default:
			altered = true
		}
	}
	return goesOn && i == want.Len(), altered
}

// details examines metadata.json or base_config.json, which a textual merge may make unreadable.
// Any readable result is accepted.
func (b *inspection) details(name string, merge mergeBytes, valid func([]byte) error) looker {
	return func(ctx context.Context, id events.ID) (*MergedFile, error) {
		is, settled, err := b.changed(ctx, id, name)
		switch {
		case err != nil || settled:
			return nil, err
		case !is:
			return b.misplaced(ctx, id, name)
		}
		at, _, err := b.merged.file(id, name)
		if err != nil {
			return nil, err
		}
		data, err := b.merged.snap.ReadFile(at)
		if err != nil || valid(data) == nil {
			return nil, err
		}
		file := &MergedFile{Path: at, Outcome: TextMerged}
		file.Data, err = b.foldBytes(ctx, id, name, merge)
		if err != nil {
			file.Conflicts, file.Data = 1, nil
		}
		return file, ctx.Err()
	}
}

// foldBytes merges the versions of a file one after the other. If there are several merge bases the
// first is used, which only influences which of two values wins.
func (b *inspection) foldBytes(
	ctx context.Context, id events.ID, name string, merge mergeBytes,
) ([]byte, error) {
	all, err := b.sides[0].read(id, name)
	for i := 1; err == nil && i < len(b.sides); i++ {
		var base, next []byte
		if next, err = b.sides[i].read(id, name); err != nil {
			break
		}
		var bases []gitint.OID
		if bases, err = b.family.mergeBases(ctx, b.parents[i], b.parents[:i]); err != nil {
			break
		}
		if len(bases) > 0 {
			var h homes
			if h, err = b.family.at(ctx, bases[0]); err != nil {
				break
			}
			if base, err = h.read(id, name); err != nil {
				break
			}
		}
		all, err = merge(base, all, next)
	}
	return all, err
}

func mergeConfigs(base, ours, theirs []byte) ([]byte, error) {
	merged, _, err := threeway.BaseConfig(base, ours, theirs)
	return merged, err
}

func validDetails(data []byte) error {
	_, err := events.DecodeDetails(data)
	return err
}

// validConfig accepts whatever the rules for merging base configurations accept.
func validConfig(data []byte) error {
	_, err := mergeConfigs(data, data, data)
	return err
}
