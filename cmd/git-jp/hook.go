package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

type hookCmd struct {
	Name string   `arg:"" help:"The hook that git runs."`
	Args []string `arg:"" optional:"" passthrough:"" help:"What git gives it."`
}

// hookMemory is the size from which a hook collects garbage instead of taking more memory. What it
// keeps in memory is bounded by the sizes of the files that it reads; git waits for it on machines
// of all sizes.
const hookMemory = 176 << 20

// hookPatience is how long a hook runs before it says that git is waiting for it.
const hookPatience = 10 * time.Second

// Run does the work of a hook.
func (c hookCmd) Run(ctx context.Context, a *app) error {
	limitMemory(hookMemory)
	defer c.announce(a)()
	return hooks.Run(ctx, hookEnv(a), c.Name, c.Args)
}

// announce says after a while which hook git is waiting for, and how to continue without it:
// otherwise it is not visible which of a repository's hooks does not end.
func (c hookCmd) announce(a *app) (stop func()) {
	text := fmt.Sprintf("warning: git jp: the %s hook is still running; Ctrl-C stops it", c.Name)
	switch c.Name {
	case "pre-commit", "pre-merge-commit", "pre-push":
		text += ", and --no-verify skips it"
	}
	timer := time.AfterFunc(a.patience, func() { fmt.Fprintln(a.stderr, text) })
	return func() { timer.Stop() }
}

func hookEnv(a *app) hooks.Env {
	return hooks.Env{
		Version: a.version, Stdin: a.stdin, Getenv: a.getenv, Now: a.now, PID: a.pid,
		Open: a.repo, Settings: a.settingsBelow, Cache: a.refsCache,
		Secrets: a.guardOptions,
		PutBack: a.putBack,
		Agents: hooks.Agents{
			Sweep: func(repo *gitint.Repo) error {
				return intake.StartSweep(repo, placesOf(a), a.now(), a.env)
			},
			InTurn: func(repo *gitint.Repo) []string { return intake.InTurn(repo, a.now()) },
		},
		Workspace: func(root string, s config.Settings) (*workspace.Workspace, error) {
			env := a.workspaceEnv(s)
			env.Settings.LockWait = time.Nanosecond
			return a.openAt(root, env)
		},
		CheckOptions: func(repo *gitint.Repo) (check.Options, error) {
			return checkOptions(a, repo, check.Options{Strict: true}, false)
		},
		Voice: hooks.Voice{
			Warn: a.warn, Note: a.note, Print: a.printFindings,
			Advise: func(ctx context.Context, repo *gitint.Repo, findings []check.Finding) {
				newAdviser(a, repo).Advise(ctx, findings)
			},
			WarnFindings: a.warnFindings, WarnDrift: a.warnDrift,
			Hint: a.hint,
		},
	}
}

// settingsBelow reads the settings of workspaces. If they cannot be read, your own apply: a mistake
// in a file must not stop hooks from checking a commit.
func (a *app) settingsBelow(repo *gitint.Repo) func(dir string) config.Settings {
	known := make(map[string]config.Settings)
	return func(dir string) config.Settings {
		if s, ok := known[dir]; ok {
			return s
		}
		root := ""
		if repo.Root() != "" {
			root = filepath.Join(repo.Root(), filepath.FromSlash(path.Dir(dir)))
		}
		conf, err := readConfig(a, root, true)
		if err != nil {
			a.warn("%s: %v; the hooks go on without it", dir, err)
			conf, err = readConfig(a, "", true) // your own settings still apply
		}
		if err != nil {
			conf, err = config.Load(config.Dirs{})
		}
		var s config.Settings
		if err == nil {
			tellSettings(a, root, conf)
			s = conf.Settings()
		}
		known[dir] = s
		return s
	}
}

func (a *app) hint(text string) { fmt.Fprintf(a.stderr, "hint: %s\n", render.Message(text)) }

// maxWarned is how many findings are printed as warnings without -v.
const maxWarned = 10

// warnFindings prints findings that do not block, a line each. If there are many, it prints the
// first.
func (a *app) warnFindings(findings []check.Finding) {
	findings = slices.DeleteFunc(slices.Clone(findings), func(f check.Finding) bool {
		return f.Severity == check.Note
	})
	for i, f := range findings {
		if i == maxWarned && len(findings) > maxWarned+1 && !a.Verbose {
			a.warn("and %d more; 'git jp check -v' shows them", len(findings)-i)
			return
		}
		subject := cmp.Or(f.Conversation, f.Path)
		if f.Title != "" {
			subject += " " + strconv.Quote(f.Title)
		}
		a.warn("%s: %s", subject, newPrinter(a).About(f))
	}
}
