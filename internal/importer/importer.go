package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Importer imports sessions into one workspace.
type Importer struct {
	Workspace *workspace.Workspace
	Home      string // the user's
	// Options are the options for each conversation. The importer sets Writer, Root and Redact.
	Options sessions.Options
	// Rules find the secrets to redact; nil redacts none.
	Rules *secrets.Rules
	// Own are the rules for the user's own secrets, which only this machine has. A session that
	// contains one is refused, unless LeaveOwn is set: then the secrets are left out of what the
	// import writes.
	Own      []*secrets.Rules
	LeaveOwn bool
	// Exceptions and Redactions are those that the workspace has committed to.
	Exceptions secrets.Exceptions
	Redactions secrets.Redactions
	// Restored returns how much of its session is in each conversation whose stream was restored to
	// an earlier state than its metadata.json records; nil knows none. It is called often, from
	// several goroutines, but only when a session has a conversation.
	Restored func() map[events.ID]events.ImportVersion
	Hold     bool // into user-local storage
	Again    bool // also conversations that were removed
	// Fresh imports conversations again with the current importer and rules, even if the source has
	// not grown.
	Fresh bool
	// Dry saves nothing.
	Dry bool

	known    known
	redacted knownRedacted
}

// A State is the effect of an import on a workspace.
type State string

// The states.
const (
	New       State = "new"
	Grown     State = "grown"
	Unchanged State = "unchanged"
	Removed   State = "removed"
)

// A Made is a conversation that an import created or extended.
type Made struct {
	ID    events.ID
	Name  sessions.Name
	Title string
	State State
}

// An Outcome is the result for a session.
type Outcome struct {
	Session sessions.Session
	State   State
	Made    []Made
	Report  sessions.Report
	// Secrets has, in a dry run, the findings in new or rebuilt conversations: those to redact, and
	// those that are allowed.
	Secrets []secrets.Finding
	// Apart is the reason why turns that an agent added to an export are not in the exported
	// conversation, or those of a copy not in that of the session.
	Apart error
}

var (
	// ErrConflict reports a conversation that was changed where its source changed too.
	ErrConflict = errors.New(
		"the conversation was changed in the turn that the agent went on with")
	// ErrOtherCopy reports a copy of a session that has a turn otherwise than is here.
	ErrOtherCopy = errors.New("a copy of it, differs in a turn and was not imported")
	// ErrRemoved reports a conversation that was removed here.
	ErrRemoved = errors.New("it was removed here")
	// ErrTaken reports a conversation whose id is taken by another one here.
	ErrTaken = errors.New("a conversation with this id exists")
	// errOvertaken reports a state of a session that was read before another import saved one.
	errOvertaken = errors.New("another import is saving it again and again")
	// ErrOwnSecret reports a session with a secret of the user's own that no rule finds.
	ErrOwnSecret = errors.New("it contains a secret from your environment or a .env file")
)

// Look predicts the effect of importing a session without reading all of it.
func (im *Importer) Look(s sessions.Session) (State, error) {
	e, d, err := im.find(s.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && removed(im.Workspace, s.Name):
		return Removed, nil
	case errors.Is(err, fs.ErrNotExist) && s.Export != nil:
		return im.lookBehind(s)
	case errors.Is(err, fs.ErrNotExist):
		return New, nil
	case errors.Is(err, fs.ErrExist): // left out by the sparse checkout
		return "", err
	case err != nil:
		return "", fmt.Errorf("look for %s: %w", e.ID, err)
	}
	v, ok := im.versionOf(e, d)
	if ok && s.Length > 0 && v.Length == s.Length {
		return Unchanged, nil
	}
	return Grown, nil
}

// versionOf returns how much of its session a conversation has.
func (im *Importer) versionOf(
	e workspace.Entry, d *events.Details,
) (v events.ImportVersion, ok bool) {
	if im.Restored != nil && !e.Local {
		if v, ok = im.Restored()[e.ID]; ok {
			return v, true
		}
	}
	return events.ParseImportVersion(d.Labels[sessions.LabelImport])
}

// Import imports a session, its rewound forks and the sub-agents without a source of their own.
func (im *Importer) Import(
	ctx context.Context, d sessions.Dialect, s sessions.Session,
) (Outcome, error) {
	for range maxOvertaken {
		out, err := im.once(ctx, d, s)
		if !errors.Is(err, errOvertaken) {
			return out, err
		}
	}
	return im.once(ctx, d, s)
}

// maxOvertaken limits how often a session is read again because another import saved it meanwhile.
const maxOvertaken = 5

func (im *Importer) once(
	ctx context.Context, d sessions.Dialect, s sessions.Session,
) (Outcome, error) {
	p := im.prepare(ctx, d, s, (*blobs.Store).NewBatch)
	if p.batch == nil {
		return p.out, p.err
	}
	defer p.batch.Discard()
	if !im.Dry {
		p.err = p.batch.Commit()
	}
	return im.finish(ctx, p)
}

// A prepared session was read, and its contents are in a batch.
type prepared struct {
	dialect sessions.Dialect
	out     Outcome
	err     error
	batch   *blobs.Batch // nil if there is nothing to save
	all     []*sessions.Conversation
	// kept has the contents of conversations that are here or were removed, until it is known which
	// of them the conversations refer to; nil if there are no such conversations.
	kept   held
	made   []Made // of all, once they are saved
	saving error  // the error of saving
	// isSame says that the session is unchanged: what is here of it stays as it is.
	isSame bool
	had    events.ImportVersion // how much was here of the session before it was read

	// origin is the conversation that the session was exported from, and behind the one of all that
	// continues it; both are nil if there is none.
	origin  *origin
	behind  *sessions.Conversation
	rewound map[string][]string // after the export, see [events.Details.Rewound]
}

// prepare reads a session and converts it to conversations.
func (im *Importer) prepare(
	ctx context.Context, d sessions.Dialect, s sessions.Session,
	batchIn func(*blobs.Store) *blobs.Batch,
) *prepared {
	p := &prepared{dialect: d, out: Outcome{Session: s, State: Unchanged}}
	state, err := im.Look(s)
	if err != nil {
		p.err = err
		return p
	}
	p.isSame = state == Unchanged && !im.Fresh
	// Of an unchanged session a rewound fork or a sub-agent may have been removed.
	isAgain := im.Again && s.Export == nil
	if state == Removed && !im.Again || p.isSame && !isAgain {
		p.out.State = state
		if state == Removed && s.Export != nil && !removed(im.Workspace, s.Name) {
			p.out.Apart = &apartError{s.Export.ID(), ErrElsewhere}
		}
		return p
	}
	if p.err = p.originate(ctx, im); p.err != nil {
		return p
	}
	if e, here, err := im.find(s.Name); err == nil {
		p.had, _ = im.versionOf(e, here)
	}
	store, err := im.store(p)
	if err != nil {
		p.err = err
		return p
	}
	batch := batchIn(store)
	if p.err = p.takeAll(ctx, im, batch); p.err == nil && !p.isSame {
		p.err = leaving{im}.keep(p)
	}
	if p.err == nil {
		p.err = im.reachable(p.all)
	}
	if p.err != nil {
		batch.Discard()
		return p
	}
	p.batch, p.out.Report = batch, p.all[0].Report
	return p
}

// isOvertaken reports whether another import saved the session since it was read, of which version
// v is here now. Of a source that changes in place nothing else tells which state is the later.
func (p *prepared) isOvertaken(now *sessions.Conversation, v events.ImportVersion) bool {
	s := p.out.Session
	return !p.dialect.Appends(s) && now.Name == s.Name && v != p.had
}

// finish saves a prepared session. Its contents are in the store, unless err is set.
func (im *Importer) finish(ctx context.Context, p *prepared) (Outcome, error) {
	if p.err != nil {
		return p.out, fmt.Errorf("write blobs: %w", p.err)
	}
	if p.made == nil {
		p.made, p.saving = im.saveAll(ctx, p)
	}
	if p.saving != nil {
		return p.out, p.saving
	}
	for _, m := range p.made {
		p.out.add(m)
	}
	var err error
	if im.Dry {
		p.out.Secrets, err = im.Findings(ctx, p.dialect, p.out.Session)
	}
	return p.out, err
}

// saveAll saves the conversations of a session. The session's own conversation, the first, records
// how much was imported, so it is saved last: if a fork or a sub-agent failed after it, that would
// never be imported. A conflict would fail again every time, so it stops only the growth of its own
// conversation.
func (im *Importer) saveAll(ctx context.Context, p *prepared) (made []Made, err error) {
	made = make([]Made, len(p.all))
	var conflicts error
	for i, c := range slices.Backward(p.all) {
		made[i], err = im.save(ctx, p, c)
		if err != nil {
			err = fmt.Errorf("%s: %w", c.Name, err)
		}
		if errors.Is(err, ErrConflict) {
			conflicts, err = errors.Join(err, conflicts), nil
		}
		if err != nil {
			break
		}
	}
	return made, cmp.Or(err, conflicts)
}

// store returns the blob store for a session: that of its conversation.
func (im *Importer) store(p *prepared) (*blobs.Store, error) {
	if p.origin != nil {
		return im.Workspace.BlobsOf(p.origin.Entry), nil
	}
	e, _, err := im.find(p.out.Session.Name)
	if errors.Is(err, fs.ErrNotExist) && im.Hold {
		if err := im.Workspace.MakeUserDir(); err != nil {
			return nil, err
		}
		e, err = workspace.Entry{Local: true}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return im.Workspace.BlobsOf(e), nil
}

// Accept moves user-local conversations of imports into the workspace, and returns them.
func (im *Importer) Accept(ctx context.Context) (accepted []Made, err error) {
	entries, _, err := im.Workspace.List(workspace.ListOptions{Archived: true, Local: true})
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Local || !e.ID.IsDerived() {
			continue
		}
		d, err := im.Workspace.LoadDetails(e)
		if err != nil {
			return accepted, err
		}
		n, ok := sessions.ParseName(d.Labels[sessions.LabelSession])
		if !ok {
			continue
		}
		if _, err := im.Workspace.Publish(ctx, e.ID); err != nil {
			return accepted, err
		}
		accepted = append(accepted, Made{ID: e.ID, Name: n, Title: title(d), State: New})
	}
	return accepted, nil
}

// add records a conversation. The state of the session is that of its own conversation, or grown if
// only another one is new.
func (o *Outcome) add(m Made) {
	if m.Name == o.Session.Name {
		o.State = m.State
	} else if o.State == Unchanged && m.State != Unchanged && m.State != Removed {
		o.State = Grown
	}
	o.Made = append(o.Made, m)
}

// read builds the conversations of a session, or of its first until bytes, with redactions applied.
// If anything was redacted, contents are held in memory until it is known which remain: the
// original is never stored.
func (im *Importer) read(
	ctx context.Context, d sessions.Dialect, s sessions.Session, until int64, w events.Writer,
) ([]*sessions.Conversation, error) {
	if len(im.Redactions) == 0 {
		return im.build(ctx, d, s, until, w)
	}
	im.knowRedacted()
	all, err := im.build(ctx, d, s, until, discard{})
	if err != nil || !slices.ContainsFunc(all, im.isRedacted) {
		return im.build(ctx, d, s, until, w)
	}
	kept := held{}
	if all, err = im.build(ctx, d, s, until, kept); err != nil {
		return nil, err
	}
	for _, c := range all {
		c.Stream, err = im.redact(im.idOf(c.Name), c.Stream, c.Details, kept)
		if err == nil {
			err = kept.give(c.Stream, w)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return all, nil
}

// idOf returns the id of a session's conversation, or the one that it would get.
func (im *Importer) idOf(n sessions.Name) events.ID {
	if id, ok := im.known.origin(n); ok {
		return id
	}
	if e, _, err := im.find(n); err == nil {
		return e.ID
	}
	id, err := im.free(n)
	if err != nil {
		return n.IDs()[0]
	}
	return id
}

// build builds the conversations of the source, without redactions.
func (im *Importer) build(
	ctx context.Context, d sessions.Dialect, s sessions.Session, until int64, w events.Writer,
) ([]*sessions.Conversation, error) {
	o := im.Options
	o.Writer, o.Redact = w, im.redactor()
	if len(im.Own) > 0 {
		o.Refuse = refuse(im.Own)
	}
	return im.buildBy(ctx, o, d, s, until)
}

// buildBy is build with other options.
func (im *Importer) buildBy(
	ctx context.Context, o sessions.Options, d sessions.Dialect, s sessions.Session, until int64,
) ([]*sessions.Conversation, error) {
	root, known := im.root(s)
	o.Root = root
	if s.Dir == "" || regular.PrefixOf(s.Dir, im.Home) != "" ||
		known && sessions.HomeOf(s.Dir) == "" {
		o.Home = im.Home
	} // otherwise the home is another user's, or unknown
	b := sessions.NewBuilder(s, o)
	v, err := d.Read(ctx, s, until, b)
	if err != nil {
		return nil, err
	}
	all, err := b.Finish(v)
	for _, c := range all {
		if im.Rules != nil {
			c.Details.Labels[sessions.LabelRules] = im.rulesOf(c.Name)
		}
		if known {
			c.Details.Labels[sessions.LabelDir] = below(s, root)
		}
	}
	return all, err
}
