package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
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
	State  State
	Made   []Made
	Report sessions.Report
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
	j := im.newJob(d, s)
	if err := j.prepare(ctx, (*blobs.Store).NewBatch); err != nil || j.batch == nil {
		return j.out, err
	}
	defer j.batch.Discard()
	if !im.Dry {
		j.err = j.batch.Commit()
	}
	return j.finish(ctx)
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
		accepted = append(accepted, Made{ID: e.ID, Name: n, Title: d.Name(), State: New})
	}
	return accepted, nil
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
