package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A parting is what a conversation and a source of it that changes in place do not have in common.
type parting struct {
	left    map[string]bool // turns that the source lacks, and does not say were rewound
	rewound map[string]bool // turns that the source has and that were rewound here
	// copied says that the source is another copy than the one that has the turns that it lacks.
	// Going back takes back an end, and a compaction a beginning, before anything new is said. So
	// what lies between turns that both have, or is later than a turn that only the source has,
	// was not taken back.
	copied bool
}

func partingOf(here *workspace.Conversation, now *sessions.Conversation) parting {
	has, is := turnTimes(here.Stream), turnTimes(now.Stream)
	p := parting{
		left:    notRewound(now.Details, here.Stream),
		rewound: lists.Set(now.Stream.SourceTurns()),
	}
	delete(p.left, "")
	delete(p.rewound, "")
	stays := notRewound(here.Details, now.Stream)
	for name := range is {
		_, both := has[name]
		delete(p.left, name)
		if both || stays[name] {
			delete(p.rewound, name)
		}
	}
	dropShared(p.left, here.Stream, now.Stream)
	if len(p.left) == 0 {
		return p
	}
	dropShared(is, now.Stream, here.Stream)
	removed := missingTurns(here, here.Stream.SourceTurns())
	last := int64(math.MinInt64) // when the last turn began that the source lacks
	for name := range p.left {
		last = max(last, has[name])
	}
	for name, at := range is {
		p.copied = p.copied || !removed[name] && at < last
	}
	p.copied = p.copied || p.isBetween(now.Stream, has)
	return p
}

// dropShared leaves out of the turns of a stream those of which another has an event: a turn has
// another name where its first event was removed.
func dropShared[V any](turns map[string]V, s, other *events.Stream) {
	has, names := keysOf(other), s.SourceTurns()
	for i, key := range sourceKeys(s) {
		if has[key] && s.At(i).Kind().IsEvent() {
			delete(turns, names[i])
		}
	}
}

// isBetween reports whether a turn that the source lacks is later than one that both have, and
// earlier than another that follows that. A summary that an agent put before what it kept is later
// than that.
func (p *parting) isBetween(now *events.Stream, has map[string]int64) bool {
	first := int64(math.MaxInt64)
	for _, name := range slices.Compact(now.SourceTurns()) {
		at, both := has[name]
		if !both {
			continue
		}
		for left := range p.left {
			if n := has[left]; n > first && n < at {
				return true
			}
		}
		first = min(first, at)
	}
	return false
}

// turnTimes returns when the turns of a source began.
func turnTimes(s *events.Stream) map[string]int64 {
	all := map[string]int64{}
	turns := s.SourceTurns()
	for i, e := range s.All() {
		if _, ok := all[turns[i]]; !ok && turns[i] != "" && e.Kind().IsEvent() {
			all[turns[i]] = e.Time().UnixMicro()
		}
	}
	return all
}

// notRewound returns the turns of a stream without those that details record as rewound.
func notRewound(d *events.Details, s *events.Stream) map[string]bool {
	of := &events.Details{}
	_ = of.SetImportedTurns(s.SourceTurns()) // they are valid
	return lists.Set(d.NotRewound(of))
}

// withoutTurns returns a stream without some turns of the source.
func withoutTurns(s *events.Stream, turns map[string]bool) *events.Stream {
	var kept []*events.Element
	names := s.SourceTurns()
	for i, e := range s.All() {
		if !turns[names[i]] {
			kept = append(kept, e)
		}
	}
	return events.New(kept...)
}

// carry keeps in the details of a source what it does not say of the conversation: the turns that
// other copies of the source brought, and what was rewound before an agent deleted it. So does the
// conversation, which counts if the source became shorter.
func carry(here *workspace.Conversation, now *sessions.Conversation, appends bool) error {
	d := now.Details
	err := d.SetImportedTurns(slices.Concat(d.ImportedTurns(), d.NotRewound(here.Details)))
	rewound := here.Details.Rewound()
	if appends || len(rewound)+len(d.Rewound()) == 0 || err != nil {
		return err
	}
	if rewound == nil {
		rewound = map[string][]string{}
	}
	maps.Copy(rewound, d.Rewound())
	return errors.Join(d.SetRewound(rewound), here.Details.SetRewound(rewound))
}

// keepDeleted adds to the conversations of the session one for what the agent deleted from each
// before any import had it as rewound: what is here of it, with the turns that the source lacks.
func (j *job) keepDeleted() error {
	if j.appends() {
		return nil
	}
	for _, now := range j.all {
		e, _, err := j.find(now.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		here, err := j.Workspace.Load(e)
		if err != nil {
			return err
		}
		v, _ := j.versionOf(here.Entry, here.Details)
		if j.isOvertaken(now, here.Details) {
			return errOvertaken
		}
		part := partingOf(here, now)
		if part.copied || len(part.left) == 0 || isOlder(v, here, now, false) {
			continue
		}
		left, err := j.leave(here, now, part.left)
		if err != nil {
			return fmt.Errorf("keep what %s no longer has: %w", now.Name, err)
		}
		j.all = append(j.all, left)
	}
	return nil
}

// leave returns a conversation of what imports brought here, and records in the details of a source
// that some of its turns were rewound.
func (j *job) leave(
	here *workspace.Conversation, now *sessions.Conversation, turns map[string]bool,
) (*sessions.Conversation, error) {
	was := imported(here, now)
	names := was.Stream.SourceTurns()
	var point string
	var rewound []string
	for i, e := range was.Stream.All() {
		if !turns[names[i]] {
			continue
		}
		if key, ok := e.Metadata().Text(sessions.MetadataSource); ok && point == "" {
			point = key
		}
		rewound = append(rewound, e.RewoundNames()...)
	}
	left := &sessions.Conversation{
		Name:   j.forkAt(now.Name, point, was.Stream),
		Parent: now.Name, Archived: true, BaseConfig: was.BaseConfig, Stream: was.Stream,
		Details: &events.Details{Labels: maps.Clone(was.Details.Labels)},
	}
	left.Details.Labels[sessions.LabelSession] = left.Name.String()
	left.Details.Labels[sessions.LabelParent] = now.Name.String()
	for _, e := range was.Stream.All() {
		if e.Time().After(left.Details.LastActivatedAt) {
			left.Details.LastActivatedAt = e.Time()
		}
	}
	all := now.Details.Rewound()
	if all == nil {
		all = map[string][]string{}
	}
	all[left.Name.String()] = rewound
	return left, errors.Join(
		sameTitle(left.Details, was.Details),
		left.Details.SetCreatedAt(here.Details.CreatedAt(here.ID)),
		left.Details.SetImportedTurns(names),
		now.Details.SetRewound(all),
	)
}

// forkAt names a conversation of what was rewound, as an import that sees it being rewound does.
// One that is here and has something else is not replaced.
func (im *Importer) forkAt(of sessions.Name, point string, s *events.Stream) sessions.Name {
	fork := sessions.Name{Agent: of.Agent, ID: of.ID + "@" + point}
	has := keysOf(s)
	for n := 2; ; n++ {
		e, _, err := im.find(fork)
		if err != nil {
			return fork
		}
		c, err := im.Workspace.Load(e)
		if err != nil || !slices.ContainsFunc(sourceKeys(c.Stream), func(key string) bool {
			return key != "" && !has[key]
		}) {
			return fork
		}
		fork.ID = fmt.Sprintf("%s@%s.%d", of.ID, point, n)
	}
}
