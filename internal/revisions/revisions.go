package revisions

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Revision is a commit that changed a conversation.
type Revision struct {
	Commit  string    `json:"commit"`
	Author  string    `json:"author"`
	Date    time.Time `json:"date"`
	Subject string    `json:"subject"`
	// Path is the path of the conversation's directory after the commit, or "" if it was deleted.
	Path string `json:"path"`
	// Turns and TurnsBefore are nil if the commit did not change the stream.
	Turns       *int `json:"turns"`
	TurnsBefore *int `json:"turns_before"`
	// Parallel is the number of turns that were asked without knowledge of the preceding turn.
	Parallel int      `json:"parallel,omitempty"`
	Did      []string `json:"did"`
}

// A Request selects commits.
type Request struct {
	Dir   string    // .jp, from the root of the working tree
	ID    events.ID // of the conversation
	Revs  []string  // revisions and ranges; none means HEAD
	All   bool      // all branches and tags
	Count int       // number of newest commits, 0 for all
}

// Of returns the commits that changed a conversation, wherever its directory was at the time,
// newest first.
func Of(ctx context.Context, repo *gitint.Repo, q Request) ([]Revision, error) {
	found, err := repo.History(ctx, gitint.HistoryRequest{
		Revs: q.Revs, All: q.All, Count: q.Count, Globs: globsOf(q.Dir, q.ID),
	})
	if err != nil {
		return nil, audit.RangeError(repo, "list history", err)
	}
	if err := repo.Need(ctx, objectsOf(found)); err != nil {
		return nil, err
	}
	h := history{repo: repo, turns: make(map[gitint.OID]turnCount)}
	all := make([]Revision, 0, len(found))
	for _, rev := range found {
		r, err := h.revision(ctx, rev)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// objectsOf returns the objects that are read of commits: streams, and changed metadata.
func objectsOf(found []gitint.Revision) (ids []gitint.OID) {
	for _, rev := range found {
		for _, f := range rev.Files {
			name := path.Base(f.Path)
			if name != workspace.EventsFile && name != workspace.MetadataFile {
				continue
			}
			for _, id := range []gitint.OID{f.Old, f.New} {
				if !id.IsZero() {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// globsOf returns the paths that a conversation may have had: the directory is named after its
// title at the time.
func globsOf(jpDir string, id events.ID) []string {
	var globs []string
	for _, p := range []workspace.Partition{workspace.Live, workspace.Archive} {
		dir := path.Join(jpDir, p.Dir(), id.Digits())
		globs = append(globs, dir+"/**", dir+"-*/**")
	}
	return globs
}

// A history reads the streams of a conversation's commits, each once.
type history struct {
	repo  *gitint.Repo
	turns map[gitint.OID]turnCount
}

// A turnCount counts the turns of a stream, and those that were asked in parallel to the preceding
// one.
type turnCount struct{ all, parallel int }

func (h history) revision(ctx context.Context, rev gitint.Revision) (Revision, error) {
	r := Revision{
		Commit: rev.OID.String(), Author: rev.Author, Subject: rev.Subject, Did: []string{},
	}
	var err error
	if r.Date, err = time.Parse(time.RFC3339, rev.Date); err != nil {
		return r, fmt.Errorf("commit %s: %w", rev.OID, err)
	}
	r.Date = r.Date.UTC()
	for _, f := range rev.Files {
		if !f.New.IsZero() {
			r.Path = path.Dir(f.Path)
		}
	}
	was, is := streamOf(rev.Files)
	before, err := h.count(ctx, was.OID)
	if err != nil {
		return r, err
	}
	now, err := h.count(ctx, is.OID)
	if err != nil {
		return r, err
	}
	if was != is {
		r.Turns, r.TurnsBefore, r.Parallel = &now.all, &before.all, now.parallel
	}
	r.Did = streamChanges(was, is, now.all-before.all)
	if is.Path != "" && was.Path == "" {
		_, cut, err := h.repo.Parent(ctx, rev.OID)
		if err != nil {
			return r, err
		}
		if cut { // its parent may have the conversation
			r.Did = []string{"history is cut off, with " + render.Count(now.all, "turn")}
		}
	}
	if more := now.parallel - before.parallel; was != is && more > 0 {
		r.Did = append(r.Did, fmt.Sprintf("%d parallel", more))
	}
	others, err := h.otherChanges(ctx, rev.Files)
	r.Did = append(r.Did, others...)
	return r, err
}

// count returns the number of turns of a stream, or 0 if it cannot be read.
func (h history) count(ctx context.Context, id gitint.OID) (turnCount, error) {
	if n, ok := h.turns[id]; ok || id.IsZero() {
		return n, nil
	}
	data, err := h.repo.ReadObject(ctx, id, 0)
	if err != nil {
		return turnCount{}, err
	}
	if s, err := events.Decode(data); err == nil {
		h.turns[id] = turnCount{len(s.Turns()), threeway.ParallelTurns(s)}
	}
	return h.turns[id], nil
}

// streamOf returns the stream before and after a commit, which may have moved it. Both are zero if
// the commit did not change it.
func streamOf(files []gitint.StagedPath) (was, is gitint.Entry) {
	for _, f := range files {
		if path.Base(f.Path) != workspace.EventsFile {
			continue
		}
		if !f.Old.IsZero() {
			was = gitint.Entry{Path: f.Path, OID: f.Old}
		}
		if !f.New.IsZero() {
			is = gitint.Entry{Path: f.Path, OID: f.New}
		}
	}
	return was, is
}

// streamChanges describes a commit's changes to the stream.
func streamChanges(was, is gitint.Entry, more int) []string {
	did := []string{}
	switch {
	case was == is:
		return did
	case was.Path == "":
		return append(did, "began with "+render.Count(more, "turn"))
	case is.Path == "":
		return append(did, "deleted")
	case was.Path != is.Path:
		did = append(did, moveOf(path.Dir(was.Path), path.Dir(is.Path)))
	}
	switch {
	case more > 0:
		did = append(did, "+"+render.Count(more, "turn"))
	case more < 0:
		did = append(did, "-"+render.Count(-more, "turn"))
	case was.OID != is.OID:
		did = append(did, "edited")
	}
	return did
}

// otherChanges describes which other files were changed in place.
func (h history) otherChanges(
	ctx context.Context, files []gitint.StagedPath,
) (did []string, err error) {
	names := map[string]string{
		workspace.MetadataFile: "metadata", workspace.BaseConfigFile: "base configuration",
	}
	for _, f := range files {
		name, ok := names[path.Base(f.Path)]
		if !ok || f.Status != 'M' {
			continue
		}
		if path.Base(f.Path) == workspace.MetadataFile {
			if name, err = h.metadataChange(ctx, name, f); err != nil {
				return nil, err
			}
		}
		did = append(did, name)
	}
	return did, nil
}

// metadataChange returns "renamed" if a commit changed the title.
func (h history) metadataChange(
	ctx context.Context, name string, f gitint.StagedPath,
) (string, error) {
	var titles [2]string
	for i, id := range []gitint.OID{f.Old, f.New} {
		data, err := h.repo.ReadObject(ctx, id, 0)
		if err != nil {
			return name, err
		}
		d, _ := events.DecodeDetails(data)
		titles[i] = d.Name()
	}
	if titles[0] != titles[1] {
		return "renamed", nil
	}
	return name, nil
}

// moveOf describes the move of a directory.
func moveOf(from, to string) string {
	archive := workspace.Archive.Dir()
	was, is := strings.HasSuffix(path.Dir(from), archive), strings.HasSuffix(path.Dir(to), archive)
	switch {
	case is && !was:
		return "archived"
	case was && !is:
		return "unarchived"
	default:
		return "renamed"
	}
}
