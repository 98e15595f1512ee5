package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// Attributes are in two files. The workspace's file, which is committed, holds in every clone: no
// conversion of the text, and no merge by lines, so that a clone without git jp stops instead of
// merging lines. A value that names our driver would not do that: where the driver is not
// registered, git merges by lines and says nothing. The clone's file, which git consults first,
// names the drivers if they are registered; git reads it in a bare repository too.
const (
	workspaceAttributes = ".gitattributes"
	cloneAttributes     = "info/attributes"
)

// unconverted keeps git from changing a file on its way into a commit and out of it. Filters are
// left to the user: LFS and git-crypt restore the original. An encoding cannot be unset, because
// git dies of it: it is made unspecified (gitattributes(5)).
const unconverted = " -ident !working-tree-encoding"

// workspaceLines2 is the block of the committed file.
func workspaceLines2() string { return workspaceLines(" -text" + unconverted + " -merge") }

// workspaceLines1 did not prevent changes by ident and working-tree-encoding.
func workspaceLines1() string { return workspaceLines(" -text -merge") }

func workspaceLines(attributes string) string {
	var b strings.Builder
	b.WriteString("# Merged by 'git jp'. A clone without its drivers stops at a merge.\n")
	for _, d := range Drivers() {
		b.WriteString(d.Pattern + attributes)
		if d.Shown {
			b.WriteString(" diff=" + d.Name)
		}
		b.WriteString(" linguist-generated\n")
	}
	return b.String()
}

// cloneLines3 is the block of the clone's file. A directory of conversations may have its own
// attributes: only this file takes precedence over them.
func cloneLines3() string { return cloneLines(" -text" + unconverted) }

// cloneLines2 did not prevent a checkout from changing the line ends of a text below .jp.
func cloneLines2() string { return cloneLines(unconverted) }

func cloneLines1() string { return cloneLines("") }

func cloneLines(attributes string) string {
	var b strings.Builder
	for _, d := range Drivers() {
		fmt.Fprintf(&b, "**/.jp/%s%s merge=%s\n", d.Pattern, attributes, d.Name)
	}
	return b.String()
}

const attributesMark = "# >>> git jp >>>"

// attributesBlock puts marks around lines. A file whose last line has no end gets one, which the
// mark records, so that it can be removed again.
func attributesBlock(lines string, openEnd bool) string {
	head := attributesMark + "\n"
	if openEnd {
		head = "\n" + attributesMark + " after a line without end\n"
	}
	return head + lines + "# <<< git jp <<<\n"
}

// cutAttributes returns text without our block, and the index of its version among known, -1
// without a block.
func cutAttributes(text string, known []string) (rest string, version int) {
	for i, lines := range known {
		for _, openEnd := range []bool{true, false} {
			before, after, ok := strings.Cut(text, attributesBlock(lines, openEnd))
			if ok {
				return before + after, i
			}
		}
	}
	return text, -1
}

// An attributesFile is one of the two files.
type attributesFile struct {
	step  step     // place and content
	path  string   // for people
	known []string // every block that we ever wrote, the newest first
}

// with returns the file's step with another content.
func (f attributesFile) with(text string) step {
	s := f.step
	s.new, s.remove = text, text == ""
	return s
}

func (in *Installer) cloneFile() (attributesFile, error) {
	f := attributesFile{
		step:  step{file: cloneAttributes},
		path:  filepath.Join(in.repo.CommonDir(), filepath.FromSlash(cloneAttributes)),
		known: []string{cloneLines3(), cloneLines2(), cloneLines1()},
	}
	return f, f.read()
}

func workspaceFile(dir string) (attributesFile, error) {
	f := attributesFile{
		step:  step{file: workspaceAttributes, workspace: dir},
		path:  filepath.Join(dir, workspaceAttributes),
		known: []string{workspaceLines2(), workspaceLines1()},
	}
	return f, f.read()
}

func (f *attributesFile) read() error {
	data, err := regular.ReadFile(f.path, regular.MaxNote)
	f.step.absent = errors.Is(err, fs.ErrNotExist)
	if err != nil && !f.step.absent {
		return fmt.Errorf("inspect attributes: %w", err)
	}
	f.step.old = string(data)
	return nil
}

// attributesFiles returns the clone's file, if clone is set, and those of the workspaces.
func (in *Installer) attributesFiles(clone bool) ([]attributesFile, error) {
	var files []attributesFile
	if clone {
		f, err := in.cloneFile()
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	for _, dir := range in.opts.Workspaces {
		f, err := workspaceFile(dir)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// OldAttributes returns the files with lines of an older release, which an installation replaces.
func (in *Installer) OldAttributes() (paths []string, err error) {
	files, err := in.attributesFiles(true)
	for _, f := range files {
		if _, version := cutAttributes(f.step.old, f.known); version > 0 {
			paths = append(paths, f.path)
		}
	}
	return paths, err
}

func (in *Installer) installAttributes(ctx context.Context, p *Plan) error {
	files, err := in.attributesFiles(in.opts.Drivers)
	if err != nil {
		return err
	}
	for _, f := range files {
		left, err := in.isLeftOut(ctx, f)
		if err != nil {
			return err
		}
		if left {
			p.add(Action{
				Do: Skip, Hook: "attributes", Path: f.path,
				Reason: "the sparse checkout leaves it out",
			})
			continue
		}
		f.install(p)
	}
	return nil
}

// isLeftOut reports whether a sparse checkout leaves a file out of the working tree: git has the
// file anyway, and a new one would replace it in the next commit.
func (in *Installer) isLeftOut(ctx context.Context, f attributesFile) (bool, error) {
	if !f.step.absent || f.step.workspace == "" {
		return false, nil
	}
	rel := below(in.repo.Root(), f.step.workspace)
	if rel == "" {
		return false, nil
	}
	name := path.Join(rel, f.step.file)
	left, err := in.repo.LeftOut(ctx, rel, func(path []byte) bool { return string(path) == name })
	if err != nil {
		return false, fmt.Errorf("inspect attributes: %w", err)
	}
	return len(left.Names()) > 0, nil
}

// install puts the block at the end of the file: the last line that matches counts.
func (f attributesFile) install(p *Plan) {
	a := Action{Do: Keep, Hook: "attributes", Path: f.path}
	rest, version := cutAttributes(f.step.old, f.known)
	switch {
	case version == 0:
		p.add(a)
		return
	case version < 0 && strings.Contains(f.step.old, attributesMark):
		a.Do, a.Reason = Skip, "its lines of git jp were changed"
		p.add(a)
		return
	case version > 0:
		a.Do = Update
	case f.step.absent:
		a.Do = Create
	default:
		a.Do, a.Reason = Update, "behind the lines that are there"
	}
	openEnd := rest != "" && !strings.HasSuffix(rest, "\n")
	p.add(a, f.with(rest+attributesBlock(f.known[0], openEnd)))
}

// uninstallAttributes plans to remove our lines, except those that the index has: they belong to
// everyone, and not to this clone alone.
func (in *Installer) uninstallAttributes(ctx context.Context, p *Plan) error {
	files, err := in.attributesFiles(true)
	if err != nil {
		return err
	}
	for _, f := range files {
		rest, version := cutAttributes(f.step.old, f.known)
		a := Action{Do: Remove, Hook: "attributes", Path: f.path}
		switch {
		case version < 0 && strings.Contains(f.step.old, attributesMark):
			p.manual(a.Hook, a.Path, "its lines of git jp were changed", "")
			continue
		case version < 0:
			continue
		case rest != "":
			a.Reason = "only the lines of git jp"
		}
		shared, err := in.shared(ctx, f)
		if err != nil {
			return err
		}
		if shared {
			a.Do, a.Reason = Keep, "it is committed: other clones need it"
			p.add(a)
			continue
		}
		p.add(a, f.with(rest))
	}
	return nil
}

// shared reports whether the index has our lines in a file of the working tree.
func (in *Installer) shared(ctx context.Context, f attributesFile) (bool, error) {
	if f.step.workspace == "" {
		return false, nil
	}
	rel := below(in.repo.Root(), f.step.workspace)
	if rel == "" {
		return false, nil
	}
	index, err := in.repo.Index(ctx)
	if err != nil {
		return false, fmt.Errorf("inspect attributes: %w", err)
	}
	data, err := index.ReadFile(path.Join(rel, workspaceAttributes))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return strings.Contains(string(data), attributesMark), err
}

// attributesTemp is the directory for temporary files of a workspace, from .jp.
const attributesTemp = blobsDir + "/.tmp"

// blobsDir is the directory of a workspace's blobs, from .jp.
const blobsDir = "blobs"

// writeAttributes writes the file of a workspace, and leaves no other trace.
func writeAttributes(s step) error {
	root, err := regular.OpenRoot(s.workspace)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it afterwards
	if err := unchanged(root, s); err != nil {
		return err
	}
	hadTemp, hadStore := exists(root, attributesTemp), exists(root, path.Dir(attributesTemp))
	err = s.replace(root, atomicfile.Options{TempDir: attributesTemp})
	// Both are removed only when they are empty.
	if !hadTemp {
		_ = root.Remove(attributesTemp)
	}
	if !hadStore {
		_ = root.Remove(path.Dir(attributesTemp))
	}
	return err
}
