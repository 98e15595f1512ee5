package builtin

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// A Workspace has the files and the repository that the tools work on.
type Workspace struct {
	Tree *file.Tree   // required
	Repo *gitint.Repo // nil if the workspace is not in a repository
}

// maxFile is the size of the largest file that the tools read or change.
const maxFile = 10 << 20

// InRepo converts a slash path of the workspace to a path of the repository.
func (w Workspace) InRepo(rel string) (string, error) {
	prefix, err := w.prefix()
	return path.Join(prefix, rel), err
}

// prefix returns the path of the workspace in its repository.
func (w Workspace) prefix() (string, error) {
	space, err := file.NewSpace(w.Repo.Root())
	if err != nil {
		return "", err
	}
	rel, inside := space.Below(w.Tree.Root())
	if !inside {
		return "", fmt.Errorf("workspace %q is not in %q", w.Tree.Root(), w.Repo.Root())
	}
	return rel, nil
}

// under converts paths of the workspace to paths of the repository; no path means the whole
// workspace.
func (w Workspace) under(paths []string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var all []string
	for _, p := range paths {
		rel, err := w.rel(p)
		if err != nil {
			return nil, err
		}
		in, err := w.InRepo(rel)
		if err != nil {
			return nil, err
		}
		if in == "." {
			return nil, nil
		}
		all = append(all, in)
	}
	return all, nil
}

// rel converts a path or a URI from a model. The file may be deleted, since git tools can name it.
func (w Workspace) rel(p string) (string, error) {
	if file.IsURI(p) {
		real, _, err := w.Tree.Path(p)
		if err != nil {
			return "", err
		}
		p = real
	}
	return w.Tree.Rel(p)
}

// A builtin is a tool with a definition and a function.
type builtin[A any] struct {
	def tool.Definition
	run func(ctx context.Context, a A) (tool.Result, error)
}

// Definition implements [tool.Tool].
func (b builtin[A]) Definition() tool.Definition { return b.def }

// Run implements [tool.Tool].
func (b builtin[A]) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a A
	if err := exact.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{}, &tool.ArgumentsError{Tool: b.def.Name, Reason: err.Error()}
	}
	return b.run(ctx, a)
}

// A changing tool changes files, and can show the changes in advance.
type changing[A any] struct {
	builtin[A]

	plan func(ctx context.Context, a A) ([]*edit, error)
}

// Caution implements [tool.Cautious].
func (c changing[A]) Caution(ctx context.Context, call tool.Call) (tool.Caution, error) {
	var a A
	if err := exact.Unmarshal(call.Arguments, &a); err != nil {
		return tool.Caution{}, &tool.ArgumentsError{Tool: c.def.Name, Reason: err.Error()}
	}
	edits, err := c.plan(ctx, a)
	return caution(edits), err
}

// caution returns the changes, with a warning for files that other programs obey. If a file is
// changed through a link, either name may be one that they read.
func caution(edits []*edit) tool.Caution {
	var c tool.Caution
	var patch strings.Builder
	for _, e := range edits {
		if e.unchanged() {
			continue
		}
		patch.Write(unified(e))
		if file.ChangesBehaviour(e.Rel) || slices.ContainsFunc(e.names, file.ChangesBehaviour) {
			c.Subjects = append(c.Subjects, e.Rel)
			c.Reason = "other programs run it, or do what it says"
		}
	}
	c.Change = patch.String()
	return c
}

// reads returns a tool that changes nothing and runs without approval.
func reads[A any](
	d tool.Definition, run func(ctx context.Context, a A) (tool.Result, error),
) tool.Item {
	d.Schema = tool.Schema(d.Parameters)
	return tool.Item{Tool: builtin[A]{d, run}, Policy: tool.Policy{Run: tool.Unattended}}
}

// writes returns a tool that needs approval. Its plan returns the changes of a call.
func writes[A any](
	d tool.Definition, run func(ctx context.Context, a A) (tool.Result, error),
	plan func(ctx context.Context, a A) ([]*edit, error),
) tool.Item {
	d.Schema = tool.Schema(d.Parameters)
	return tool.Item{
		Tool:   changing[A]{builtin[A]{d, run}, plan},
		Policy: tool.Policy{Run: tool.Ask},
	}
}

// Items returns all tools for the workspace, with their default policies. The git tools are
// included if the workspace is in a repository.
func Items(w Workspace) []tool.Item {
	items := []tool.Item{
		readFile(w), listFiles(w), grepFiles(w), createFile(w), modifyFile(w), deleteFile(w),
	}
	if w.Repo == nil {
		return items
	}
	return append(items, gitStatus(w), gitDiff(w), gitLog(w), gitShow(w))
}

// A list is a list of strings in a model's call: an array or a single string.
type list []string

// UnmarshalJSON reads either form.
func (l *list) UnmarshalJSON(b []byte) error {
	var one string
	if exact.Unmarshal(b, &one) == nil {
		*l = list{one}
		return nil
	}
	return exact.Unmarshal(b, (*[]string)(l))
}

// Parameters that several tools share.
func text(name, summary string) tool.Parameter {
	return tool.Parameter{Name: name, Types: []string{"string"}, Summary: summary}
}

func integer(name, summary string) tool.Parameter {
	return tool.Parameter{Name: name, Types: []string{"integer"}, Summary: summary}
}

func texts(name, summary string) tool.Parameter {
	return tool.Parameter{
		Name: name, Types: []string{"array"}, Summary: summary,
		Items: &tool.Parameter{Types: []string{"string"}},
	}
}

func required(p tool.Parameter) tool.Parameter {
	p.Required = true
	return p
}
