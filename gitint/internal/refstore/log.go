package refstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// A Log is the content of one reflog.
type Log struct {
	Name    string
	Entries []LogEntry
	// Orphan is true if the ref is missing. Git deletes both, the reflog first.
	Orphan bool
	// Torn is not nil if a line is not as git writes it: what that named is lost.
	Torn error
}

// A LogEntry is a change of a ref from one object to another. Either may be zero.
type LogEntry struct {
	Was, Is object.ID
	At      int64 // in seconds since 1970, 0 if unknown
	Why     string
}

// IsHead reports whether it is that of a HEAD, which changes between branches.
func (l Log) IsHead() bool { return l.Name == Head }

// Gaps returns the entries that do not begin where the one before them ends. An entry that begins
// with zero is no gap: the ref was created again.
func (l Log) Gaps() []int {
	var all []int
	for i := 1; i < len(l.Entries); i++ {
		if was := l.Entries[i].Was; !was.IsZero() && was != l.Entries[i-1].Is {
			all = append(all, i)
		}
	}
	return all
}

// Logs implements [Store].
func (f Files) Logs(ctx context.Context, known func(name string) bool) ([]Log, error) {
	var logs []Log
	dir := filepath.Join(f.GitDir, "logs")
	err := gitfile.Walk(ctx, dir, func(name string) error {
		l := Log{Name: name}
		if f.GitDir != f.CommonDir && !l.IsHead() && !IsPerWorktree(name) {
			return nil // an old entry, when logs were elsewhere
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		var err error
		l.Entries, err = readLog(file)
		switch {
		case errors.Is(err, errLogLine):
			l.Torn = err
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(l.Entries) > 0 && !l.IsHead() && !known(name) && strings.HasPrefix(name, "refs/") {
			l.Orphan = f.lacks(name, file)
		}
		logs = append(logs, l)
		return nil
	})
	return logs, err
}

// lacks reports whether a ref is missing, and its log is not: otherwise it changed, or is broken.
func (f Files) lacks(name, log string) bool {
	_, _, err := f.lookup(name)
	if !noSuchRef(err) {
		return false
	}
	_, err = os.Lstat(log)
	return err == nil
}

// readLog reads a reflog, oldest entry first. Another git may be appending, so an incomplete last
// line is read again, for a moment.
func readLog(file string) (entries []LogEntry, err error) {
	for range gitfile.Attempts {
		var data []byte
		if data, err = gitfile.Read(file); err == nil {
			entries, err = ParseLog(data)
		}
		if !errors.Is(err, errLogLine) {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// errLogLine reports a line of a reflog that git does not write.
var errLogLine = errors.New("it has the line")

// ParseLog parses lines "<was> <is> <who> TAB <why>". An invalid line is an error, since the
// objects that it kept are lost; the entries of the others are returned nevertheless.
func ParseLog(data []byte) ([]LogEntry, error) {
	var entries []LogEntry
	var torn error
	for line := range strings.Lines(string(data)) {
		was, rest, ok := strings.Cut(line, " ")
		is, who, spaced := strings.Cut(rest, " ")
		before, err := object.ParseID(was)
		after, afterErr := object.ParseID(is)
		if !ok || !spaced || !strings.HasSuffix(line, "\n") ||
			errors.Join(err, afterErr) != nil {
			torn = fmt.Errorf("%w %.80q", errLogLine, line)
			continue
		}
		who, why, _ := strings.Cut(strings.TrimSuffix(who, "\n"), "\t")
		entries = append(entries, LogEntry{before, after, logTime(who), why})
	}
	return entries, torn
}

// logTime parses the time of an entry after its committer.
func logTime(who string) int64 {
	_, when, _ := strings.Cut(who, "> ")
	seconds, _, _ := strings.Cut(when, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0
	}
	return at
}

// Logs implements [Store].
func (t Tables) Logs(ctx context.Context, _ func(name string) bool) ([]Log, error) {
	stack, err := t.stack(ctx, t.GitDir)
	if err != nil {
		return nil, err
	}
	var logs []Log
	for _, name := range slices.Sorted(maps.Keys(stack.logs)) {
		l := Log{Name: name, Entries: stack.log(name)}
		_, named := stack.refs[name]
		l.Orphan = !named && len(l.Entries) > 0
		logs = append(logs, l)
	}
	return logs, nil
}
