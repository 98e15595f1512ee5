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
	Stdin   io.Reader // what git says to the hook
	Getenv  func(name string) string
	Now     func() time.Time
	PID     int

	// Open opens the repository that git runs the hook in.
	Open func(ctx context.Context) (*gitint.Repo, error)
	// Settings are those of a workspace of the repository, by its directory .jp.
	Settings func(repo *gitint.Repo) func(dir string) config.Settings
	// Workspace opens the workspace below a root, and waits for nobody.
	Workspace func(root string, s config.Settings) (*workspace.Workspace, error)
	// CheckOptions are those of a strict check.
	CheckOptions func(repo *gitint.Repo) (check.Options, error)
	// Secrets are the user's leave and own secrets.
	Secrets func(repo *gitint.Repo) leaks.Options
	// Cache remembers what streams refer to.
	Cache func(repo *gitint.Repo) *refs.Cache
	// PutBack puts back what a collection had moved that was killed.
	PutBack func(ctx context.Context, root string, repo *gitint.Repo)
	Agents

	Voice
}

// Agents are the coding agents whose sessions are captured.
type Agents struct {
	// Sweep starts what imports that which their hooks missed, now and then, and waits for nothing.
	Sweep func(repo *gitint.Repo) error
	// InTurn names the sessions whose agents are at work in the working tree.
	InTurn func(repo *gitint.Repo) []string
}

// A Voice is how hooks speak: on standard error, since git shows nothing else of most.
type Voice struct {
	Warn, Note func(format string, args ...any)
	// Hint prints a command that helps.
	Hint func(text string)
	// Advise gives findings their next command.
	Advise func(ctx context.Context, repo *gitint.Repo, findings []check.Finding)
	// Print prints what is wrong, and WarnFindings what does not block.
	Print        func(findings []check.Finding) error
	WarnFindings func(findings []check.Finding)
	// WarnDrift says that this clone does not merge as its attributes demand.
	WarnDrift func(ctx context.Context, repo *gitint.Repo) error
}
