package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// A selection is a parsed file: attachment.
type selection struct {
	uri     string // without parameters
	path    string // decoded, relative to the root or absolute, with slashes
	exclude bool
	ignored bool // including files that git ignores

	attachment string // as written
}

// Parameters of file: attachments.
const (
	paramExclude = "exclude"
	paramIgnored = "ignored"
)

func parseFile(a string) (selection, error) {
	rest, raw, has := strings.Cut(a, "?")
	s := selection{uri: rest}
	if has {
		q, err := query(raw, paramExclude, paramIgnored)
		if err != nil {
			return s, err
		}
		s.exclude, s.ignored = flag(q, paramExclude), flag(q, paramIgnored)
	}
	return s, nil
}

// excludes returns the patterns of excluding attachments.
func excludes(attachments []string) (patterns []string) {
	for _, a := range attachments {
		if !file.IsURI(a) {
			continue
		}
		s, err := parseFile(a)
		if err == nil && s.exclude {
			patterns = append(patterns, plainPath(s.uri))
		}
	}
	return patterns
}

// plainPath returns the path of a file: attachment as a pattern.
func plainPath(uri string) string {
	p, _, _ := strings.Cut(uri[len("file:"):], "#")
	p = strings.TrimPrefix(p, "///$WORKSPACE/")
	p = strings.TrimPrefix(p, "//")
	return strings.TrimSuffix(path.Clean(unescape(p)), "/.")
}

// files resolves a file: attachment: a file, a directory, or a pattern.
func (r *Resolver) files(
	ctx context.Context, a string, exclude []string,
) ([]events.Resource, error) {
	s, err := parseFile(a)
	if err != nil || s.exclude {
		return nil, err
	}
	real, fragment, err := r.o.Files.Tree.Path(s.uri)
	if err != nil {
		return nil, err
	}
	rel, info, err := r.o.Files.Tree.Stat(real)
	switch {
	case err == nil && info.IsDir():
		s.path = path.Join(regular.Literal(rel), "**", "*")
	case err == nil && !r.admits(a, rel):
		return nil, ErrUntracked
	case err == nil:
		return single(r.file(real, fragment))
	case errors.Is(err, fs.ErrNotExist) && isPattern(plainPath(s.uri)):
		if s.path, err = r.pattern(s.uri); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	s.attachment = a
	return r.matching(ctx, s, exclude)
}

// ErrUntracked is the error for a file that the author of the attachment may not have.
var ErrUntracked = errors.New("not a regular file that git tracks here")

func (r *Resolver) admits(attachment, name string) bool {
	return r.o.Admits == nil || r.o.Admits(attachment, filepath.ToSlash(name))
}

// pattern returns a pattern relative to the root.
func (r *Resolver) pattern(uri string) (string, error) {
	p := plainPath(uri)
	if !path.IsAbs(p) {
		return p, nil
	}
	base, rest := doublestar.SplitPattern(p)
	rel, err := r.o.Files.Tree.Rel(filepath.FromSlash(base))
	return path.Join(regular.Literal(rel), rest), err
}

// file resolves one file, or the lines in a fragment.
func (r *Resolver) file(name, fragment string) (events.Resource, error) {
	f, err := r.o.Files.Tree.Read(name, maxFile, file.CanRead)
	if err != nil {
		return events.Resource{}, err
	}
	res := f.Resource()
	if fragment == "" {
		return res, nil
	}
	from, to, ok := file.ParseLines(fragment)
	if !ok {
		return events.Resource{}, fmt.Errorf("fragment %q does not name lines", fragment)
	}
	part, last, ok := file.Cut(f.Data, from, to)
	if !ok || !file.IsText(f.Data) {
		return events.Resource{}, fmt.Errorf("there are no lines %d to %d", from, to)
	}
	res.URI, res.Content = file.Lines(f.URI, from, last), blobs.Loaded(part)
	return res, nil
}

// Limits of the files that match a pattern or are in a directory: they are all stored, committed
// and sent to a model, and more are hardly intended.
const (
	maxMatches = 1000
	maxTotal   = 32 << 20
	maxTries   = 10_000_000 // of a pattern and a name, by all attachments together
)

var (
	errTries = fmt.Errorf("patterns are compared with names more than %d times", maxTries)
	errTotal = fmt.Errorf("the matching files are larger than %d bytes", maxTotal)
)

// matching resolves the files that match a pattern, sorted.
func (r *Resolver) matching(
	ctx context.Context, s selection, exclude []string,
) ([]events.Resource, error) {
	if !doublestar.ValidatePattern(s.path) {
		return nil, doublestar.ErrBadPattern
	}
	for _, p := range append([]string{s.path}, exclude...) {
		if err := regular.CheckPattern(p); err != nil {
			return nil, fmt.Errorf("%.60q: %w", p, err)
		}
	}
	names, err := r.candidates(ctx, s)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !r.matches(s.path, name) || r.excluded(exclude, name) ||
			!r.admits(s.attachment, name)
	})
	if r.tries.Load() > maxTries {
		return nil, errTries
	}
	if len(names) > maxMatches {
		return nil, fmt.Errorf("%d files match, and %d are allowed", len(names), maxMatches)
	}
	var found []events.Resource
	var faults []error
	total := 0
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		res, err := r.file(filepath.FromSlash(name), "")
		if err != nil {
			faults = append(faults, err) // the other files are attached
			continue
		}
		if total += int(res.Content.Ref().Size); total > maxTotal {
			return nil, errTotal
		}
		found = append(found, res)
	}
	if found == nil && faults == nil {
		return nil, errors.New("no file matches")
	}
	return found, errors.Join(faults...)
}

// candidates returns the files below the directory in which a pattern starts.
func (r *Resolver) candidates(ctx context.Context, s selection) ([]string, error) {
	base, _ := doublestar.SplitPattern(s.path)
	base = named(base)
	var names []string
	var err error
	if s.ignored {
		names, err = r.o.Files.Tree.Walk(base)
	} else {
		names, err = r.o.Files.Files(ctx, filepath.FromSlash(base))
	}
	slices.Sort(names)
	return names, err
}

// matches reports whether a pattern matches a file. Hidden files and directories match only if the
// pattern has the dot.
func (r *Resolver) matches(pattern, name string) bool {
	if !r.match(pattern, name) {
		return false
	}
	base, rest := doublestar.SplitPattern(pattern)
	if strings.HasPrefix(rest, ".") || strings.Contains(rest, "/.") {
		return true
	}
	if base != "." {
		name = strings.TrimPrefix(name, named(base)+"/")
	}
	return !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// excluded reports whether one of the patterns matches the file or a directory above it.
func (r *Resolver) excluded(patterns []string, name string) bool {
	for _, p := range patterns {
		if r.match(p, name) {
			return true
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if r.match(p, dir) {
				return true
			}
		}
	}
	return false
}

// match counts its calls, and matches nothing beyond the limit.
func (r *Resolver) match(pattern, name string) bool {
	return r.tries.Add(1) <= maxTries && doublestar.MatchUnvalidated(pattern, name)
}

func isPattern(s string) bool { return strings.ContainsAny(s, "*?[{") }

// named returns the name that a pattern without wildcards matches.
func named(pattern string) string {
	return strings.NewReplacer(`\\`, `\`, `\`, "").Replace(pattern)
}
