package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options selects the repairs.
type Options struct {
	Sources

	// Cache stores what streams refer to. It may be nil.
	Cache *refs.Cache
	// Now is the clock. Required.
	Now func() time.Time
	// PID is the id of this process, after which quarantined files are named.
	PID int
	// Keep is how long quarantined files are kept at least.
	Keep time.Duration
	// Fetched lists the remotes from which content was already requested.
	Fetched []string
	// Choose, if not nil, is called for conflicts between directories with the same id. It returns
	// a choice for each conflict, or none to leave the directories as they are.
	Choose Chooser
	// Sides are the commits that a git operation has just combined. If nil they are found from
	// git's operation in progress or, if there is none, from history.
	Sides *merge.Sides
	// Hook, if not nil, is called before each step that quarantines something. Its error counts as
	// that of the step. For tests.
	Hook func(step atomicfile.Step, name string) error
}

// A Chooser decides conflicts. theirs is the complete stream of the other side.
type Chooser func(
	id events.ID, all []threeway.Conflict, theirs *events.Stream,
) ([]merge.Decision, error)

// Trashed is the state of a conversation that jp has moved to its trash. The other states are those
// of package check.
const Trashed check.State = "trashed"

// An Outcome classifies the possible repair of a fault. The texts are part of the JSON format.
type Outcome string

// The outcomes.
const (
	// Certain: there is no sensible alternative, and nothing is lost.
	Certain Outcome = "certain"
	// Offered: there is a way, but a person has to decide.
	Offered Outcome = "offered"
	// Gone: nothing on this machine helps.
	Gone Outcome = "gone"
)

// A Fault is one thing that is incomplete.
type Fault struct {
	State check.State
	// Path is the file or directory, from the root of the workspace.
	Path         string
	Conversation events.ID // 0 if it concerns none
	Title        string
	// Ref is the reference to missing or damaged content, zero for other faults.
	Ref blobs.Ref
	// Detail is a phrase that describes the fault, and Remedy one that describes the repair, done
	// or possible.
	Detail, Remedy string
	Outcome        Outcome
	// Command is a command that the user can run if the outcome is not certain, or "".
	Command string
	// Holders lists the people and remotes that may still have the missing content.
	Holders []string
	// Changes reports whether the repair changes a conversation, not only the store.
	Changes bool

	// Minor reports whether the workspace itself has no fault.
	Minor bool

	// Done reports whether it was repaired, and Err is the reason if it was not.
	Done bool
	Err  error

	find *Find
	mend func(ctx context.Context) error
}

// A Plan lists everything that is incomplete and how to repair it.
type Plan struct {
	Faults []*Fault
	// Unsearched holds a phrase for each place that could not be searched.
	Unsearched []string

	options *Options
	kept    keeper
}

// Certain returns the certain repairs that were not done yet, either those that change a
// conversation or the others.
func (p *Plan) Certain(changes bool) []*Fault {
	return lists.Filter(p.Faults, func(f *Fault) bool {
		return f.Outcome == Certain && f.Changes == changes && !f.Done
	})
}

// MakePlan examines the working tree's workspace and changes nothing.
func MakePlan(ctx context.Context, o Options) (*Plan, error) {
	m, err := newPlanner(o)
	if err != nil {
		return nil, err
	}
	if err := m.check(ctx); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{
		m.staged, m.contents, m.half, m.files, m.duplicates, m.trash, m.unnamed, m.others,
	} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("plan a repair: %w", err)
		}
	}
	if err := m.findHolders(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.plan.Faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.State, b.State))
	})
	return m.plan, nil
}

// A planner makes a plan.
type planner struct {
	*Options

	plan     *Plan
	entries  []workspace.Entry
	findings []check.Finding
	versions *versions
	kept     []string // files that git deleted of conversations that one side kept
}

func (m *planner) add(f *Fault) { m.plan.Faults = append(m.plan.Faults, f) }

// check checks the working tree, including content.
func (m *planner) check(ctx context.Context) error {
	src, err := check.OpenWorkTree(m.Workspace.Root(), m.limits())
	if err != nil {
		return err
	}
	left, err := check.LeftOutOf(ctx, m.Repo, m.Workspace.Root())
	if err != nil {
		return errors.Join(err, src.Close())
	}
	report, err := check.Tree(ctx, src, check.Options{
		Content: true, NoPointers: true, LeftOut: left, Cache: m.Cache, Progress: m.Progress,
		MaxBlobBytes: m.Workspace.Blobs().Limits().Max(),
	})
	if err := errors.Join(err, src.Close()); err != nil {
		return err
	}
	m.findings = report.Findings
	return nil
}

// contents searches for missing and damaged content, all at once.
func (m *planner) contents(ctx context.Context) error {
	byHash := make(map[blobs.Hash]*Fault)
	lost := make(map[blobs.Hash]*Lost)
	redacted, err := m.Redacted(ctx, m.findings)
	if err != nil {
		return err
	}
	for i, f := range m.findings {
		if !lacksContent(f.State) {
			continue
		}
		if redacted[i] {
			m.add(&Fault{
				State: f.State, Path: f.Path, Conversation: conversationOf(f), Title: f.Title,
				Ref: blobs.Ref{Hash: f.Hash, Size: f.Size}, Outcome: Offered,
				Detail: "has what was redacted and is not in the working tree",
				Remedy: "redact the conversation again", Command: check.RedactAgain,
			})
			continue
		}
		id := conversationOf(f)
		if l := lost[f.Hash]; l != nil {
			l.In = append(l.In, id)
			continue
		}
		lost[f.Hash] = &Lost{Hash: f.Hash, Size: f.Size, In: []events.ID{id}}
		byHash[f.Hash] = &Fault{
			State: f.State, Path: blobPath(f.Hash),
			Conversation: id, Title: f.Title, Ref: blobs.Ref{Hash: f.Hash, Size: f.Size},
			Detail: f.Detail, Outcome: Gone,
		}
		if f.State == check.LFSPointer {
			byHash[f.Hash].Outcome, byHash[f.Hash].Command = Offered, "git lfs pull"
			byHash[f.Hash].Remedy = "Git LFS may have it"
		}
		m.add(byHash[f.Hash])
	}
	var all []Lost
	for _, l := range lost {
		all = append(all, *l)
	}
	found, err := Search(ctx, m.Sources, all)
	if err != nil {
		return err
	}
	m.plan.Unsearched = append(m.plan.Unsearched, found.Unsearched...)
	for _, find := range found.Finds {
		f := byHash[find.Hash]
		f.Outcome, f.find, f.Command = Certain, &find, ""
		f.Remedy = "restore it from " + find.String()
	}
	for _, f := range byHash {
		if f.Outcome == Gone && f.Conversation == 0 {
			m.putAside(f)
		}
	}
	return nil
}

// String describes where content was found.
func (f Find) String() string {
	switch f.Place {
	case PlaceIndex:
		return "the index"
	case PlaceCommit:
		if f.Commit.IsZero() {
			return "a tree that a ref names"
		}
		return "commit " + f.Commit.String()[:12]
	case PlaceQuarantine:
		return "the quarantine, " + f.Where
	case PlaceLFS:
		return "Git LFS, " + f.Where
	case PlaceStream:
		if !f.Commit.IsZero() {
			return f.Where + " of commit " + f.Commit.String()[:12]
		}
		return f.Where
	default:
		return f.Where
	}
}

// others adds the faults that this program cannot repair.
func (m *planner) others(context.Context) error {
	for _, f := range m.findings {
		switch f.State {
		case check.SizeMismatch, check.Oversize:
		case check.Foreign:
			if strings.HasPrefix(f.Path, path.Join(workspace.DirName, blobs.Dir)) {
				continue // it refers to nothing and is not referred to
			}
		default:
			continue
		}
		m.add(&Fault{
			State: f.State, Path: f.Path, Conversation: conversationOf(f), Title: f.Title,
			Ref:    blobs.Ref{Hash: f.Hash, Size: f.Size},
			Detail: f.Detail, Outcome: Offered, Command: f.Next,
		})
	}
	return nil
}

// conversationOf returns 0 for a finding that concerns no conversation.
func conversationOf(f check.Finding) events.ID {
	id, err := events.ParseID(f.Conversation)
	if err != nil {
		return 0
	}
	return id
}

// Apply carries out the certain repairs: all of them, or only those that do not change a
// conversation. A repair that fails has its error and does not stop the others. The error is that
// of the context.
func (p *Plan) Apply(ctx context.Context, changes bool) error {
	if err := p.bring(ctx); err != nil {
		return err
	}
	all := p.Certain(false)
	if changes {
		all = append(all, p.Certain(true)...)
	}
	// Other files of a conversation can only be replaced once its metadata can be read.
	slices.SortStableFunc(all, func(a, b *Fault) int {
		return cmp.Compare(rank(a), rank(b))
	})
	for _, f := range all {
		if f.mend == nil {
			continue // it was tried
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		f.Err = f.mend(ctx)
		f.Done = f.Err == nil
	}
	return nil
}

func rank(f *Fault) int {
	if path.Base(f.Path) == workspace.MetadataFile {
		return 0
	}
	return 1
}

// bring stores all content that was found, at once.
func (p *Plan) bring(ctx context.Context) error {
	var finds []Find
	var all []*Fault
	for _, f := range p.Certain(false) {
		if f.find != nil {
			all, finds = append(all, f), append(finds, *f.find)
		}
	}
	if len(finds) == 0 {
		return nil
	}
	done, err := Bring(ctx, p.options.Sources, p.options.Workspace.Blobs(), finds)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, f := range all {
		switch {
		case err != nil:
			f.Err = err
		case slices.ContainsFunc(done.Left, func(l Lost) bool { return l.Hash == f.Ref.Hash }):
			f.Err = errVanished
		default:
			f.Done = true
		}
	}
	return nil
}

// errVanished reports that content is no longer where it was found.
var errVanished = errors.New("it no longer exists")
