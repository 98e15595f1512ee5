package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// save creates a conversation or extends it.
func (j *job) save(ctx context.Context, c *sessions.Conversation) (Made, error) {
	if c == j.behind {
		return j.resume(ctx)
	}
	made := Made{Name: c.Name, Title: c.Details.Name()}
	e, _, err := j.find(c.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && j.isRemoved(c.Name):
		made.State = Removed
		return made, nil
	case errors.Is(err, fs.ErrNotExist):
		made.State = New
		made.ID, err = j.create(ctx, c)
		if !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		if e, _, err = j.find(c.Name); err != nil { // another import was faster
			return made, err
		}
	case err == nil && j.isSame:
		made.ID, made.State = e.ID, Unchanged
		return made, nil
	case err != nil:
		return made, err
	}
	return j.update(ctx, e, made, func(here *workspace.Conversation) (bool, error) {
		return j.grow(ctx, here, c)
	})
}

// update extends a conversation by grow, which updates it to the current state of its source and
// reports whether it changed.
func (j *job) update(
	ctx context.Context, e workspace.Entry, made Made,
	grow func(here *workspace.Conversation) (changed bool, err error),
) (Made, error) {
	made.ID, made.State = e.ID, Unchanged
	apply := func(here *workspace.Conversation) error {
		changed, err := grow(here)
		if changed {
			made.State = Grown
		}
		if changed && err == nil && !j.Dry {
			err = j.supply(here.Stream, j.Workspace.BlobsOf(here.Entry))
		}
		made.Title = here.Title()
		return err
	}
	if !j.Dry {
		err := j.Workspace.Update(ctx, e.ID, apply)
		return made, err
	}
	here, err := j.Workspace.Load(e)
	if err == nil {
		err = apply(here)
	}
	return made, err
}

// grow updates here to the current state of the source. It changes nothing else.
func (j *job) grow(
	ctx context.Context, here *workspace.Conversation, now *sessions.Conversation,
) (changed bool, err error) {
	appends := j.appends()
	v, _ := j.versionOf(here.Entry, here.Details)
	if j.isOvertaken(now, here.Details) {
		return false, errOvertaken
	}
	damaged, err := j.isDamaged(ctx, v, now)
	if err != nil || damaged && now.Version().Length == v.Length {
		return false, err
	}
	older := damaged || isOlder(v, here, now, appends)
	if older && !appends {
		return false, nil
	}
	part := parting{}
	if !appends {
		part = partingOf(here, now)
	}
	if part.copied { // what was taken back here does not come back from a copy
		now = &sessions.Conversation{
			Stream: withoutTurns(now.Stream, part.rewound), Details: now.Details,
			BaseConfig: now.BaseConfig,
		}
	}
	was, err := j.before(ctx, here, now, older)
	if older && err == nil {
		err = sameTitle(now.Details, was.Details)
	}
	if err == nil {
		err = carry(here, now, appends)
	}
	if err != nil {
		return false, err
	}
	if !part.copied {
		return unite(was, here, now)
	}
	was.Stream = withoutTurns(was.Stream, part.left) // it removed nothing
	before := *here
	changed, err = unite(was, here, now)
	if err == nil && bytes.Equal(here.Stream.Encode(), before.Stream.Encode()) {
		*here, changed = before, false // it has nothing to add, so its title does not count
	}
	return changed, err
}

// isOlder reports whether a source is an older copy of what is here: of one that only grows a
// shorter one. One that changes in place would remove what was said since. If it only became
// smaller, because the person went back, it has a later event; it may also have been longer. One
// that has everything that is here, and more, is not older, whatever the clock said.
func isOlder(
	v events.ImportVersion, here *workspace.Conversation, now *sessions.Conversation, appends bool,
) bool {
	shorter, last := now.Version().Length < v.Length, now.Details.LastActivatedAt
	if v.Length == 0 || appends { // 0 is of no known import
		return shorter
	}
	is, was := now.Stream, here.Stream
	if part := partingOf(here, now); part.copied {
		is, was = withoutTurns(is, part.rewound), withoutTurns(was, part.left)
	}
	more, lacks, later := saidBy(is), false, false
	for i, key := range sourceKeys(was) {
		e := was.At(i)
		if _, is := e.Metadata().Text(sessions.MetadataSource); is {
			lacks = lacks || !more[key]
			later = later || e.Time().After(last) || shorter && e.Time().Equal(last)
		}
	}
	for key := range saidBy(was) {
		delete(more, key)
	}
	return later && (lacks || len(more) == 0)
}

// saidBy is the set of the keys of imported events, without those that divide a turn.
func saidBy(s *events.Stream) map[string]bool {
	all := map[string]bool{}
	for i, key := range sourceKeys(s) {
		if s.At(i).Kind().IsEvent() && key != "" && !strings.HasSuffix(key, events.SplitSuffix) {
			all[key] = true
		}
	}
	return all
}

// sameTitle gives details the title that others got from their source.
func sameTitle(d, as *events.Details) error {
	const key = events.MetadataPrefix + "title"
	v, _ := as.Value(key)
	d.Title = as.Title
	return d.SetValue(key, v)
}

// unite merges the current state of the source into here, with its earlier state as the base.
func unite(
	was *sessions.Conversation, here *workspace.Conversation, now *sessions.Conversation,
) (changed bool, err error) {
	source := threeway.SourceOf(here.Details)
	// Of two states with the same length a hash would decide; the one read just now is the later.
	source.Version.Hash = ""
	base, theirs := side(was), side(now)
	base.Stream, theirs.Stream = withoutRemoved(was.Stream, now.Stream, here.Stream)
	merged, err := threeway.Merge(base, threeway.Side{
		Stream: here.Stream, BaseConfig: here.BaseConfig, Source: source,
	}, theirs)
	switch {
	case err != nil:
		return false, err
	case len(merged.Conflicts) > 0:
		return false, ErrConflict
	}
	mine, more := here.Details.Encode(), now.Details
	if source.Session != "" && source.Version.Compare(theirs.Source.Version) > 0 {
		// An older copy of the session: nothing goes back to it.
		_, more = threeway.AgreedDetails(here.Details, more)
	}
	details, err := threeway.Metadata(was.Details.Encode(), mine, more.Encode())
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

// before returns the part of here that came from an import: for a source that only grows, by
// reading that part again. If that part changed, or another importer or other rules made it, or
// here has more of the source, before takes the elements of here with the source's keys for it, and
// the turns that imports brought and that were removed here; from now, only new elements count.
func (j *job) before(
	ctx context.Context, here *workspace.Conversation, now *sessions.Conversation, older bool,
) (*sessions.Conversation, error) {
	labels, appends := here.Details.Labels, j.appends()
	v, ok := j.versionOf(here.Entry, here.Details)
	same := ok && v.Revision == sessions.Revision
	for _, label := range []string{sessions.LabelRules, sessions.LabelDir} {
		same = same && labels[label] == now.Details.Labels[label]
	}
	// An older state may be that of another copy, or was read before another import read more.
	if same && appends && v.Length > 0 && !older {
		all, err := j.read(ctx, v.Length, discard{})
		if err != nil {
			return nil, fmt.Errorf("read the first %d bytes again: %w", v.Length, err)
		}
		for _, c := range all {
			if c.Name == now.Name && c.Details.Labels[sessions.LabelImport] == v.String() &&
				covers(c.Stream, here.Stream, now.Stream) {
				if isBrought(c.Stream, here) {
					return c, nil
				}
				was := imported(here, now)
				was.Stream.Append(removedOf(here, now.Stream)...)
				return was, nil
			}
		}
	}
	// What an older copy or a damaged one does not have is not removed.
	fresh := j.Fresh && !older
	if !same && !fresh {
		keepOld(here.Stream, now)
		if ok {
			stayBehind(here.Details, now, v)
		}
	}
	was := imported(here, now)
	switch {
	case fresh && appends:
		was.Stream = saysOf(was.Stream, here, now)
	case fresh:
	case appends:
		was.Stream = events.New(common(here, now.Stream)...)
	default:
		was.Stream.Append(removedOf(here, now.Stream)...)
	}
	return was, nil
}

// covers reports whether an earlier part of a source has all of the source that is here. It has not
// if a later revision imported less than an earlier one: of both, a merge has everything, and the
// label of the later one.
func covers(then, here, now *events.Stream) bool {
	more := keysOf(now)
	for _, key := range sourceKeys(then) {
		delete(more, key)
	}
	return !slices.ContainsFunc(sourceKeys(here), func(key string) bool { return more[key] })
}

// isBrought reports whether imports brought all turns of an earlier part of a source that are not
// here. The file with the beginning of a fork may have been gone then.
func isBrought(then *events.Stream, here *workspace.Conversation) bool {
	known := missingTurns(here, nil)
	for _, name := range here.Stream.SourceTurns() {
		known[name] = true
	}
	return len(here.Details.ImportedTurns()) == 0 ||
		!slices.ContainsFunc(then.SourceTurns(), func(name string) bool {
			return name != "" && !known[name]
		})
}

// common returns the elements of a growing source that were imported before: up to the last event
// that is here. The record of a turn says nothing about that: it follows what the agent says in the
// turn since. An element missing before that was removed here, and a different one was changed
// here. Elements that only here has are not in the source, because the session was continued in two
// places or the file is an older copy.
//
// After that it adds the turns that imports brought and that were removed here.
func common(here *workspace.Conversation, now *events.Stream) (all []*events.Element) {
	has := keysOf(here.Stream)
	end := 0
	for i, key := range sourceKeys(now) {
		if has[key] && now.At(i).Kind().IsEvent() {
			end = i + 1
		}
	}
	turns := now.SourceTurns()
	removed := missingTurns(here, turns[:end])
	for i, e := range now.All() {
		if i < end || removed[turns[i]] {
			all = append(all, e)
		}
	}
	return append(all, lastRecords(here.Stream, now, end)...)
}

// lastRecords returns the records of the last turn that was imported whose numbers the source does
// not give it now, if the common events end in that turn. It gives them anew: another revision
// counted the records before them differently.
func lastRecords(here, now *events.Stream, end int) (all []*events.Element) {
	last := -1
	keys, turns := sourceKeys(here), here.TurnOf()
	for i, key := range keys {
		if key != "" && here.At(i).Kind().IsEvent() {
			last = i
		}
	}
	if last < 0 || end == 0 || keys[last] != sourceKeys(now)[end-1] {
		return nil
	}
	given := keysOf(now)
	for i, e := range here.All() {
		if _, ok := e.RecordKey(); ok && turns[i] == turns[last] && !given[keys[i]] {
			all = append(all, e)
		}
	}
	return all
}

// saysOf returns what was imported before without the turns of which a source has nothing, not even
// in what was rewound: another copy of it brought them.
func saysOf(
	was *events.Stream, here *workspace.Conversation, now *sessions.Conversation,
) *events.Stream {
	others := notRewound(now.Details, here.Stream)
	delete(others, "")
	dropShared(others, here.Stream, now.Stream)
	return withoutTurns(was, others)
}

// isDamaged reports whether lines of a source that is imported again cannot be read, and could be
// when it was imported.
func (j *job) isDamaged(
	ctx context.Context, v events.ImportVersion, now *sessions.Conversation,
) (bool, error) {
	if !j.Fresh || len(now.Report.Broken) == 0 || !j.appends() {
		return false, nil
	}
	then, err := j.read(ctx, v.Length, discard{})
	return err == nil && !slices.ContainsFunc(then, func(c *sessions.Conversation) bool {
		return c.Name == now.Name && c.Version().Hash == v.Hash
	}), err
}

// missingTurns returns the names of the turns that imports brought and that are not in a list.
func missingTurns(here *workspace.Conversation, there []string) map[string]bool {
	missing := lists.Set(here.Details.ImportedTurns())
	for _, name := range there {
		delete(missing, name)
	}
	return missing
}

// keysOf is the set of the keys of imported elements.
func keysOf(s *events.Stream) map[string]bool {
	all := map[string]bool{}
	for _, key := range sourceKeys(s) {
		all[key] = key != ""
	}
	return all
}

// sourceKeys returns the keys of imported elements, with their kinds, and "" for any other.
func sourceKeys(s *events.Stream) []string {
	keys := s.RecordKeys()
	for i, e := range s.All() {
		if key, ok := e.Metadata().Text(sessions.MetadataSource); ok {
			keys[i] = string(e.Kind()) + " " + key
		}
	}
	return keys
}

// keepOld keeps the events that are here in place of those that the source gives now under other
// rules. Of an event that says the same the annotations follow the source: in an open turn the
// count of tokens moves to a later event.
func keepOld(here *events.Stream, now *sessions.Conversation) {
	old := map[string]*events.Element{}
	for _, e := range here.All() {
		if key, ok := e.Metadata().Text(sessions.MetadataSource); ok {
			old[string(e.Kind())+key] = e
		}
	}
	now.Stream = now.Stream.Revise(func(_ int, e *events.Element) *events.Element {
		key, ok := e.Metadata().Text(sessions.MetadataSource)
		was := old[string(e.Kind())+key]
		switch {
		case !ok || was == nil:
			return e
		case events.Equal(was, e):
			return was.WithMetadata(e.Metadata()) // its contents stay where they are
		default:
			return was
		}
	})
}

// stayBehind records that other rules, or another importer, made what is kept: only importing again
// by those of today brings all of it up to date, however often the session grows until then.
func stayBehind(here *events.Details, now *sessions.Conversation, v events.ImportVersion) {
	as := now.Version()
	as.Revision = min(as.Revision, v.Revision)
	now.Details.Labels[sessions.LabelImport] = as.String()
	takeLabels(now.Details, here, sessions.LabelRules, sessions.LabelDir)
}

// takeLabels gives details the values of some labels in others, and removes those that these lack.
func takeLabels(d, from *events.Details, labels ...string) {
	for _, label := range labels {
		delete(d.Labels, label)
		if value, ok := from.Labels[label]; ok {
			d.Labels[label] = value
		}
	}
}

// imported returns the elements of a conversation that have keys of its source, or are summaries of
// it, and the starts of their turns.
func imported(
	here *workspace.Conversation, now *sessions.Conversation,
) *sessions.Conversation {
	var kept []*events.Element
	var start *events.Element
	said := here.Stream.SessionOf(here.Details.Resumed())
	brought := lists.Set(slices.Concat(here.Details.ImportedTurns(), now.Details.ImportedTurns()))
	for i, e := range here.Stream.All() {
		if said[i] != "" {
			continue // after an export
		}
		if e.Kind() == events.KindTurnStart {
			start = e
			continue
		}
		_, ok := e.Metadata().Text(sessions.MetadataSource)
		if !ok && e.Kind() != sessions.KindRecord && !brought[summaryOf(e)] {
			continue
		}
		if start != nil {
			kept = append(kept, start)
			start = nil
		}
		kept = append(kept, e)
	}
	// Anything that a person may have changed is kept: only what records how much was imported is
	// the source's.
	d := now.Details.Clone()
	if at := here.Details.LastActivatedAt; !at.After(d.LastActivatedAt) {
		d.LastActivatedAt = at // otherwise it was used here after the agent
	}
	takeLabels(d, here.Details, sessions.LabelImport, sessions.LabelRules, sessions.LabelDir)
	if title, set := here.Details.Title, here.Details.IsTitled(); title != nil && !set {
		_ = d.SetImportTitle(*title) // it was read from a file; the source may have another now
	} else if _, was := here.Details.Value(events.MetadataPrefix + "title"); title == nil && !was {
		_ = sameTitle(d, here.Details) // the source had none yet
	}
	_ = d.SetRewound(here.Details.Rewound()) // they were read from a file
	_ = d.SetImportedTurns(here.Details.ImportedTurns())
	return &sessions.Conversation{
		Stream: events.New(kept...), Details: d, BaseConfig: here.BaseConfig,
	}
}

// summaryOf returns the name of a compaction among what imports brought, "" for any other element.
func summaryOf(e *events.Element) string {
	if c, ok := e.Event().(*events.Compaction); ok && c.Summary != nil {
		return sessions.SummaryName(*c.Summary)
	}
	return ""
}

// discard discards contents: they are stored already, or not yet.
type discard struct{}

func (discard) Write(b []byte) (blobs.Ref, error) { return blobs.RefTo(b), nil }
