package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/odb"
)

// The reasons of an Incomplete.
const (
	// ReasonShallow: history ends at a boundary.
	ReasonShallow = "shallow"
	// ReasonPartial: objects may be at a remote that has promised them.
	ReasonPartial = "partial"
	// ReasonGrafts: parents are not those that the commits name.
	ReasonGrafts = "grafts"
	// ReasonAlternates: a named object directory is missing.
	ReasonAlternates = "alternates"
	// ReasonExtension: the repository has an unknown extension.
	ReasonExtension = "extension"
	// ReasonRef: a ref has no value. Known after Refs.
	ReasonRef = "ref"
	// ReasonReflog: a reflog lacks entries, or its ref. Only Roots reports it.
	ReasonReflog = "reflog"
	// ReasonWorktree: a worktree is recorded but cannot be found. Only Roots reports it.
	ReasonWorktree = "worktree"
	// ReasonOperation: an operation in progress names a commit that cannot be found. Only Roots
	// reports it.
	ReasonOperation = "operation"
	// ReasonEnvironment: a variable may make git read something else. Only Roots reports it.
	ReasonEnvironment = "environment"
	// ReasonUnreadable: it could not be determined.
	ReasonUnreadable = "unreadable"
)

// An Incomplete is a reason why an answer about a repository may lack something. Checks continue
// and report it; deletion refuses.
type Incomplete struct {
	// Reason is one of the Reason constants.
	Reason string
	// Detail names what was found.
	Detail string
}

// String returns the reason and the detail.
func (i Incomplete) String() string { return i.Reason + ": " + i.Detail }

// Incomplete returns why reading may miss objects or names, nothing if the repository is complete.
// Faults of single refs are known after Refs.
func (r *Repo) Incomplete() []Incomplete {
	s, err := r.shape(context.Background())
	if err != nil {
		return []Incomplete{{ReasonUnreadable, err.Error()}}
	}
	r.refs.mu.Lock()
	defer r.refs.mu.Unlock()
	return slices.Concat(s.incomplete, r.refs.broken)
}

// shape is what the configuration of a repository says about how to read it.
type shape struct {
	layout

	partial      bool
	promisors    []string // remotes that have promised objects, in git's order
	lazy         bool     // the repository is marked as lazy: working trees leave out blobs
	sparse, cone bool     // of this working tree
	incomplete   []Incomplete
}

// A layout says where objects and refs are.
type layout struct {
	objectDirs       []string
	objectsInProcess bool // this package reads their format
	refs             refPlace
}

// layout returns that of the shape, which for a plain repository is known without its
// configuration.
func (r *Repo) layout(ctx context.Context) (layout, error) {
	if !r.plain {
		s, err := r.shape(ctx)
		if err != nil {
			return layout{}, err
		}
		return s.layout, nil
	}
	r.shapeMu.Lock()
	defer r.shapeMu.Unlock()
	if r.own == nil {
		dirs, _, err := odb.Dirs(r.objectDir, "", r.git.Dir)
		if err != nil {
			return layout{}, err
		}
		r.own = &layout{objectDirs: dirs, objectsInProcess: true}
	}
	return *r.own, nil
}

// A refPlace says where refs are.
type refPlace int

const (
	refsInFiles refPlace = iota
	// refsInTables: in reftables in the repository.
	refsInTables
	// refsElsewhere: git must be asked.
	refsElsewhere
)

// shape reads the configuration once.
func (r *Repo) shape(ctx context.Context) (*shape, error) {
	r.shapeMu.Lock()
	defer r.shapeMu.Unlock()
	if r.known != nil {
		return r.known, nil
	}
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"config", "-z", "--show-scope", "--list",
	}})
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	s := &shape{layout: layout{objectsInProcess: r.objectFormat == "sha1"}, cone: true}
	if err := s.readConfig(out); err != nil {
		return nil, err
	}
	if r.git.Env.Get(environ.ReferenceBackend) != "" {
		s.refs = refsElsewhere
	}
	if err := s.readFiles(r); err != nil {
		return nil, err
	}
	r.known = s
	return s, nil
}

// readConfig parses "scope NUL key LF value NUL". Keys without a value, which mean true, have no
// LF.
func (s *shape) readConfig(out []byte) error {
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(fields)%2 != 0 {
		return errors.New("read configuration: odd number of fields")
	}
	version := "0"
	var own [][2]string
	for i := 0; i < len(fields); i += 2 {
		key, value, hasValue := strings.Cut(string(fields[i+1]), "\n")
		if !hasValue {
			value = "true"
		}
		local := string(fields[i]) == "local"
		switch {
		case local && key == "core.repositoryformatversion":
			version = value
		case local && strings.HasPrefix(key, "extensions."):
			own = append(own, [2]string{key, value})
		case (local || string(fields[i]) == "worktree") && key == checkoutKey:
			if !isCheckout(value) {
				return &ConfigError{
					Key: key, Value: value, Want: checkouts(), Scope: string(fields[i]),
				}
			}
			s.lazy = value == checkoutLazy
		case key == "core.sparsecheckout":
			s.sparse = !isFalse(value)
		case key == "core.sparsecheckoutcone":
			s.cone = !isFalse(value)
		default:
			s.readRemote(key, value)
		}
	}
	for _, e := range own {
		s.readExtension(version, e[0], e[1])
	}
	return nil
}

func (s *shape) readRemote(key, value string) {
	if !strings.HasPrefix(key, "remote.") {
		return
	}
	promisor := strings.HasSuffix(key, ".promisor") && !isFalse(value)
	if promisor {
		s.addPromisor(strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor"))
	}
	if promisor || strings.HasSuffix(key, ".partialclonefilter") {
		s.setPartial(key + "=" + value)
	}
}

func (s *shape) addPromisor(name string) {
	if !slices.Contains(s.promisors, name) {
		s.promisors = append(s.promisors, name)
	}
}

func (s *shape) setPartial(detail string) {
	if !s.partial {
		s.incomplete = append(s.incomplete, Incomplete{ReasonPartial, detail})
	}
	s.partial = true
}

func (s *shape) readExtension(version, key, value string) {
	switch {
	case environ.IsHarmlessExtension(key):
	case key == "extensions.partialclone":
		s.addPromisor(value)
		s.setPartial(key + "=" + value)
	case version == "0":
		// Git ignores every other extension of a repository of version 0, and refuses those that it
		// knows. So everything is read as without it; its author may have intended something else
		// nevertheless.
		s.setExtension(key, value)
	case key == "extensions.objectformat":
		s.objectsInProcess = s.objectsInProcess && value == "sha1"
	case key == "extensions.refstorage":
		s.refs = refPlaceOf(value)
	default:
		// Git knew it, or it would have refused the repository: it is asked for everything.
		s.objectsInProcess, s.refs = false, refsElsewhere
		s.setExtension(key, value)
	}
}

// refPlaceOf reads extensions.refStorage, which may also name a place outside of the repository.
func refPlaceOf(value string) refPlace {
	switch value {
	case "files":
		return refsInFiles
	case "reftable":
		return refsInTables
	}
	return refsElsewhere
}

func (s *shape) setExtension(key, value string) {
	s.incomplete = append(s.incomplete, Incomplete{ReasonExtension, key + "=" + value})
}

// readFiles reads what is not in the configuration.
func (s *shape) readFiles(r *Repo) error {
	if r.shallow {
		s.incomplete = append(s.incomplete, Incomplete{ReasonShallow, "history is cut off"})
	}
	grafts := r.git.Env.Get(environ.GraftFile)
	if grafts == "" {
		grafts = filepath.Join(r.commonDir, "info", "grafts")
	}
	grafted, err := hasGrafts(grafts)
	if err != nil {
		return err
	}
	if grafted {
		s.incomplete = append(s.incomplete, Incomplete{ReasonGrafts, grafts})
	}
	var broken []string
	s.objectDirs, broken, err = odb.Dirs(r.objectDir, r.git.Env.Get(environ.Alternates), r.git.Dir)
	for _, dir := range broken {
		s.incomplete = append(s.incomplete, Incomplete{ReasonAlternates, dir})
	}
	return err
}

// hasGrafts reports whether a grafts file has any graft.
func hasGrafts(name string) (bool, error) {
	data, err := gitfile.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read grafts: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return true, nil
		}
	}
	return false, nil
}

func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return true
	}
	return false
}
