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
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A job is the import of one session.
type job struct {
	*Importer

	dialect sessions.Dialect
	session sessions.Session
	out     Outcome
	batch   *blobs.Batch // has its contents; nil if there is nothing to save
	err     error        // of storing these
	all     []*sessions.Conversation
	// kept has the contents of conversations that are here or were removed, until it is known which
	// of them the conversations refer to; nil if there are no such conversations.
	kept   held
	made   []Made // of all, once they are saved
	saving error  // the error of saving
	// isSame says that the session is unchanged: what is here of it stays as it is.
	isSame bool
	had    string // the label of how much was here of the session before it was read

	// origin is the conversation that the session was exported from, and behind the one of all that
	// continues it; both are nil if there is none.
	origin  *origin
	behind  *sessions.Conversation
	rewound map[string][]string // after the export, see [events.Details.Rewound]
}

func (im *Importer) newJob(d sessions.Dialect, s sessions.Session) *job {
	return &job{Importer: im, dialect: d, session: s, out: Outcome{State: Unchanged}}
}

// prepare reads the session and converts it to conversations.
func (j *job) prepare(
	ctx context.Context, batchIn func(*blobs.Store) *blobs.Batch,
) error {
	s := j.session
	state, err := j.Look(s)
	if err != nil {
		return err
	}
	j.isSame = state == Unchanged && !j.Fresh
	// Of an unchanged session a rewound fork or a sub-agent may have been removed.
	isAgain := j.Again && s.Export == nil
	if state == Removed && !j.Again || j.isSame && !isAgain {
		j.out.State = state
		if state == Removed && s.Export != nil && !removed(j.Workspace, s.Name) {
			j.out.Apart = &apartError{s.Export.ID(), ErrElsewhere}
		}
		return nil
	}
	if err := j.originate(ctx); err != nil {
		return err
	}
	if _, here, err := j.find(s.Name); err == nil {
		j.had = here.Labels[sessions.LabelImport]
	}
	store, err := j.store()
	if err != nil {
		return err
	}
	batch := batchIn(store)
	if err = j.takeAll(ctx, batch); err == nil && !j.isSame {
		err = j.keepDeleted()
	}
	if err == nil {
		err = j.reachable()
	}
	if err != nil {
		batch.Discard()
		return err
	}
	j.batch, j.out.Report = batch, j.all[0].Report
	return nil
}

// appends reports whether the source only grows.
func (j *job) appends() bool { return j.dialect.Appends(j.session) }

// isOvertaken reports whether another import saved the session since it was read. Of a source that
// changes in place nothing else tells which state is the later; the label here does, also where
// [Importer.Restored] knows another version.
func (j *job) isOvertaken(now *sessions.Conversation, here *events.Details) bool {
	return !j.appends() && now.Name == j.session.Name && here.Labels[sessions.LabelImport] != j.had
}

// finish saves a prepared session. Its contents are in the store, unless err is set.
func (j *job) finish(ctx context.Context) (Outcome, error) {
	if j.err != nil {
		return j.out, fmt.Errorf("write blobs: %w", j.err)
	}
	if j.made == nil {
		j.made, j.saving = j.saveAll(ctx)
	}
	if j.saving != nil {
		return j.out, j.saving
	}
	for _, m := range j.made {
		j.note(m)
	}
	var err error
	if j.Dry {
		j.out.Secrets, err = j.findings(ctx)
	}
	return j.out, err
}

// note adds a conversation to the outcome. The state of the session is that of its own
// conversation, or grown if only another one is new.
func (j *job) note(m Made) {
	if m.Name == j.session.Name {
		j.out.State = m.State
	} else if j.out.State == Unchanged && m.State != Unchanged && m.State != Removed {
		j.out.State = Grown
	}
	j.out.Made = append(j.out.Made, m)
}

// saveAll saves the conversations of a session. The session's own conversation, the first, records
// how much was imported, so it is saved last: if a fork or a sub-agent failed after it, that would
// never be imported. A conflict would fail again every time, so it stops only the growth of its own
// conversation.
func (j *job) saveAll(ctx context.Context) (made []Made, err error) {
	made = make([]Made, len(j.all))
	var conflicts error
	for i, c := range slices.Backward(j.all) {
		made[i], err = j.save(ctx, c)
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

// store returns the blob store for the session: that of its conversation.
func (j *job) store() (*blobs.Store, error) {
	if j.origin != nil {
		return j.Workspace.BlobsOf(j.origin.Entry), nil
	}
	e, _, err := j.find(j.session.Name)
	if errors.Is(err, fs.ErrNotExist) && j.Hold {
		if err := j.Workspace.MakeUserDir(); err != nil {
			return nil, err
		}
		e, err = workspace.Entry{Local: true}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return j.Workspace.BlobsOf(e), nil
}

// reachable returns an error if a conversation of the session cannot be saved because a sparse
// checkout leaves it out. It is called before any content is written.
func (j *job) reachable() error {
	for _, c := range j.all {
		_, _, err := j.lookUp(ofSession(c.Name))
		if left, ok := errors.AsType[*workspace.LeftOutError](err); ok {
			return left
		}
	}
	return nil
}

// read builds the conversations of the session, or of its first until bytes, with redactions
// applied. If anything was redacted, contents are held in memory until it is known which remain:
// the original is never stored.
func (j *job) read(
	ctx context.Context, until int64, w events.Writer,
) ([]*sessions.Conversation, error) {
	if len(j.Redactions) == 0 {
		return j.build(ctx, until, w)
	}
	j.knowRedacted()
	all, err := j.build(ctx, until, discard{})
	if err != nil || !slices.ContainsFunc(all, j.isRedacted) {
		return j.build(ctx, until, w)
	}
	kept := held{}
	if all, err = j.build(ctx, until, kept); err != nil {
		return nil, err
	}
	for _, c := range all {
		c.Stream, err = j.redact(j.idOf(c.Name), c.Stream, c.Details, kept)
		if err == nil {
			err = kept.give(c.Stream, w)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return all, nil
}

// build builds the conversations of the source, without redactions.
func (j *job) build(
	ctx context.Context, until int64, w events.Writer,
) ([]*sessions.Conversation, error) {
	o := j.Options
	o.Writer, o.Redact = w, j.redactor()
	if len(j.Own) > 0 {
		o.Refuse = refuse(j.Own)
	}
	return j.buildBy(ctx, o, until)
}

// buildBy is build with other options.
func (j *job) buildBy(
	ctx context.Context, o sessions.Options, until int64,
) ([]*sessions.Conversation, error) {
	s := j.session
	root, known := j.root()
	o.Root = root
	if s.Dir == "" || regular.PrefixOf(s.Dir, j.Home) != "" ||
		known && sessions.HomeOf(s.Dir) == "" {
		o.Home = j.Home
	} // otherwise the home is another user's, or unknown
	b := sessions.NewBuilder(s, o)
	v, err := j.dialect.Read(ctx, s, until, b)
	if err != nil {
		return nil, err
	}
	all, err := b.Finish(v)
	for _, c := range all {
		if j.Rules != nil {
			c.Details.Labels[sessions.LabelRules] = j.rulesOf(c.Name)
		}
		if known {
			c.Details.Labels[sessions.LabelDir] = below(s, root)
		}
	}
	return all, err
}
