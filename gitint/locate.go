package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/plain"
	"github.com/git-jp/git-jp/internal/regular"
)

// locateArgs asks git for all locations. Git prints paths unquoted, so a path may contain a line
// feed; the object format, requested repeatedly, separates them. The last answer is missing if
// there is no working tree.
var locateArgs = [...]string{
	"rev-parse", "--path-format=absolute",
	"--show-object-format", "--is-shallow-repository", "--is-bare-repository",
	"--git-dir", "--show-object-format",
	"--git-common-dir", "--show-object-format",
	"--git-path", "index", "--show-object-format",
	"--show-cdup",
}

var errLocate = errors.New("unexpected output of git rev-parse")

// locate finds the repository of the directory, mostly by asking git, and makes git run at its root
// from then on.
func (r *Repo) locate(ctx context.Context) error {
	// Git reports the real path of the directory.
	dir, err := filepath.EvalSymlinks(r.git.Dir)
	if err != nil {
		return fmt.Errorf("open repository at %q: %w", r.git.Dir, err)
	}
	r.git.Dir = dir
	isKnown := func(key, value string) bool { return key != checkoutKey || isCheckout(value) }
	if p, ok := plain.Find(dir, r.git.Env, isKnown); ok {
		r.root, r.gitDir, r.commonDir, r.indexPath = p.Root, p.GitDir, p.GitDir, p.Index
		r.objectFormat, r.plain = "sha1", true
		r.settle()
		return nil
	}
	out, err := r.git.Run(ctx, git.Command{Args: locateArgs[:]})
	if err != nil {
		return fmt.Errorf("open repository at %q: %w", dir, classify(err))
	}
	if err := r.readLocation(string(out)); err != nil {
		return fmt.Errorf("open repository at %q: %w", dir, err)
	}
	if in := r.surrounding(); in != "" {
		return &EmbeddedError{Dir: r.gitDir, In: in}
	}
	r.settle()
	return r.judgeOwn(ctx)
}

// judgeOwn returns an error for a value that this package does not know of a key of its own, as git
// does for its keys. The plain form of the file shows whether there is a key.
func (r *Repo) judgeOwn(ctx context.Context) error {
	text, err := gitfile.Read(filepath.Join(r.commonDir, "config"))
	if err != nil || !bytes.Contains(bytes.ToLower(text), []byte("[jp")) {
		return nil //nolint:nilerr // says who needs it
	}
	_, err = r.shape(ctx)
	if _, ok := errors.AsType[*ConfigError](err); !ok {
		return nil
	}
	return fmt.Errorf("open repository at %q: %w", r.root, err)
}

// surrounding returns the working tree that contains a repository which git found by itself because
// it runs in the repository's directory; else "". Anyone can commit a directory that looks like a
// bare repository, with a configuration that names programs: git has safe.bareRepository against
// that, but its default allows them. Git refuses to commit a .git, so what a .git leads to is no
// such directory, wherever it is.
func (r *Repo) surrounding() string {
	parts := strings.Split(filepath.ToSlash(r.gitDir), "/")
	own := slices.Contains(parts, ".git")
	if own || r.git.Env.Get(environ.Dir) != "" || !isInside(r.git.Dir, r.gitDir) {
		return ""
	}
	for dir := r.gitDir; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		link := filepath.Join(dir, ".git")
		switch {
		case !regular.Exists(link):
		case leadsTo(link, r.gitDir):
			return ""
		default:
			return dir
		}
	}
	return ""
}

// isInside reports whether a directory is another one or is below it.
func isInside(dir, other string) bool {
	for ; !regular.SameFile(dir, other); dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	return true
}

func (r *Repo) readLocation(out string) error {
	fields := strings.SplitN(out, "\n", 4)
	if len(fields) != 4 {
		return errLocate
	}
	r.objectFormat = fields[0]
	r.shallow = fields[1] == "true"
	r.bare = fields[2] == "true"
	paths := strings.Split(fields[3], "\n"+r.objectFormat+"\n")
	if len(paths) != 4 {
		return errLocate
	}
	r.gitDir = filepath.Clean(paths[0])
	r.commonDir = filepath.Clean(paths[1])
	r.indexPath = filepath.Clean(paths[2])
	up, hasTree := strings.CutSuffix(paths[3], "\n")
	if !hasTree {
		return nil
	}
	r.root = filepath.Clean(up)
	if !filepath.IsAbs(up) {
		r.root = filepath.Join(r.git.Dir, up)
	}
	return nil
}

// settle derives further values from the location.
func (r *Repo) settle() {
	if r.root == r.gitDir {
		// In the hooks of a push git takes the repository for its own working tree.
		r.root = ""
	}
	r.git.Dir = r.root
	if r.root == "" {
		r.git.Dir = r.gitDir
	}
	r.objectDir = r.objectDirectory()
	r.settleEnv()
}

// Two failures are recognized by git's messages, because its exit code is 128 for all. Only this
// function interprets git's messages; LC_ALL=C keeps them in English.
const (
	saysNotRepository = "not a git repository"
	saysUnsafe        = "config --global --add safe.directory "
)

// classify converts a failure to open a repository to an error of this package.
func classify(err error) error {
	exit := new(ExitError)
	if !errors.As(err, &exit) {
		return err
	}
	if _, rest, ok := strings.Cut(exit.Stderr, saysUnsafe); ok {
		dir, _, _ := strings.Cut(rest, "\n")
		return &UnsafeError{Dir: strings.Trim(dir, "'"), Err: err}
	}
	if strings.Contains(exit.Stderr, saysNotRepository) {
		return &notRepositoryError{exit}
	}
	return err
}

// OwnerOf returns the repository that git finds from a directory by itself, ignoring GIT_DIR and
// the like: "" if that is this one with this working tree, else its directory. If such variables
// locate this one, and git finds none, there is no other owner. A mount in a working tree belongs
// to it, although git does not search above one that it is started in.
func (r *Repo) OwnerOf(ctx context.Context, dir string) (string, error) {
	env := append(r.git.Env.Placeless(), environ.AcrossMounts)
	found, err := Open(ctx, Options{Dir: dir, Env: env, Trace: r.git.Trace, Now: r.git.Clock})
	embedded := new(EmbeddedError)
	switch {
	case errors.As(err, &embedded):
		return embedded.Dir, nil
	case errors.Is(err, ErrNotRepository) && r.git.Env.IsPlaced():
		return "", nil
	case err != nil:
		return "", err
	case found.gitDir == r.gitDir && regular.SameFile(found.root, r.root):
		return "", nil
	}
	return found.gitDir, nil
}
