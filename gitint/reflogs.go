package gitint

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/refstore"
)

// A reflog is one of a working tree.
type reflog struct {
	refstore.Log
	worktree string
}

func (l reflog) title() string { return Root{Name: l.Name, Worktree: l.worktree}.Title() }

// judgeReflogs records which reflogs have lost entries. Git never writes an entry that does not
// begin where the last one ends. It removes entries that have expired, which leaves a gap; and a
// HEAD can be set to another branch without an entry. Every other gap is damage, and the objects
// that it named are unknown.
func (c *rootCollector) judgeReflogs(ctx context.Context, logs []reflog) error {
	moved := make(map[OID]bool) // values of branches, now or earlier
	for _, root := range c.roots.Names {
		moved[root.OID] = root.Kind == RootRef || moved[root.OID]
	}
	broken := slices.DeleteFunc(slices.Clone(logs), func(l reflog) bool {
		for _, e := range l.Entries {
			if !l.IsHead() {
				moved[e.Was], moved[e.Is] = true, true
			}
		}
		return len(l.Gaps()) == 0
	})
	if len(broken) == 0 {
		return nil
	}
	cutoff, err := c.repo.reflogExpiry(ctx)
	if err != nil {
		return err
	}
	for _, l := range broken {
		for _, i := range l.Gaps() {
			isOld := l.Entries[i-1].At <= cutoff
			if !isOld && (!l.IsHead() || !moved[l.Entries[i].Was]) {
				c.incomplete(ReasonReflog, fmt.Sprintf("%s: entries are missing before %s",
					l.title(), reflogName(l.Name, len(l.Entries)-1-i)))
			}
		}
	}
	return nil
}

// reflogExpiry returns the time before which git removes entries from reflogs, by the shortest of
// the configured times: they can differ by ref.
func (r *Repo) reflogExpiry(ctx context.Context) (int64, error) {
	const key = "gc.reflogExpireUnreachable"
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"config", "--type=expiry-date", "--default=30.days.ago", "--get", key,
	}})
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", key, err)
	}
	more, err := r.git.Run(ctx, git.Command{Args: []string{
		"config", "--type=expiry-date", "--get-regexp", `^gc\..*reflogexpire(unreachable)?$`,
	}})
	if err != nil && git.ExitCode(err) != 1 { // 1 means that there is none
		return 0, fmt.Errorf("read how long reflogs are kept: %w", err)
	}
	latest := int64(0)
	for line := range strings.Lines(string(out) + string(more)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		at, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
		if err != nil {
			at = math.MaxInt64 // such as that of "now", too large for an int64
		}
		latest = max(latest, at)
	}
	return latest, nil
}
