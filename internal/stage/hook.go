package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Hook does the work of the hooks around a commit, in the environment that git gives
// them.
type Hook struct {
	Repo *gitint.Repo // required
	// Rules returns the rules of a workspace, by its directory .jp. Nil means no rules, for all.
	Rules func(dir string) Rules
	// Cache caches what streams refer to. It may be nil.
	Cache *refs.Cache
	// Amends reports whether the commit replaces HEAD. It is called only if HEAD is known to lack
	// content; nil means never.
	Amends func() bool
	// Secrets returns the findings that the user approved, and the user's own secrets. It is called
	// if a commit changes conversations; nil means neither.
	Secrets func() leaks.Options
	// TreeMade says that git has made the tree of the commit before it runs the hook, as for a
	// merge. Then only what the commit would be incomplete without is added.
	TreeMade bool
}

// Rules are a workspace's settings for the hooks.
type Rules struct {
	// MaxBlobBytes is the limit of one content; 0 means the default.
	MaxBlobBytes int64
	// CheckOnly says that pre-commit adds nothing to the commit.
	CheckOnly bool
	// Strict says that an incomplete last turn stops the commit.
	Strict bool
}

// of returns the rules for a file.
func (h Hook) of(name string) Rules {
	dir, ok := workspace.PathDir(name + "/")
	if h.Rules == nil || !ok {
		return Rules{}
	}
	return h.Rules(dir)
}

// A Verdict is the result of a hook's look at a commit.
type Verdict struct {
	// Blocking are the findings that stop the commit, because it would bring them.
	Blocking []check.Finding
	// Others are warnings, and findings that HEAD has already.
	Others []check.Finding
	// Standing are findings about conversations that the commit does not change: HEAD lacks their
	// content, and so would the commit.
	Standing []check.Finding
	// Added are the blobs that were added to the commit, Own the files of its workspaces that every
	// clone needs, and Joined the files beside its conversations, such as redaction entries.
	Added, Own, Joined []string
	// Beside are the files of workspaces in the commit that belong neither to a conversation nor to
	// the store, such as settings.
	Beside []string
	// AddError says why existing blobs could not be added. References that are dangling because of
	// it are in Blocking.
	AddError error
}

// Blocked reports whether the commit must not be made.
func (v *Verdict) Blocked() bool { return len(v.Blocking) > 0 }

// workspacesAnywhere, conversationsAnywhere and blobsAnywhere are our directories in every place of
// a repository.
const (
	workspacesAnywhere    = "**/" + workspace.DirName
	conversationsAnywhere = workspacesAnywhere + "/" + workspace.ConversationsDir
	blobsAnywhere         = workspacesAnywhere + "/" + blobs.Dir
)

// Settle finishes or drops what an earlier commit left undone. It is for the hooks that have
// nothing else to do, and part of the others.
func (h Hook) Settle(ctx context.Context) error {
	var err error
	switch kindOf(h.Repo) {
	case ownIndex:
		err = settle(ctx, h.Repo, false, h.Repo.IndexPath())
	case nextIndex:
		// If the commit is given up, the change is lost and has to be made again.
		err = settle(ctx, h.Repo, true, h.Repo.IndexPath())
	case otherIndex:
		// Git holds the lock of the working tree's own index.
	}
	if err != nil {
		return fmt.Errorf("finish an earlier commit: %w", err)
	}
	return nil
}

// PostCommit puts what PreCommit added to a commit into the index that git keeps.
func (h Hook) PostCommit(ctx context.Context) error {
	indexes := []string{ownIndexPath(h.Repo)}
	if kindOf(h.Repo) == otherIndex {
		indexes = append(indexes, h.Repo.IndexPath())
	}
	if err := settle(ctx, h.Repo, false, indexes...); err != nil {
		return fmt.Errorf("finish the commit: %w", err)
	}
	return vacate(ctx, h.Repo, indexes...)
}

// PreCommit adds to the index that is about to be committed the blobs that its changed
// conversations refer to, and returns what would be wrong with the commit.
func (h Hook) PreCommit(ctx context.Context) (*Verdict, error) {
	if err := h.Settle(ctx); err != nil {
		return nil, err
	}
	staged, err := h.Repo.StagedPaths(ctx, workspacesAnywhere)
	if err != nil {
		return nil, err
	}
	c := newCommit(h, staged)
	noted, err := h.readDangling()
	if err != nil {
		return nil, err
	}
	v := &Verdict{Beside: c.beside}
	if v.Others, err = c.unkept(ctx, staged); err != nil {
		return nil, err
	}
	if len(c.dirs)+len(c.entered)+len(noted) == 0 {
		return v, h.noteChecked()
	}
	kept := KeepSpares(ctx, h.Repo) // the commit is checked anyway
	if c.index, err = h.Repo.Index(ctx); err != nil {
		return nil, err
	}
	if len(noted) > 0 && h.Amends != nil && h.Amends() {
		c.amend(noted)
	}
	v.AddError = errors.Join(kept, c.add(ctx, v))
	if len(v.Added)+len(v.Joined) > 0 {
		if c.index, err = h.Repo.Index(ctx); err != nil {
			return nil, err
		}
	}
	if v.Standing, err = c.dangling(ctx, noted); err != nil {
		return nil, err
	}
	if err := c.judge(ctx, v); err != nil || v.Blocked() {
		return v, err
	}
	return v, h.noteChecked()
}

// Conversations returns the conversations whose files the commit that is about to be
// made changes, in order.
func (h Hook) Conversations(ctx context.Context) ([]events.ID, error) {
	staged, err := h.Repo.StagedPaths(ctx, conversationsAnywhere)
	if err != nil {
		return nil, err
	}
	known := map[events.ID]bool{}
	for _, p := range staged {
		if id, ok := workspace.PathID(p.Path); ok {
			known[id] = true
		}
	}
	return slices.Sorted(maps.Keys(known)), nil
}

// A commit is the state that is about to be committed.
type commit struct {
	hook  Hook
	cache *refs.Cache
	index *gitint.Index
	// dirs are the workspaces with changes, each with its changed conversations.
	dirs map[string]map[events.ID]bool
	// streams are the changed streams, by path.
	streams map[string]gitint.OID
	// blobs are the files of the store that differ from HEAD.
	blobs []gitint.Entry
	// corrupt are blobs that the working tree has and that could not be added, with the reason.
	corrupt map[blobs.Hash]string
	// beside are its files beside conversations and the store, apartFiles those that the index
	// lacks beside its conversations; nil if they are not known.
	beside     []string
	apartFiles map[string]events.ID
	// unlisted are the findings about directories of such files that cannot be listed.
	unlisted []check.Finding
	// added says that HEAD has none of the changed conversations.
	added bool
	// lost says that blobs were removed or replaced, which concerns every conversation.
	lost bool
	// entered has the workspaces for which a merge brings redaction entries.
	entered map[string]bool
}

func newCommit(h Hook, staged []gitint.StagedPath) *commit {
	c := &commit{
		hook: h, cache: cmp.Or(h.Cache, &refs.Cache{}),
		dirs: map[string]map[events.ID]bool{}, streams: map[string]gitint.OID{}, added: true,
		corrupt: map[blobs.Hash]string{}, entered: map[string]bool{},
	}
	for _, p := range staged {
		if dir, ok := workspace.PathDir(p.Path); ok {
			c.note(dir, p)
		}
	}
	return c
}

// note sorts in a change of a file of a workspace.
func (c *commit) note(dir string, p gitint.StagedPath) {
	_, isBlob := blobOf(dir, p.Path)
	if !isBlob && !strings.HasPrefix(p.Path, dir+"/"+workspace.ConversationsDir+"/") {
		if p.NewMode.IsRegular() {
			c.beside = append(c.beside, p.Path)
		}
		c.enter(p)
		return
	}
	if c.dirs[dir] == nil {
		c.dirs[dir] = map[events.ID]bool{}
	}
	if isBlob {
		c.lost = c.lost || p.Status != 'A'
		if p.NewMode.IsRegular() {
			c.blobs = append(c.blobs, gitint.Entry{Path: p.Path, Mode: p.NewMode, OID: p.New})
		}
	} else if id, ok := workspace.PathIDIn(dir, p.Path); ok {
		c.dirs[dir][id], c.added = true, c.added && p.Status == 'A'
		if path.Base(p.Path) == workspace.EventsFile && p.NewMode.IsRegular() {
			c.streams[p.Path] = p.New
		}
	}
}

// add adds to the index the blobs that changed streams refer to, that the index lacks, and that the
// working tree has, and the workspaces' own files.
func (c *commit) add(ctx context.Context, v *Verdict) error {
	lazy, err := c.hook.Repo.Lazy(ctx)
	if err != nil {
		return err
	}
	wanted, promised, err := c.missing(ctx, lazy)
	if err != nil {
		return err
	}
	own, err := c.own()
	if err != nil {
		return err
	}
	joined, err := c.joining()
	names := slices.Concat(own, joined)
	if err != nil || len(wanted)+len(promised)+len(names) == 0 {
		return err
	}
	var left []string
	if lazy {
		left = slices.Collect(maps.Keys(wanted))
		for _, e := range promised {
			left = append(left, e.Path)
		}
	}
	res, err := c.hook.Repo.Stage(ctx, gitint.Change{
		Add: slices.AppendSeq(names, maps.Keys(wanted)), AddObjects: promised, LeftOut: left,
		LockTimeout: gitint.NoWait,
		Verify: func(ctx context.Context, staged []gitint.Entry) error {
			return c.verify(ctx, staged, wanted)
		},
	})
	if err != nil {
		return err
	}
	for _, e := range res.Added {
		switch _, isBlob := wanted[e.Path]; {
		case isBlob, slices.Contains(promised, e):
			v.Added = append(v.Added, e.Path)
		case slices.Contains(own, e.Path):
			v.Own = append(v.Own, e.Path)
		default:
			v.Joined = append(v.Joined, e.Path)
		}
	}
	return nil
}

// own returns the own files of the workspaces of changed streams, as far as the index lacks them.
func (c *commit) own() (names []string, err error) {
	if c.hook.TreeMade || len(c.streams) == 0 {
		return nil, nil
	}
	root, err := regular.OpenRoot(c.hook.Repo.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for name := range c.streams {
		dir, _ := workspace.PathDir(name)
		if !c.hook.of(name).CheckOnly {
			names = append(names, ownFiles(c.index, root, dir)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// verify checks the entries that are about to be added, and writes the note before the index
// changes: a superfluous note does no harm.
func (c *commit) verify(
	ctx context.Context, staged []gitint.Entry, wanted map[string]blobs.Ref,
) error {
	for _, e := range staged {
		if _, isBlob := wanted[e.Path]; !isBlob {
			continue
		}
		limits := blobs.Limits{MaxBlobBytes: c.hook.of(e.Path).MaxBlobBytes}
		f, err := filtered(ctx, c.hook.Repo, limits, wanted[e.Path], e)
		if err != nil {
			return err
		}
		if f.State != "" {
			return fmt.Errorf("%s %s", f.Path, f.Detail)
		}
	}
	if kindOf(c.hook.Repo) != otherIndex {
		return nil
	}
	return addToNote(c.hook.Repo, staged)
}

// judge checks the index that is about to be committed.
func (c *commit) judge(ctx context.Context, v *Verdict) error {
	for _, dir := range slices.Sorted(maps.Keys(c.dirs)) {
		findings, err := c.findings(ctx, dir)
		if err != nil {
			return err
		}
		if err := c.sort(ctx, dir, findings, v); err != nil {
			return err
		}
	}
	if err := c.apart(v); err != nil {
		return err
	}
	if err := c.unsound(ctx, v); err != nil {
		return err
	}
	return c.secrets(ctx, v)
}

// findings returns what is wrong in a workspace with the changed conversations, and with all of
// them if blobs were removed.
func (c *commit) findings(ctx context.Context, dir string) ([]check.Finding, error) {
	var changed func(events.ID) bool
	if !c.lost {
		changed = func(id events.ID) bool { return c.dirs[dir][id] }
	}
	found, err := c.check(ctx, check.Git(c.hook.Repo, c.index), dir, changed)
	for i, f := range found {
		if reason, ok := c.corrupt[f.Hash]; ok && f.State == check.Missing {
			found[i].Detail += ", and corrupt in the working tree: " + reason
			found[i].Next = "git jp repair"
		}
	}
	return found, err
}

// check checks conversations of a workspace; left has what src leaves out.
func (c *commit) check(
	ctx context.Context, src check.Source, dir string, selects func(events.ID) bool,
	left ...check.Source,
) ([]check.Finding, error) {
	report, err := check.Tree(ctx, src, check.Options{
		MaxBlobBytes: c.hook.of(dir).MaxBlobBytes, Dirs: []string{dir}, Cache: c.cache,
		Select: selects, LeftOut: left,
	})
	if err != nil {
		return nil, err
	}
	return report.Findings, nil
}

// A Change is the effect of a git command on conversations.
type Change struct {
	// Dirs are the directories .jp that it touched, sorted.
	Dirs []string
	// Findings are what is wrong in the index with the conversations that it touched, and with
	// every conversation if blobs were removed.
	Findings []check.Finding
	// Bereft are findings about blobs that were removed from the working tree and that uncommitted
	// conversations there refer to.
	Bereft []check.Finding
}

// Changed looks at the index's version of the conversations to which the paths belong.
func (h Hook) Changed(ctx context.Context, paths []gitint.StagedPath) (*Change, error) {
	c := newCommit(h, paths)
	var err error
	if c.index, err = h.Repo.Index(ctx); err != nil {
		return nil, err
	}
	change := &Change{Dirs: slices.Sorted(maps.Keys(c.dirs))}
	for _, dir := range change.Dirs {
		found, err := c.findings(ctx, dir)
		if err != nil {
			return nil, err
		}
		change.Findings = append(change.Findings, found...)
		bereft, err := c.bereft(ctx, dir)
		if err != nil {
			return nil, err
		}
		change.Bereft = append(change.Bereft, bereft...)
	}
	return change, nil
}

// bereft looks at the working tree's version of the conversations that git says differ from the
// index, if blobs were removed: an uncommitted fork refers to the blobs of the branch on which it
// was made.
func (c *commit) bereft(ctx context.Context, dir string) ([]check.Finding, error) {
	if !c.lost {
		return nil, nil
	}
	repo := c.hook.Repo
	work, err := repo.WorkChanges(ctx, path.Join(dir, workspace.ConversationsDir))
	if err != nil {
		return nil, err
	}
	ids := map[events.ID]bool{}
	for _, p := range work {
		if id, ok := workspace.PathIDIn(dir, p.Path); ok {
			ids[id] = true
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	left, err := check.LeftOutOf(ctx, repo, repo.Root())
	if err != nil {
		return nil, err
	}
	src, err := check.OpenWorkTree(repo.Root(), repo.Limits())
	if err != nil {
		return nil, err
	}
	found, err := c.check(ctx, src, dir, func(id events.ID) bool { return ids[id] }, left...)
	return found, errors.Join(err, src.Close())
}

// sort separates findings that the commit would bring from those that HEAD has.
func (c *commit) sort(
	ctx context.Context, dir string, findings []check.Finding, v *Verdict,
) error {
	var head *gitint.Tree
	for _, f := range findings {
		if !c.hook.blocks(f) {
			v.Others = append(v.Others, f)
			continue
		}
		if head == nil {
			var err error
			if head, err = gitint.OrNone(c.hook.Repo.Tree(ctx, "HEAD")); err != nil {
				return err
			}
		}
		known := false
		if head != nil {
			var err error
			if known, err = c.inHead(head, dir, f); err != nil {
				return err
			}
		}
		if known {
			v.Others = append(v.Others, f)
		} else {
			v.Blocking = append(v.Blocking, f)
		}
	}
	return nil
}

// blocks reports whether a finding harms people who get the commit. Two directories of one id do
// not: the other may be removed by the next commit.
func (h Hook) blocks(f check.Finding) bool {
	switch f.State {
	case check.DuplicateID, check.Foreign, check.Conflicted, check.Drift:
		return false
	case check.Incomplete:
		return h.of(f.Path).Strict
	default:
		return f.Severity == check.Error
	}
}

// inHead reports whether HEAD has the finding: the same file, or the same stream in another
// directory of the conversation, and the same or nothing in the blob's place.
func (c *commit) inHead(head *gitint.Tree, dir string, f check.Finding) (bool, error) {
	same := func(name string) bool {
		was, before := head.OID(name)
		is, now := c.index.OID(name)
		return before == now && was == is
	}
	_, there := c.index.OID(f.Path)
	switch {
	case f.Hash.IsZero() && !there:
		return c.lacked(head, dir, f.Path)
	case f.Hash.IsZero():
		return same(f.Path), nil
	case !same(path.Join(dir, blobs.Dir, f.Hash.Path())):
		return false, nil
	case same(f.Path):
		return true, nil
	default:
		return c.moved(head, dir, f.Path)
	}
}

// lacked reports whether HEAD has the conversation to which a file belongs, without that file.
func (c *commit) lacked(head *gitint.Tree, dir, name string) (bool, error) {
	if _, had := head.OID(name); had {
		return false, nil
	}
	entries, err := head.Entries(path.Dir(name))
	if err != nil || len(entries) > 0 {
		return err == nil, err
	}
	return c.moved(head, dir, path.Join(path.Dir(name), workspace.EventsFile))
}

// moved reports whether HEAD has the stream under an older title, or where an archived conversation
// was.
func (c *commit) moved(head *gitint.Tree, dir, name string) (bool, error) {
	id, ok := workspace.PathIDIn(dir, name)
	oid, there := c.index.OID(name)
	if !ok || !there {
		return false, nil
	}
	entries, err := head.Entries(path.Join(dir, workspace.ConversationsDir))
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(entries, func(e gitint.Entry) bool {
		was, ok := workspace.PathIDIn(dir, e.Path)
		return ok && was == id && e.OID == oid
	}), nil
}
