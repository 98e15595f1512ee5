package gitint

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// AddTrailers adds trailers, each "Key: value", to a commit message in a file, unless it has them.
// A relative name is relative to the root of the working tree, as git passes it to hooks.
func (r *Repo) AddTrailers(ctx context.Context, file string, trailers []string) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.git.Dir, file)
	}
	args := append(trailerArgs(trailers), "--in-place", file)
	_, err := r.git.Run(ctx, git.Command{Args: args, Write: true})
	if err != nil {
		return fmt.Errorf("add trailers: %w", err)
	}
	return nil
}

func trailerArgs(trailers []string) []string {
	args := []string{"interpret-trailers", "--if-exists", "addIfDifferent"}
	for _, t := range trailers {
		args = append(args, "--trailer", t)
	}
	return args
}

// A Trailed is a commit with the values of its trailers of one key.
type Trailed struct {
	OID       OID
	Committed time.Time
	Values    []string
}

const trailedFields = 3

// Trailers returns the commits of revisions, as git log takes them, newest first, each with the
// values of the trailers of a key.
func (r *Repo) Trailers(ctx context.Context, key string, revs ...string) ([]Trailed, error) {
	args := append(slices.Clone(quiet[:]), "log", "-z", "--no-show-signature", "--no-color",
		"--format=tformat:%H%x1e%ct%x1e%(trailers:key="+key+
			",valueonly,unfold,separator=%x1f)", "--end-of-options")
	out, err := r.git.Run(ctx, git.Command{Args: append(append(args, revs...), "--")})
	if err != nil {
		return nil, fmt.Errorf("list trailers: %w", err)
	}
	var all []Trailed
	for _, line := range splitZ(out) {
		fields := strings.SplitN(line, "\x1e", trailedFields)
		if len(fields) != trailedFields {
			return nil, fmt.Errorf("list trailers: unexpected line %q", line)
		}
		id, err := ParseOID(fields[0])
		if err != nil {
			return nil, fmt.Errorf("list trailers: %w", err)
		}
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("list trailers: %w", err)
		}
		t := Trailed{OID: id, Committed: time.Unix(seconds, 0)}
		for value := range strings.SplitSeq(fields[2], "\x1f") {
			if value = strings.TrimSpace(value); value != "" {
				t.Values = append(t.Values, value)
			}
		}
		all = append(all, t)
	}
	return all, nil
}

// CommitEmpty makes a commit without changes and keeps what is staged.
func (r *Repo) CommitEmpty(ctx context.Context, message string) (said string, err error) {
	return r.saying(ctx, nil, "commit", "--quiet", "--allow-empty", "--only", "--cleanup=verbatim",
		"--message="+message)
}
