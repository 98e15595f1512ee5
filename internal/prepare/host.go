package prepare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Host is provided by the program: its environment, its terminal and the repository that it runs
// in.
type Host struct {
	Env      []string // in the form of os.Environ
	Getenv   func(string) string
	Dir      string   // working directory
	UserDir  string   // the user's own configuration directory
	StateDir string   // for approvals, and for copies without a clone; "" for none
	Options  []string // -c options, of jp's configuration
	Version  string
	Verbose  bool

	Now      func() time.Time
	Random   func() float64
	Terminal *ask.Terminal
	Starter  tool.Starter
	// Repo opens the repository, once.
	Repo func(context.Context) (*gitint.Repo, error)
	// Models reads the table of models, once.
	Models func() (*models.Table, error)
	// Short returns a path as the user would write it here.
	Short func(string) string
}

// userAgent returns the name of this program for servers.
func (h *Host) userAgent() string { return "git-jp/" + h.Version }

func (h *Host) note(format string, args ...any) { h.Terminal.Note(format, args...) }
func (h *Host) warn(format string, args ...any) { h.Terminal.Warn(format, args...) }

// Approvals opens the user's approvals for the workspace at root. The error is
// [workspace.ErrNoUserData] or [trust.ErrInside] if there is no place for them.
func (h *Host) Approvals(root string) (*trust.Approvals, error) {
	if h.StateDir == "" {
		return nil, fmt.Errorf("open approvals: %w", workspace.ErrNoUserData)
	}
	file := filepath.Join(root, workspace.DirName, workspace.IDFile)
	data, err := regular.ReadFile(file, regular.MaxNote)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open approvals: %w", err)
	}
	w := trust.Workspace{ID: workspace.ParseWorkspaceID(data), Root: root}
	approvals, err := trust.Open(trust.Store{
		Dir: h.StateDir, Repo: jpconfig.Around(root, h.workTree()),
		Mine: func(name string) bool { return gitint.Owns(name, h.Env) },
	}, w)
	if err != nil {
		return nil, err
	}
	approvals.Own = func(name string) bool { return h.committedHere(root, name) }
	return approvals, nil
}

// workTree returns the root of the working tree if the environment names the repository: then no
// .git may be above it.
func (h *Host) workTree() string {
	if h.Getenv("GIT_DIR") == "" && h.Getenv("GIT_WORK_TREE") == "" {
		return ""
	}
	repo, err := h.Repo(context.Background())
	if err != nil {
		return ""
	}
	return repo.Root()
}

// committedHere reports whether the current content of a file in the workspace was committed in
// this clone. It returns false if that is unknown: then the user is asked.
func (h *Host) committedHere(root, name string) bool {
	ctx := context.Background() // approvals can be requested in the middle of any operation
	repo, err := h.Repo(ctx)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(repo.Root(), filepath.Join(root, filepath.FromSlash(name)))
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	here, err := repo.CommittedHere(ctx, filepath.ToSlash(rel))
	return err == nil && here
}

// Approved returns a function that reports whether the user approved a claim in the workspace at
// root. The approvals are read on its first call, which is for the first foreign setting that is
// not known to be harmless.
func (h *Host) Approved(root string) func(trust.Claim) bool {
	read := sync.OnceValue(func() *trust.Approvals {
		approvals, _ := h.Approvals(root) // unreadable approvals approve nothing
		return approvals
	})
	return func(c trust.Claim) bool { return read() != nil && read().Allow(c) == nil }
}

// Gate returns a gate that asks on the terminal about foreign settings in the workspace at root. If
// approvals cannot be stored, it refuses all of them; the user's own settings still work.
func (h *Host) Gate(root string) (trust.Gate, error) {
	approvals, err := h.Approvals(root)
	if errors.Is(err, trust.ErrInside) || errors.Is(err, workspace.ErrNoUserData) {
		// The workspace is the home directory, for example: files there may be committed by others.
		return trust.Nobody{Why: err}, nil
	}
	if err != nil {
		return nil, err
	}
	return &trust.Asker{Approvals: approvals, Terminal: h.Terminal.Device, Now: h.Now}, nil
}

// Sources returns the locations of jp's configuration layers for a conversation; for the workspace
// only if conv is nil, and for the user only if w is nil.
func (h *Host) Sources(w *workspace.Workspace, conv *workspace.Conversation) jpconfig.Sources {
	s := jpconfig.Sources{User: h.UserDir, Environ: h.Env, Options: h.Options}
	if w != nil {
		s.Workspace, s.Dir, s.UserWorkspace = w.Root(), h.Dir, w.UserDir()
		s.WorkTree = h.workTree()
		s.Approved = h.Approved(w.Root())
	}
	if conv != nil {
		s.Base, s.Stream = conv.BaseConfig, conv.Stream
	}
	return s
}

// Quarantines returns the places for copies: with the clone, and with the user's data, which is
// used if there is no clone yet or git does not find it.
func (h *Host) Quarantines(
	ctx context.Context, root string, keep time.Duration,
) []quarantine.Quarantine {
	var dirs []string
	if repo, err := h.Repo(ctx); err == nil {
		dirs = append(dirs, repo.Dir())
	}
	if h.StateDir != "" {
		dirs = append(dirs, h.StateDir)
	}
	return lists.Map(dirs, func(dir string) quarantine.Quarantine {
		return quarantine.Quarantine{Dir: filepath.Join(dir, "trash"), Root: root, Keep: keep}
	})
}

// ApproveOwn approves claims that the user typed, and reports that. If approvals cannot be stored,
// the next query asks.
func (h *Host) ApproveOwn(gate trust.Gate, claims []trust.Claim) error {
	asker, ok := gate.(*trust.Asker)
	if !ok {
		return nil
	}
	claims = asker.Approvals.Unapproved(claims)
	if len(claims) == 0 {
		return nil
	}
	if err := asker.Approvals.Approve(h.Now(), claims...); err != nil {
		return err
	}
	for _, c := range claims {
		h.note("approved %s here, since you typed it", c.Shown())
	}
	return nil
}

// Copies returns the copies of a conversation, the latest of each place first.
func (h *Host) Copies(ctx context.Context, root string, id events.ID) (all []quarantine.Copy) {
	for _, q := range h.Quarantines(ctx, root, 0) {
		all = append(all, q.Copies(id)...)
	}
	return all
}
