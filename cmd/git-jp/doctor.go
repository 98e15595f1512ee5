package main

import (
	"context"
	"errors"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/doctor"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/update"
)

type doctorCmd struct{}

// Help says what is looked at.
func (doctorCmd) Help() string {
	return `Looks at what a check of the conversations cannot see: whether hooks and drivers of this
clone are installed and the attributes name them, whether hooks of coding agents are those of this
version, whether the man page is found, whether git is new enough, the repository of a kind that can
be read and each of its worktrees there, and whether today's jp, where it is installed, can read the
conversations. Each finding comes with the command that fixes it.
One thing is changed: directories of git jp that other users could enter are closed to them.`
}

// Run examines the clone.
func (doctorCmd) Run(ctx context.Context, a *app) error {
	found, err := doctor.Examine(ctx, doctor.Options{
		Getenv: a.getenv, Now: a.now, Private: a.workspaceEnv(config.Settings{}).PrivateDirs(),
		Repo: a.repo, Workspace: a.workspace, Config: a.configAt, Short: a.short, Note: a.note,
		Untracked: func(ctx context.Context, repo *gitint.Repo) ([]string, error) {
			if repo.Root() == "" {
				return nil, nil
			}
			names, err := update.Untracked(ctx, repo, "@{upstream}", nearDirs(a, repo))
			if errors.Is(err, gitint.ErrUnknownRevision) {
				return nil, nil
			}
			return names, err
		},
		Settings: func() error {
			_, err := a.jpConfig()
			return err
		},
		Dirs:     func(repo *gitint.Repo) []string { return cloneOf(a, repo).Dirs() },
		Captures: func() map[string]string { return intake.OldHooks(placesOf(a)) },
	})
	if err != nil {
		return err
	}
	if err := doctor.Print(&a.terminal.Printer, found); err != nil {
		return err
	}
	if len(found) > 0 {
		return report.ErrProblems
	}
	return nil
}
