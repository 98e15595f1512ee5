package builtin

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

// With more matches than manyMatches there is no context, and only shownMatches are shown.
const (
	manyMatches  = 100
	shownMatches = 50
	maxLine      = 500
	maxContext   = 50
)

func grepFiles(w Workspace) tool.Item {
	context := integer("context",
		"Number of lines of context to include before and after the matching lines.")
	context.Default = jsontext.Value("0")
	return reads(tool.Definition{
		Name:    "fs_grep_files",
		Summary: "Grep files in the project's local filesystem.",
		Description: "If the number of results exceeds 100, the `context` option is disabled, " +
			"and 50\nmatches are returned without context. You can re-run the tool with a more\n" +
			"specific pattern or limited to specific paths. Files that git ignores are searched\n" +
			"only when they are named.",
		Examples: "```json\n" + `{"pattern": "fn build_thread", "paths": ["src"], "context": 3}` +
			"\n```",
		Parameters: []tool.Parameter{
			required(text("pattern", "Regular expression to filter the results by.")),
			context,
			texts("paths", "Optional list of files or directories to search."),
		},
	}, w.grepFiles)
}

type grepArgs struct {
	Pattern string `json:"pattern"`
	Context int    `json:"context"`
	Paths   list   `json:"paths"`
}

// A found is a file with lines that match.
type found struct {
	name    string
	lines   [][]byte
	matches []int // indexes of lines
}

func (w Workspace) grepFiles(ctx context.Context, a grepArgs) (tool.Result, error) {
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return tool.Result{}, fmt.Errorf("pattern %q: %w", a.Pattern, err)
	}
	files, err := w.searched(ctx, a.Paths)
	if err != nil {
		return tool.Result{}, err
	}
	var hits []found
	total := 0
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return tool.Result{}, err
		}
		f, err := w.Tree.Read(name, maxFile, file.CanRead)
		if err != nil || !file.IsText(f.Data) {
			continue // gone, too large or binary
		}
		if h := search(re, f); h.matches != nil {
			hits = append(hits, h)
			total += len(h.matches)
		}
	}
	return tool.OK(report(hits, total, min(max(a.Context, 0), maxContext))), nil
}

// searched returns the files below the paths that are not ignored, and the files that are named
// themselves.
func (w Workspace) searched(ctx context.Context, paths []string) ([]string, error) {
	all, err := w.Files(ctx, paths...)
	for _, p := range paths {
		if rel, err := w.rel(p); err == nil && w.Tree.IsFile(rel) {
			all = append(all, rel)
		}
	}
	return unique(all), err
}

func unique(names []string) []string {
	seen, kept := map[string]bool{}, names[:0]
	for _, n := range names {
		if !seen[n] {
			kept = append(kept, n)
		}
		seen[n] = true
	}
	return kept
}

func search(re *regexp.Regexp, f file.File) found {
	lineFeed := []byte("\n")
	h := found{name: f.Rel, lines: bytes.Split(bytes.TrimSuffix(f.Data, lineFeed), lineFeed)}
	for i, line := range h.lines {
		h.lines[i] = bytes.TrimSuffix(line, []byte("\r"))
		if re.Match(h.lines[i]) {
			h.matches = append(h.matches, i)
		}
	}
	return h
}

func report(hits []found, total, around int) string {
	if total == 0 {
		return "No matches found."
	}
	left := total
	if total > manyMatches {
		around, left = 0, shownMatches
	}
	var b strings.Builder
	for i, h := range hits {
		if left == 0 {
			break
		}
		if i > 0 && around > 0 {
			b.WriteString("--\n")
		}
		h.matches = h.matches[:min(left, len(h.matches))]
		left -= len(h.matches)
		h.write(&b, around)
	}
	if total > manyMatches {
		fmt.Fprintf(&b, "\n[%d of %d matches are shown, without context]\n", shownMatches, total)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// write prints lines as grep does: ':' at a match, '-' at context, "--" at a gap.
func (h found) write(b *strings.Builder, around int) {
	next, isMatch := 0, lists.Set(h.matches)
	for _, m := range h.matches {
		start := max(m-around, next)
		if around > 0 && next > 0 && start > next {
			b.WriteString("--\n")
		}
		for i := start; i <= min(m+around, len(h.lines)-1); i++ {
			if i < next {
				continue
			}
			sep := "-"
			if isMatch[i] {
				sep = ":"
			}
			b.WriteString(h.name + sep + strconv.Itoa(i+1) + sep + short(h.lines[i]) + "\n")
			next = i + 1
		}
	}
}

func short(line []byte) string {
	if len(line) <= maxLine {
		return string(line)
	}
	return fmt.Sprintf("%s… [%d bytes]", tool.Head(line, maxLine), len(line))
}
