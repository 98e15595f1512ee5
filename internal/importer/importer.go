package importer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Importer takes sessions into one workspace.
type Importer struct {
	Workspace *workspace.Workspace
	Home      string // the user's
	// Options are those of each conversation. Writer, Root, Redact and Refuse are set by the
	// importer.
	Options sessions.Options
	// Rules are those by which secrets are left out; nil leaves out none.
	Rules *secrets.Rules
	// Own are the rules of the user's own secrets, which are of this machine. A session that has
	// one is refused, unless LeaveOwn says that they are left out of what is made here.
	Own      []*secrets.Rules
	LeaveOwn bool
	// Exceptions and Redactions are those that the workspace has committed to.
	Exceptions secrets.Exceptions
	Redactions secrets.Redactions
	// Restored says how much of its session a conversation has whose stream somebody restored to an
	// earlier state and whose metadata.json tells of a later one.
	Restored map[events.ID]events.ImportVersion
	Hold     bool // into user-local storage
	Again    bool // also what was removed
	// Fresh makes conversations anew by today's importer and rules, also where the source has not
	// grown.
	Fresh bool
	// Dry saves nothing.
	Dry bool

	known    known
	redacted knownRedacted
}

// A State says what an import is to a workspace.
type State string

// The states.
const (
	New       State = "new"
	Grown     State = "grown"
	Unchanged State = "unchanged"
	Removed   State = "removed"
)

// A Made is a conversation that an import made or let grow.
type Made struct {
	ID    events.ID
	Name  sessions.Name
	Title string
	State State
}

// An Outcome says what became of a session.
type Outcome struct {
	Session sessions.Session
	State   State
	Made    []Made
	Report  sessions.Report
	// Secrets are, of a dry run, the findings in what is new or made anew: what is left out, and
	// what is allowed.
	Secrets []secrets.Finding
	// Apart says why what an agent went on with behind an export is not in the conversation that
	// was exported.
	Apart error
}

var (
	// ErrConflict is for a conversation that was changed where its source changed too.
	ErrConflict = errors.New(
		"the conversation was changed in the turn that the agent went on with")
	// ErrRemoved is for a conversation that somebody removed here.
	ErrRemoved = errors.New("it was removed here")
	// ErrTaken is for a conversation whose id another one has here.
	ErrTaken = errors.New("there is a conversation of this id")
	// ErrOwnSecret is for a session in which a secret of the user's own is that no rule finds.
	ErrOwnSecret = errors.New("it has a secret of your environment or of a file .env")
)

// Look tells at a glance what an import of a session would do.
func (im *Importer) Look(s sessions.Session) (State, error) {
	e, d, err := im.find(s.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && im.removed(s.Name):
		return Removed, nil
	case errors.Is(err, fs.ErrNotExist) && s.Export != nil:
		return im.lookBehind(s)
	case errors.Is(err, fs.ErrNotExist):
		return New, nil
	case errors.Is(err, fs.ErrExist): // left out by the checkout
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
	if v, ok = im.Restored[e.ID]; ok && !e.Local {
		return v, true
	}
	return events.ParseImportVersion(d.Labels[sessions.LabelImport])
}

// Import takes in a session, and with it what was rewound in it and the sub-agents that have no
// source of their own.
func (im *Importer) Import(
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

// A prepared session was read, and its contents wait in a batch.
type prepared struct {
	dialect sessions.Dialect
	out     Outcome
	err     error
	batch   *blobs.Batch // nil where there is nothing to save
	all     []*sessions.Conversation
	made    []Made // of all, once they are saved
	saving  error  // what failed when they were

	// origin is what the session was exported from, and behind what of all goes on with that; both
	// are nil where there is none.
	origin  *origin
	behind  *sessions.Conversation
	rewound map[string][]string // behind the export, see [events.Details.Rewound]
}

// prepare reads what an import of a session takes in.
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
	if state == Removed && !im.Again || state == Unchanged && !im.Fresh {
		p.out.State = state
		if state == Removed && s.Export != nil && !im.removed(s.Name) {
			p.out.Apart = &apartError{s.Export.ID(), ErrElsewhere}
		}
		return p
	}
	if p.err = p.originate(ctx, im); p.err != nil {
		return p
	}
	store, err := im.store(p)
	if err != nil {
		p.err = err
		return p
	}
	batch := batchIn(store)
	if p.err = im.takeAll(ctx, p, batch); p.err == nil {
		p.err = im.reachable(p.all)
	}
	if p.err != nil {
		batch.Discard()
		return p
	}
	p.batch, p.out.Report = batch, p.all[0].Report
	return p
}

// finish saves what was prepared. Its contents are in the store, unless err says why not.
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

// saveAll saves the conversations of a session. Its own, the first, says how much was imported, so
// it is saved last: what was rewound or a sub-agent did would never be imported again where that
// failed before. A conflict would fail again and again, and keeps only its own conversation from
// growing.
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

// store returns where the contents of a session go: beside its conversation.
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

// Accept moves the conversations of imports that are held into the workspace, and returns them.
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

// add notes a conversation. The session is what its own conversation is, or grown where only one
// beside it is new.
func (o *Outcome) add(m Made) {
	if m.Name == o.Session.Name {
		o.State = m.State
	} else if o.State == Unchanged && m.State != Unchanged && m.State != Removed {
		o.State = Grown
	}
	o.Made = append(o.Made, m)
}

// read makes the conversations of a session, or of so much of it, without what was redacted in
// them. Where something was, contents are held until it is known which of them stay: the original
// is never in the store.
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

// takeAll reads a session for a workspace. Contents that streams have inline are in no store:
// nothing would refer to them there; nor are those of an export.
func (im *Importer) takeAll(ctx context.Context, p *prepared, w events.Writer) (err error) {
	if im.Workspace.Format() != workspace.FormatInline && p.origin == nil {
		p.all, err = im.read(ctx, p.dialect, p.out.Session, 0, w)
		return err
	}
	kept := held{}
	p.all, err = im.read(ctx, p.dialect, p.out.Session, 0, kept)
	if err == nil && p.origin != nil {
		err = p.choose(im)
	}
	for _, c := range p.all {
		if err == nil {
			err = im.settle(c.Stream, kept, w)
		}
	}
	return err
}

// settle gives a stream its contents in the form of the workspace, of those that are held.
func (im *Importer) settle(s *events.Stream, kept held, w events.Writer) error {
	if im.Workspace.Format() == workspace.FormatInline {
		if _, err := s.Inline(kept); err != nil {
			return err
		}
	}
	return kept.give(s, w)
}

// idOf returns the id that the conversation of a session has, or would get.
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

// held are contents that are not in a store yet.
type held map[blobs.Hash][]byte

// Write implements [events.Writer].
func (h held) Write(b []byte) (blobs.Ref, error) {
	ref := blobs.RefTo(b)
	if _, ok := h[ref.Hash]; !ok {
		h[ref.Hash] = bytes.Clone(b)
	}
	return ref, nil
}

// Read implements [blobs.Reader].
func (h held) Read(ref blobs.Ref) ([]byte, error) {
	b, ok := h[ref.Hash]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return b, nil
}

// give writes the contents that a stream refers to.
func (h held) give(s *events.Stream, w events.Writer) error {
	refs, err := events.References(s.Encode())
	for _, at := range refs {
		if b, ok := h[at.Ref.Hash]; ok && err == nil {
			_, err = w.Write(b)
		}
	}
	return err
}

// build makes the conversations as the source has them.
func (im *Importer) build(
	ctx context.Context, d sessions.Dialect, s sessions.Session, until int64, w events.Writer,
) ([]*sessions.Conversation, error) {
	o := im.Options
	o.Writer, o.Redact = w, im.redactor()
	if len(im.Own) > 0 {
		o.Refuse = im.refuse
	}
	return im.buildBy(ctx, o, d, s, until)
}

// buildBy is build by options of one's own.
func (im *Importer) buildBy(
	ctx context.Context, o sessions.Options, d sessions.Dialect, s sessions.Session, until int64,
) ([]*sessions.Conversation, error) {
	root, known := im.root(s)
	o.Root = root
	if s.Dir == "" || Belongs(s, im.Home) || known && sessions.HomeOf(s.Dir) == "" {
		o.Home = im.Home
	} // else it is that of somebody else, if it can be told at all
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
