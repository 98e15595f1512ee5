package builtin

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
)

func readFile(w Workspace) tool.Item {
	return reads(tool.Definition{
		Name:    "fs_read_file",
		Summary: "Read the contents of a file in the project's local filesystem.",
		Description: "You can use `fs_grep_files` to search for specific patterns in the file\n" +
			"contents, before reading the entire contents of a specific file using this tool.",
		Examples: "```json\n" + `{"path": "src/tool.rs", "start_line": 100, "end_line": 150}` +
			"\n```",
		Parameters: []tool.Parameter{
			required(text("path", "The path to the file to read.")),
			integer("start_line", "The line number to start reading from."),
			integer("end_line", "The line number to stop reading at."),
		},
	}, w.readFile)
}

type readArgs struct {
	Path      string `json:"path"`
	StartLine *int   `json:"start_line"`
	EndLine   *int   `json:"end_line"`
}

func (w Workspace) readFile(_ context.Context, a readArgs) (tool.Result, error) {
	p, from, to := a.Path, orZero(a.StartLine, 1), orZero(a.EndLine, 0)
	if file.IsURI(p) {
		real, fragment, err := w.Tree.Path(p)
		if err != nil {
			return tool.Result{}, err
		}
		if f, t, ok := file.ParseLines(fragment); ok && a.StartLine == nil && a.EndLine == nil {
			from, to = f, t
		}
		p = real
	}
	f, err := w.Tree.Read(p, maxFile, file.CanRead)
	if err != nil {
		return tool.Result{}, err
	}
	res := f.Resource()
	if from == 1 && (to == 0 || len(f.Data) == 0) {
		return tool.Result{Blocks: []events.Block{tool.Resource(res)}}, nil
	}
	if !file.IsText(f.Data) {
		return tool.Result{}, fmt.Errorf("read lines of %q: it is not text", a.Path)
	}
	part, last, ok := file.Cut(f.Data, from, to)
	if !ok {
		return tool.Result{}, fmt.Errorf("read lines %d to %d of %q: it has %d lines, "+
			"counted from 1", from, to, a.Path, lineCount(f.Data))
	}
	// The complete file has one name, however its lines were requested.
	if from > 1 || len(part) < len(f.Data) {
		res.URI, res.Content = file.Lines(f.URI, from, last), blobs.Loaded(part)
	}
	return tool.Result{Blocks: []events.Block{tool.Resource(res)}}, nil
}

func orZero(n *int, absent int) int {
	if n == nil {
		return absent
	}
	return max(*n, -1) // zero and less become an invalid line
}

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

func listFiles(w Workspace) tool.Item {
	return reads(tool.Definition{
		Name:    "fs_list_files",
		Summary: "List files in the project's local filesystem.",
		Description: "Files that git ignores are left out.\n\nTo list all Rust files: " +
			"`{\"extensions\": [\"rs\"]}`. Under a directory: `{\"prefixes\": [\"src/cli\"]}`.",
		Parameters: []tool.Parameter{
			texts("prefixes", "Optional list of path prefixes to filter the results by."),
			texts("extensions", "Optional list of file extensions to filter the results by."),
		},
	}, w.listFiles)
}

type listArgs struct {
	Prefixes   list `json:"prefixes"`
	Extensions list `json:"extensions"`
}

func (w Workspace) listFiles(ctx context.Context, a listArgs) (tool.Result, error) {
	all, err := w.Files(ctx, a.Prefixes...)
	if err != nil {
		return tool.Result{}, err
	}
	if len(a.Extensions) > 0 {
		all = slices.DeleteFunc(all, func(name string) bool {
			return !slices.ContainsFunc(a.Extensions, func(ext string) bool {
				return strings.HasSuffix(name, "."+strings.TrimPrefix(ext, "."))
			})
		})
	}
	if len(all) == 0 {
		return tool.OK("No files match."), nil
	}
	return tool.OK(strings.Join(all, "\n")), nil
}

// Files returns the files below the paths that are not ignored, sorted; without a path, all of
// them. Forbidden files, links and everything that is no regular file are left out.
func (w Workspace) Files(ctx context.Context, paths ...string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var all []string
	for _, p := range paths {
		rel, err := w.rel(p)
		if err != nil {
			return nil, err
		}
		found, err := w.below(ctx, rel)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (w Workspace) below(ctx context.Context, rel string) ([]string, error) {
	if w.Repo == nil {
		return w.Tree.Walk(rel)
	}
	prefix, err := w.prefix()
	if err != nil {
		return nil, err
	}
	under, err := w.under([]string{rel})
	if err != nil {
		return nil, err
	}
	files, err := w.Repo.Files(ctx, under...)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, f := range files {
		name := f
		if prefix != "." {
			var inside bool
			if name, inside = strings.CutPrefix(f, prefix+"/"); !inside {
				continue
			}
		}
		if w.Tree.IsFile(name) {
			found = append(found, name)
		}
	}
	return found, nil
}
