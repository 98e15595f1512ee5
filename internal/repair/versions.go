package repair

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A version is one that a file of a conversation has, or had.
type version struct {
	path   string // from the root of the work tree
	commit gitint.OID
	object gitint.OID
	file   string // absolute; the object is zero then
}

// title says where a version is.
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

// spec is how git names the version.
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

// versions are all that git and the user's own copies have of the files of conversations,
// newest first: the index, HEAD, history, then copies.
type versions struct {
	repo *gitint.Repo
	own  string // the path of .jp
	of   map[versionKey][]version
	// stages are the sides of files that are unmerged, whatever name each side gave them.
	stages map[versionKey][stages]gitint.OID
}

// stages is the number of sides in the index, and of a side the index after 1.
const stages = 3

// listVersions lists the versions of all conversations, in one walk.
func (m *planner) listVersions(ctx context.Context) (*versions, error) {
	s, err := newSearch(m.Sources, nil, nil)
	if err != nil {
		return nil, err
	}
	v := &versions{
		repo: s.Repo, own: s.own, of: make(map[versionKey][]version),
		stages: make(map[versionKey][stages]gitint.OID),
	}
	if s.Repo != nil {
		if err := v.fromGit(ctx, s); err != nil {
			return nil, err
		}
	}
	if silo := m.Workspace.UserDir(); silo != "" {
		v.fromCopies(silo)
	}
	return v, nil
}

func (v *versions) fromGit(ctx context.Context, s *search) error {
	seen := make(map[gitint.OID]bool)
	add := func(name string, id, commit gitint.OID) {
		conversation, ok := events.ParseDirname(path.Base(path.Dir(name)))
		if !ok || seen[id] {
			return
		}
		seen[id] = true
		k := versionKey{conversation, path.Base(name)}
		v.of[k] = append(v.of[k], version{path: name, commit: commit, object: id})
	}
	dir := path.Join(s.own, "conversations")
	snaps := []gitint.Snapshot{}
	if x, err := v.repo.Index(ctx); err == nil {
		snaps = append(snaps, x)
		v.fromStages(x)
	}
	head, _ := v.repo.Resolve(ctx, "HEAD") // there may be no commit yet
	if t, err := v.repo.Tree(ctx, "HEAD"); err == nil {
		snaps = append(snaps, t)
	}
	for i, snap := range snaps {
		all, err := snap.Entries(dir)
		if err != nil {
			return err
		}
		commit := gitint.OID{}
		if i > 0 {
			commit = head
		}
		for _, e := range all {
			add(e.Path, e.OID, commit)
		}
	}
	return s.walk(ctx, []string{dir}, func(p gitint.Passing) error {
		add(p.Path, p.OID, p.Commit)
		return nil
	})
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

// sides reads what git merges, when it has both sides.
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
func (v *versions) fromCopies(silo string) {
	entries, _, err := workspace.Scan(os.DirFS(silo), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		for _, name := range []string{
			workspace.EventsFile, workspace.MetadataFile, workspace.BaseConfigFile,
		} {
			file := filepath.Join(silo, filepath.FromSlash(e.Path), name)
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				k := versionKey{e.ID, name}
				v.of[k] = append(v.of[k], version{file: file})
			}
		}
	}
}

func (v *versions) read(ctx context.Context, one version) ([]byte, error) {
	if one.file != "" {
		return os.ReadFile(one.file)
	}
	return v.repo.ReadObject(ctx, one.object, 0)
}
