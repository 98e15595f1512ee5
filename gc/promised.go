package gc

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A fileSearch finds the files of commits and trees that a mark or a second opinion may read. In a
// partial clone they may be only at a remote that has promised them, so that a missing file proves
// nothing. It finds too many rather than too few: a file that is missing when it is read refuses
// everything.
type fileSearch struct {
	repo  *gitint.Repo
	seen  map[searchKey]struct{}
	level []searchStep
	files map[gitint.OID]origin // the first place of each
}

// An area selects which files of a tree are searched.
type area int

const (
	areaProject    area = iota // streams outside of a .jp
	areaWorkspace              // a directory .jp: all except the blobs
	areaStore                  // its blobs directory: other files than blobs
	areaEverything             // all files
)

type searchKey struct {
	tree gitint.OID
	area area
}

// A searchStep is a tree to read.
type searchStep struct {
	searchKey
	origin
}

// An origin is where a tree or a file was found first.
type origin struct{ root, path string }

func newFileSearch(repo *gitint.Repo) *fileSearch {
	return &fileSearch{
		repo: repo, seen: make(map[searchKey]struct{}), files: make(map[gitint.OID]origin),
	}
}

// addTips adds the trees of tips.
func (s *fileSearch) addTips(ctx context.Context, tips []*tip) error {
	var commits []gitint.OID
	titles := make(map[gitint.OID]string)
	for _, t := range tips {
		for _, f := range t.files {
			s.addFile(f.id, origin{t.title, f.path})
		}
		switch {
		case t.commit.IsZero():
		case t.isTree && t.part:
			s.addTree(searchKey{t.commit, areaEverything}, origin{root: t.title})
		case t.isTree:
			s.addTree(searchKey{t.commit, areaProject}, origin{root: t.title})
		case titles[t.commit] == "":
			commits, titles[t.commit] = append(commits, t.commit), t.title
		}
	}
	return s.addCommits(ctx, commits, func(id gitint.OID) string { return titles[id] })
}

func (s *fileSearch) addCommits(
	ctx context.Context, commits []gitint.OID, title func(gitint.OID) string,
) error {
	return s.repo.CommitHeads(ctx, commits, func(i int, h gitint.CommitHead) error {
		s.addTree(searchKey{h.Tree, areaProject}, origin{root: title(commits[i])})
		return nil
	})
}

func (s *fileSearch) addTree(k searchKey, at origin) {
	if _, ok := s.seen[k]; !ok {
		s.seen[k] = struct{}{}
		s.level = append(s.level, searchStep{k, at})
	}
}

func (s *fileSearch) addFile(id gitint.OID, at origin) {
	if _, ok := s.files[id]; !ok {
		s.files[id] = at
	}
}

// run reads the trees, level by level.
func (s *fileSearch) run(ctx context.Context) error {
	for len(s.level) > 0 {
		level := s.level
		s.level = nil
		ids := lists.Map(level, func(one searchStep) gitint.OID { return one.tree })
		err := s.repo.ReadTrees(ctx, ids, func(i int, t gitint.TreeData) error {
			s.take(level[i], t)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// take adds the files and directories of a tree that are searched.
func (s *fileSearch) take(at searchStep, t gitint.TreeData) {
	streams, config := false, false
	t.Entries(func(e gitint.Entry) {
		streams = streams || isStreamName(e.Path)
		config = config || strings.EqualFold(e.Path, workspace.BaseConfigFile)
	})
	t.Entries(func(e gitint.Entry) {
		below := origin{at.root, path.Join(at.path, e.Path)}
		switch {
		case e.Mode == gitint.ModeSubmodule:
		case e.Mode == gitint.ModeDir:
			if in, ok := at.area.below(e.Path, streams && config); ok {
				s.addTree(searchKey{e.OID, in}, below)
			}
		case at.area != areaProject || streams || e.Path == workspace.IDFile:
			s.addFile(e.OID, below)
		}
	})
}

// below returns the area of a subdirectory, if it is searched. A tree of the project may be a
// conversation itself.
func (a area) below(name string, isConversation bool) (area, bool) {
	switch {
	case a == areaStore && isFanoutName(name):
		return a, false
	case a == areaWorkspace && name == blobsName:
		return areaStore, true
	case a != areaProject || isConversation || strings.EqualFold(name, conversationsName):
		return areaEverything, true
	case strings.EqualFold(name, workspace.DirName):
		return areaWorkspace, true
	}
	return areaProject, true
}

// isFanoutName reports whether a directory of a store is a fan-out directory.
func isFanoutName(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2 && strings.ToLower(name) == name
}

// requireTips makes sure that the conversations of all tips exist locally. If objects may be
// fetched, it includes all history, so that only one request is made.
func (m *marker) requireTips(ctx context.Context) error {
	if !m.partial {
		return nil
	}
	s := newFileSearch(m.o.Repo)
	err := s.addTips(ctx, m.tips)
	if err == nil && m.o.Fetch != nil {
		err = m.addHistory(ctx, s)
	}
	return m.require(ctx, s, err)
}

// requireHistory makes sure that the conversations of all commits exist locally.
func (m *marker) requireHistory(ctx context.Context) error {
	if !m.partial || m.o.Fetch != nil {
		return nil // they were fetched with the tips
	}
	s := newFileSearch(m.o.Repo)
	return m.require(ctx, s, m.addHistory(ctx, s))
}

func (m *marker) addHistory(ctx context.Context, s *fileSearch) error {
	all, err := m.o.Repo.Ancestors(ctx, m.commits)
	if err != nil {
		return err
	}
	return s.addCommits(ctx, all, m.title)
}

// require fetches the missing files of a search, or refuses because of them.
func (m *marker) require(ctx context.Context, s *fileSearch, err error) error {
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		return m.absorb(ctx, err)
	}
	missing, err := m.o.Repo.HasObject(ctx, slices.Collect(maps.Keys(s.files)))
	switch {
	case err != nil:
		return m.absorb(ctx, err)
	case len(missing) == 0:
		return nil
	case m.o.Fetch == nil:
		m.obstruct(s.lacking(missing))
		return m.refused()
	}
	if err := m.o.Fetch(ctx, missing); err != nil {
		return fmt.Errorf("collect, nothing is deleted: %w", err)
	}
	return nil
}

// lacking names the first missing file, and counts them.
func (s *fileSearch) lacking(missing []gitint.OID) Obstacle {
	first := slices.MinFunc(missing, func(a, b gitint.OID) int {
		return strings.Compare(s.files[a].root+":"+s.files[a].path,
			s.files[b].root+":"+s.files[b].path)
	})
	o := Obstacle{
		Reason: ReasonPromised, Root: s.files[first].root, Path: s.files[first].path,
		Detail: "its content is with the remote and not here",
	}
	if len(missing) > 1 {
		o.Detail += fmt.Sprintf(", as is that of %d files in all", len(missing))
	}
	return o
}
