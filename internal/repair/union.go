package repair

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An ancestor is what directories have in common, each part nil when there is none.
type ancestor struct{ details, baseConfig, stream []byte }

// A union makes one conversation of several directories.
type union struct {
	base ancestor
	ours string // the name of the directory of our side, "" where that is nobody's
	// theirs is what their side has, nil where that is in one of the directories for sure. A
	// driver that git asked, or could not ask, has put one file into all of them.
	theirs *workspace.Conversation
	waits  bool // git waits for a person
	choose func([]events.Conflict, *events.Stream) ([]events.Choice, error)
	// chosen is what was chosen for the conflicts that were asked about.
	chosen []events.Choice
	asked  []byte
}

// union finds out what git knows of the directories of a conversation.
func (m *planner) union(ctx context.Context, id events.ID) *union {
	u := &union{}
	if m.Choose != nil {
		u.choose = func(all []events.Conflict, theirs *events.Stream) ([]events.Choice, error) {
			return m.Choose(id, all, theirs)
		}
	}
	s, err := newSearch(m.Sources, nil, nil)
	if err != nil || s.Repo == nil {
		return u
	}
	split, err := merge.SplitOf(ctx, s.Repo, s.own, id)
	if err != nil || split == nil {
		u.base = s.ancestor(ctx, id)
		return u
	}
	u.waits = true
	u.ours = path.Base(split.Ours)
	if split.Base != nil {
		u.base = ancestor{split.Base.Metadata, split.Base.BaseConfig, split.Base.Stream}
	}
	u.theirs = versionOf(split.Theirs)
	return u
}

// versionOf reads a version, nil where it cannot be read.
func versionOf(v *merge.Version) *workspace.Conversation {
	if v == nil || v.Stream == nil {
		return nil
	}
	c := &workspace.Conversation{BaseConfig: v.BaseConfig}
	var err error
	if c.Stream, err = events.Decode(v.Stream); err == nil && v.Metadata != nil {
		c.Details, err = events.DecodeDetails(v.Metadata)
	}
	if err != nil {
		return nil
	}
	return c
}

// ancestor finds what git knows the directories to have in common: the version of the
// conversation in the newest commit that both sides of the merge have which made two
// directories of one. Where there was no such merge there is none, and the union counts.
func (s *search) ancestor(ctx context.Context, id events.ID) ancestor {
	a := ancestry{repo: s.Repo, dir: s.own, id: id}
	commit, ok := a.common(ctx)
	if !ok {
		return ancestor{}
	}
	return a.read(ctx, commit)
}

// of merges the directories of one conversation. The result depends on what they say and on
// their names, and not on their order.
func (u *union) of(all []*workspace.Conversation) (*unified, error) {
	all = slices.Clone(all)
	order := make(map[*workspace.Conversation]int, len(all))
	for i, c := range all {
		order[c] = i
	}
	slices.SortFunc(all, func(a, b *workspace.Conversation) int {
		if ours := a.Dirname == u.ours; ours != (b.Dirname == u.ours) {
			return map[bool]int{true: -1, false: 1}[ours]
		}
		return cmp.Compare(a.Path, b.Path)
	})
	res, err := u.merge(all)
	if err != nil {
		return nil, err
	}
	archived, note := stays(all)
	if !archived {
		res.details.ArchivedAt = nil
	}
	res.note = note
	res.keep = order[choose(all, archived, dirnameOf(res.details, all[0].ID))]
	return res, nil
}

// versions are the directories, and what their side has if none of them has that.
func (u *union) versions(all []*workspace.Conversation) []*workspace.Conversation {
	if u.theirs == nil || slices.ContainsFunc(all, func(c *workspace.Conversation) bool {
		return bytes.Equal(c.Stream.Encode(), u.theirs.Stream.Encode()) &&
			(u.theirs.Details == nil ||
				bytes.Equal(c.Details.Encode(), u.theirs.Details.Encode()))
	}) {
		return all
	}
	return append(slices.Clone(all), u.theirs)
}

// merge brings the files together, without deciding where they stay.
func (u *union) merge(all []*workspace.Conversation) (*unified, error) {
	from := events.Side{BaseConfig: u.base.baseConfig}
	if u.base.stream != nil {
		s, err := events.Decode(u.base.stream)
		if err != nil {
			return nil, err
		}
		from.Stream = s
	}
	side := func(c *workspace.Conversation) events.Side {
		return events.Side{Stream: c.Stream, BaseConfig: c.BaseConfig}
	}
	versions := u.versions(all)
	var steps []events.MergeStep
	details := versions[0].Details.Encode()
	for _, c := range versions[1:] {
		steps = append(steps, events.MergeStep{Base: from, Theirs: side(c)})
		if c.Details == nil {
			continue
		}
		merged, err := events.MergeMetadata(u.base.details, details, c.Details.Encode())
		if err != nil {
			return nil, err
		}
		details = merged
	}
	res, err := events.MergeFold(side(versions[0]), steps...)
	if err != nil {
		return nil, err
	}
	d, err := events.DecodeDetails(details)
	if err != nil {
		return nil, err
	}
	stream, err := u.decide(res, versions[len(versions)-1].Stream)
	return &unified{details: d, stream: stream, baseConfig: res.BaseConfig}, err
}

// decide has the conflicts of a merge decided. What was asked once is not asked again when
// the directories are read anew under their lock.
func (u *union) decide(res events.Result, theirs *events.Stream) (*events.Stream, error) {
	if len(res.Conflicts) == 0 {
		return res.Stream, nil
	}
	asked := events.EncodeConflicts(res.Conflicts)
	if u.choose != nil && !bytes.Equal(asked, u.asked) {
		chosen, err := u.choose(res.Conflicts, theirs)
		if err != nil {
			return nil, err
		}
		u.chosen, u.asked = chosen, asked
	}
	if len(u.chosen) != len(res.Conflicts) {
		return nil, errConflict
	}
	stream := res.Stream
	for i, c := range res.Conflicts {
		var err error
		if stream, err = events.Resolve(stream, c, u.chosen[i]); err != nil {
			return nil, err
		}
	}
	return stream, stream.Validate()
}
