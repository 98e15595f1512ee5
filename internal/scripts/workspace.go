package scripts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"
)

// made is the workspace that the first script made.
var made struct {
	sync.Mutex

	files fstest.MapFS
}

// workspace is the script command
//
//	workspace DIR
//
// It makes a repository in DIR and a workspace in it, as
//
//	exec git init -q -b main DIR
//	cd DIR
//	exec git jp init -q
//
// do, without changing the directory. These start 14 processes, so they are run once, for the first
// script of a package that needs a workspace, and all get copies: nothing in it says where it is,
// and nothing outside it knows of it. Only the id of the workspace is the same for all, so a second
// workspace of a script has to be made by the two programs.
func workspace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: workspace DIR")
	}
	made.Lock()
	defer made.Unlock()
	if made.files == nil {
		dir := filepath.Join(ts.Getenv("WORK"), ".workspace")
		ts.Check(ts.Exec("git", "init", "-q", "-b", "main", dir))
		ts.Check(ts.Exec("git", "-C", dir, "jp", "init", "-q"))
		files, err := inMemory(os.DirFS(dir))
		ts.Check(errors.Join(err, os.RemoveAll(dir)))
		made.files = files
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), made.files))
}

// inMemory returns a copy of files that stays as it is.
func inMemory(files fs.FS) (fstest.MapFS, error) {
	all := make(fstest.MapFS)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !d.IsDir() {
			file.Data, err = fs.ReadFile(files, name)
		}
		all[name] = file
		return err
	})
	return all, err
}
