package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// OpenCommitted opens a directory .jp as a commit has it, for reading where there is no working
// tree. fsys has its files, and [Env.Elsewhere] its blobs. root is where the workspace would be: it
// names the files, and nothing is read below it. The caller changes nothing through the workspace,
// which has no user-local storage and no active conversation.
func OpenCommitted(fsys fs.FS, root string, env Env) (*Workspace, error) {
	main := &store{
		dir: filepath.Join(root, DirName), prefix: DirName, fsys: fsys,
		limits: env.Settings.limits(),
	}
	if env.Elsewhere != nil && env.Elsewhere.Fetches() {
		main.elsewhere = env.Elsewhere
	}
	var err error
	main.blobs, err = blobs.Open(filepath.Join(main.dir, blobs.Dir), blobs.Options{
		Limits: blobs.Limits{MaxBlobBytes: env.Settings.MaxBlobBytes}, Elsewhere: env.Elsewhere,
	})
	return &Workspace{root: root, env: env, main: main, leftOut: readLeftOut(env)}, err
}

// findCommitted is [store.find] for a store without a directory.
func (s *store) findCommitted(id events.ID) ([]Entry, error) {
	entries, problems, err := s.scan(func(is events.ID) bool { return is == id })
	return entries, errors.Join(err, Unlisted(problems))
}
