package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/diff"
)

const regexHelp = "If `true`, `old` is a regular expression and `new` may contain capture groups " +
	"(`$1`,\n`${1}a`, `$name`; `$$` is a literal `$`). `^` and `$` match at lines, `.` does not\n" +
	"match line feeds. Escape metacharacters when copying source code, or use literal mode.\n\n" +
	"If `false`, both are literal strings. Every match is replaced."

func modifyFile(w Workspace) tool.Item {
	regex := tool.Parameter{
		Name: "replace_using_regex", Types: []string{"boolean"}, Required: true,
		Default: jsontext.Value("false"), Description: regexHelp,
		Summary: "Whether to treat `old` as a regular expression.",
	}
	patterns := tool.Parameter{
		Name: "patterns", Types: []string{"array"}, Required: true,
		Summary: "One or more patterns to replace in the given files. " +
			"The patterns are applied in order.",
		Items: &tool.Parameter{Types: []string{"object"}, Properties: []tool.Parameter{
			required(text("old", "The string to replace in the file.")),
			required(text("new", "The string to replace the `old` with. "+
				"If empty, the `old` will be deleted.")),
			texts("paths", "File paths to apply this pattern to. Overrides the root-level `path`."),
			{
				Name: "regex", Types: []string{"boolean"},
				Summary: "Overrides `replace_using_regex` for this pattern.",
			},
		}},
	}
	return writes(tool.Definition{
		Name:        "fs_modify_file",
		Summary:     "Modify multiple files in the project's local filesystem.",
		Description: "Nothing is changed when one of the patterns matches nothing.",
		Examples: "```json\n{\"path\": \"src/lib.rs\", \"patterns\": [{\"old\": \"old text\", " +
			"\"new\": \"new text\"}],\n \"replace_using_regex\": false}\n```",
		Parameters: []tool.Parameter{
			text("path", "The path to the file to modify. "+
				"Not required if every pattern specifies its own `paths`."),
			patterns, regex,
		},
	}, w.modifyFile, w.edits)
}

type modifyArgs struct {
	Path     string    `json:"path"`
	Patterns []pattern `json:"patterns"`
	Regex    bool      `json:"replace_using_regex"`
}

type pattern struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Paths list   `json:"paths"`
	Regex *bool  `json:"regex"`
}

// An edit is a file before and after. The content of a missing file is nil.
type edit struct {
	file.File
	after []byte
	names []string // by which the call named it
}

func (e *edit) unchanged() bool {
	return bytes.Equal(e.Data, e.after) && (e.Data == nil) == (e.after == nil)
}

func (w Workspace) modifyFile(ctx context.Context, a modifyArgs) (tool.Result, error) {
	edits, err := w.edits(ctx, a)
	if err != nil {
		return tool.Result{}, err
	}
	var patch strings.Builder
	for _, e := range edits {
		if e.unchanged() {
			continue
		}
		if _, err := w.Tree.Replace(e.Rel, e.Data, e.after); err != nil {
			return written(patch.String()), err
		}
		patch.Write(unified(e))
	}
	if patch.Len() == 0 {
		return tool.OK("Nothing changed: the files are already as they would become."), nil
	}
	return written(patch.String()), nil
}

func written(patch string) tool.Result {
	if patch == "" {
		return tool.Result{}
	}
	return tool.OK("File modified successfully:\n\n```diff\n" + patch + "```")
}

// unified returns the change as a patch, without the first line, which is not part of the format. A
// name that could forge lines of the patch is quoted.
func unified(e *edit) []byte {
	before, after := e.Rel, e.Rel
	if strings.ContainsFunc(e.Rel, unicode.IsControl) {
		before = strconv.Quote(e.Rel)
		after = before
	}
	if e.Data == nil {
		before = "/dev/null"
	}
	if e.after == nil {
		after = "/dev/null"
	}
	d := diff.Diff(before, e.Data, after, e.after)
	_, rest, _ := bytes.Cut(d, []byte("\n"))
	return rest
}

func (a modifyArgs) check() error {
	if len(a.Patterns) == 0 {
		return errors.New("no patterns were given")
	}
	var same []string
	for i, p := range a.Patterns {
		switch {
		case p.Old == p.New:
			same = append(same, fmt.Sprint("#", i+1))
		case p.Old == "":
			return fmt.Errorf("pattern #%d has an empty `old`", i+1)
		case len(p.Paths) == 0 && a.Path == "":
			return fmt.Errorf("pattern #%d has no `paths`, and there is no `path`", i+1)
		}
	}
	if same != nil {
		return fmt.Errorf("pattern(s) %s have identical old and new strings",
			strings.Join(same, ", "))
	}
	return nil
}

// Limits of a change. A pattern can be as short as a letter and its replacement as long as a call,
// so that a few patterns applied in turn could exceed any memory.
const (
	maxEdited  = 64 << 20 // bytes of all files of one call, before and after
	maxOffsets = 4 << 20  // of an expression's matches and captures
)

var errTooMany = errors.New("it matches, or repeats a match, too often; no file was changed")

// edits applies all patterns in memory, in order, file by file in the order in which they are first
// named.
func (w Workspace) edits(ctx context.Context, a modifyArgs) ([]*edit, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	var edits []*edit
	byRel := map[string]*edit{}
	total := 0
	for i, p := range a.Patterns {
		replace, err := p.replacer(a.Regex)
		if err != nil {
			return nil, fmt.Errorf("pattern #%d: %w", i+1, err)
		}
		for _, name := range a.paths(p) {
			rel, err := w.rel(name)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			e := byRel[rel]
			if e == nil {
				if e, err = w.newEdit(rel); err != nil {
					return nil, err
				}
				byRel[rel], edits = e, append(edits, e)
				total += 2 * len(e.Data)
			}
			e.names = append(e.names, filepath.ToSlash(name))
			after, ok, err := replace(e.after)
			switch {
			case err != nil:
				return nil, fmt.Errorf("pattern #%d, file %q: %w", i+1, name, err)
			case !ok:
				return nil, fmt.Errorf(
					"pattern #%d does not match anything in %q; no file was changed", i+1, name)
			}
			if total += len(after) - len(e.after); total > maxEdited {
				return nil, fmt.Errorf("the files of one call are more than %d bytes; "+
					"no file was changed", maxEdited)
			}
			e.after = after
		}
	}
	return edits, nil
}

// paths returns the files that a pattern applies to.
func (a modifyArgs) paths(p pattern) list {
	if len(p.Paths) > 0 {
		return p.Paths
	}
	return list{a.Path}
}

func (w Workspace) newEdit(rel string) (*edit, error) {
	f, err := w.Tree.Read(rel, maxFile, file.CanUpdate)
	if err == nil && !file.IsText(f.Data) {
		err = fmt.Errorf("modify %q: it is not text", rel)
	}
	return &edit{File: f, after: f.Data}, err
}

// A replacer replaces every match, and reports whether there was one. It returns an error before it
// builds a result that is too large.
type replacer func(data []byte) (after []byte, matched bool, err error)

func (p pattern) replacer(regex bool) (replacer, error) {
	if p.Regex != nil {
		regex = *p.Regex
	}
	if !regex {
		return literal([]byte(p.Old), []byte(p.New)), nil
	}
	re, err := regexp.Compile("(?m)" + p.Old)
	if err != nil {
		return nil, err
	}
	return expression(re, []byte(p.New)), nil
}

func literal(old, new []byte) replacer {
	return func(data []byte) ([]byte, bool, error) {
		n := bytes.Count(data, old)
		if err := fits(len(data) + n*(len(new)-len(old))); n == 0 || err != nil {
			return data, n > 0, err
		}
		return bytes.ReplaceAll(data, old, new), true, nil
	}
}

func expression(re *regexp.Regexp, new []byte) replacer {
	most, groups := maxOffsets/(2*(re.NumSubexp()+1)), bytes.Count(new, []byte{'$'})
	return func(data []byte) ([]byte, bool, error) {
		matches := re.FindAllSubmatchIndex(data, most+1)
		if len(matches) > most {
			return data, true, errTooMany
		}
		var after []byte
		end := 0
		for _, m := range matches {
			after = append(after, data[end:m[0]]...)
			// Captures are within the match, and may be named any number of times.
			if len(new)+groups*(m[1]-m[0]) > maxEdited {
				return data, true, errTooMany
			}
			after = re.Expand(after, new, data, m)
			end = m[1]
			if err := fits(len(after) + len(data) - end); err != nil {
				return data, true, err
			}
		}
		return append(after, data[end:]...), len(matches) > 0, nil
	}
}

// fits returns an error if a file would become larger than the tools can change.
func fits(size int) error {
	if size > maxFile {
		return fmt.Errorf("it would become %d bytes, and %d are allowed; no file was changed",
			size, maxFile)
	}
	return nil
}
