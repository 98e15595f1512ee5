package merge

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// The stages of an unmerged path in git's index.
const (
	stageBase = iota + 1
	stageOurs
	stageTheirs
	stages
)

// A Case is a file about which somebody has to decide.
type Case struct {
	Path   string // below the root of the work tree
	Kind   Kind
	ID     events.ID // of the conversation; 0 for a blob
	Record *Record   // of the driver; nil when none ran
	Stages [stages]gitint.OID
}

// Deleted reports whether one side deleted what the other changed.
func (c Case) Deleted() bool {
	return c.Record == nil && c.Stages[stageOurs].IsZero() != c.Stages[stageTheirs].IsZero()
}

// DeletedHere reports whether it was ours that deleted it.
func (c Case) DeletedHere() bool { return c.Deleted() && c.Stages[stageOurs].IsZero() }

// Open returns the records below a directory that wait for a decision. It opens the index
// only when there is a record.
func Open(ctx context.Context, repo *gitint.Repo, dir string) ([]Record, error) {
	records, err := RecordsOf(repo.GitDir()).All()
	if err != nil || len(records) == 0 {
		return nil, err
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	unmerged := index.Conflicts()
	return slices.DeleteFunc(records, func(r Record) bool {
		id, _ := index.OID(r.Path)
		return !below(r.Path, dir) ||
			!slices.Contains(unmerged, r.Path) && id.String() != r.Left
	}), nil
}

// Cases returns what is to be decided below a directory .jp, sorted by path: open records,
// and what git has unmerged without having asked a driver.
func Cases(ctx context.Context, repo *gitint.Repo, dir string) ([]Case, error) {
	records, err := Open(ctx, repo, dir)
	if err != nil {
		return nil, err
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]*Case)
	at := func(name string) *Case {
		if byPath[name] == nil {
			byPath[name] = &Case{Path: name, Kind: kindOf(name), ID: conversationOf(name)}
		}
		return byPath[name]
	}
	for _, s := range index.Stages() {
		if below(s.Path, dir) && kindOf(s.Path) != "" {
			at(s.Path).Stages[s.Stage] = s.OID
		}
	}
	for _, r := range records {
		at(r.Path).Record = &r
	}
	var all []Case
	for _, c := range byPath {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// below reports whether a path lies in a directory; every path lies in ".".
func below(name, dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// kindOf returns "" for a file that is nobody's to merge but the person's.
func kindOf(name string) Kind {
	switch path.Base(name) {
	case workspace.EventsFile:
		return Events
	case workspace.MetadataFile:
		return Metadata
	case workspace.BaseConfigFile:
		return Config
	}
	if _, rest, ok := strings.Cut("/"+name, "/"+blobs.Dir+"/"); ok {
		if _, isBlob := blobs.ParsePath(rest); isBlob {
			return Blob
		}
	}
	return ""
}

func conversationOf(name string) events.ID {
	id, _ := events.ParseDirname(path.Base(path.Dir(name)))
	return id
}
