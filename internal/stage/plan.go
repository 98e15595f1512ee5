package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Item is one conversation of a plan.
type Item struct {
	ID    events.ID
	Title string // "" when it has none
	// Path is its directory, from the root of the working tree; "" when the conversation was
	// removed there and is removed from the index.
	Path string
	// New says that the index has nothing of the conversation.
	New bool
	// Files are the files that the index gets, Blobs the number of new blobs among them, Bytes
	// their size before compression, Removed the files that it loses. Beside are those of Files and
	// Removed that are outside the conversation's directory: redaction entries, allowed findings,
	// the record of its removal.
	Files, Removed, Beside []string
	Blobs                  int
	Bytes                  int64
}

// A Plan is what a request would do. It holds no lock and no file open.
type Plan struct {
	// Items are the conversations for which something changes, in order of their ids.
	Items []Item
	// Own are the files of the workspace that every clone needs and that the index gets too.
	Own []string
	// Add and Remove are the paths that the index gets and loses, sorted.
	Add, Remove []string
	// Report has the findings; it refuses the stage if there are problems.
	Report *check.Report
	// Staged is what differs between HEAD and the index for the examined conversations, and Lost
	// the blobs of the index that the working tree lacks, or has something else for. Both are known
	// in a plan for all conversations, or for changed ones.
	Staged []gitint.StagedPath
	Lost   []string

	req Request
	// all are the files and blobs that are passed to git. They include those that the index seems
	// to have: an entry may be marked so that git does not look.
	all []string
	// objects are blobs that have no file in the working tree of a lazy clone, and absent says
	// which those are; leftOut the files that do not stay in it.
	objects []gitint.Entry
	absent  map[string]gitint.Entry
	leftOut []string
	// oids are the objects that all should become if no filter changes them.
	oids map[string]gitint.OID
	refs map[blobs.Hash]blobs.Ref
}

func newPlan(ctx context.Context, req Request) (*Plan, error) {
	s, err := newSurvey(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	defer s.close()
	closures, err := s.choose(ctx)
	if _, ok := errors.AsType[*MovedError](err); ok {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("stage %w", err)
	}
	p := &Plan{
		req: req, oids: map[string]gitint.OID{}, refs: map[blobs.Hash]blobs.Ref{},
	}
	if err := p.check(ctx, s, closures); err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	for _, c := range closures {
		p.add(s, c)
	}
	if req.Select == All && !req.NoContent {
		s.settle(ctx, closures, troubled(p.Report), func(name string) (gitint.OID, bool) {
			if e, ok := p.absent[name]; ok {
				return e.OID, true
			}
			is, ok := p.oids[name]
			return is, ok
		})
	}
	p.addOwn(s)
	if err := errors.Join(p.addBeside(ctx, s), p.addDropped(ctx, s)); err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	p.addState(s)
	p.dropUnfinished()
	slices.Sort(p.Add)
	slices.Sort(p.Remove)
	slices.Sort(p.all)
	return p, nil
}

// dropUnfinished removes the findings about unfinished turns of conversations of which a commit
// would have nothing: neither what is staged now nor what the index has since HEAD.
func (p *Plan) dropUnfinished() {
	committed := lists.Set(lists.Map(p.Items, func(i Item) string { return i.ID.String() }))
	for _, staged := range p.Staged {
		if id, ok := workspace.PathIDIn(p.req.Dir, staged.Path); ok {
			committed[id.String()] = true
		}
	}
	p.Report.Findings = slices.DeleteFunc(p.Report.Findings, func(f check.Finding) bool {
		return f.State == check.Incomplete && !committed[f.Conversation]
	})
}

// troubled returns the conversations with findings.
func troubled(report *check.Report) map[string]bool {
	return lists.Set(lists.Map(report.Findings, func(f check.Finding) string {
		return f.Conversation
	}))
}

// addState adds git's answers about the index and the working tree to the plan.
func (p *Plan) addState(s *survey) {
	p.Staged = lists.Filter(s.staged, func(staged gitint.StagedPath) bool {
		return strings.HasPrefix(staged.Path, s.conversations()+"/")
	})
	for name, state := range s.states {
		_, ok := blobOf(p.req.Dir, name)
		if ok && (state == gitint.Deleted || state == gitint.Modified) {
			p.Lost = append(p.Lost, name)
		}
	}
	slices.Sort(p.Lost)
}

// choose returns the closures of the conversations that the request selects.
func (s *survey) choose(ctx context.Context) ([]*closure, error) {
	ids := s.all()
	if s.req.Select == Named {
		ids = slices.Compact(slices.Sorted(slices.Values(s.req.IDs)))
	}
	var chosen, quickly []*closure
	for _, id := range ids {
		if len(s.dirs[id]) == 0 && len(s.indexed[id]) == 0 {
			return nil, fmt.Errorf("%s: %w", id, ErrNoConversation)
		}
		if s.req.Select == Changed {
			quick, err := s.closure(ctx, id, s.quickly)
			if err != nil {
				return nil, err
			}
			quickly = append(quickly, quick)
			if !s.changed(quick) {
				continue
			}
		}
		c, err := s.closure(ctx, id, s.exactly)
		if err != nil {
			return nil, err
		}
		c.title = s.title(id)
		chosen = append(chosen, c)
	}
	if s.req.Select == Changed {
		s.settle(ctx, quickly, nil, s.index.OID)
	}
	return chosen, nil
}

// check looks for everything that is wrong with the closures, in the working tree, content
// included.
func (p *Plan) check(ctx context.Context, s *survey, closures []*closure) error {
	src := newClosureSource(ctx, s, closures)
	selected := lists.Set(lists.Map(closures, func(c *closure) events.ID { return c.id }))
	is := func(id events.ID) bool { return selected[id] }
	report, err := check.Tree(ctx, src, check.Options{
		Content: !p.req.NoContent, Strict: p.req.Strict, MaxBlobBytes: p.req.MaxBlobBytes,
		Dirs: []string{p.req.Dir}, Cache: s.cache, Progress: p.req.Progress,
		Select: is,
	})
	if err != nil {
		return err
	}
	o := p.req.Secrets
	o.Dirs, o.Select, o.MaxBlobBytes = []string{p.req.Dir}, is, p.req.MaxBlobBytes
	o.LeftOut = leaks.LeftOutOf(ctx, p.req.Repo)
	if !p.req.NoContent {
		indexed := func(c *closure) bool { return len(s.indexed[c.id]) > 0 }
		added := !slices.ContainsFunc(closures, indexed)
		tracked := func(name string) bool { return s.tracks(ctx, name) }
		secrets := secretsOf{p.req.Repo, tracked, o, src, added, false}
		if err := secrets.addTo(ctx, report); err != nil {
			return err
		}
	}
	report.AddAll(s.unlisted)
	p.Report, p.oids, p.absent = report, src.seen, src.absent
	for _, c := range closures {
		maps.Copy(p.oids, c.streams)
		p.checkState(s, c)
	}
	return nil
}

// checkState adds findings that the files of a conversation do not show.
func (p *Plan) checkState(s *survey, c *closure) {
	finding := check.Finding{
		Commit: check.WorkTreeName, Path: c.dir, Element: -1,
		Conversation: c.id.String(), Title: c.title,
	}
	if p.req.Locked != nil {
		if err := p.req.Locked(c.id); err != nil {
			f := finding
			f.State, f.Detail = check.Incomplete, err.Error()
			p.Report.Add(f)
		}
	}
	paths := slices.Concat(c.files, c.removed)
	for _, at := range c.refs {
		paths = append(paths, s.blobPath(at.Ref.Hash))
	}
	slices.Sort(paths)
	for _, name := range s.index.Conflicts() {
		if _, ok := slices.BinarySearch(paths, name); ok {
			f := finding
			f.State, f.Path, f.Commit = check.Conflicted, name, check.IndexName
			f.Detail, f.Next = "is unmerged", check.Resolve(c.id.String())
			p.Report.Add(f)
		}
	}
}

// add adds a conversation to the plan.
func (p *Plan) add(s *survey, c *closure) {
	item := Item{
		ID: c.id, Title: c.title, Path: c.dir, New: len(s.indexed[c.id]) == 0, Removed: c.removed,
	}
	for _, name := range c.files {
		p.all = append(p.all, name)
		// Git's answer counts, since git knows the filters.
		_, differs := s.states[name]
		if _, there := s.index.OID(name); differs || !there {
			item.Files = append(item.Files, name)
		}
	}
	for _, at := range c.refs {
		name := s.blobPath(at.Ref.Hash)
		if _, twice := p.refs[at.Ref.Hash]; twice || !at.Counts() && p.oids[name].IsZero() {
			continue
		}
		p.refs[at.Ref.Hash] = at.Ref
		p.addBlob(s, name)
		if p.differs(s, name) {
			item.Files = append(item.Files, name)
			item.Blobs++
			item.Bytes += at.Ref.Size
		}
	}
	p.Remove = append(p.Remove, c.removed...)
	p.Add = append(p.Add, item.Files...)
	if len(item.Files)+len(item.Removed) > 0 {
		p.Items = append(p.Items, item)
	}
}

// addBlob adds a blob to the entries that are passed to git: its file, or git's object if there is
// no file.
func (p *Plan) addBlob(s *survey, name string) {
	e, absent := p.absent[name]
	_, indexed := s.index.OID(name)
	switch {
	case absent && indexed:
		return
	case absent:
		p.objects = append(p.objects, e)
	default:
		p.all = append(p.all, name)
	}
	if len(s.left) > 0 {
		p.leftOut = append(p.leftOut, name)
	}
}

// addOwn adds the workspace's own files to the plan, beside the first conversation.
func (p *Plan) addOwn(s *survey) {
	if len(p.Add) == 0 {
		return
	}
	p.Own = ownFiles(s.index, s.fsys.root, s.req.Dir)
	p.Add, p.all = append(p.Add, p.Own...), append(p.all, p.Own...)
}

// ownFiles returns the paths of a workspace's own files that the working tree has and the index
// does not. A clone that has blobs and no .id knows no user-local copies and deletes nothing; one
// without the attributes merges conversations by lines.
func ownFiles(index *gitint.Index, root *os.Root, dir string) (names []string) {
	for _, name := range workspace.OwnFiles() {
		name = path.Join(dir, name)
		_, there := index.OID(name)
		info, err := root.Lstat(name)
		if !there && !slices.Contains(index.Conflicts(), name) &&
			err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// differs reports whether the index lacks the blob that was read. Where Git LFS keeps content, the
// index has a pointer to it.
func (p *Plan) differs(s *survey, name string) bool {
	was, ok := s.index.OID(name)
	is, known := p.oids[name]
	if !ok || !known || was == is {
		return !ok
	}
	data, err := s.index.ReadFile(name)
	return err != nil || !isPointed(p.req.Repo, name, data)
}

// moved returns a file of a conversation that the plan has and the working tree no longer has, else
// "".
func (p *Plan) moved() string {
	if p == nil {
		return ""
	}
	for _, name := range p.all {
		_, isBlob := blobOf(p.req.Dir, name)
		_, err := os.Lstat(filepath.Join(p.req.Repo.Root(), filepath.FromSlash(name)))
		if !isBlob && errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	return ""
}

// Refused reports whether Apply would refuse.
func (p *Plan) Refused() bool { return p.Report.Problems() }

// Apply stages the plan in one step. The error is a *RefusedError when the report has
// problems.
func (p *Plan) Apply(ctx context.Context) (Result, error) {
	if p.Refused() {
		return Result{}, &RefusedError{p.Report}
	}
	res := Result{Plan: p}
	if len(p.all)+len(p.objects)+len(p.Remove) == 0 {
		return res, nil
	}
	staged, err := p.req.Repo.Stage(ctx, gitint.Change{
		Add: p.all, AddObjects: p.objects, LeftOut: p.leftOut, Remove: p.Remove, Verify: p.verify,
	})
	if err != nil {
		return Result{}, err
	}
	res.Added, res.Removed = p.Add, staged.Removed
	return res, nil
}
