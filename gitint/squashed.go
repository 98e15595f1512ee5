package gitint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// squashHeading begins the message that git merge --squash proposes. It lists the squashed commits
// as git log does, newest first.
const squashHeading = "Squashed commit of the following:"

// Squashed returns the commits of revisions, as git log takes them, whose message lists the commits
// that they squashed, with those tips of the list that still exist.
func (r *Repo) Squashed(ctx context.Context, revs ...string) (map[OID][]OID, error) {
	args := append([]string{}, quiet[:]...)
	args = append(args, "log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8",
		"--max-parents=1", "--extended-regexp", "--grep=^"+squashHeading+"$",
		"--format=tformat:%H%n%B", "--end-of-options")
	out, err := r.git.Run(ctx, git.Command{Args: append(append(args, revs...), "--")})
	if err != nil {
		return nil, fmt.Errorf("list squashed commits: %w", err)
	}
	of := make(map[OID][]OID)
	for _, text := range splitZ(out) {
		name, message, _ := strings.Cut(text, "\n")
		id, err := ParseOID(name)
		if err != nil {
			return nil, fmt.Errorf("list squashed commits: %w", err)
		}
		tips, err := r.SquashedBy(ctx, message)
		if err != nil {
			return nil, err
		}
		if len(tips) > 0 {
			of[id] = tips
		}
	}
	return of, nil
}

// SquashedBy returns the tips of the commits that a message of git merge --squash lists, if they
// still exist: one for each branch.
func (r *Repo) SquashedBy(ctx context.Context, message string) ([]OID, error) {
	_, list, ok := strings.Cut("\n"+message, "\n"+squashHeading+"\n")
	if !ok {
		return nil, nil
	}
	var listed []OID
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(line, "commit "); ok {
			if id, err := ParseOID(strings.TrimSpace(name)); err == nil {
				listed = append(listed, id)
			}
		}
	}
	missing, err := r.HasObject(ctx, listed)
	if err == nil {
		listed = slices.DeleteFunc(listed, func(id OID) bool {
			return slices.Contains(missing, id)
		})
		err = r.CommitHeads(ctx, slices.Clone(listed), func(_ int, h CommitHead) error {
			listed = slices.DeleteFunc(listed, func(id OID) bool {
				return slices.Contains(h.Parents, id)
			})
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read what was squashed: %w", err)
	}
	return listed, nil
}

// Beside returns refs to commits that are not reachable from one, newest first and at most so many.
// It omits stashes and notes, which are no branches.
func (r *Repo) Beside(ctx context.Context, commit OID, most int) ([]Ref, error) {
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"for-each-ref", "--no-merged=" + commit.String(), "--sort=-committerdate",
		"--format=%(objectname) %(*objectname) %(refname)",
	}})
	if err != nil {
		return nil, fmt.Errorf("list the refs beside %s: %w", commit, err)
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 3 {
			return nil, fmt.Errorf("unexpected line %q of git for-each-ref", line)
		}
		name := fields[2]
		if name == stashRef || strings.HasPrefix(name, "refs/notes/") || len(refs) == most {
			continue
		}
		ref := Ref{Name: name}
		if ref.OID, err = ParseOID(fields[0]); err != nil {
			return nil, err
		}
		if ref.Peeled = ref.OID; fields[1] != "" {
			if ref.Peeled, err = ParseOID(fields[1]); err != nil {
				return nil, err
			}
		}
		refs = append(refs, ref)
	}
	return refs, nil
}
