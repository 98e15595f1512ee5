package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/trace"
	"github.com/git-jp/git-jp/internal/workspace"
)

// How long to wait for locks that other processes hold. Hooks never wait.
const (
	conversationLockWait = 10 * time.Second
	indexLockWait        = 5 * time.Second
)

// An app is one run of one command, with everything that it has opened. It opens only what the
// command asks for.
type app struct {
	invocation

	readsJP        bool   // the command reads jp's configuration
	readsCommitted bool   // in a bare repository the command reads HEAD
	committedIn    string // the directory .jp of HEAD that is read; "" for files

	openRepo      *gitint.Repo
	openWorkspace *workspace.Workspace
	openConfig    *config.Config
	openLimits    *regular.Limits
	tracer        *trace.Log
	models        func() (*models.Table, error) // the table of models, read once
	entries       *leaks.Memo                   // about secrets, that were read
	onDemand      []*ondemand.Source            // one for each open workspace
	lacks         bool                          // content was requested that is not here
	closers       []func() error
	pointers      map[blobs.Hash]bool // requested blobs that are with Git LFS
}

func newApp(w *environment, g globals) *app {
	a := &app{
		invocation: invocation{environment: w, globals: g}, entries: leaks.NewMemo(),
	}
	a.models = sync.OnceValues(func() (*models.Table, error) { return models.Known(userDir(a)) })
	a.terminal = &ask.Terminal{
		Printer: render.Printer{
			Out: w.stdout, Err: w.stderr, Now: w.now,
			Output: a.output(), Errors: a.outputOf(w.stderrTerminal),
			Quiet: g.Quiet, Verbose: g.Verbose, JSON: g.JSON,
		},
		Device: w.device, Interrupts: w.interrupts,
		Editor: &ask.Editor{
			Command: a.editor, Env: w.env, Dir: a.directory(), Interrupts: w.interrupts,
			In: w.stdin, Out: unwrapped(w.stdout), Err: unwrapped(w.stderr),
		},
	}
	if w.stdinTerminal && w.stderrTerminal {
		a.terminal.In = w.stdin
	}
	if !w.stdinTerminal || !w.stdoutTerminal || w.inPager {
		a.terminal.Editor.Device = w.device
	}
	return a
}

// close closes everything that was opened, last first.
func (a *app) close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// openTrace returns the log that GIT_JP_TRACE asks for, nil without one.
func openTrace(a *app) (*trace.Log, error) {
	if a.tracer != nil {
		return a.tracer, nil
	}
	switch target := a.getenv("GIT_JP_TRACE"); {
	case target == "" || target == "0" || target == "false":
		return nil, nil
	case filepath.IsAbs(target):
		f, err := os.OpenFile(target, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the trace log: %w", err)
		}
		a.closers = append(a.closers, f.Close)
		a.tracer = trace.New(f)
	default:
		a.tracer = trace.New(a.stderr)
	}
	return a.tracer, nil
}

// repo returns the repository that the command runs in.
func (a *app) repo(ctx context.Context) (*gitint.Repo, error) {
	if a.openRepo != nil {
		return a.openRepo, nil
	}
	log, err := openTrace(a)
	if err != nil {
		return nil, err
	}
	o := gitint.Options{
		Dir: a.directory(), Env: a.env, Trace: log, Now: a.now, LockTimeout: indexLockWait,
		Limits: a.limits(), Fetch: fetching(a),
	}
	r, err := gitint.Open(ctx, o)
	if err == nil && isInside(a, r) {
		if err = r.Close(); err == nil {
			o.Dir = filepath.Dir(r.GitDir())
			r, err = gitint.Open(ctx, o)
		}
	}
	if err != nil {
		return nil, err
	}
	a.openRepo = r
	a.closers = append(a.closers, r.Close)
	return r, nil
}

// isInside reports whether the command runs inside the .git of a working tree. Its workspace is
// found above there, so its repository is opened from there too. Git names the directory to the
// hooks that it runs inside, which serve a push.
func isInside(a *app, r *gitint.Repo) bool {
	return r.Root() == "" && !r.Bare() && a.getenv("GIT_DIR") == "" &&
		filepath.Base(r.GitDir()) == ".git"
}

// configAt returns the configuration with the layers of the workspace at root, or
// without them when root is empty.
func (a *app) configAt(root string) (*config.Config, error) {
	if a.openConfig != nil {
		return a.openConfig, nil
	}
	c, err := readConfig(a, root, false)
	if err == nil {
		a.openConfig = c
	}
	return c, err
}

// readConfig is configAt for one workspace of several: the result is not cached. If lenient is set,
// a key that is not known turns no other one off.
func readConfig(a *app, root string, lenient bool) (*config.Config, error) {
	dirs := config.Dirs{User: userDir(a), Overrides: ownOptions(a), Lenient: lenient}
	if root != "" {
		if err := workspace.Readable(root); err != nil {
			return nil, err
		}
		dirs.Workspace = filepath.Join(root, workspace.DirName)
		dirs.Approved = a.host().Approved(root)
	}
	return config.Load(dirs)
}

// limits returns the largest sizes of files that are read. They are the user's, whatever workspace
// the command runs in. If the user's configuration cannot be read, commands that need more of it
// report the error.
func (a *app) limits() regular.Limits {
	if a.openLimits == nil {
		a.openLimits = new(regular.Limits)
		c, err := readConfig(a, "", true)
		if err == nil {
			s := c.Settings().Storage
			*a.openLimits = regular.Limits{Stream: s.MaxStreamBytes, Blob: s.MaxBlobBytes}
		}
	}
	return *a.openLimits
}

// home returns the user's home directory, "" if there is none, as for a service that runs without
// HOME or with /dev/null: what is read from it is then absent.
func (a *app) home() string {
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	if info, err := os.Stat(home); err == nil && !info.IsDir() {
		return ""
	}
	return home
}

// userDir returns the directory of the user's own configuration, "" if there is none.
func userDir(a *app) string {
	return config.UserDir(a.getenv, a.home(), runtime.GOOS)
}

// workspace returns the workspace that the command runs in.
func (a *app) workspace() (*workspace.Workspace, error) {
	if a.openWorkspace != nil {
		return a.openWorkspace, nil
	}
	root, err := a.root()
	if err != nil {
		a.openWorkspace, err = openHEAD(a, err)
		return a.openWorkspace, err
	}
	w, err := a.workspaceAt(root)
	if err != nil {
		return nil, err
	}
	a.openWorkspace = w
	finishCollection(a, w)
	return w, nil
}

// root returns the root of the workspace that the command runs in. It reads nothing in a workspace
// that belongs to another user.
func (a *app) root() (string, error) {
	root, err := workspace.Find(a.directory())
	if errors.Is(err, workspace.ErrNoWorkspace) && a.getenv("GIT_WORK_TREE") != "" {
		// Like git, it reports the path of the working tree, whatever the current directory is.
		repo, repoErr := a.repo(context.Background())
		if repoErr == nil && repo.Root() != "" {
			root, err = workspace.Find(repo.Root())
		}
	}
	if err == nil {
		err = safe(a, root)
	}
	return root, err
}

// safe returns an error if the workspace at root belongs to another user. In a repository git
// decides, elsewhere git's rule applies.
func safe(a *app, root string) error {
	ctx := context.Background() // one question to git, if something is not the user's
	names := []string{root, filepath.Join(root, workspace.DirName), filepath.Join(root, ".git")}
	err := gitint.Safe(ctx, gitint.Options{Dir: a.directory(), Env: a.env}, root, names...)
	if err == nil {
		return nil
	}
	repo, repoErr := a.repo(ctx)
	switch {
	case isA[*gitint.UnsafeError](repoErr):
		return repoErr
	case repoErr != nil || repo.Root() == "":
		return err
	}
	real, unreal := realDir(root)
	below, outside := filepath.Rel(repo.Root(), real)
	if errors.Join(unreal, outside) != nil || !filepath.IsLocal(below) {
		return err // above the repository that we are in
	}
	return nil
}

// workspaceAt opens the workspace whose .jp is in root.
func (a *app) workspaceAt(root string) (*workspace.Workspace, error) {
	c, err := a.configAt(root)
	if err != nil {
		return nil, err
	}
	return a.openAt(root, a.workspaceEnv(c.Settings()))
}

// openAt opens a workspace until the command ends. All commands and hooks open theirs here.
func (a *app) openAt(root string, env workspace.Env) (*workspace.Workspace, error) {
	if err := safe(a, root); err != nil {
		return nil, err
	}
	env.Committed = committedIn(a, root)
	env.Shares = func(dir, jp string) bool { return a.host().Shares(root, dir, jp) }
	env.Elsewhere, env.LeftOut = elsewhereIn(a, root), leftOutIn(a, root)
	w, err := workspace.Open(root, env)
	if err == nil {
		a.closers = append(a.closers, w.Close)
	}
	return w, err
}

// committedIn returns a function that reports whether Git has a conversation of the workspace at
// root. If that cannot be read, it reports true: nothing is renamed then.
func committedIn(a *app, root string) func(events.ID) bool {
	return func(id events.ID) bool {
		ctx := context.Background() // a save must not stop half-way, and this reads a few files
		repo, err := a.repo(ctx)
		if err != nil {
			return !errors.Is(err, gitint.ErrNotRepository)
		}
		below, err := filepath.Rel(repo.Root(), filepath.Join(root, workspace.DirName))
		if repo.Root() == "" || err != nil || !filepath.IsLocal(below) {
			return false
		}
		has, err := merge.Committed(ctx, repo, filepath.ToSlash(below), id)
		return has || err != nil
	}
}

func (a *app) workspaceEnv(s config.Settings) workspace.Env {
	return workspace.Env{
		Getenv: a.getenv, Now: a.now, Home: a.home(), Dir: a.directory(),
		Getsid: a.session, Leader: a.leader, PID: a.pid,
		Settings: workspace.Settings{
			Format:       workspace.Format(s.Storage.Format),
			MaxBlobBytes: s.Storage.MaxBlobBytes, MaxStreamBytes: a.limits().Stream,
			LockWait: conversationLockWait,
		},
	}
}

// settings returns the effective settings of the workspace.
func (a *app) settings() (config.Settings, error) {
	if _, err := a.workspace(); err != nil {
		return config.Settings{}, err
	}
	c, err := a.configAt("")
	if err != nil {
		return config.Settings{}, err
	}
	return c.Settings(), nil
}

// findOr is find for an optional argument; without it, it finds the active conversation.
func (a *app) findOr(arg string) (workspace.Entry, error) {
	arg = cmp.Or(arg, ".")
	return a.find(arg)
}

// find returns the conversation that arg names, in any partition. An empty name is an error: it
// comes from an unset variable of a script.
func (a *app) find(arg string) (workspace.Entry, error) {
	w, err := a.workspace()
	if err != nil {
		return workspace.Entry{}, err
	}
	if strings.TrimSpace(arg) == "" {
		return workspace.Entry{}, usagef("a conversation's name is empty")
	}
	switch arg {
	case "?":
		return pickOne(a)
	case ".", "-":
		const hint = "'git jp ls' lists what to name"
		if err := needsFiles(a, "find the active conversation", hint); err != nil {
			return workspace.Entry{}, err
		}
	}
	o := workspace.FindOptions{
		ListOptions: workspace.ListOptions{Archived: true, Local: true},
	}
	if s, ok := workspace.SessionOf(a.workspaceEnv(config.Settings{})); ok {
		o.Session = &s
	}
	e, err := w.Find(arg, o)
	if strange := w.StrangeDir(); err != nil && strange != "" {
		if err := a.host().AdoptLocal(w); err != nil {
			return e, err
		}
		if w.StrangeDir() == "" {
			e, err = w.Find(arg, o)
		}
	}
	if err != nil {
		return e, &report.NameError{Arg: arg, Err: err}
	}
	return e, nil
}

// newAdviser returns an adviser for the directory in which the user is.
func newAdviser(a *app, repo *gitint.Repo) report.Adviser {
	return report.Adviser{
		Repo: repo, Dir: a.directory(),
		AtRoot: a.getenv("GIT_PREFIX") == "" && (repo.Root() == "" || a.dir == repo.Root()),
		Open:   a.workspaceAt,
	}
}

// readColorUI asks git for color.ui if it can make a difference: on a terminal, and for output that
// people pipe into a pager.
func (w *environment) readColorUI(ctx context.Context, g globals, command string) {
	looks := slices.Contains([]string{
		"ls", "show", "print", "grep", "diff", "log", "stats", "status", "compact",
	}, command)
	switch {
	case g.NoColor, g.JSON, w.getenv("NO_COLOR") != "", w.getenv("CLICOLOR_FORCE") != "":
	case calledByGit(command), !looks && !w.stdoutTerminal && !w.stderrTerminal:
	default:
		dir := w.dir
		if info, err := os.Stat(w.in(g)); err == nil && info.IsDir() {
			dir = w.in(g)
		}
		value, _, err := gitint.ConfigAt(ctx, gitint.Options{Dir: dir, Env: w.env}, "color.ui")
		if err == nil {
			w.colorUI = strings.ToLower(value)
		}
	}
}

// paged calls f with the writer for a long answer: the pager that git would use on a terminal, else
// standard output.
func (a *app) paged(ctx context.Context, f func(io.Writer) error) error {
	out, ok := unwrapped(a.stdout).(*os.File)
	if !a.stdoutTerminal || a.inPager || !ok {
		return f(a.stdout)
	}
	pager, err := render.StartPager(ctx, render.PagerOptions{
		Command: programs(a).Pager(ctx), Env: a.env, Out: out,
	})
	if err != nil {
		a.warn("%v", err)
	}
	if pager == nil {
		return f(a.stdout)
	}
	// Ctrl-C is the pager's while it runs: it needs us to wait for it.
	defer a.interrupts.Take(func() bool { return true })()
	shown := render.NewTerminal(pager, false)
	err = errors.Join(f(shown), shown.Flush(), pager.Close())
	if errors.Is(err, render.ErrPagerQuit) {
		return nil
	}
	return err
}

// pagedPrinter is paged for what a printer writes.
func (a *app) pagedPrinter(ctx context.Context, f func(*render.Printer) error) error {
	return a.paged(ctx, func(out io.Writer) error {
		p := a.terminal.Printer
		p.Out = out
		return f(&p)
	})
}

// programs returns the user's editor and pager.
func programs(a *app) ask.Programs {
	config := func(ctx context.Context, key string) (string, bool) {
		repo, err := a.repo(ctx)
		if err != nil {
			return "", false
		}
		value, ok, err := repo.Config(ctx, key)
		return value, ok && err == nil
	}
	return ask.Programs{Lookup: a.lookup, Config: config}
}

// editor returns the editor. If none is configured, the default needs a terminal.
func (a *app) editor(ctx context.Context) (string, error) {
	if e := programs(a).Editor(ctx); e != "" {
		return e, nil
	}
	if !a.stdinTerminal {
		return "", errors.New("no editor is set, and standard input is not a terminal")
	}
	return "vi", nil
}
