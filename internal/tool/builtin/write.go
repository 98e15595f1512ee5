package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/file"
)

func createFile(w Workspace) tool.Item {
	return writes(tool.Definition{
		Name:    "fs_create_file",
		Summary: "Create a new file in the project's local filesystem.",
		Examples: "```json\n" + `{"path": "src/new_module.rs", "content": "//! New.\n"}` +
			"\n```",
		Parameters: []tool.Parameter{
			required(text("path", "The path to the file to create. "+
				"The path must be relative to the project's root.")),
			text("content", "The content of the file to create. "+
				"If not specified, the file will be empty."),
		},
	}, w.createFile, w.creation)
}

type createArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (w Workspace) createFile(_ context.Context, a createArgs) (tool.Result, error) {
	f, err := w.Tree.Create(a.Path, []byte(a.Content))
	if errors.Is(err, fs.ErrExist) {
		return tool.Failed(fmt.Sprintf(
			"File '%s' already exists. Use `fs_modify_file` to change it.", a.Path)), nil
	}
	if err != nil {
		return tool.Result{}, err
	}
	return tool.OK(fmt.Sprintf("File '%s' created. File size: %d", f.Rel, len(f.Data))), nil
}

// creation returns the change of a call that creates a file.
func (w Workspace) creation(_ context.Context, a createArgs) ([]*edit, error) {
	rel, err := w.Tree.Creatable(a.Path)
	if err != nil {
		return nil, err
	}
	names := []string{filepath.ToSlash(a.Path)}
	return []*edit{{File: file.File{Rel: rel}, after: []byte(a.Content), names: names}}, nil
}

func deleteFile(w Workspace) tool.Item {
	return writes(tool.Definition{
		Name:        "fs_delete_file",
		Summary:     "Delete a file in the project's local filesystem.",
		Description: "The file must exist, be a regular file, and have no uncommitted changes.",
		Examples:    "```json\n{\"path\": \"src/deprecated_module.rs\"}\n```",
		Parameters: []tool.Parameter{
			required(text("path", "The path to the file to delete. "+
				"The path must be relative to the project's root.")),
		},
	}, w.deleteFile, w.deletion)
}

type deleteArgs struct {
	Path string `json:"path"`
}

func (w Workspace) deleteFile(ctx context.Context, a deleteArgs) (tool.Result, error) {
	rel, err := w.rel(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if err := w.committed(ctx, rel); err != nil {
		return tool.Result{}, fmt.Errorf("delete file %q: %w", a.Path, err)
	}
	if rel, err = w.Tree.Remove(rel); err != nil {
		return tool.Result{}, err
	}
	return tool.OK(fmt.Sprintf("File '%s' deleted.", rel)), nil
}

// deletion returns the change of a call that deletes a file.
func (w Workspace) deletion(_ context.Context, a deleteArgs) ([]*edit, error) {
	rel, err := w.rel(a.Path)
	if err != nil {
		return nil, err
	}
	f, err := w.Tree.Read(rel, maxFile, file.CanDelete)
	if errors.Is(err, file.ErrTooLarge) {
		f, err = file.File{Rel: rel, Data: []byte("(too large to be shown)\n")}, nil
	}
	return []*edit{{File: f, names: []string{filepath.ToSlash(a.Path)}}}, err
}

var (
	errNoRepository = errors.New("it could not be restored: there is no git repository")
	errUncommitted  = errors.New("it has uncommitted changes")
	errUnseen       = errors.New("git does not look at it (assume-unchanged or skip-worktree)")
)

// committed returns an error if HEAD does not have the current content of the file, so that git
// could not restore it. HEAD is read as well as git's list of changes, which leaves out untracked
// files, and the index for files that git assumes to be unchanged.
func (w Workspace) committed(ctx context.Context, rel string) error {
	if w.Repo == nil {
		return errNoRepository
	}
	if _, info, err := w.Tree.Stat(rel); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // there is nothing to lose
	}
	name, err := w.InRepo(rel)
	if err != nil {
		return err
	}
	tree, err := w.Repo.Tree(ctx, "HEAD")
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return errUncommitted
	}
	if err != nil {
		return err
	}
	if _, ok := tree.OID(name); !ok {
		return errUncommitted
	}
	index, err := w.Repo.IndexWhere(ctx, func(path []byte, _ gitint.Mark) bool {
		return string(path) == name
	})
	if err != nil {
		return err
	}
	if slices.Contains(index.Pinned(), name) {
		return errUnseen
	}
	staged, err := w.Repo.StagedPaths(ctx, name)
	if err != nil {
		return err
	}
	changed, err := w.Repo.WorkChanges(ctx, name)
	if err != nil {
		return err
	}
	if len(staged)+len(changed) > 0 {
		return errUncommitted
	}
	return nil
}
