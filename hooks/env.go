package hooks

import (
	"context"
	"io"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Env is what hooks need of the program that they run in. All of it is required.
type Env struct {
	Version string
	Stdin   io.Reader // what git writes to the hook
	Getenv  func(name string) string
	Now     func() time.Time
	PID     int

	// Open opens the repository in which git runs the hook.
	Open func(ctx context.Context) (*gitint.Repo, error)
	// Settings returns the settings of a workspace of the repository, by its directory .jp.
	Settings func(repo *gitint.Repo) func(dir string) config.Settings
	// Workspace opens the workspace below a root, without waiting for its lock.
	Workspace func(root string, s config.Settings) (*workspace.Workspace, error)
	// CheckOptions returns the options of a strict check.
	CheckOptions func(repo *gitint.Repo) (check.Options, error)
	// Secrets returns the user's approvals and own secrets.
	Secrets func(repo *gitint.Repo) leaks.Options
	// Cache caches what streams refer to.
	Cache func(repo *gitint.Repo) *refs.Cache
	// PutBack moves back the blobs that a killed collection had moved.
	PutBack func(ctx context.Context, root string, repo *gitint.Repo)
	Agents

	Voice
}

// Agents are the coding agents whose sessions are captured.
type Agents struct {
	// Sweep starts, from time to time, an import of sessions that the agents' hooks missed, and
	// does not wait for it.
	Sweep func(repo *gitint.Repo) error
	// InTurn names the sessions whose agents are in a turn in the working tree.
	InTurn func(repo *gitint.Repo) []string
}

// A Voice prints what hooks say: on standard error, since git shows nothing else of most.
type Voice struct {
	Warn, Note func(format string, args ...any)
	// Hint prints a command that helps.
	Hint func(text string)
	// Advise gives findings their next command.
	Advise func(ctx context.Context, repo *gitint.Repo, findings []check.Finding)
	// Print prints what is wrong, and WarnFindings what does not block.
	Print        func(findings []check.Finding) error
	WarnFindings func(findings []check.Finding)
	// WarnDrift warns if this clone does not merge as its attributes demand.
	WarnDrift func(ctx context.Context, repo *gitint.Repo) error
}
