package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// save makes a conversation or lets it grow.
func (im *Importer) save(
	ctx context.Context, p *prepared, c *sessions.Conversation,
) (Made, error) {
	if c == p.behind {
		return p.resume(ctx, im)
	}
	made := Made{Name: c.Name, Title: title(c.Details)}
	e, _, err := im.find(c.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !im.Again && im.removed(c.Name):
		made.State = Removed
		return made, nil
	case errors.Is(err, fs.ErrNotExist):
		made.State = New
		made.ID, err = creation{im}.one(ctx, c, p.isLocal())
		if errors.Is(err, fs.ErrExist) { // another import was faster
			if e, _, err = im.find(c.Name); err == nil {
				return im.update(ctx, e, made, growing(im, p, c))
			}
		}
		return made, err
	case err != nil:
		return made, err
	}
	return im.update(ctx, e, made, growing(im, p, c))
}

// A growth makes a conversation what it is with what its source says now, and reports whether it
// was something else. It changes nothing but what it is given.
type growth func(ctx context.Context, here *workspace.Conversation) (changed bool, err error)

func growing(im *Importer, p *prepared, c *sessions.Conversation) growth {
	return func(ctx context.Context, here *workspace.Conversation) (bool, error) {
		return im.grow(ctx, p.dialect, p.out.Session, here, c)
	}
}

// update lets a conversation grow.
func (im *Importer) update(
	ctx context.Context, e workspace.Entry, made Made, grow growth,
) (Made, error) {
	made.ID, made.State = e.ID, Unchanged
	apply := func(here *workspace.Conversation) error {
		changed, err := grow(ctx, here)
		if changed {
			made.State = Grown
		}
		made.Title = here.Title()
		return err
	}
	if !im.Dry {
		err := im.Workspace.Update(ctx, e.ID, apply)
		return made, err
	}
	here, err := im.Workspace.Load(e)
	if err == nil {
		err = apply(here)
	}
	return made, err
}

func title(d *events.Details) string {
	if d.Title == nil {
		return ""
	}
	return *d.Title
}

// grow makes here what it is with what the source says now. It changes nothing but here.
func (im *Importer) grow(
	ctx context.Context, d sessions.Dialect, s sessions.Session,
	here *workspace.Conversation, now *sessions.Conversation,
) (changed bool, err error) {
	was, err := im.before(ctx, d, s, here, now)
	if err != nil {
		return false, err
	}
	return unite(was, here, now)
}

// unite brings what the source says now into what is here, over what it said before.
func unite(
	was *sessions.Conversation, here *workspace.Conversation, now *sessions.Conversation,
) (changed bool, err error) {
	merged, err := threeway.Merge(side(was), threeway.Side{
		Stream: here.Stream, BaseConfig: here.BaseConfig, Source: threeway.SourceOf(here.Details),
	}, side(now))
	switch {
	case err != nil:
		return false, err
	case len(merged.Conflicts) > 0:
		return false, ErrConflict
	}
	base, mine := was.Details.Encode(), here.Details.Encode()
	details, err := threeway.Metadata(base, mine, now.Details.Encode())
	if err != nil {
		return false, err
	}
	if bytes.Equal(merged.Stream.Encode(), here.Stream.Encode()) && bytes.Equal(details, mine) {
		return false, nil
	}
	if here.Details, err = events.DecodeDetails(details); err != nil {
		return false, err
	}
	here.Stream = merged.Stream
	if merged.BaseConfig != nil {
		here.BaseConfig = merged.BaseConfig
	}
	return true, nil
}

func side(c *sessions.Conversation) threeway.Side {
	return threeway.Side{
		Stream: c.Stream, BaseConfig: c.BaseConfig, Source: threeway.SourceOf(c.Details),
	}
}

// before returns what the import made that is in here: of a source that only grows by reading as
// much of it again. Where it is not what it was, or another importer or other rules made it, what
// is here under the source's own keys is taken for it, and of what now says only what is new.
func (im *Importer) before(
	ctx context.Context, d sessions.Dialect, s sessions.Session,
	here *workspace.Conversation, now *sessions.Conversation,
) (*sessions.Conversation, error) {
	labels := here.Details.Labels
	v, ok := im.versionOf(here.Entry, here.Details)
	same := ok && v.Revision == sessions.Revision
	for _, label := range []string{sessions.LabelRules, sessions.LabelDir} {
		same = same && labels[label] == now.Details.Labels[label]
	}
	if same && d.Appends(s) && v.Length > 0 {
		all, err := im.read(ctx, d, s, v.Length, discard{})
		if err != nil {
			return nil, fmt.Errorf("read the first %d bytes again: %w", v.Length, err)
		}
		for _, c := range all {
			if c.Name == now.Name && c.Details.Labels[sessions.LabelImport] == v.String() {
				return c, nil
			}
		}
	}
	if !same && !im.Fresh {
		keepOld(here.Stream, now)
	}
	was := imported(here, now)
	if d.Appends(s) && !im.Fresh {
		was.Stream = events.New(common(here, now.Stream)...)
	}
	return was, nil
}

// common returns of what a source that only grows says what was imported before: as far as the last
// that is here. What lacks before that was removed here, and what is otherwise was changed; what is
// only here the source does not have, since it was continued in two places or is an older copy.
//
// Of what is behind that the turns were removed here that imports brought before.
func common(here *workspace.Conversation, now *events.Stream) (all []*events.Element) {
	has := map[string]bool{}
	for _, e := range here.Stream.All() {
		if key, ok := sourceKey(e); ok {
			has[key] = true
		}
	}
	end := 0
	for i, e := range now.All() {
		if key, ok := sourceKey(e); ok && has[key] {
			end = i + 1
		}
	}
	turns, removed := now.SourceTurns(), map[string]bool{}
	for _, name := range here.Details.ImportedTurns() {
		removed[name] = true
	}
	for _, name := range turns[:end] {
		delete(removed, name)
	}
	for i, e := range now.All() {
		if i < end || removed[turns[i]] {
			all = append(all, e)
		}
	}
	return all
}

// sourceKey returns what an element of an import is known by, with its kind.
func sourceKey(e *events.Element) (string, bool) {
	if key, ok := e.RecordKey(); ok {
		return key, true
	}
	key, ok := e.Metadata().Text(sessions.MetadataSource)
	return string(e.Kind()) + " " + key, ok
}

// keepOld puts the events that are here in the place of those that the source gives now: by other
// rules than those by which they were made.
func keepOld(here *events.Stream, now *sessions.Conversation) {
	old := map[string]*events.Element{}
	for _, e := range here.All() {
		if key, ok := e.Metadata().Text(sessions.MetadataSource); ok {
			old[string(e.Kind())+key] = e
		}
	}
	now.Stream = now.Stream.Revise(func(_ int, e *events.Element) *events.Element {
		key, ok := e.Metadata().Text(sessions.MetadataSource)
		if was := old[string(e.Kind())+key]; ok && was != nil {
			return was
		}
		return e
	})
}

// imported returns what of a conversation has keys of its source, with the starts of its turns.
func imported(
	here *workspace.Conversation, now *sessions.Conversation,
) *sessions.Conversation {
	var kept []*events.Element
	var start *events.Element
	said := here.Stream.SessionOf(here.Details.Resumed())
	for i, e := range here.Stream.All() {
		if said[i] != "" {
			continue // behind an export
		}
		if e.Kind() == events.KindTurnStart {
			start = e
			continue
		}
		_, ok := e.Metadata().Text(sessions.MetadataSource)
		if !ok && e.Kind() != sessions.KindRecord {
			continue
		}
		if start != nil {
			kept = append(kept, start)
			start = nil
		}
		kept = append(kept, e)
	}
	// What somebody may have changed is theirs: only what tells how much is in is the source's.
	d := now.Details.Clone()
	if at := here.Details.LastActivatedAt; !at.After(d.LastActivatedAt) {
		d.LastActivatedAt = at // else somebody used it here, later than the agent
	}
	for _, label := range []string{
		sessions.LabelImport, sessions.LabelRules, sessions.LabelDir,
	} {
		delete(d.Labels, label)
		if value, ok := here.Details.Labels[label]; ok {
			d.Labels[label] = value
		}
	}
	_ = d.SetRewound(here.Details.Rewound()) // they were read from a file
	_ = d.SetImportedTurns(here.Details.ImportedTurns())
	return &sessions.Conversation{
		Stream: events.New(kept...), Details: d, BaseConfig: here.BaseConfig,
	}
}

// discard is where the contents of what is there already go.
type discard struct{}

func (discard) Write(b []byte) (blobs.Ref, error) { return blobs.RefTo(b), nil }
