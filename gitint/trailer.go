package gitint

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

// trailerArgs returns the arguments that add trailers as every clone reads them, whatever is
// configured in this one: separators, when trailers are added, and what a key is written as.
func trailerArgs(trailers []string) []string {
	args := []string{"-c", "trailer.separators=:"}
	var add []string
	for _, t := range trailers {
		key, _, _ := strings.Cut(t, ":")
		args = append(args, "-c", "trailer."+key+".key="+key)
		add = append(add, "--trailer", t)
	}
	args = append(args, "interpret-trailers", "--no-divider", "--where", "end",
		"--if-exists", "addIfDifferent", "--if-missing", "add")
	return append(args, add...)
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
		"--format=tformat:%H%x1e%ct%x1e%B", "--end-of-options")
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
		all = append(all, Trailed{
			OID: id, Committed: time.Unix(seconds, 0), Values: trailersIn(fields[2], key),
		})
	}
	return all, nil
}

// trailersIn returns the values of the trailers of a key in a message: in its last paragraph, but
// for those of comments, such as the list of conflicts that 'git commit --no-edit' keeps. Git knows
// separators and comments by the configuration of whoever reads, who need not have that of whoever
// wrote.
func trailersIn(message, key string) (values []string) {
	message = strings.ReplaceAll(message, "\r\n", "\n")
	paragraphs := strings.Split(strings.TrimSpace(message), "\n\n")
	for len(paragraphs) > 1 && isComment(paragraphs[len(paragraphs)-1]) {
		paragraphs = paragraphs[:len(paragraphs)-1]
	}
	if len(paragraphs) == 1 {
		return nil // the subject
	}
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if strings.EqualFold(strings.TrimSpace(name), key) && value != "" {
			values = append(values, value)
		}
	}
	return values
}

// isComment reports whether all lines of a paragraph begin with one sign.
func isComment(paragraph string) bool {
	paragraph = strings.Trim(paragraph, "\n")
	sign, _ := utf8.DecodeRuneInString(paragraph)
	if unicode.IsLetter(sign) || unicode.IsDigit(sign) {
		return false
	}
	for line := range strings.Lines(paragraph) {
		if !strings.HasPrefix(line, string(sign)) {
			return false
		}
	}
	return true
}

// CommitEmpty makes a commit without changes and keeps what is staged.
func (r *Repo) CommitEmpty(ctx context.Context, message string) (said string, err error) {
	return r.saying(ctx, nil, "commit", "--quiet", "--allow-empty", "--only", "--cleanup=verbatim",
		"--message="+message)
}
