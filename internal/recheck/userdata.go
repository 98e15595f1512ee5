package recheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
)

const (
	// idFile is the file in a directory .jp with the name of its user-local copies.
	idFile = ".id"
	// linkName is the link from a user-local directory to its directory .jp.
	linkName = "storage"
)

// userData searches the user-local copies of conversations: each directory whose name ends with the
// id of a directory .jp, on disk or in git, and each whose link leads here or nowhere.
func (p *Opinion) userData(ctx context.Context, trees []string) error {
	entries, err := os.ReadDir(p.o.UserData)
	if errors.Is(err, fs.ErrNotExist) || p.o.UserData == "" {
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.readNames(ctx); err != nil {
		return fmt.Errorf("read the files %s: %w", idFile, err)
	}
	for _, e := range entries {
		dir := filepath.Join(p.o.UserData, e.Name())
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		if err != nil {
			return err
		}
		if !p.isNamed(e.Name()) && !leadsHere(dir, append(trees, p.o.Dirs...)) {
			continue
		}
		if err := p.directory(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// readNames reads the files with the ids of directories .jp: those on disk that this call has
// searched, and those that were found in git.
func (p *Opinion) readNames(ctx context.Context) error {
	for dir := range p.searched {
		data, err := regular.ReadFile(filepath.Join(dir, idFile), regular.MaxNote)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		p.name(data)
	}
	var ids []oid
	for id, read := range p.ids {
		if !read {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return p.trees.objects(ctx, ids, func(i int, _ string, r io.Reader) error {
		data, err := regular.ReadAll(r, regular.MaxNote)
		p.name(data)
		p.ids[ids[i]] = true
		return err
	})
}

// name records the words in the last line of a file as names.
func (p *Opinion) name(data []byte) {
	text := strings.TrimSpace(string(data))
	for word := range strings.FieldsSeq(text[strings.LastIndexByte(text, '\n')+1:]) {
		p.called[word] = true
	}
}

func (p *Opinion) isNamed(dir string) bool {
	for name := range p.called {
		if dir == name || strings.HasSuffix(dir, "-"+name) {
			return true
		}
	}
	return false
}

// leadsHere reports whether the link of a user-local directory leads into one of the roots, or to a
// missing directory, which may have been one of them.
func leadsHere(dir string, roots []string) bool {
	link := filepath.Join(dir, linkName)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := filepath.EvalSymlinks(link)
	return err != nil || slices.ContainsFunc(roots, func(root string) bool {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			return false // a dangling link
		}
		rel, err := filepath.Rel(real, target)
		return err == nil && filepath.IsLocal(rel)
	})
}
