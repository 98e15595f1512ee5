package repair

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An ancestor is the common ancestor of directories; each part is nil if there is none.
type ancestor struct{ details, baseConfig, stream []byte }

// A union merges several directories into one conversation.
type union struct {
	base ancestor
	// archivedBefore reports whether base is in the archive.
	archivedBefore bool
	ours           string // the directory of our side, "" if none is
	// theirs is the version of their side, or nil if one of the directories certainly has it. A
	// driver that git called, or could not call, has put the same file into all of them.
	theirs *workspace.Conversation
	waits  bool // git waits for a person
	choose func([]threeway.Conflict, *events.Stream) ([]merge.Decision, error)
	// dirname returns the name of a directory with a given title.
	dirname func(workspace.Entry, string) string
	// chosen holds the decisions about the conflicts in asked.
	chosen []merge.Decision
	asked  []byte
	// decided holds the elements of these conflicts.
	decided  map[blobs.Hash]bool
	redacted redaction
}

// union collects the versions that git has of the directories of a conversation.
func (m *planner) union(ctx context.Context, entries []workspace.Entry) (*union, error) {
	id := entries[0].ID
	redacted, err := m.redaction(ctx)
	if err != nil {
		return nil, err
	}
	u := &union{dirname: m.Workspace.DirnameFor, redacted: redacted}
	if m.Choose != nil {
		u.choose = func(all []threeway.Conflict, theirs *events.Stream) ([]merge.Decision, error) {
			return m.Choose(id, all, theirs)
		}
	}
	s, err := newSearch(m.Sources, nil, nil)
	if err != nil || s.Repo == nil {
		return u, nil //nolint:nilerr // without git the directories are all that is known
	}
	split, err := s.split(ctx, m.Sides, entries)
	if err != nil || split == nil {
		return u, nil //nolint:nilerr // the same
	}
	u.waits = split.Waits
	for _, e := range entries {
		if s.below(e) == split.Ours {
			u.ours = e.Path
		}
	}
	if split.Base != nil {
		stream := u.redacted.fromStream(split.Base.Stream, id)
		u.base = ancestor{split.Base.Metadata, split.Base.BaseConfig, stream}
		u.archivedBefore = strings.HasSuffix(path.Dir(split.Base.Dir), workspace.Archive.Dir())
	}
	if u.theirs = versionOf(split.Theirs); u.theirs != nil {
		u.theirs = u.redacted.from(u.theirs, id)
	}
	return u, nil
}

// below returns the directory of an entry from the root of the working tree.
func (s *search) below(e workspace.Entry) string { return path.Join(path.Dir(s.own), e.Path) }

// split finds the commits that were combined: those that the caller knows, those of git's operation
// in progress, or those of the merge that created the second directory. If there was no such merge
// there is no common ancestor, and the union keeps everything.
func (s *search) split(
	ctx context.Context, known *merge.Sides, entries []workspace.Entry,
) (*merge.Split, error) {
	at := merge.Place{Dir: s.own, ID: entries[0].ID}
	for _, e := range entries {
		at.In = append(at.In, s.below(e))
	}
	if known == nil {
		split, err := merge.SplitOf(ctx, s.Repo, at)
		if err != nil || split != nil && split.Waits {
			return split, err
		}
		sides := ancestry{repo: s.Repo, dir: s.own, id: at.ID}.sides(ctx)
		if len(sides) != 2 {
			return nil, nil
		}
		if known, err = merge.SidesBetween(ctx, s.Repo, sides[0], sides[1]); err != nil {
			return nil, err
		}
	}
	return merge.SplitBetween(ctx, s.Repo, known, at)
}

// versionOf decodes a version, or returns nil if it cannot be read.
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

// of merges the directories of one conversation. The result depends on their content and names, not
// on their order.
func (u *union) of(all []*workspace.Conversation) (*unified, error) {
	all = slices.Clone(all)
	order := make(map[*workspace.Conversation]int, len(all))
	for i, c := range all {
		all[i] = u.redacted.from(c, c.ID)
		order[all[i]] = i
	}
	slices.SortFunc(all, func(a, b *workspace.Conversation) int {
		if ours := a.Path == u.ours; ours != (b.Path == u.ours) {
			return map[bool]int{true: -1, false: 1}[ours]
		}
		return cmp.Compare(a.Path, b.Path)
	})
	res, err := u.merge(all)
	if err != nil {
		return nil, err
	}
	archived, note := stays(all, u.base.stream != nil, u.archivedBefore)
	if !archived {
		res.details.ArchivedAt = nil
	}
	res.note = note + res.note
	kept := choose(all, archived, events.Dirname(all[0].ID, res.details.Name()))
	res.keep = order[kept]
	res.target = kept.Entry
	if u.dirname != nil {
		res.target.Dirname = u.dirname(kept.Entry, res.details.Name())
	}
	res.target.Path = path.Join(path.Dir(kept.Path), res.target.Dirname)
	return res, nil
}

// versions returns the directories, and the version of their side if no directory has it.
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

// side returns the common ancestor as a side of a merge.
func (a ancestor) side() (threeway.Side, error) {
	side := threeway.Side{BaseConfig: a.baseConfig, Source: threeway.SourceIn(a.details)}
	if a.stream == nil {
		return side, nil
	}
	var err error
	side.Stream, err = events.Decode(a.stream)
	return side, err
}

// sideOf returns a version as a side of a merge.
func sideOf(c *workspace.Conversation) threeway.Side {
	s := threeway.Side{Stream: c.Stream, BaseConfig: c.BaseConfig}
	if c.Details != nil {
		s.Source = threeway.SourceOf(c.Details)
	}
	return s
}

// merge merges the files, without deciding about the directory.
func (u *union) merge(all []*workspace.Conversation) (*unified, error) {
	from, err := u.base.side()
	if err != nil {
		return nil, err
	}
	versions := u.versions(all)
	var steps []threeway.Step
	details := versions[0].Details.Encode()
	for _, c := range versions[1:] {
		steps = append(steps, threeway.Step{Base: from, Theirs: sideOf(c)})
		if c.Details == nil {
			continue
		}
		merged, err := threeway.Metadata(u.base.details, details, c.Details.Encode())
		if err != nil {
			return nil, err
		}
		details = merged
	}
	res, err := threeway.Fold(sideOf(versions[0]), steps...)
	if err != nil {
		return nil, err
	}
	d, err := events.DecodeDetails(details)
	if err != nil {
		return nil, err
	}
	stream, err := u.decide(res, versions[len(versions)-1].Stream)
	if err != nil {
		return nil, err
	}
	is := &unified{details: d, stream: stream, baseConfig: res.BaseConfig}
	return is, u.account(versions, is, res.Warnings)
}

// account verifies the merge by counting, and records the replaced values and the merge's warnings.
func (u *union) account(
	versions []*workspace.Conversation, is *unified, warnings []string,
) error {
	a := &account{decided: u.decided, warned: len(warnings) > 0}
	base, versions, err := u.agreed(versions)
	if err == nil && base != nil {
		a.base, err = newPart(base, u.base.details, u.base.baseConfig)
	}
	for _, c := range versions {
		if err != nil {
			return err
		}
		var details []byte
		if c.Details != nil {
			details = c.Details.Encode()
		}
		var p *part
		p, err = newPart(c.Stream, details, c.BaseConfig)
		a.versions = append(a.versions, p)
	}
	if err == nil {
		a.result, err = newPart(is.stream, is.details.Encode(), is.baseConfig)
	}
	var gaveWay []string
	if err == nil {
		gaveWay, err = a.check()
	}
	for _, what := range gaveWay {
		is.note += "; " + what + " gives way"
	}
	for _, w := range warnings {
		is.note += "; " + w
	}
	return err
}

// agreed returns the common ancestor, nil if there is none, and the versions as merging compares
// them: each two agree on what a session says.
func (u *union) agreed(
	versions []*workspace.Conversation,
) (base *events.Stream, all []*workspace.Conversation, err error) {
	from, err := u.base.side()
	for _, c := range versions {
		now := &workspace.Conversation{
			Stream: c.Stream, Details: c.Details, BaseConfig: c.BaseConfig,
		}
		for _, other := range all {
			if err != nil {
				return nil, nil, err
			}
			var a, b threeway.Side
			from, a, b, err = threeway.Agreed(from, sideOf(other), sideOf(now))
			other.Stream, now.Stream = a.Stream, b.Stream
			if other.Details != nil && now.Details != nil {
				other.Details, now.Details = threeway.AgreedDetails(other.Details, now.Details)
			}
		}
		all = append(all, now)
	}
	if u.base.stream == nil {
		from.Stream = nil
	}
	return from.Stream, all, err
}

// decide decides the conflicts of a merge. A conflict that was asked about is not asked about again
// when the directories are read again under their lock.
func (u *union) decide(res threeway.Result, theirs *events.Stream) (*events.Stream, error) {
	if len(res.Conflicts) == 0 {
		return res.Stream, nil
	}
	asked := threeway.EncodeConflicts(res.Conflicts)
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
	u.decided = make(map[blobs.Hash]bool)
	stream := res.Stream
	for i, c := range res.Conflicts {
		for _, e := range slices.Concat(c.Base, c.Ours, c.Theirs) {
			u.decided[e.Sum()] = true
		}
		var err error
		if stream, err = u.chosen[i].Apply(stream, c); err != nil {
			return nil, err
		}
	}
	return stream, stream.Validate()
}
