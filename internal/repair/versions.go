package repair

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A version is a current or former version of a conversation's file.
type version struct {
	path   string // from the root of the working tree
	commit gitint.OID
	object gitint.OID
	file   string // absolute; the object is zero then
}

// title describes where a version is.
func (v version) title() string {
	switch {
	case v.file != "":
		return v.file
	case v.commit.IsZero():
		return "the index"
	default:
		return "commit " + v.commit.String()[:12]
	}
}

// spec returns git's name for the version.
func (v version) spec() string {
	if v.commit.IsZero() {
		return ":" + v.path
	}
	return v.commit.String()[:12] + ":" + v.path
}

type versionKey struct {
	id   events.ID
	name string
}

// versions holds all versions of the files of conversations that git and user-local storage have,
// newest first: the index, HEAD, the log, other reachable objects, then user-local copies.
type versions struct {
	repo   *gitint.Repo // nil without one
	limits regular.Limits
	own    string // the path of .jp
	of     map[versionKey][]version
	seen   map[versionObject]bool
	// logged holds the conversations whose log was read.
	logged map[events.ID]bool
	// stages holds the stages of unmerged files, whatever name each side gave them.
	stages map[versionKey][stages]gitint.OID
	// rest adds, once, the versions that the log does not show.
	rest func(ctx context.Context) error
}

type versionObject struct {
	versionKey
	object gitint.OID
}

// stages is the number of stages in the index. They are numbered from 1.
const stages = 3

// newVersions returns the versions in the index and in HEAD.
func (m *planner) newVersions(ctx context.Context) (*versions, error) {
	s, err := newSearch(m.Sources, nil, nil)
	if err != nil {
		return nil, err
	}
	v := &versions{
		repo: s.Repo, limits: m.limits(), own: s.own, of: make(map[versionKey][]version),
		seen: make(map[versionObject]bool), logged: make(map[events.ID]bool),
		stages: make(map[versionKey][stages]gitint.OID),
	}
	v.rest = func(ctx context.Context) error {
		v.rest = nil
		err := s.walk(ctx, []string{v.dir()}, func(p gitint.Passing) error {
			v.add(version{path: p.Path, commit: p.Commit, object: p.OID})
			return nil
		})
		if userLocal := m.Workspace.UserDir(); userLocal != "" {
			v.fromCopies(userLocal)
		}
		return err
	}
	if s.Repo == nil {
		return v, nil
	}
	return v, v.fromSnapshots(ctx)
}

func (v *versions) dir() string { return path.Join(v.own, "conversations") }

// add adds a version unless it is known. Different conversations may have equal files.
func (v *versions) add(one version) {
	id, ok := events.ParseDirname(path.Base(path.Dir(one.path)))
	k := versionKey{id, path.Base(one.path)}
	if !ok || v.seen[versionObject{k, one.object}] {
		return
	}
	v.seen[versionObject{k, one.object}] = true
	v.of[k] = append(v.of[k], one)
}

func (v *versions) fromSnapshots(ctx context.Context) error {
	x, err := v.repo.Index(ctx)
	if err != nil {
		return err
	}
	v.fromStages(x)
	if err := v.fromSnapshot(x, gitint.OID{}); err != nil {
		return err
	}
	head, err := gitint.OrNone(v.repo.Resolve(ctx, "HEAD"))
	if err != nil || head.IsZero() { // there is no commit yet
		return err
	}
	t, err := v.repo.Tree(ctx, head.String())
	if err != nil {
		return err
	}
	return v.fromSnapshot(t, head)
}

func (v *versions) fromSnapshot(snap gitint.Snapshot, commit gitint.OID) error {
	all, err := snap.Entries(v.dir())
	for _, e := range all {
		v.add(version{path: e.Path, commit: commit, object: e.OID})
	}
	return err
}

// each calls f with the versions of a file, newest first, until it returns true. Slower sources are
// read later.
func (v *versions) each(
	ctx context.Context, k versionKey, f func(v version, data []byte) bool,
) error {
	next := 0
	for _, more := range []func() error{
		func() error { return nil },
		func() error { return v.fromLog(ctx, k.id) },
		func() error {
			if v.rest == nil {
				return nil
			}
			return v.rest(ctx)
		},
	} {
		if err := more(); err != nil {
			return err
		}
		for ; next < len(v.of[k]); next++ {
			one := v.of[k][next]
			data, err := v.read(ctx, one)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && f(one, data) {
				return nil
			}
		}
	}
	return nil
}

// fromLog adds the versions of the commits that changed a conversation. The walk through all
// objects visits each object only once, under any of its paths.
func (v *versions) fromLog(ctx context.Context, id events.ID) error {
	if v.repo == nil || v.logged[id] {
		return nil
	}
	v.logged[id] = true
	revs, err := v.repo.History(ctx, gitint.HistoryRequest{
		All: true, Globs: []string{conversationGlob(v.own, id)},
	})
	for _, r := range revs {
		for _, f := range r.Files {
			if !f.New.IsZero() {
				v.add(version{path: f.Path, commit: r.OID, object: f.New})
			}
		}
	}
	return err
}

// conversationGlob matches every path that a file of a conversation may have had.
func conversationGlob(own string, id events.ID) string {
	digits := strings.TrimPrefix(id.String(), "jp-c")
	return path.Join(own, "conversations", "**", digits+"*", "*")
}

func (v *versions) fromStages(x *gitint.Index) {
	for _, e := range x.Stages() {
		id, ok := events.ParseDirname(path.Base(path.Dir(e.Path)))
		if !ok || e.Stage < 1 || e.Stage > stages {
			continue
		}
		k := versionKey{id, path.Base(e.Path)}
		all := v.stages[k]
		all[e.Stage-1] = e.OID
		v.stages[k] = all
	}
}

// sides reads the stages of a file, if there are both sides.
func (v *versions) sides(ctx context.Context, k versionKey) (sides, bool) {
	var data [stages][]byte
	for i, id := range v.stages[k] {
		if id.IsZero() {
			continue
		}
		var err error
		if data[i], err = v.repo.ReadObject(ctx, id, 0); err != nil {
			return sides{}, false
		}
	}
	s := sides{data[0], data[1], data[2]}
	return s, s.ours != nil && s.theirs != nil
}

// fromCopies adds the user-local copies.
func (v *versions) fromCopies(userLocal string) {
	entries, _, err := workspace.Scan(regular.Dir(userLocal), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		for _, name := range workspace.Files() {
			file := filepath.Join(userLocal, filepath.FromSlash(e.Path), name)
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				k := versionKey{e.ID, name}
				v.of[k] = append(v.of[k], version{file: file})
			}
		}
	}
}

func (v *versions) read(ctx context.Context, one version) ([]byte, error) {
	if one.file != "" {
		return regular.ReadFile(one.file, v.limits.Of(one.file))
	}
	return v.repo.ReadObject(ctx, one.object, 0)
}
