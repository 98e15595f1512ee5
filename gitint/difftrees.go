package gitint

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// DiffTrees calls f for every entry directly in two trees that differs; the zero Entry means no
// entry, the zero id an empty tree. The paths are names. Equal entries cost nearly nothing, which
// helps for the large directories of two similar commits.
func (r *Repo) DiffTrees(ctx context.Context, was, is OID, f func(was, is Entry)) error {
	before, err := r.sortedEntries(ctx, was)
	if err != nil {
		return fmt.Errorf("compare trees: %w", err)
	}
	now, err := r.sortedEntries(ctx, is)
	if err != nil {
		return fmt.Errorf("compare trees: %w", err)
	}
	both := len(before) > 0 && len(now) > 0
	var all []treeDifference
	if !both {
		all = make([]treeDifference, 0, len(before)+len(now))
	}
	for len(before) > 0 || len(now) > 0 {
		switch c := compareHeads(before, now); {
		case c < 0:
			all = append(all, treeDifference{was: before[0]})
			before = before[1:]
		case c > 0:
			all = append(all, treeDifference{is: now[0]})
			now = now[1:]
		default:
			if before[0] != now[0] {
				all = append(all, treeDifference{before[0], now[0]})
			}
			before, now = before[1:], now[1:]
		}
	}
	if both {
		all = joinKinds(all)
	}
	for _, d := range all {
		f(d.was, d.is)
	}
	return nil
}

// A treeDifference is an entry that differs between two trees.
type treeDifference struct{ was, is Entry }

// sortedEntries returns the entries in git's order, which trees written by other programs may lack.
func (r *Repo) sortedEntries(ctx context.Context, id OID) ([]Entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	entries, err := r.treeEntries(ctx, id)
	if err == nil && !slices.IsSortedFunc(entries, object.CompareEntries) {
		entries = slices.SortedFunc(slices.Values(entries), object.CompareEntries)
	}
	return entries, err
}

// compareHeads sorts an empty list after everything.
func compareHeads(a, b []Entry) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return object.CompareEntries(a[0], b[0])
}

// joinKinds joins a removed file and an added directory of the same name, which sort differently,
// to one difference, and the other way round.
func joinKinds(all []treeDifference) []treeDifference {
	at := make(map[string]int, len(all))
	joined := all[:0]
	for _, d := range all {
		name := max(d.was.Path, d.is.Path)
		i, again := at[name]
		if !again {
			at[name] = len(joined)
			joined = append(joined, d)
			continue
		}
		if d.was.Path != "" {
			joined[i].was = d.was
		}
		if d.is.Path != "" {
			joined[i].is = d.is
		}
	}
	return joined
}
