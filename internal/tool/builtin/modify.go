package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

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
	}, w.modifyFile)
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

// An edit is a file before and after.
type edit struct {
	file.File
	after []byte
}

func (w Workspace) modifyFile(_ context.Context, a modifyArgs) (tool.Result, error) {
	if err := a.check(); err != nil {
		return tool.Result{}, err
	}
	edits, err := w.edits(a)
	if err != nil {
		return tool.Result{}, err
	}
	var patch strings.Builder
	for _, e := range edits {
		if bytes.Equal(e.Data, e.after) {
			continue
		}
		if _, err := w.Tree.Replace(e.Rel, e.after); err != nil {
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

// unified returns the change as a patch, without the line that is no part of it.
func unified(e *edit) []byte {
	d := diff.Diff(e.Rel, e.Data, e.Rel, e.after)
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

// edits applies all patterns in memory, in order, file by file in the order in which
// they are first named.
func (w Workspace) edits(a modifyArgs) ([]*edit, error) {
	var edits []*edit
	byRel := map[string]*edit{}
	for i, p := range a.Patterns {
		replace, err := p.replacer(a.Regex)
		if err != nil {
			return nil, fmt.Errorf("pattern #%d: %w", i+1, err)
		}
		paths := p.Paths
		if len(paths) == 0 {
			paths = list{a.Path}
		}
		for _, name := range paths {
			rel, err := w.rel(name)
			if err != nil {
				return nil, err
			}
			e := byRel[rel]
			if e == nil {
				if e, err = w.newEdit(rel); err != nil {
					return nil, err
				}
				byRel[rel], edits = e, append(edits, e)
			}
			after, ok := replace(e.after)
			if !ok {
				return nil, fmt.Errorf(
					"pattern #%d does not match anything in %q; no file was changed", i+1, name)
			}
			e.after = after
		}
	}
	return edits, nil
}

func (w Workspace) newEdit(rel string) (*edit, error) {
	f, err := w.Tree.ReadToChange(rel, maxFile)
	if err == nil && !file.IsText(f.Data) {
		err = fmt.Errorf("modify %q: it is not text", rel)
	}
	return &edit{File: f, after: f.Data}, err
}

// replacer returns a function that replaces every match, and says whether there was one.
func (p pattern) replacer(regex bool) (func([]byte) ([]byte, bool), error) {
	if p.Regex != nil {
		regex = *p.Regex
	}
	old := []byte(p.Old)
	if !regex {
		return func(data []byte) ([]byte, bool) {
			return bytes.ReplaceAll(data, old, []byte(p.New)), bytes.Contains(data, old)
		}, nil
	}
	re, err := regexp.Compile("(?m)" + p.Old)
	if err != nil {
		return nil, err
	}
	return func(data []byte) ([]byte, bool) {
		return re.ReplaceAll(data, []byte(p.New)), re.Match(data)
	}, nil
}
