package gittest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// templates are the repositories that were made, by their keys.
var templates sync.Map

// A template is a repository in memory, which can be copied after its test has ended.
type template struct {
	commits int
	files   []templateFile // a directory comes before its content
}

type templateFile struct {
	name string
	mode fs.FileMode
	data []byte
}

// Template returns a new repository in the state in which fill leaves one that git init has made
// with these arguments. fill runs once for each key in a process, or once for each test that begins
// at the same time: its result is copied, because starting git five times takes longer than writing
// the files of a small repository. No file in it may name the repository's directory.
func Template(tb testing.TB, key string, fill func(r *Repository), initArgs ...string) *Repository {
	tb.Helper()
	// A different git may make a different repository.
	key = strings.Join(append([]string{key, os.Getenv("PATH")}, initArgs...), "\x00")
	made, ok := templates.Load(key)
	if !ok {
		made = makeTemplate(tb, fill, initArgs)
		templates.Store(key, made)
	}
	of := made.(*template)
	r := At(tb, filepath.Join(TempDir(tb), "repo"))
	r.commits = of.commits
	if err := of.write(r.Dir); err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Lstat(r.Path(".git/index")); err == nil {
		r.Run("update-index", "-q", "--refresh") // it identifies files by their inodes
	}
	return r
}

func makeTemplate(tb testing.TB, fill func(r *Repository), initArgs []string) *template {
	tb.Helper()
	r := At(tb, filepath.Join(TempDir(tb), "repo"))
	args := append([]string{"init", "-q", "-b", "main"}, initArgs...)
	Run(tb, filepath.Dir(r.Dir), append(args, r.Dir)...)
	fill(r)
	of := &template{commits: r.commits}
	if err := of.read(r.Dir); err != nil {
		tb.Fatal(err)
	}
	return of
}

// read reads a directory, without the sample hooks.
func (of *template) read(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(name, ".sample") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := templateFile{name: strings.TrimPrefix(name, dir), mode: info.Mode()}
		switch {
		case file.mode.IsRegular():
			file.data, err = os.ReadFile(name)
		case !d.IsDir():
			err = errors.New(name + " is neither a file nor a directory")
		}
		of.files = append(of.files, file)
		return err
	})
}

func (of *template) write(dir string) error {
	for _, f := range of.files {
		var err error
		if f.mode.IsDir() {
			err = os.Mkdir(dir+f.name, f.mode.Perm())
		} else {
			err = os.WriteFile(dir+f.name, f.data, f.mode.Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
