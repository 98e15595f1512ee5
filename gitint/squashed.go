package gitint

import (
	"context"
	"fmt"
	"strings"
)

// squashHeading is how git merge --squash begins the message that it proposes. It lists what was
// squashed as git log does, the newest first.
const squashHeading = "Squashed commit of the following:"

// Squashed returns those among the commits of revisions, as git log takes them, whose message says
// which commit they squashed, if that one is still there.
func (r *Repo) Squashed(ctx context.Context, revs ...string) (map[OID]OID, error) {
	args := append([]string{}, quiet[:]...)
	args = append(args, "log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8",
		"--max-parents=1", "--extended-regexp", "--grep=^"+squashHeading+"$",
		"--format=tformat:%H%n%B", "--end-of-options")
	out, err := r.run(ctx, command{args: append(append(args, revs...), "--")})
	if err != nil {
		return nil, fmt.Errorf("list squashed commits: %w", err)
	}
	of := make(map[OID]OID)
	for _, text := range splitZ(out) {
		name, message, _ := strings.Cut(text, "\n")
		id, err := ParseOID(name)
		if err != nil {
			return nil, fmt.Errorf("list squashed commits: %w", err)
		}
		squashed, ok := SquashedBy(message)
		if !ok {
			continue
		}
		missing, err := r.HasObject(ctx, []OID{squashed})
		if err != nil {
			return nil, fmt.Errorf("list squashed commits: %w", err)
		}
		if len(missing) == 0 {
			of[id] = squashed
		}
	}
	return of, nil
}

// SquashedBy returns the newest commit that a message of git merge --squash lists.
func SquashedBy(message string) (OID, bool) {
	_, list, ok := strings.Cut("\n"+message, "\n"+squashHeading+"\n")
	if !ok {
		return OID{}, false
	}
	first, _, _ := strings.Cut(strings.TrimLeft(list, "\n"), "\n")
	name, ok := strings.CutPrefix(first, "commit ")
	if !ok {
		return OID{}, false
	}
	id, err := ParseOID(strings.TrimSpace(name))
	return id, err == nil
}
