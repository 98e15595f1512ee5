package gitint

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// A StagedPath is a file that differs between HEAD and the index, or between two revisions.
type StagedPath struct {
	Path string
	// Status is A for added, M for modified, D for deleted, T for another type of file, U for
	// unmerged. A renamed file is a D and an A.
	Status           byte
	OldMode, NewMode Mode
	// Old and New are zero if there is no file.
	Old, New OID
}

// StagedPaths returns the files below the given directories, or all, that differ between HEAD and
// the index, sorted by path. A directory that begins with "**/" matches at any depth. An entry with
// intent to add is not staged.
func (r *Repo) StagedPaths(ctx context.Context, under ...string) ([]StagedPath, error) {
	if all, err := r.stagedHere(ctx, under); err == nil {
		return all, nil
	}
	out, err := r.diffIndex(ctx, "HEAD", under)
	if err != nil && git.ExitCode(err) != 0 {
		if unborn, _ := r.unborn(ctx); unborn {
			out, err = r.diffIndex(ctx, r.emptyTree(), under)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("compare the index with HEAD: %w", err)
	}
	return parseRaw(splitZ(out))
}

func (r *Repo) diffIndex(ctx context.Context, tree string, under []string) ([]byte, error) {
	specs, env := pathspecs(under)
	args := []string{
		"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames",
		"--ita-invisible-in-index", "--ignore-submodules=all", tree, "--",
	}
	return r.git.Run(ctx, git.Command{Args: append(args, specs...), Env: env})
}

// ChangedPaths returns the files below the given directories that differ between two revisions,
// sorted by path; StagedPaths describes the directories.
func (r *Repo) ChangedPaths(
	ctx context.Context, from, to string, under ...string,
) ([]StagedPath, error) {
	specs, env := pathspecs(under)
	args := []string{
		"diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames",
		"--ignore-submodules=all", "--end-of-options", from, to, "--",
	}
	out, err := r.git.Run(ctx, git.Command{Args: append(args, specs...), Env: env})
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	return parseRaw(splitZ(out))
}

// emptyTree returns the name of the empty tree, which git knows even if the repository lacks it.
func (r *Repo) emptyTree() string {
	return object.Object{Kind: object.KindTree}.ID(r.idSize()).String()
}

// pathspecs returns the pathspecs of directories, and the variables with which git must read them.
func pathspecs(under []string) (specs, env []string) {
	for _, dir := range under {
		if rest, ok := strings.CutPrefix(dir, "**/"); ok {
			specs = append(specs, ":(top,glob)**/"+rest+"/**")
		} else {
			specs = append(specs, ":(top,literal)"+dir)
		}
	}
	return specs, []string{"GIT_LITERAL_PATHSPECS=0"}
}

// parseRaw parses pairs of ":100644 100755 <oid> <oid> M" and path.
func parseRaw(fields []string) ([]StagedPath, error) {
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("raw diff: %d fields", len(fields))
	}
	all := make([]StagedPath, 0, len(fields)/2)
	for ; len(fields) > 0; fields = fields[2:] {
		p, err := parseRawLine(fields[0], fields[1])
		if err != nil {
			return nil, fmt.Errorf("raw diff line %q: %w", fields[0], err)
		}
		all = append(all, p)
	}
	return all, nil
}

// parseRawLine parses what git says of one path, of a merge the comparison with its first parent:
// the line has a colon, a mode, an id and a letter of the status for each parent.
func parseRawLine(line, name string) (StagedPath, error) {
	rest := strings.TrimLeft(line, ":")
	f, n := strings.Fields(rest), len(line)-len(rest)
	if n == 0 || len(f) != 2*n+3 {
		return StagedPath{}, fmt.Errorf("%d fields", len(f))
	}
	return parseChange([...]string{f[0], f[n], f[n+1], f[2*n+1], f[2*n+2]}, name)
}

// parseChange parses two modes, two ids and the status.
func parseChange(f [5]string, name string) (StagedPath, error) {
	before, err := object.ParseEntry(f[0], f[2], name)
	if err != nil {
		return StagedPath{}, err
	}
	after, err := object.ParseEntry(f[1], f[3], name)
	return StagedPath{
		Path: name, Status: f[4][0],
		OldMode: before.Mode, NewMode: after.Mode, Old: before.OID, New: after.OID,
	}, err
}

// A WorkState is how a file of the working tree differs from the index.
type WorkState byte

// The states, as git status abbreviates them.
const (
	Modified   WorkState = 'M' // also if only its mode or type changed
	Deleted    WorkState = 'D'
	Untracked  WorkState = '?'
	IgnoredNew WorkState = '!' // untracked, and an ignore rule matches
	Intended   WorkState = 'A' // intent to add
	Unmerged   WorkState = 'U'
)

// A WorkPath is a file that differs between the index and the working tree.
type WorkPath struct {
	Path  string
	State WorkState
}

// IsTidy reports whether no tracked file has a change, staged or not.
func (r *Repo) IsTidy(ctx context.Context) (bool, error) {
	staged, err := r.StagedPaths(ctx)
	if err != nil || len(staged) > 0 {
		return false, err
	}
	changed, err := r.WorkChanges(ctx)
	return !slices.ContainsFunc(changed, func(p WorkPath) bool {
		return p.State != Untracked && p.State != IgnoredNew
	}), err
}

// WorkChanges returns the files below the given directories that differ between the index and the
// working tree, including untracked and ignored ones; StagedPaths describes the directories. A
// nested repository, which git does not enter, is one path with a trailing slash. It does not
// refresh the index.
func (r *Repo) WorkChanges(ctx context.Context, under ...string) ([]WorkPath, error) {
	_, work, err := r.Changes(ctx, under...)
	return work, err
}

// Changes returns the results of StagedPaths and WorkChanges for the cost of one of them. For an
// unmerged path it does not have the entry of HEAD.
func (r *Repo) Changes(
	ctx context.Context, under ...string,
) (staged []StagedPath, work []WorkPath, err error) {
	specs, env := pathspecs(under)
	args := []string{
		"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=traditional",
		"--no-renames", "--ignore-submodules=all", "--",
	}
	out, err := r.git.Run(ctx, git.Command{Args: append(args, specs...), Env: env})
	if err != nil {
		// For a damaged index this package's error is more precise than git's.
		if _, own := r.Index(ctx); own != nil && ctx.Err() == nil {
			err = own
		}
		return nil, nil, fmt.Errorf("compare the working tree with the index: %w", err)
	}
	for _, line := range splitZ(out) {
		p, fields, err := parseStatus(line)
		if err != nil {
			return nil, nil, err
		}
		if p.State != 0 {
			work = append(work, p)
		}
		if p.State == Unmerged {
			staged = append(staged, StagedPath{Path: p.Path, Status: 'U'})
		} else if len(fields) > 1 && fields[1][0] != '.' {
			xy, mH, mI, hH, hI := fields[1], fields[3], fields[4], fields[6], fields[7]
			s, err := parseChange([...]string{mH, mI, hH, hI, xy}, p.Path)
			if err != nil {
				return nil, nil, fmt.Errorf("status line %s: %w", strconv.Quote(line), err)
			}
			staged = append(staged, s)
		}
	}
	return staged, work, nil
}

// Fields before the path, by the first character of a line of porcelain v2.
const (
	changedFields  = 8  // 1 XY sub mH mI mW hH hI path
	unmergedFields = 10 // u XY sub m1 m2 m3 mW h1 h2 h3 path
	otherFields    = 1  // ? path
)

// parseStatus parses one line, and returns the fields of a tracked file. The state is 0 if only
// HEAD and the index differ.
func parseStatus(line string) (p WorkPath, tracked []string, err error) {
	fields := 0
	switch line[0] {
	case '1':
		fields = changedFields
	case 'u':
		fields = unmergedFields
	case '?', '!':
		fields = otherFields
	}
	parts := strings.SplitN(line, " ", fields+1)
	if fields == 0 || len(parts) != fields+1 {
		return p, nil, fmt.Errorf("status line %s", strconv.Quote(line))
	}
	p.Path = parts[fields]
	switch line[0] {
	case '?', '!':
		p.State = WorkState(line[0])
		return p, nil, nil
	case 'u':
		p.State = Unmerged
	default:
		p.State = stateOf(parts[1][1])
	}
	return p, parts, nil
}

func stateOf(y byte) WorkState {
	switch y {
	case '.':
		return 0
	case 'D', 'A':
		return WorkState(y)
	default:
		return Modified
	}
}
