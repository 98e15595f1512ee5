package main

import (
	"context"

	"github.com/git-jp/git-jp/internal/compactor"
	"github.com/git-jp/git-jp/internal/upkeep"
)

type gcUndoCmd struct {
	Name      string `arg:"" name:"run" optional:"" help:"What to restore; the last collection by default."`
	List      bool   `help:"List what can be restored."`
	UserLocal bool   `help:"Undo a run of the user-local store."`
}

// Help says what is restored.
func (gcUndoCmd) Help() string {
	return `Restores the files of a collection and their entries in the index. Their grace period
begins again. By the name that --list prints it also restores what 'git jp compact --in-place' has
changed, followed by the turns that were added since, what 'git jp compact --undo' has taken out
of an overlay, and what 'git jp repair' has removed. A file
whose path is taken by now stays in the quarantine, and is named.`
}

// Run restores, or lists.
func (c gcUndoCmd) Run(ctx context.Context, a *app) error {
	if c.List && c.Name != "" {
		return usagef("name a run, or give --list, not both")
	}
	o, err := collector(ctx, a, c.UserLocal)
	if err != nil {
		return err
	}
	u := upkeep.Undo{
		Options: o, Host: a.host(),
		Compaction: func(id string) (compactor.Job, error) {
			conv, err := a.load(id)
			if err != nil {
				return compactor.Job{}, err
			}
			return compactionOf(a, conv)
		},
	}
	if c.List {
		return u.List(ctx)
	}
	return u.Run(ctx, c.Name)
}
