package repair

import (
	"path"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A keeper quarantines files that a repair replaces or removes.
type keeper struct{ *quarantine.Keeper }

func newKeeper(o *Options) keeper {
	return keeper{&quarantine.Keeper{
		Quarantine: Quarantine(o.Sources, o.Keep, o.Hook), Now: o.Now, PID: o.PID,
	}}
}

// Quarantine returns the quarantine of repairs.
func Quarantine(
	s Sources, keep time.Duration, hook func(atomicfile.Step, string) error,
) quarantine.Quarantine {
	// Without a repository it is in a place that garbage collection does not clean.
	parent := filepath.Join(s.Workspace.Dir(), blobs.Dir, ".tmp")
	if s.Repo != nil {
		parent = s.Repo.Dir()
	}
	return quarantine.Quarantine{
		Dir: filepath.Join(parent, "trash"), Root: s.Workspace.Root(), Keep: keep, Hook: hook,
	}
}

// keepAll quarantines every file of a conversation.
func (k keeper) keepAll(
	c *workspace.Conversation, read func(name string) ([]byte, error),
) error {
	for _, name := range c.Files {
		data, err := read(name)
		if err != nil {
			return err
		}
		if err := k.Keep(path.Join(c.Path, name), data); err != nil {
			return err
		}
	}
	return nil
}
