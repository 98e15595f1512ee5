package gitint

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// A HistoryRequest selects history.
type HistoryRequest struct {
	Revs []string // where to begin, as git log takes it; none means HEAD
	All  bool     // begin at every ref too
	// Globs are paths below the root in which * stays within a directory and ** does not.
	Globs []string
	Count int // of commits, 0 for all
}

// A Revision is a commit with the selected files that it changed. For a merge these are the files
// that differ from all parents, compared with the first one.
type Revision struct {
	LogEntry

	Files []StagedPath
}

// History returns the commits that changed files, newest first.
func (r *Repo) History(ctx context.Context, h HistoryRequest) ([]Revision, error) {
	args := append(slices.Clone(quiet[:]),
		"log", "-z", "--raw", "--no-abbrev", "--no-renames", "-c",
		"--no-show-signature", "--no-color", "--no-ext-diff",
		"--format="+historyMark+"%H%x00%an%x00%aI%x00%s",
	)
	if h.Count > 0 {
		args = append(args, "--max-count="+strconv.Itoa(h.Count))
	}
	var from []string
	if h.All {
		from = append(from, "--all")
	}
	from = append(append(from, "--end-of-options"), h.Revs...)
	args = append(append(args, from...), "--")
	for _, glob := range h.Globs {
		args = append(args, ":(top,glob)"+glob)
	}
	log := git.Command{Args: args, Env: []string{"GIT_LITERAL_PATHSPECS=0"}}
	out, err := r.git.Run(ctx, log)
	if err != nil {
		if len(h.Revs) == 0 {
			from = append(from, "HEAD")
		}
		brought, failed := r.bringTrees(ctx, from)
		if failed != nil {
			return nil, fmt.Errorf("list history: %w", failed)
		}
		if brought {
			out, err = r.git.Run(ctx, log)
		}
	}
	if err != nil {
		if unborn, _ := r.unborn(ctx); unborn && len(h.Revs) == 0 && !h.All {
			return nil, nil
		}
		return nil, fmt.Errorf("list history: %w", err)
	}
	all, err := parseHistory(splitZ(out))
	if err != nil {
		return nil, fmt.Errorf("list history: %w", err)
	}
	return all, nil
}

// parseHistory parses the four fields of each commit and the following pairs of a raw line and a
// path.
func parseHistory(fields []string) ([]Revision, error) {
	var all []Revision
	for len(fields) > 0 {
		if fields[0] == "" { // git separates the files of a merge by one more NUL
			fields = fields[1:]
			continue
		}
		digits, isCommit := strings.CutPrefix(fields[0], historyMark)
		if isCommit && len(fields) >= logFields {
			entries, err := parseLog(append([]string{digits}, fields[1:logFields]...))
			if err != nil {
				return nil, err
			}
			all, fields = append(all, Revision{LogEntry: entries[0]}), fields[logFields:]
			continue
		}
		if len(all) == 0 || len(fields) < 2 {
			return nil, fmt.Errorf("unexpected field %q", fields[0])
		}
		p, err := parseRawLine(strings.TrimLeft(fields[0], "\n"), fields[1])
		if err != nil {
			return nil, fmt.Errorf("raw diff line %q: %w", fields[0], err)
		}
		last := &all[len(all)-1]
		last.Files, fields = append(last.Files, p), fields[2:]
	}
	return all, nil
}
