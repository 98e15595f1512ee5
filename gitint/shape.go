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
)

// The reasons of an Incomplete.
const (
	// ReasonShallow: history ends at a boundary.
	ReasonShallow = "shallow"
	// ReasonPartial: objects may be at a remote that has promised them.
	ReasonPartial = "partial"
	// ReasonGrafts: parents are not those that the commits name.
	ReasonGrafts = "grafts"
	// ReasonAlternates: a directory of objects is named and not there.
	ReasonAlternates = "alternates"
	// ReasonExtension: the repository has a property we do not know.
	ReasonExtension = "extension"
	// ReasonRef: a ref is there and says nothing. Known after Refs.
	ReasonRef = "ref"
	// ReasonReflog: a reflog lacks entries, or its ref. Only Roots says so.
	ReasonReflog = "reflog"
	// ReasonWorktree: a working tree is known of and cannot be found. Only Roots says so.
	ReasonWorktree = "worktree"
	// ReasonOperation: an operation in progress names what cannot be found. Only Roots
	// says so.
	ReasonOperation = "operation"
	// ReasonEnvironment: a variable may make git read something else. Only Roots says so.
	ReasonEnvironment = "environment"
	// ReasonUnreadable: it could not be found out.
	ReasonUnreadable = "unreadable"
)

// An Incomplete says why an answer about a repository may lack something. Checks
// go on and say so; deletion refuses.
type Incomplete struct {
	// Reason is one of the Reason constants.
	Reason string
	// Detail names what was found.
	Detail string
}

// String is the reason and the detail.
func (i Incomplete) String() string { return i.Reason + ": " + i.Detail }

// Incomplete returns why reading may miss objects or names, nothing when the
// repository is whole. What is wrong with single refs is known after Refs.
func (r *Repo) Incomplete() []Incomplete {
	s, err := r.shape(context.Background())
	if err != nil {
		return []Incomplete{{ReasonUnreadable, err.Error()}}
	}
	r.refs.mu.Lock()
	defer r.refs.mu.Unlock()
	return slices.Concat(s.incomplete, r.refs.broken)
}

// shape is what a repository's configuration says about how it is to be read.
type shape struct {
	layout

	partial      bool
	promisors    []string // remotes that have promised objects, in git's order
	lazy         bool     // the repository says that its working trees leave blobs out
	sparse, cone bool     // of this working tree
	incomplete   []Incomplete
}

// A layout says where objects and refs are.
type layout struct {
	objectDirs       []string
	objectsInProcess bool // their format is one that we read
	refs             refPlace
}

// layout is that of the shape, which of a plain repository is known without its configuration.
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
		a, err := objectDirs(r.objectDir, "", r.runDir)
		if err != nil {
			return layout{}, err
		}
		r.own = &layout{objectDirs: a.dirs, objectsInProcess: true}
	}
	return *r.own, nil
}

// A refPlace says where refs are.
type refPlace int

const (
	refsInFiles refPlace = iota
	// refsInTables: in reftables in the repository.
	refsInTables
	// refsElsewhere: git has to be asked.
	refsElsewhere
)

// shape reads the configuration once.
func (r *Repo) shape(ctx context.Context) (*shape, error) {
	r.shapeMu.Lock()
	defer r.shapeMu.Unlock()
	if r.known != nil {
		return r.known, nil
	}
	out, err := r.run(ctx, command{args: []string{"config", "-z", "--show-scope", "--list"}})
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	s := &shape{layout: layout{objectsInProcess: r.objectFormat == "sha1"}, cone: true}
	if err := s.readConfig(out); err != nil {
		return nil, err
	}
	if r.getenv(envReferenceBackend) != "" {
		s.refs = refsElsewhere
	}
	if err := s.readFiles(r); err != nil {
		return nil, err
	}
	r.known = s
	return s, nil
}

// readConfig goes through "scope NUL key LF value NUL". Keys without a value,
// which mean true, have no LF.
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
	case extensions[key] == harmless:
	case key == "extensions.partialclone":
		s.addPromisor(value)
		s.setPartial(key + "=" + value)
	case version == "0":
		// Git ignores every other extension of a repository of version 0, and says no to those
		// that it knows. So all is read as without it; who wrote it may still mean something.
		s.setExtension(key, value)
	case key == "extensions.objectformat":
		s.objectsInProcess = s.objectsInProcess && value == "sha1"
	case key == "extensions.refstorage":
		s.refs = refPlaceOf(value)
	default:
		// Git knew it, or we would not be here: it is asked for everything.
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

// readFiles finds what is not in the configuration.
func (s *shape) readFiles(r *Repo) error {
	if r.shallow {
		s.incomplete = append(s.incomplete, Incomplete{ReasonShallow, "history is cut off"})
	}
	grafts := r.getenv("GIT_GRAFT_FILE")
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
	a, err := objectDirs(r.objectDir, r.getenv(envAlternates), r.runDir)
	if err != nil {
		return err
	}
	for _, dir := range a.broken {
		s.incomplete = append(s.incomplete, Incomplete{ReasonAlternates, dir})
	}
	s.objectDirs = a.dirs
	return nil
}

// hasGrafts reports whether a file of grafts says anything.
func hasGrafts(name string) (bool, error) {
	data, err := readWhole(name)
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

func sortIncomplete(list []Incomplete) {
	slices.SortFunc(list, func(a, b Incomplete) int { return strings.Compare(a.Detail, b.Detail) })
}
