package threeway

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/go-json-experiment/json/jsontext"
)

// A Side is one of the three versions of a conversation in a merge.
type Side struct {
	// Stream is nil if the conversation does not exist. A merge without a base is the union of its
	// sides.
	Stream *events.Stream
	// BaseConfig is the base_config.json, or nil if it is missing or unknown.
	BaseConfig jsontext.Value
	// Source identifies the agent session from which the version was imported, if any.
	Source Source
}

// A Result is the outcome of a merge.
type Result struct {
	// Stream is valid whether or not there are conflicts. For each conflict it has ours.
	Stream *events.Stream
	// BaseConfig is the base configuration of Stream, as the function [BaseConfig] merges it; nil
	// if no side had one.
	BaseConfig jsontext.Value
	Conflicts  []Conflict
	// Warnings are sentences about changes that are no conflicts but that a person may want to
	// review.
	Warnings []string
	// Source is that of the side that has more of the session.
	Source Source
}

// The versions of anything in a merge.
const (
	inBase = iota
	inOurs
	inTheirs
	versions
)

// Merge merges two versions of a conversation with the common ancestor base. It is pure: it reads
// no blob and no clock. docs/merge.md has the rules; in short:
//
//   - The result has everything of base that no side removed, and everything that a side added,
//     once. A turn in which one side removed what the other changed, or both changed something
//     differently, is a conflict.
//   - Turns are kept together, each element has the bytes of one of the sides, and each turn keeps
//     the configuration that it ran with: if turns of another branch come to precede it, the merge
//     adds a config_delta that restores it.
//   - Without conflicts the result does not depend on which side is ours, nor on the order in
//     which several branches are merged.
//
// If one side equals base, the result is the other side, byte for byte. Merge returns an error for
// inputs that do not validate, and if the result fails the verification that follows every merge.
func Merge(base, ours, theirs Side) (Result, error) {
	return merge(base, ours, theirs, false)
}

// VirtualBase merges two bases of a criss-cross merge into the base of the merge itself. Its result
// is only an intermediate one, so it has no conflicts: anything that both changed differently keeps
// the form that it has in their own base, so that the following merge reports it, whichever of the
// two was called ours.
func VirtualBase(base, ours, theirs Side) (Result, error) {
	r, err := merge(base, ours, theirs, true)
	r.Conflicts = nil
	return r, err
}

// A Step is another parent in a merge of several, with the base that it has in common with
// everything merged before it.
type Step struct {
	Base, Theirs Side
}

// Fold merges several parents, as in an octopus merge: first with the first step, the result with
// the second, and so on. Conflicts and warnings are those of all steps.
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

// whole returns three versions, with an empty stream for each that does not exist.
func whole(all ...Side) (sides [versions]Side) {
	for i := range sides {
		if sides[i] = all[i]; sides[i].Stream == nil {
			sides[i].Stream = events.New()
		}
	}
	return sides
}

func merge(base, ours, theirs Side, virtual bool) (Result, error) {
	base, ours, theirs, err := Agreed(base, ours, theirs)
	if err != nil {
		return Result{}, err
	}
	sides := [versions]Side{base, ours, theirs}
	m := newMerger(sides, virtual)
	r, err := m.merge()
	if errors.Is(err, errUnverified) {
		// A response can be separated from its call if both sides changed a turn. Then merge again
		// and let such turns conflict as a whole.
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

// unchanged returns the stream of the only side that changed, or nil.
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

// A merger is a merge in progress.
type merger struct {
	sides   [versions]Side
	virtual bool // what both changed keeps its form in base
	long    int  // the side that has more of the common session, see [longer]
	equality
	contentMerge
	turnTree

	configs    *configCache
	baseConfig jsontext.Value
	// bases are the configurations that the versions begin with, mergedBase is that of the result.
	bases      [versions]settings.Config
	mergedBase settings.Config

	warnings []string
}

func newMerger(sides [versions]Side, virtual bool) *merger {
	long, _ := longer(sides) // different sessions were refused before
	eq := newEquality()
	return &merger{
		sides: sides, virtual: virtual, long: long,
		equality: eq, contentMerge: contentMerge{equality: eq},
		turnTree: turnTree{equality: eq, byKey: map[turnKey][]*mergeTurn{}},
		configs:  newConfigCache(),
	}
}

// warn adds a warning, unless there is an equal one.
func (m *merger) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(m.warnings, text) {
		return
	}
	m.warnings = append(m.warnings, text)
}

// choose merges three versions of a value: the side that changed it decides, and if both changed it
// differently, pick does.
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
