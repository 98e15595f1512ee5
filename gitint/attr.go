package gitint

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/internal/lists"
)

// The values of an attribute that are not strings.
const (
	AttrUnspecified = "unspecified"
	AttrSet         = "set"
	AttrUnset       = "unset"
)

// CheckAttr returns the value of each attribute for each path, by path and then by attribute, from
// the attributes files of the working tree.
func (r *Repo) CheckAttr(ctx context.Context, attrs, paths []string) (
	map[string]map[string]string, error,
) {
	values := make(map[string]map[string]string, len(paths))
	if len(paths) == 0 || len(attrs) == 0 {
		return values, nil
	}
	args := append([]string{"check-attr", "-z", "--stdin"}, attrs...)
	out, err := r.git.Run(ctx, git.Command{Args: args, Stdin: joinZ(paths)})
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	fields := splitZ(out)
	if len(fields) != 3*len(attrs)*len(paths) {
		return nil, fmt.Errorf("read attributes: %d fields for %d paths", len(fields), len(paths))
	}
	for ; len(fields) > 0; fields = fields[3:] {
		of := values[fields[0]]
		if of == nil {
			of = make(map[string]string, len(attrs))
			values[fields[0]] = of
		}
		of[fields[1]] = fields[2]
	}
	return values, nil
}

// An Ignored is an ignored path with the rule that matches it.
type Ignored struct {
	Path string
	// Source is the file of the rule, Line its line in it.
	Source  string
	Line    int
	Pattern string
}

const nothingIgnored = 1 // exit code of git check-ignore

// CheckIgnore returns the paths that an ignore rule matches, even if they are in the index, where
// git ignores no path.
func (r *Repo) CheckIgnore(ctx context.Context, paths []string) ([]Ignored, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := r.git.Run(ctx, git.Command{
		Args:  []string{"check-ignore", "-z", "--stdin", "--verbose", "--no-index"},
		Stdin: joinZ(dotted(paths)),
		Env:   []string{"GIT_LITERAL_PATHSPECS=0"}, // check-ignore refuses literal pathspecs
	})
	if git.ExitCode(err) == nothingIgnored {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ignore rules: %w", err)
	}
	return parseIgnored(splitZ(out))
}

// dotted keeps names that begin with a colon from being read as pathspecs.
func dotted(paths []string) []string {
	return lists.Map(paths, func(p string) string { return "./" + p })
}

func parseIgnored(fields []string) ([]Ignored, error) {
	if len(fields)%4 != 0 {
		return nil, fmt.Errorf("read ignore rules: %d fields", len(fields))
	}
	var all []Ignored
	for ; len(fields) > 0; fields = fields[4:] {
		if strings.HasPrefix(fields[2], "!") {
			continue // a negated rule
		}
		line, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("read ignore rules: line %q: %w", fields[1], err)
		}
		all = append(all, Ignored{
			Path:   strings.TrimPrefix(fields[3], "./"),
			Source: fields[0], Line: line, Pattern: fields[2],
		})
	}
	return all, nil
}
