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
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options say what is repaired.
type Options struct {
	Sources

	// Cache remembers what streams refer to. Nil remembers nothing.
	Cache *refs.Cache
	// Now is the clock. Required.
	Now func() time.Time
	// PID is this process: what is quarantined is named after it.
	PID int
	// Keep is how long what is quarantined stays at least.
	Keep time.Duration
	// Fetched are the remotes that were asked already.
	Fetched []string
	// Choose, when not nil, is asked about conflicts of directories that share an id. It
	// returns a choice for each, or none, which leaves them as they are.
	Choose Chooser
	// Sides are the commits that an operation of git has just brought together. Nil asks git,
	// and history where it is busy with nothing.
	Sides *merge.Sides
	// Hook, when not nil, is called before each step in which something is quarantined. Its
	// error is taken as that of the step. For tests.
	Hook func(step atomicfile.Step, name string) error
}

// A Chooser decides conflicts, of which theirs is the whole stream of the other side.
type Chooser func(
	id events.ID, all []threeway.Conflict, theirs *events.Stream,
) ([]merge.Decision, error)

// Trashed is the state of a conversation that jp has put into its trash. The other states
// are those of package check.
const Trashed check.State = "trashed"

// An Outcome says what can be done about a fault. The texts are part of the JSON format.
type Outcome string

// The outcomes.
const (
	// Certain: nobody could want anything else, and nothing is lost by it.
	Certain Outcome = "certain"
	// Offered: there is a way, and a person has to decide.
	Offered Outcome = "offered"
	// Gone: nothing on this machine helps.
	Gone Outcome = "gone"
)

// A Fault is one thing that is incomplete.
type Fault struct {
	State check.State
	// Path is the file or directory, from the root of the workspace.
	Path         string
	Conversation events.ID // 0 when it belongs to none
	Title        string
	// Ref is the content that is missing or damaged, zero for other faults.
	Ref blobs.Ref
	// Detail is a phrase that says what is wrong, Remedy one that says what is done about
	// it, or could be.
	Detail, Remedy string
	Outcome        Outcome
	// Command is what a person can do where the outcome is not certain, "" for nothing.
	Command string
	// Holders may still have what is gone.
	Holders []string
	// Changes says that repairing it changes a conversation, and not only the store.
	Changes bool

	// Minor says that nothing is amiss in the workspace itself.
	Minor bool

	// Done says that it was repaired, Err why it was not.
	Done bool
	Err  error

	find *Find
	mend func(ctx context.Context) error
}

// A Plan is everything that is incomplete and what is to be done about it.
type Plan struct {
	Faults []*Fault
	// Unsearched says, a phrase each, where could not be looked.
	Unsearched []string

	options *Options
	kept    keeper
}

// Certain returns the faults about which something certain can be done, of those that
// change a conversation or of the others.
func (p *Plan) Certain(changes bool) []*Fault {
	var all []*Fault
	for _, f := range p.Faults {
		if f.Outcome == Certain && f.Changes == changes && !f.Done {
			all = append(all, f)
		}
	}
	return all
}

// MakePlan looks at everything in the working tree's workspace and changes nothing.
func MakePlan(ctx context.Context, o Options) (*Plan, error) {
	m, err := newPlanner(o)
	if err != nil {
		return nil, err
	}
	if err := m.check(ctx); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{
		m.contents, m.files, m.duplicates, m.trash, m.others,
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
}

func (m *planner) limits() regular.Limits { return m.Workspace.Limits() }

func (m *planner) add(f *Fault) { m.plan.Faults = append(m.plan.Faults, f) }

// check asks what is wrong with the working tree, content included.
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

// contents searches for what is missing or damaged, all at once.
func (m *planner) contents(ctx context.Context) error {
	byHash := make(map[blobs.Hash]*Fault)
	lost := make(map[blobs.Hash]*Lost)
	for _, f := range m.findings {
		switch f.State {
		case check.Missing, check.Corrupt, check.LFSPointer:
		default:
			continue
		}
		id := conversationOf(f)
		if l := lost[f.Hash]; l != nil {
			l.In = append(l.In, id)
			continue
		}
		lost[f.Hash] = &Lost{Hash: f.Hash, Size: f.Size, In: []events.ID{id}}
		byHash[f.Hash] = &Fault{
			State: f.State, Path: path.Join(workspace.DirName, blobs.Dir, f.Hash.Path()),
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
		f.Remedy = "bring it back from " + find.String()
	}
	return nil
}

// String says where content was found.
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

// others are faults that nothing of ours mends.
func (m *planner) others(context.Context) error {
	for _, f := range m.findings {
		switch f.State {
		case check.SizeMismatch, check.Oversize:
		case check.Foreign:
			if strings.HasPrefix(f.Path, path.Join(workspace.DirName, blobs.Dir)) {
				continue // refers to nothing, and nothing to it
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

// conversationOf is 0 for a finding that belongs to no conversation.
func conversationOf(f check.Finding) events.ID {
	id, err := events.ParseID(f.Conversation)
	if err != nil {
		return 0
	}
	return id
}

// Apply does what is certain: everything, or what changes no conversation. What fails has
// its error and stops none of the others. The error is that of the context.
func (p *Plan) Apply(ctx context.Context, changes bool) error {
	if err := p.bring(ctx); err != nil || !changes {
		return err
	}
	all := p.Certain(true)
	// No other file of a conversation can be replaced before its metadata can be read.
	slices.SortStableFunc(all, func(a, b *Fault) int {
		return cmp.Compare(rank(a), rank(b))
	})
	for _, f := range all {
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

// bring puts all contents that were found into the store at once.
func (p *Plan) bring(ctx context.Context) error {
	var finds []Find
	all := p.Certain(false)
	for _, f := range all {
		finds = append(finds, *f.find)
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

// errVanished says that content is not where it was a moment ago.
var errVanished = errors.New("it is not there any more")
