package gitint

import (
	"context"
	"fmt"
	"strings"
)

// historyMark begins the line of a commit in the output of git log for LastWith.
const historyMark = "\x01"

// LastWith returns for each file a commit that has it: the newest, reachable from HEAD or any ref,
// that added or changed it. A file without one is omitted. A file that only a merge created is not
// found.
func (r *Repo) LastWith(ctx context.Context, paths ...string) (map[string]OID, error) {
	found := make(map[string]OID, len(paths))
	if len(paths) == 0 {
		return found, nil
	}
	args := []string{
		"log", "--all", "--full-history", "--diff-filter=AM", "--no-renames", "--no-ext-diff",
		"--raw", "-z", "--no-abbrev", "--no-show-signature", "--format=" + historyMark + "%H", "--",
	}
	out, err := r.run(ctx, command{args: append(args, paths...)})
	if err != nil {
		return nil, fmt.Errorf("search the history of %d files: %w", len(paths), err)
	}
	var commit OID
	for _, field := range splitZ(out) {
		if digits, ok := strings.CutPrefix(field, historyMark); ok {
			if commit, err = ParseOID(digits); err != nil {
				return nil, fmt.Errorf("search history: %w", err)
			}
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(field, "\n"), ":") {
			continue // modes and objects of the following path
		}
		if _, known := found[field]; !known {
			found[field] = commit
		}
	}
	return found, nil
}
