package repair

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A quarantine is a directory beside the runs of the collector, in which files lie that a
// repair has replaced or taken away. Nobody removes them but the user.
type quarantine struct {
	options *Options
	dir     string
}

func newQuarantine(o *Options) *quarantine {
	// Without a repository it lies where nothing sweeps.
	parent := filepath.Join(o.Workspace.Dir(), blobs.Dir, ".tmp")
	if o.Repo != nil {
		parent = o.Repo.Dir()
	}
	name := fmt.Sprintf("repair-%s-%d", o.Now().UTC().Format("20060102T150405.000Z"), o.PID)
	return &quarantine{o, filepath.Join(parent, "trash", name)}
}

// keep puts a file aside, durably. The name is a slash path.
func (q *quarantine) keep(name string, data []byte) error {
	if err := os.MkdirAll(q.dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(q.dir)
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Write(root, name, data, atomicfile.Options{
		TempDir: "tmp", Hook: q.options.Hook,
	}), root.Close())
}

// keepAll puts every file of a conversation aside.
func (q *quarantine) keepAll(
	c *workspace.Conversation, read func(name string) ([]byte, error),
) error {
	for _, name := range c.Files {
		data, err := read(name)
		if err != nil {
			return err
		}
		if err := q.keep(path.Join(c.Path, name), data); err != nil {
			return err
		}
	}
	return nil
}
