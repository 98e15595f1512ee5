package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An origin is the conversation that a session was exported from.
type origin struct {
	workspace.Entry

	redacted bool // it has redactions
}

var (
	// ErrElsewhere reports a session whose exported conversation is not here: it was removed, or is
	// on another branch.
	ErrElsewhere = errors.New("it is not here")
	// ErrOtherwise reports a session that does not match the conversation that it names.
	ErrOtherwise = errors.New("it differs from the session, or was changed since")
	// ErrWithheld reports a session that would restore redacted text.
	ErrWithheld = errors.New("text was redacted there since, and the session still has it")
)

// ofID describes the conversation with an id.
func ofID(id events.ID) wanted {
	return wanted{[]events.ID{id}, func(*events.Details) bool { return true }}
}

// lookBehind predicts the effect of importing an exported session.
func (im *Importer) lookBehind(s sessions.Session) (State, error) {
	_, d, err := im.findAny(ofID(s.Export.ID()))
	switch {
	case errors.Is(err, errUnknown):
		return Removed, nil
	case err != nil:
		return "", err
	}
	length := s.Export.Length()
	if v, ok := d.Resumed()[s.Name.String()]; ok {
		length = v.Length
	}
	if s.Length == length {
		return Unchanged, nil
	}
	return Grown, nil
}

// originate finds the conversation that the session was exported from. If the match is not certain,
// the session is imported as any other.
func (j *job) originate(ctx context.Context) error {
	s := &j.session
	if s.Export == nil {
		return nil
	}
	id := s.Export.ID()
	o, err := j.exporter(ctx)
	redacted := len(j.Redactions[id.Digits()]) > 0 || o != nil && o.redacted
	var apart *apartError
	switch {
	case errors.As(err, &apart) && redacted:
		return &apartError{id, ErrWithheld}
	case errors.As(err, &apart):
		j.out.Apart, s.Export = err, nil
		return nil
	case err != nil:
		return err
	}
	o.redacted = redacted
	j.origin = o
	j.known.originate(s.Name, id)
	return nil
}

// An apartError is the reason why a session is not added to the conversation that it was exported
// from.
type apartError struct {
	id  events.ID
	err error
}

// Error implements error.
func (e *apartError) Error() string { return fmt.Sprintf("exported from %s: %v", e.id, e.err) }

// Unwrap returns the reason.
func (e *apartError) Unwrap() error { return e.err }

// exporter returns the conversation that the session was exported from, also beside the reason why
// nothing is added to it.
func (j *job) exporter(ctx context.Context) (*origin, error) {
	s, id := j.session, j.session.Export.ID()
	e, _, err := j.findAny(ofID(id))
	if errors.Is(err, errUnknown) {
		return nil, &apartError{id, ErrElsewhere}
	}
	if err != nil {
		return nil, err
	}
	c, err := j.Workspace.Load(e)
	if err != nil {
		return nil, err
	}
	o := &origin{Entry: e}
	for _, element := range c.Stream.All() {
		_, redacted := element.Metadata().Value(events.MetadataRedacted)
		o.redacted = o.redacted || redacted
	}
	if err := s.Export.Intact(ctx, s.Path); errors.Is(err, sessions.ErrDamaged) {
		return o, &apartError{id, err}
	} else if err != nil {
		return o, err
	}
	if _, ok := s.Export.In(c.Stream, s.Name); !ok {
		return o, &apartError{id, ErrOtherwise}
	}
	return o, nil
}

// choose finds the conversation of the session that continues its origin, and reduces it to the
// turns after the export. If the person went back to before the end of the export, the other branch
// is a conversation of its own, as in any session.
func (j *job) choose() error {
	own := j.all[0].Name
	i := lastBehind(j.all)
	_, _, err := j.find(own)
	switch {
	case err == nil && i == 0:
		i = -1 // imported before its origin could be found
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	rewound := j.all[0].Details.Rewound()
	for n, c := range j.all {
		if n == i {
			c.Stream = behind(c, own)
			j.behind = c
			delete(rewound, c.Name.String()) // the origin has it
		} else if j.origin.redacted && isBranch(c, own) {
			return &apartError{j.origin.ID, ErrWithheld} // it also has the beginning
		}
	}
	if err := j.all[0].Details.SetRewound(rewound); err != nil {
		return err
	}
	for _, c := range j.all {
		if c.Exported == 0 {
			delete(rewound, c.Name.String()) // it does not continue the origin
		}
	}
	j.rewound = rewound
	return nil
}

// lastBehind returns the index of the last conversation of a session that continues the export:
// that of the session, or a fork rewound to before the end of the export; -1 for none.
func lastBehind(all []*sessions.Conversation) int {
	if all[0].Exported > 0 {
		return 0
	}
	for i, c := range slices.Backward(all) {
		if c.Exported > 0 && isBranch(c, all[0].Name) {
			return i
		}
	}
	return -1
}

// isBranch reports whether a conversation is a session's own, or a rewound fork of it.
func isBranch(c *sessions.Conversation, own sessions.Name) bool {
	return c.Name == own || strings.HasPrefix(c.Name.ID, own.ID+"@")
}

// behind returns the turns of a conversation after an export, with the name of its session. A
// compaction there says how many of the turns before it it does not cover.
func behind(c *sessions.Conversation, own sessions.Name) *events.Stream {
	var all []*events.Element
	turns := c.Stream.TurnOf()
	for i, e := range c.Stream.All() {
		if i < c.Exported {
			continue
		}
		if e.Kind() == events.KindTurnStart {
			e = e.InSession(own.String())
		}
		all = append(all, counted(e, turns[i]))
	}
	return events.New(all...)
}

// resume adds the turns after the export to the origin of the session.
func (j *job) resume(ctx context.Context) (Made, error) {
	made := Made{Name: j.behind.Name}
	return j.update(ctx, j.origin.Entry, made, func(here *workspace.Conversation) (bool, error) {
		if j.behind.Version().Length <= j.session.Export.Length() {
			return false, nil // the agent has not written a complete turn yet
		}
		exported, ok := j.session.Export.In(here.Stream, j.session.Name)
		if !ok { // another process was faster
			return false, &apartError{here.ID, ErrOtherwise}
		}
		was, err := j.behindBefore(ctx, here)
		if err != nil {
			return false, err
		}
		details, err := j.details(here.Details)
		if err != nil {
			return false, err
		}
		side := func(d *events.Details, behind []*events.Element) *sessions.Conversation {
			return &sessions.Conversation{
				Stream: joined(exported, behind), Details: d, BaseConfig: here.BaseConfig,
			}
		}
		return unite(side(here.Details, was), here, side(details, elements(j.behind.Stream)))
	})
}

// counted returns an element of a turn with its range, if it is a compaction, counted back from
// that turn. Counting twice restores it.
func counted(e *events.Element, turn int) *events.Element {
	c, ok := e.Event().(*events.Compaction)
	if !ok {
		return e
	}
	back := *c
	back.ToTurn = max(0, turn-c.ToTurn)
	return e.With(&back)
}

// joined appends the new turns to the exported ones, which the session counts differently.
func joined(exported, behind []*events.Element) *events.Stream {
	s := events.New(slices.Concat(exported, behind)...)
	turns := s.TurnOf()
	for i := len(exported); i < s.Len(); i++ {
		s.Set(i, counted(s.At(i), turns[i]))
	}
	return s
}

func elements(s *events.Stream) (all []*events.Element) {
	for _, e := range s.All() {
		all = append(all, e)
	}
	return all
}

// behindBefore returns the turns after the export that were imported before: by reading that part
// again or, if the file is another copy, from the turns here.
func (j *job) behindBefore(
	ctx context.Context, here *workspace.Conversation,
) (all []*events.Element, err error) {
	s := j.session
	if j.Fresh {
		said, turns := here.Stream.SessionOf(here.Details.Resumed()), here.Stream.TurnOf()
		for i, e := range here.Stream.All() {
			if said[i] == s.Name.String() {
				all = append(all, counted(e, turns[i]))
			}
		}
		return all, nil
	}
	v, ok := here.Details.Resumed()[s.Name.String()]
	if ok && v.Length > 0 && v.Length <= j.behind.Version().Length { // else it is older than that
		then, err := j.read(ctx, v.Length, discard{})
		if err != nil {
			return nil, fmt.Errorf("read the first %d bytes again: %w", v.Length, err)
		}
		i := lastBehind(then)
		if i >= 0 && then[i].Details.Labels[sessions.LabelImport] == v.String() {
			part := behind(then[i], s.Name)
			if covers(part, here.Stream, j.behind.Stream) {
				return elements(part), nil
			}
		}
	}
	return common(here, j.behind.Stream), nil
}

// details returns the metadata of the origin with what an import of the session adds.
func (j *job) details(here *events.Details) (*events.Details, error) {
	d, c, session := here.Clone(), j.behind.Details, j.session.Name.String()
	has, now := here.Resumed()[session], j.behind.Version()
	if now.Compare(has) > 0 {
		d.SetResumed(session, now)
	}
	if c.LastActivatedAt.After(d.LastActivatedAt) {
		d.LastActivatedAt = c.LastActivatedAt
	}
	rewound := here.Rewound()
	maps.DeleteFunc(rewound, func(fork string, _ []string) bool {
		return strings.HasPrefix(fork, session+"@")
	})
	if rewound == nil {
		rewound = j.rewound
	} else {
		maps.Copy(rewound, j.rewound)
	}
	if err := d.SetRewound(rewound); err != nil {
		return nil, err
	}
	turns := slices.Concat(d.NotRewound(here), j.behind.Stream.SourceTurns())
	return d, d.SetImportedTurns(turns)
}
