package threeway

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/go-json-experiment/json/jsontext"
)

// A Side is one of the three states of a conversation that a merge is given.
type Side struct {
	// Stream is nil where the conversation does not exist. A merge without a base
	// is the union of its sides.
	Stream *events.Stream
	// BaseConfig is the base_config.json, nil where there is none or it is not known.
	BaseConfig jsontext.Value
	// Source is of which agent session it was imported, if it was.
	Source Source
}

// A Result is what a merge came to.
type Result struct {
	// Stream is valid whether or not there are conflicts. Where there is one it has
	// ours in place.
	Stream *events.Stream
	// BaseConfig is the base configuration that Stream goes with, as
	// [BaseConfig] makes it; nil when no side had one.
	BaseConfig jsontext.Value
	Conflicts  []Conflict
	// Warnings say, a sentence each, what a person may want to look at although it
	// is no conflict.
	Warnings []string
	// Source is that of the side that has more of it.
	Source Source
}

// The versions of anything in a merge.
const (
	inBase = iota
	inOurs
	inTheirs
	versions
)

// Merge brings two states of a conversation together that began as base. It is pure:
// it reads no blob and no clock. docs/merge.md has the rules; in short:
//
//   - What base had and no side removed is there, and what a side added is there once.
//     What one side removed and the other changed, or both changed differently, is a
//     conflict of the turn that it is in.
//   - Turns stay whole, elements keep the bytes that one of the sides has, and each turn
//     keeps the configuration that it ran under: where another branch's turns come to
//     stand before it, a config_delta of the merge restores it.
//   - Without a conflict the result does not depend on which side is ours, nor on the
//     order in which several branches are merged.
//
// A side that is base unchanged gives the other side as it is, byte for byte. The
// error is for inputs that do not validate and for a result that does not stand the
// check that every merge makes of its own work; there is no result then.
func Merge(base, ours, theirs Side) (Result, error) {
	return merge([versions]Side{base, ours, theirs}, false)
}

// VirtualBase merges two bases of a criss-cross merge into the one that the merge
// itself is given. Nobody sees its result, and a conflict in it is none: what both
// changed differently stays as it was in their own base, so that the merge that follows
// asks about it, whichever of the two was called ours.
func VirtualBase(base, ours, theirs Side) (Result, error) {
	r, err := merge([versions]Side{base, ours, theirs}, true)
	r.Conflicts = nil
	return r, err
}

// A Step is a further parent of a merge of several, and the base that it has in
// common with what was merged before it.
type Step struct {
	Base, Theirs Side
}

// Fold merges several parents, as an octopus merge has them: first with the
// first step, what comes of it with the second, and so on. Conflicts and warnings are
// those of all steps.
func Fold(first Side, steps ...Step) (Result, error) {
	all := Result{Stream: first.Stream, BaseConfig: first.BaseConfig, Source: first.Source}
	if all.Stream == nil {
		all.Stream = events.New()
	}
	for i, step := range steps {
		next, err := Merge(step.Base, Side{all.Stream, all.BaseConfig, all.Source}, step.Theirs)
		if err != nil {
			return Result{}, fmt.Errorf("parent %d: %w", i+2, err)
		}
		next.Conflicts = append(all.Conflicts, next.Conflicts...)
		next.Warnings = append(all.Warnings, next.Warnings...)
		all = next
	}
	return all, nil
}

func merge(sides [versions]Side, virtual bool) (Result, error) {
	for i := range sides {
		if sides[i].Stream == nil {
			sides[i].Stream = events.New()
		}
	}
	if unchanged(sides) == nil {
		var err error
		if sides, err = harmonize(sides); err != nil {
			return Result{}, err
		}
	}
	m := newMerger(sides, virtual)
	r, err := m.merge()
	if errors.Is(err, errUnverified) {
		// Calls of one id can come apart where both changed a turn. Then the turn as a
		// whole is left to a person.
		m = newMerger(sides, virtual)
		m.whole = true
		r, err = m.merge()
	}
	if err != nil {
		return Result{}, err
	}
	r.Source = sides[inOurs].Source.with(sides[inTheirs].Source)
	return r, nil
}

func (m *merger) merge() (Result, error) {
	if err := m.mergeBaseConfigs(); err != nil {
		return Result{}, err
	}
	if s := unchanged(m.sides); s != nil {
		return Result{Stream: s, BaseConfig: m.baseConfig, Warnings: m.warnings}, nil
	}
	for i := range m.sides {
		if err := m.read(i); err != nil {
			return Result{}, fmt.Errorf("read %s: %w", versionName(i), err)
		}
	}
	m.matchTurns()
	m.readParents()
	m.mergeTurns()
	m.mergeParents()
	r := Result{Stream: m.write(), BaseConfig: m.baseConfig}
	r.Conflicts, r.Warnings = m.conflicts(), m.warnings
	return r, m.verify(r)
}

// unchanged returns the stream of the side that alone changed, if it is so.
func unchanged(sides [versions]Side) *events.Stream {
	base := sides[inBase].Stream.Encode()
	ours := sides[inOurs].Stream.Encode()
	theirs := sides[inTheirs].Stream.Encode()
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(base, theirs):
		return sides[inOurs].Stream.Clone()
	case bytes.Equal(base, ours):
		return sides[inTheirs].Stream.Clone()
	default:
		return nil
	}
}

func versionName(version int) string {
	return [...]string{"base", "ours", "theirs"}[version]
}

// A merger is one merge on its way.
type merger struct {
	sides   [versions]Side
	virtual bool // what both changed stays as it was in base
	long    int  // the side that has more of the session that both are of, see [longer]
	*equality
	contentMerge
	turnTree

	configs    *configCache
	baseConfig jsontext.Value
	// bases are the configurations that the versions begin with, mergedBase that of
	// the result.
	bases      [versions]settings.Config
	mergedBase settings.Config

	warnings []string
}

func newMerger(sides [versions]Side, virtual bool) *merger {
	long, _ := longer(sides) // two sessions were refused
	eq := &equality{sums: map[string]blobs.Hash{}}
	return &merger{
		sides: sides, virtual: virtual, long: long,
		equality: eq, contentMerge: contentMerge{equality: eq},
		turnTree: turnTree{equality: eq, byKey: map[turnKey][]*mergeTurn{}},
		configs:  newConfigCache(),
	}
}

// warn adds a warning, once.
func (m *merger) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(m.warnings, text) {
		return
	}
	m.warnings = append(m.warnings, text)
}

// choose decides between what three versions have of a thing: what one side changed
// counts, and where both changed it differently pick does.
func choose[T any](base, ours, theirs T, same func(a, b T) bool, pick func(a, b T) T) T {
	switch {
	case same(ours, theirs), same(base, theirs):
		return ours
	case same(base, ours):
		return theirs
	default:
		return pick(ours, theirs)
	}
}
