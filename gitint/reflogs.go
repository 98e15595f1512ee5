package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/wholefile"
)

// A reflogEntry is a change of a ref from one object to another. Either may be zero.
type reflogEntry struct {
	was, is OID
	at      int64 // in seconds since 1970, 0 if unknown
	why     string
}

// readReflog reads a reflog, oldest entry first. Another git may be appending, so an incomplete
// last line is read again, for a moment.
func (r *Repo) readReflog(file string) (entries []reflogEntry, err error) {
	for range wholefile.Attempts {
		var data []byte
		if data, err = wholefile.Read(file); err != nil {
			return nil, ignoreMissing(err)
		}
		if entries, err = parseReflog(data); err == nil {
			break
		}
	}
	return entries, err
}

// errReflogLine reports a line of a reflog that git does not write.
var errReflogLine = errors.New("it has the line")

// parseReflog parses lines "<was> <is> <who> TAB <why>". An invalid line is an error, since the
// objects that it kept are lost; the entries of the others are returned nevertheless.
func parseReflog(data []byte) ([]reflogEntry, error) {
	var entries []reflogEntry
	var torn error
	for line := range strings.Lines(string(data)) {
		was, rest, ok := strings.Cut(line, " ")
		is, who, spaced := strings.Cut(rest, " ")
		before, err := ParseOID(was)
		after, afterErr := ParseOID(is)
		if !ok || !spaced || !strings.HasSuffix(line, "\n") ||
			errors.Join(err, afterErr) != nil {
			torn = fmt.Errorf("%w %.80q", errReflogLine, line)
			continue
		}
		who, why, _ := strings.Cut(strings.TrimSuffix(who, "\n"), "\t")
		entries = append(entries, reflogEntry{before, after, reflogTime(who), why})
	}
	return entries, torn
}

// reflogTime parses the time of an entry after its committer.
func reflogTime(who string) int64 {
	_, when, _ := strings.Cut(who, "> ")
	seconds, _, _ := strings.Cut(when, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0
	}
	return at
}

// A reflog is the content of one reflog.
type reflog struct {
	name, worktree string
	entries        []reflogEntry
}

func (l reflog) title() string { return Root{Name: l.name, Worktree: l.worktree}.Title() }

// isHead reports whether it is that of a HEAD, which changes between branches.
func (l reflog) isHead() bool { return l.name == headName }

// gaps returns the entries that do not begin where the one before them ends. An entry that begins
// with zero is no gap: the ref was created again.
func (l reflog) gaps() []int {
	var all []int
	for i := 1; i < len(l.entries); i++ {
		if was := l.entries[i].was; !was.IsZero() && was != l.entries[i-1].is {
			all = append(all, i)
		}
	}
	return all
}

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
		for _, e := range l.entries {
			if !l.isHead() {
				moved[e.was], moved[e.is] = true, true
			}
		}
		return len(l.gaps()) == 0
	})
	if len(broken) == 0 {
		return nil
	}
	cutoff, err := c.repo.reflogExpiry(ctx)
	if err != nil {
		return err
	}
	for _, l := range broken {
		for _, i := range l.gaps() {
			isOld := l.entries[i-1].at <= cutoff
			if !isOld && (!l.isHead() || !moved[l.entries[i].was]) {
				c.incomplete(ReasonReflog, fmt.Sprintf("%s: entries are missing before %s",
					l.title(), reflogName(l.name, len(l.entries)-1-i)))
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

// judgeOrphan records a reflog whose ref is missing. Git deletes both, the reflog first.
func (c *rootCollector) judgeOrphan(l reflog, w Worktree, file string) {
	if len(l.entries) == 0 || l.isHead() || c.named[l.worktree+" "+l.name] ||
		!strings.HasPrefix(l.name, "refs/") {
		return
	}
	f := refFiles{w.GitDir, c.repo.commonDir, 2 * c.repo.idSize()}
	_, _, err := f.lookup(l.name)
	if noSuchRef(err) && exists(file) { // otherwise the ref changed, or is broken
		c.orphan(l)
	}
}

func (c *rootCollector) orphan(l reflog) {
	c.incomplete(ReasonReflog, l.title()+": the ref is gone, and its log is not")
}

// tableLogs adds the reflogs of a stack.
func (c *rootCollector) tableLogs(ctx context.Context, w Worktree) ([]reflog, error) {
	stack, err := refTables{w.GitDir, c.repo.commonDir, c.repo.idSize()}.stack(ctx, w.GitDir)
	if err != nil {
		return nil, err
	}
	var logs []reflog
	for _, name := range slices.Sorted(maps.Keys(stack.logs)) {
		l := reflog{name: name, worktree: w.Name, entries: stack.log(name)}
		c.addReflog(l)
		if _, ok := stack.refs[name]; !ok && len(l.entries) > 0 {
			c.orphan(l)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// walkFiles calls f with the slash path below dir of every file. Files removed meanwhile are
// skipped.
func walkFiles(ctx context.Context, dir string, f func(name string) error) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if isFileMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() || strings.HasSuffix(at, lockSuffix) {
			return ctx.Err()
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(name))
	})
}

func isFileMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
