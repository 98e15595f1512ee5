package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options are the environment of an examination. The functions return an error if something does
// not exist: [gitint.ErrNotRepository], [workspace.ErrNoWorkspace].
type Options struct {
	Getenv    func(string) string
	Now       func() time.Time
	Private   []string // directories that only the user may enter
	Repo      func(context.Context) (*gitint.Repo, error)
	Workspace func() (*workspace.Workspace, error)
	// Config reads the settings, with those of the workspace at root unless that is empty.
	Config func(root string) (*config.Config, error)
	// Settings reads jp's settings as a question does, and returns what makes it fail.
	Settings func() error
	// Dirs returns all directories .jp of a working tree.
	Dirs func(*gitint.Repo) []string
	// Untracked returns the untracked blobs over which git refuses to merge the upstream of the
	// branch although that has their content.
	Untracked func(context.Context, *gitint.Repo) ([]string, error)
	// Captures returns the agents whose hooks are not those of this version, and their files.
	Captures func() map[string]string
	// Short returns a path as the user would write it here.
	Short func(string) string
	// Note reports what was changed or can be changed.
	Note func(format string, args ...any)
}

// A Finding is a problem, and the command that fixes it.
type Finding struct {
	Subject string `json:"subject"` // as docs/json.md lists them, or a path
	Problem string `json:"problem"`
	Next    string `json:"next"` // "" if it depends
}

// Examine examines everything.
func Examine(ctx context.Context, o Options) ([]Finding, error) {
	d := examination{Options: o}
	err := d.all(ctx)
	return d.found, err
}

// An examination has the findings so far.
type examination struct {
	Options

	found []Finding
}

func (d *examination) add(subject, problem, next string) {
	r := Finding{subject, problem, next}
	if !slices.Contains(d.found, r) {
		d.found = append(d.found, r)
	}
}

func (d *examination) all(ctx context.Context) error {
	d.manPage()
	d.private(d.Private...)
	d.captures()
	for _, look := range []func() error{d.workspaceAccess, d.readable, d.keys, d.userLocal} {
		err := look() // of the workspace: the others would return it too
		if _, ok := errors.AsType[*config.KeyError](err); ok {
			d.unreadable(err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	repo, err := d.Repo(ctx)
	switch {
	case errors.Is(err, gitint.ErrNotRepository):
		return d.today()
	case err != nil:
		return err
	}
	if err := d.state(ctx, repo); err != nil {
		return err
	}
	for _, look := range []func(context.Context, *gitint.Repo) error{
		d.access, d.git, d.shape, d.worktrees, d.packs, d.drivers, d.hooks, d.untracked,
		d.uncommitted,
	} {
		if err := look(ctx, repo); err != nil {
			return err
		}
	}
	return d.today()
}

// state makes the program's directories in a repository accessible to the group if the repository
// is shared, and to no other user.
func (d *examination) state(ctx context.Context, repo *gitint.Repo) error {
	shared, ok, err := repo.Config(ctx, gitint.SharedKey)
	if err != nil {
		return err
	}
	dirs := []string{repo.Dir(), filepath.Join(repo.GitDir(), "jp")}
	isShared := ok && gitint.IsGroupShared(shared)
	if isShared && repo.Root() != "" {
		for _, dir := range d.Dirs(repo) {
			dirs = append(dirs, filepath.Join(dir, workspace.LocksDir))
		}
	}
	for _, dir := range dirs {
		if !isShared {
			d.private(dir)
			continue
		}
		opened, err := atomicfile.ShareAll(dir)
		if opened > 0 {
			d.Note("opened %s in %s to the group of the repository",
				render.Count(opened, "file"), dir)
		}
		d.closed(dir, err)
	}
	return nil
}

// closed adds a finding for a file that could not be opened to its group.
func (d *examination) closed(dir string, err error) {
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
	case ok && errors.Is(err, fs.ErrPermission):
		d.add(failed.Path, "is closed to the group of the repository: "+
			"its owner opens it by running 'git jp doctor'", "")
	default:
		d.add(dir, "not accessible to its group: "+err.Error(),
			"chmod -R g+rwXs "+check.ShellQuote(dir))
	}
}

// private closes directories of git jp and of the user's data that other users can enter: jp, and
// older releases of git jp, made them by the umask. A directory that cannot be closed is a finding.
func (d *examination) private(dirs ...string) {
	for _, dir := range dirs {
		switch closed, err := atomicfile.Close(dir); {
		case err != nil:
			d.add(dir, "other users can enter it: "+err.Error(), "chmod go= "+check.ShellQuote(dir))
		case closed:
			d.Note("closed %s to other users", dir)
		}
	}
}

// userLocal looks for obstacles that stop every collection of the user-local store, which a check
// does not look at.
func (d *examination) userLocal() error {
	w, err := d.Workspace()
	if errors.Is(err, workspace.ErrNoWorkspace) {
		return nil
	}
	if err != nil {
		return err
	}
	if w.HasLostStranger() {
		d.add(w.StrangeDir(), "has user-local conversations of a workspace that was moved or "+
			"removed; if it was this one, they are not listed here yet",
			"git jp trust user-local")
	}
	if w.UserDir() == "" {
		return nil
	}
	store := w.BlobsOf(workspace.Entry{Local: true})
	for _, err := range store.All() {
		foreign := new(blobs.ForeignError)
		if errors.As(err, &foreign) && filepath.Base(foreign.Path) != ".gitignore" {
			name := filepath.Join(store.Dir(), filepath.FromSlash(foreign.Path))
			// It may have been written by a later version, and there is no other copy of it.
			d.add(name, "is not a blob that this version can read, "+
				"and nothing is collected while it is there",
				"mv -i -- "+check.ShellQuote(name)+" "+check.ShellQuote(w.UserDir()))
		}
	}
	return nil
}

// readable names settings files that cannot be read, in the words with which a question fails.
func (d *examination) readable() error {
	if err := d.Settings(); err != nil {
		d.unreadable(err)
	}
	return nil
}

// unreadable adds a finding for each of the errors that were joined.
func (d *examination) unreadable(err error) {
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		d.add("configuration", err.Error(), "")
		return
	}
	for _, err := range all.Unwrap() {
		d.unreadable(err)
	}
}

// keys looks for our settings in jp's files, and for committed ones that have no effect here.
func (d *examination) keys() error {
	root := ""
	switch w, err := d.Workspace(); {
	case err == nil:
		root = w.Root()
	case !errors.Is(err, workspace.ErrNoWorkspace):
		return err
	}
	c, err := d.Config(root)
	if err != nil {
		return err
	}
	for _, err := range c.Misplaced() {
		wrong := new(config.KeyError)
		if !errors.As(err, &wrong) {
			continue
		}
		file := d.Short(wrong.Origin.File)
		wrong.Origin.File = file
		d.add("jp", err.Error(),
			"move it to "+filepath.Join(filepath.Dir(file), config.OwnFile))
	}
	for _, err := range c.LeftOut() { // what others wrote, perhaps for a later version
		wrong := new(config.KeyError)
		if errors.As(err, &wrong) {
			wrong.Origin.File = d.Short(wrong.Origin.File)
			d.add("configuration", "left out: "+err.Error(),
				"git log -1 -- "+check.ShellQuote(wrong.Origin.File))
		}
	}
	return nil
}

func (d *examination) git(ctx context.Context, repo *gitint.Repo) error {
	v, err := repo.Version(ctx)
	if err != nil {
		return err
	}
	switch {
	case !v.AtLeast(gitint.MinVersion()):
		d.add("git", fmt.Sprintf("git %s is too old, %s is needed", v, gitint.MinVersion()),
			"install a newer git")
	case !v.AtLeast(gitint.MergeTreeVersion()):
		d.add("git", fmt.Sprintf("git %s cannot merge without a working tree, %s can",
			v, gitint.MergeTreeVersion()), "install a newer git")
	}
	return nil
}

// shape reports what cannot be seen in a repository. Objects that are not fetched matter only to
// commands that delete.
func (d *examination) shape(ctx context.Context, repo *gitint.Repo) error {
	lazy, err := repo.Lazy(ctx)
	if err != nil {
		return err
	}
	for _, i := range repo.Incomplete() {
		if lazy && i.Reason == gitint.ReasonPartial {
			continue // that was requested
		}
		next := "git fsck"
		switch i.Reason {
		case gitint.ReasonShallow:
			next = "git fetch --unshallow"
		case gitint.ReasonPartial:
			next = check.Refetch
		case gitint.ReasonGrafts:
			next = "git replace --convert-graft-file"
		case gitint.ReasonExtension:
			next = "install a newer git-jp"
		}
		d.add("repository", i.String(), next)
	}
	return nil
}

func (d *examination) drivers(ctx context.Context, repo *gitint.Repo) error {
	dirs := d.Dirs(repo)
	rel := make([]string, len(dirs))
	for i, dir := range dirs {
		var err error
		if rel[i], err = filepath.Rel(repo.Root(), dir); err != nil {
			return err
		}
		rel[i] = filepath.ToSlash(rel[i])
	}
	drifts, err := install.Drifts(ctx, repo, rel)
	if err != nil {
		return err
	}
	for _, drift := range drifts {
		next := "git jp install"
		if drift.Mismatch == install.Changed {
			next = "git config --unset-all " + drift.Driver.MergeKey() + " && git jp install"
		}
		d.add("driver", drift.Workspace+": "+drift.Sentence(), next)
	}
	in, err := install.New(repo, install.Options{Workspaces: dirs})
	if err != nil {
		return err
	}
	old, err := in.OldAttributes()
	for _, name := range old {
		d.add("attributes", d.Short(name)+" has lines of an older release", "git jp install")
	}
	return err
}

func (d *examination) hooks(ctx context.Context, repo *gitint.Repo) error {
	names, err := install.NamesFor(ctx, repo)
	if err != nil {
		return err
	}
	in, err := install.New(repo, install.Options{Names: names})
	if err != nil {
		return err
	}
	all, err := in.Status(ctx)
	if err != nil {
		return err
	}
	byHand, chained := map[string]install.Action{}, map[string]install.Action{}
	if slices.ContainsFunc(all, func(st install.Status) bool { return !st.Active }) {
		if byHand, err = leftToHand(ctx, repo, names, install.ForeignReport); err != nil {
			return err
		}
		if chained, err = leftToHand(ctx, repo, names, install.ForeignChain); err != nil {
			return err
		}
	}
	for _, st := range all {
		hand, isByHand := byHand[st.Hook]
		_, still := chained[st.Hook]
		switch {
		case !st.Active && st.Off:
			d.add("hook", "no hook runs: "+st.Detail, enableHooks(st.Scope))
		case !st.Active && st.Setting != "":
			d.add("hook", st.Hook+" does not run: "+st.Detail,
				"git config --"+st.Scope+" --unset-all "+st.Setting)
		case !st.Active && isByHand && still:
			why := cmp.Or(st.Detail, hand.Reason)
			d.add("hook", fmt.Sprintf("%s does not run: %s; 'git jp install' shows what to add "+
				"and where", st.Hook, why), "")
		case !st.Active && isByHand:
			d.add("hook", st.Hook+" does not run: "+cmp.Or(st.Detail, hand.Reason),
				"git jp install --chain")
		case !st.Active && st.Detail != "":
			d.add("hook", st.Hook+" does not run: "+st.Detail, "git jp install")
		case !st.Active:
			d.add("hook", st.Hook+" is not installed", "git jp install")
		case st.Twice:
			d.add("hook", st.Hook+" runs twice, by "+st.Path+" and another",
				"git jp install")
		case st.Old:
			d.add("hook", st.Hook+" is that of an older release", "git jp install")
		}
	}
	return nil
}

// untracked reports blobs over which git refuses to pull.
func (d *examination) untracked(ctx context.Context, repo *gitint.Repo) error {
	names, err := d.Untracked(ctx, repo)
	if len(names) > 0 {
		d.add("repository", fmt.Sprintf("git refuses to merge @{upstream} over %s of the same "+
			"content", render.Count(len(names), "untracked blob")),
			"git jp update-branch '@{upstream}'")
	}
	return err
}

// leftToHand returns the actions that an installation leaves to the user, by hook.
func leftToHand(
	ctx context.Context, repo *gitint.Repo, names []string, foreign install.Foreign,
) (map[string]install.Action, error) {
	in, err := install.New(repo, install.Options{Names: names, Foreign: foreign})
	if err != nil {
		return nil, err
	}
	plan, err := in.Install(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]install.Action{}
	for _, a := range plan.Open() {
		all[a.Hook] = a
	}
	return all, nil
}

// enableHooks returns the command after which hooks run again, "" if it depends on what is in their
// place.
func enableHooks(scope string) string {
	switch scope {
	case "local", "global", "system", "worktree":
		return "git config --" + scope + " --unset-all core.hooksPath && git jp install"
	default:
		return ""
	}
}

// manPage looks for the manual page where man does: git runs 'man git-jp' for 'git jp --help'. A
// missing page is not an error: some packages do not install it.
func (d *examination) manPage() {
	if runtime.GOOS == "windows" {
		return
	}
	dirs := filepath.SplitList(d.Getenv("MANPATH"))
	for _, bin := range filepath.SplitList(d.Getenv("PATH")) {
		top := filepath.Dir(bin)
		dirs = append(dirs, filepath.Join(top, "man"), filepath.Join(top, "share", "man"))
	}
	dirs = append(dirs, "/usr/share/man", "/usr/local/share/man")
	for _, dir := range dirs {
		found, err := regular.Glob(dir, "man1/git-jp.1*")
		if err == nil && len(found) > 0 {
			return
		}
	}
	d.Note("'git jp --help' has no page to show: %s", d.manCommand())
}

// manCommand returns the command that installs the page where man looks for it: beside a directory
// of the user's programs, else where the administrator installs.
func (d *examination) manCommand() string {
	home := d.Getenv("HOME")
	for _, bin := range filepath.SplitList(d.Getenv("PATH")) {
		rel, err := filepath.Rel(home, bin)
		if home == "" || err != nil || !filepath.IsLocal(rel) || filepath.Base(bin) != "bin" {
			continue
		}
		dir := check.ShellQuote(filepath.Join(filepath.Dir(bin), "share", "man", "man1"))
		return fmt.Sprintf("mkdir -p %[1]s && git-jp man > %[1]s/git-jp.1", dir)
	}
	return "git-jp man | sudo install -D -m 644 /dev/stdin /usr/local/share/man/man1/git-jp.1"
}

// onPath reports whether a program is in PATH.
func (d *examination) onPath(name string) bool {
	for _, dir := range filepath.SplitList(d.Getenv("PATH")) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
