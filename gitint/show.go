package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// A DiffRequest selects differences.
type DiffRequest struct {
	// Staged compares HEAD with the index, else the index with the working tree.
	Staged bool
	// Paths are the files and directories to show, from the root of the working tree; none means
	// all. Exclude are those to omit.
	Paths, Exclude []string
}

// showArgs make git's output independent of the configuration, and start no program of the user.
var showArgs = [...]string{
	"--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/",
	"--unified=3", "--find-renames", "--submodule=short", "--ignore-submodules=dirty",
}

// quiet is passed to commands that may read the working tree.
var quiet = [...]string{
	"-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showRoot=true",
}

var errCut = errors.New("output is longer than was asked for")

// Diff returns a patch, and whether it was truncated at limit bytes, after a line.
func (r *Repo) Diff(ctx context.Context, d DiffRequest, limit int64) ([]byte, bool, error) {
	args := append(slices.Clone(quiet[:]), "diff")
	if d.Staged {
		args = append(args, "--cached")
	}
	args = append(args, showArgs[:]...)
	specs, env := pathspecs(d.Paths)
	for _, p := range d.Exclude {
		specs = append(specs, ":(top,exclude,literal)"+p)
	}
	args = append(append(args, "--"), specs...)
	out, cut, err := r.bounded(ctx, git.Command{Args: args, Env: env}, limit)
	if err != nil {
		return nil, false, fmt.Errorf("show differences: %w", err)
	}
	if i := bytes.LastIndexByte(out, '\n'); cut && i >= 0 {
		out = out[:i+1]
	}
	return out, cut, nil
}

// BlobHead returns the first n bytes of a blob of any size, or all of them.
func (r *Repo) BlobHead(ctx context.Context, id OID, n int64) ([]byte, error) {
	args := []string{"cat-file", object.KindBlob, id.String()}
	head, _, err := r.bounded(ctx, git.Command{Args: args}, n)
	return head, err
}

// bounded runs git and ends it after limit bytes.
func (r *Repo) bounded(
	ctx context.Context, c git.Command, limit int64,
) (out []byte, cut bool, err error) {
	err = r.git.Stream(ctx, c, func(rd io.Reader) error {
		var readErr error
		out, readErr = io.ReadAll(io.LimitReader(rd, limit+1))
		if cut = readErr == nil && int64(len(out)) > limit; cut {
			return errCut // it ends git
		}
		return readErr
	})
	if cut && ctx.Err() == nil {
		return out[:limit], true, nil
	}
	return out, false, err
}

// A LogRequest selects commits. All conditions must hold.
type LogRequest struct {
	Query   string // a part of the message
	Content string // a part of the text that the commit adds or removes
	Regexp  bool   // Content is a POSIX regular expression for added and removed lines
	Since   string // a date as git reads it, also "2 weeks ago"
	Paths   []string
	Count   int // required
}

// A LogEntry is a commit as it is shown to people.
type LogEntry struct {
	OID     OID
	Author  string
	Date    string // RFC 3339, in the zone of the author
	Subject string
}

const logFields = 4

// Log returns the newest commits of HEAD that meet the conditions.
func (r *Repo) Log(ctx context.Context, l LogRequest) ([]LogEntry, error) {
	args := append(slices.Clone(quiet[:]),
		"log", "-z", "--format=%H%x00%an%x00%aI%x00%s", "--no-show-signature",
		"--no-color", "--no-ext-diff", "--no-textconv", "--max-count="+strconv.Itoa(l.Count),
	)
	if l.Query != "" {
		args = append(args, "--fixed-strings", "--grep="+l.Query)
	}
	if l.Content != "" && l.Regexp {
		args = append(args, "-G"+l.Content)
	} else if l.Content != "" {
		args = append(args, "-S"+l.Content)
	}
	if l.Since != "" {
		args = append(args, "--since="+l.Since)
	}
	specs, env := pathspecs(l.Paths)
	args = append(append(args, "HEAD", "--"), specs...)
	out, err := r.git.Run(ctx, git.Command{Args: args, Env: env})
	if err != nil {
		if unborn, _ := r.unborn(ctx); unborn {
			return nil, nil
		}
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return parseLog(splitZ(out))
}

func parseLog(fields []string) ([]LogEntry, error) {
	var all []LogEntry
	for ; len(fields) >= logFields; fields = fields[logFields:] {
		id, err := ParseOID(fields[0])
		if err != nil {
			return nil, fmt.Errorf("list commits: %w", err)
		}
		all = append(all, LogEntry{OID: id, Author: fields[1], Date: fields[2], Subject: fields[3]})
	}
	return all, nil
}

// A CommitInfo is a commit with its message and its changes.
type CommitInfo struct {
	LogEntry
	Message string
	Files   []FileStat
}

// A FileStat counts the changed lines of a file; binary files have -1.
type FileStat struct {
	Path           string
	Added, Deleted int
}

// Show returns the commit that rev names, compared with its first parent.
func (r *Repo) Show(ctx context.Context, rev string) (CommitInfo, error) {
	id, err := r.Resolve(ctx, rev)
	if err != nil {
		return CommitInfo{}, fmt.Errorf("show %q: %w", rev, err)
	}
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"log", "--max-count=1", "--format=%H%x00%an%x00%aI%x00%s%x00%B%x00%P",
		"--no-show-signature", "--no-color", id.String(), "--",
	}})
	if err != nil {
		return CommitInfo{}, fmt.Errorf("show %q: %w", rev, err)
	}
	f := strings.SplitN(strings.TrimSuffix(string(out), "\n"), "\x00", logFields+2)
	if len(f) != logFields+2 {
		return CommitInfo{}, fmt.Errorf("show %q: %d fields", rev, len(f))
	}
	c := CommitInfo{
		LogEntry: LogEntry{OID: id, Author: f[1], Date: f[2], Subject: f[3]},
		Message:  strings.TrimRight(f[4], "\n"),
	}
	parent, _, _ := strings.Cut(f[5], " ")
	c.Files, err = r.numstat(ctx, parent, id)
	return c, err
}

// numstat counts the changed lines between a commit and its parent, "" for none.
func (r *Repo) numstat(ctx context.Context, parent string, id OID) ([]FileStat, error) {
	if parent == "" {
		parent = r.emptyTree()
	}
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv",
		parent, id.String(), "--",
	}})
	if err != nil {
		return nil, fmt.Errorf("count changes of %s: %w", id, err)
	}
	var all []FileStat
	for _, line := range splitZ(out) {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("count changes of %s: line %q", id, line)
		}
		all = append(all, FileStat{Path: f[2], Added: count(f[0]), Deleted: count(f[1])})
	}
	return all, nil
}

// count parses a number of lines; "-" is that of a binary file.
func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// Files returns the files below the given directories, or all, that are in the index or in the
// working tree and not ignored, sorted. Some may have been deleted.
func (r *Repo) Files(ctx context.Context, under ...string) ([]string, error) {
	specs, env := pathspecs(under)
	args := append(slices.Clone(quiet[:]),
		"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
	out, err := r.git.Run(ctx, git.Command{Args: append(args, specs...), Env: env})
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	all := splitZ(out)
	slices.Sort(all)
	return slices.Compact(all), nil
}
