package recheck

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/regular"
)

// settles limits how often a directory is read again because names in it changed meanwhile.
const settles = 64

// disk searches the directories .jp of working trees, and those in Options.Dirs.
func (p *Opinion) disk(ctx context.Context, roots []string) error {
	dirs := slices.Clone(p.o.Dirs)
	for _, root := range roots {
		found, err := workspaces(ctx, root)
		if err != nil {
			return fmt.Errorf("look for directories %s below %s: %w", jpDir, root, err)
		}
		dirs = append(dirs, found...)
	}
	p.searched = make(map[string]bool)
	for _, dir := range dirs {
		if err := p.directory(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// tracked searches the directories .jp on disk at paths where an index or a tip has one. Such a
// path may be inside another repository by now, which workspaces does not enter.
func (p *Opinion) tracked(ctx context.Context, roots []string) error {
	for _, root := range roots {
		for name := range p.known {
			dir := filepath.Join(root, filepath.FromSlash(name))
			info, err := os.Stat(dir)
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			case err != nil:
				return err
			case info.IsDir():
				if err := p.directory(ctx, dir); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// workspaces returns the directories .jp of a working tree. It does not enter other repositories.
func workspaces(ctx context.Context, root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return ctx.Err()
		case err != nil:
			return err
		case name == root:
		case strings.EqualFold(e.Name(), jpDir):
			return foundWorkspace(name, e, &found)
		case !e.IsDir():
		case strings.EqualFold(e.Name(), ".git"), isRepository(name):
			return fs.SkipDir
		}
		return ctx.Err()
	})
	return found, err
}

// foundWorkspace adds a directory .jp. A symlink .jp counts only if it leads to a directory.
func foundWorkspace(name string, e fs.DirEntry, found *[]string) error {
	if e.IsDir() {
		*found = append(*found, name)
		return fs.SkipDir
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return nil
	}
	real, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return err
	}
	if !strings.EqualFold(filepath.Base(real), jpDir) {
		return fmt.Errorf("%s is a symbolic link to %s", name, real)
	}
	*found = append(*found, real)
	return nil
}

// isRepository reports whether a directory belongs to another repository: its .git is a git
// directory, or leads to one. In doubt it returns false, and the directory is searched.
func isRepository(dir string) bool {
	at := filepath.Join(dir, ".git")
	if data, err := regular.ReadFile(at, regular.MaxNote); err == nil {
		target, _ := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
		if at = target; !filepath.IsAbs(at) {
			at = filepath.Join(dir, target)
		}
	}
	_, err := os.Stat(filepath.Join(at, "HEAD"))
	return err == nil
}

// directory searches the files of a directory .jp. A conversation may be renamed during the search,
// from a place that was not read yet to one that was. So a search counts only if the list of names
// is the same before and after it.
func (p *Opinion) directory(ctx context.Context, dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || p.searched[dir] {
		return err
	}
	p.searched[dir] = true
	for range settles {
		before, err := names(ctx, dir)
		if err != nil {
			return err
		}
		for _, name := range before {
			if err := p.file(ctx, name); err != nil {
				return err
			}
		}
		after, err := names(ctx, dir)
		if err != nil || slices.Equal(before, after) {
			return err
		}
	}
	return fmt.Errorf("read %s: its directories keep changing", dir)
}

// names lists the files of a directory .jp that may refer to content.
func names(ctx context.Context, dir string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(name, dir))
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != dir:
			return ctx.Err()
		case err != nil:
			return err
		case strings.EqualFold(e.Name(), "events.json") && e.Type()&^fs.ModeSymlink != 0 &&
			!strings.HasPrefix(rel, "/conversations/.trash/"):
			return fmt.Errorf("%s is not a regular file", name)
		case e.IsDir():
			return enter(rel, name, &all)
		case e.Type()&fs.ModeSymlink != 0:
			return follow(rel, name, &all)
		case e.Type().IsRegular() && !isContent(rel):
			all = append(all, name)
		}
		return ctx.Err()
	})
	return all, err
}

// enter decides about the directories: it skips the fan-out directories of stores, which have
// blobs, and locks, which name processes. A quarantine has its own list of files that count.
func enter(rel, name string, all *[]string) error {
	inStore, ok := strings.CutPrefix(rel, "/"+storeDir+"/")
	switch {
	case rel == "/locks", ok && isShelf(inStore):
		return fs.SkipDir
	case inStore == ".tmp/trash" && ok:
		if err := quarantined(name, func(path string) { *all = append(*all, path) }); err != nil {
			return err
		}
		return fs.SkipDir
	}
	return nil
}

// follow looks behind a symlink. It refuses one to a directory that could have conversations,
// because that is no part of this directory. It skips the links that jp makes for itself.
func follow(rel, name string, all *[]string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP):
		return nil // a dangling link
	case err != nil:
		return err
	case info.IsDir() && (strings.HasPrefix(rel, "/conversations") ||
		strings.HasPrefix(rel, "/"+storeDir)):
		return fmt.Errorf("%s is a symbolic link to a directory", name)
	case info.Mode().IsRegular():
		*all = append(*all, name)
	}
	return nil
}

// isContent reports whether a file is a temporary file of a blob that is being written.
func isContent(rel string) bool {
	return strings.HasPrefix(rel, "/"+storeDir+"/.tmp/") &&
		strings.Contains(filepath.Base(rel), ".blob.gz.")
}

// file searches one file.
func (p *Opinion) file(ctx context.Context, name string) error {
	f, err := regular.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err() // the second list shows whether it is elsewhere
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // was only read
	found, err := p.watch.in(f)
	for _, n := range found {
		p.add(n, Finding{Root: "working tree", Path: name})
	}
	return errors.Join(err, ctx.Err())
}

// index searches the entries below directories .jp in all stages of an index.
func (p *Opinion) index(ctx context.Context, g *git, of part) error {
	if err := g.checkIndex(of.index); err != nil {
		return fmt.Errorf("read %s: %w", of.index, err)
	}
	one := g.in(of.dir)
	one.env = append(one.env, "GIT_INDEX_FILE="+of.index)
	var ids []node
	paths := make(map[oid]string)
	_, err := one.run(ctx, nil, func(r io.Reader) error {
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadString(0)
			if errors.Is(err, io.EOF) && line == "" {
				return nil
			}
			if err != nil {
				return err
			}
			id, name, err := indexLine(strings.TrimSuffix(line, "\x00"))
			if err != nil {
				return err
			}
			p.note(name)
			if id != "" && path.Base(name) == idFile {
				p.addID(id)
			}
			if _, ok := paths[id]; id != "" && !ok {
				paths[id] = name
				ids = append(ids, node{id, true})
			}
		}
	}, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	_, fresh, err := p.trees.below(ctx, ids)
	if err == nil {
		err = p.trees.readFiles(ctx, fresh)
	}
	for _, n := range ids {
		for _, number := range p.trees.sets[n] {
			p.add(number, Finding{Root: "index" + of.title, Path: paths[n.id]})
		}
	}
	return err
}

// indexLine returns the path of an index entry, and its object id if the file may refer to content.
func indexLine(line string) (oid, string, error) {
	head, name, ok := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 3 {
		return "", "", fmt.Errorf("git lists an entry as %q", line)
	}
	if fields[0] == "160000" || !mayRefer(name) {
		return "", name, nil
	}
	id, err := parseOID(fields[1])
	return id, name, err
}

// note records the path of a directory .jp in which an index or a tip has a file.
func (p *Opinion) note(file string) {
	dirs := strings.Split(file, "/")
	for i, dir := range dirs[:len(dirs)-1] {
		if strings.EqualFold(dir, jpDir) {
			p.known[strings.Join(dirs[:i+1], "/")] = true
		}
	}
}

// mayRefer reports whether a file in a tree may refer to content: a file below a directory .jp that
// is not a blob, or a stream anywhere.
func mayRefer(name string) bool {
	dirs := strings.Split(name, "/")
	last := len(dirs) - 1
	at := slices.IndexFunc(dirs[:last], func(dir string) bool {
		return strings.EqualFold(dir, jpDir)
	})
	if at < 0 {
		return isStream(dirs[last])
	}
	below, inStore := strings.CutPrefix(strings.Join(dirs[at+1:], "/"), storeDir+"/")
	_, isBlob := blobs.ParsePath(below)
	return !inStore || !isBlob
}

// errIndex reports an index whose checksum is wrong.
var errIndex = errors.New("its checksum does not match")

// checkIndex verifies the checksum at the end of an index, because git takes a truncated index for
// an empty one. The checksum may be zero, as git writes it with index.skipHash.
func (g *git) checkIndex(file string) error {
	f, err := regular.OpenFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // was only read
	info, err := f.Stat()
	size := int64(g.idSize())
	if err != nil || info.Size() < size {
		return errors.Join(errIndex, err)
	}
	sum, last := g.newHash(), make([]byte, size)
	if _, err := io.CopyN(sum, f, info.Size()-size); err != nil {
		return err
	}
	if _, err := io.ReadFull(f, last); err != nil {
		return err
	}
	if !oid(last).isZero() && string(sum.Sum(nil)) != string(last) {
		return errIndex
	}
	return nil
}
