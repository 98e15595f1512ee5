package gc

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Plan says what a sweep will do. It is valid for the options with which it was made.
type Plan struct {
	// Items are the blobs to delete, untracked ones first, then by age.
	Items []Item
	// Total is the number of blobs in the store, Wanted of those that a tip refers to, and Past of
	// those needed only by history.
	Total, Wanted, Past int
	// Young counts the blobs kept by the grace period, Locked those kept because a conversation is
	// locked, Tracked those kept by OnlyUntracked.
	Young, Locked, Tracked int
	// Unmarked is true if nothing was old enough, so that references were not searched.
	Unmarked bool
	// Missing has references without content, which were accepted.
	Missing []Obstacle
	// Notes are remarks that stop nothing.
	Notes []string
	// Temporaries are the paths of old leftovers of killed writers.
	Temporaries []string
	// Expired are earlier runs whose blobs can be erased.
	Expired []ExpiredRun
	// Commits is the number of commits examined.
	Commits int

	started  time.Time
	place    place
	userDirs []string // with user-local copies
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.Items) == 0 && len(p.Temporaries) == 0 && len(p.Expired) == 0
}

// Bytes returns the size of the files of all items.
func (p *Plan) Bytes() (n int64) {
	for _, i := range p.Items {
		n += i.Size
	}
	return n
}

// AnyTracked reports whether git tracks one of the items.
func (p *Plan) AnyTracked() bool {
	return slices.ContainsFunc(p.Items, func(i Item) bool { return i.Tracked })
}

// An Item is a blob that is not needed.
type Item struct {
	Hash    blobs.Hash
	Size    int64 // of the file
	ModTime time.Time
	// Path is the file from the root of the working tree, or below the user-local directory.
	Path    string
	Tracked bool
	// Last is the last conversation that referred to it, nil if none ever did.
	Last *Mention
}

// A Mention is a conversation in a commit.
type Mention struct {
	Commit       gitint.OID
	Path         string // of the file
	Conversation events.ID
	Title        string // "" if it has none
}

// An ExpiredRun is an earlier run that is older than the grace period.
type ExpiredRun struct {
	Run string
	// Dead are still not needed, Wanted are needed again.
	Dead, Wanted []blobs.Hash

	elsewhere bool // they were in a store that is gone, at another place in its working tree
}

// want adds a blob that is needed again. What was elsewhere stays in the quarantine: it is needed
// there if that store comes back, as with a checkout, and 'git jp repair' finds it.
func (e *ExpiredRun) want(h blobs.Hash) {
	if !e.elsewhere {
		e.Wanted = append(e.Wanted, h)
	}
}

// MakePlan finds the blobs that are not needed. If it cannot read something, the error is a
// *[RefusedError]. It changes nothing except caches.
func MakePlan(ctx context.Context, o Options) (*Plan, error) {
	m, p, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	var loading sync.WaitGroup
	loading.Go(o.cache().Load)
	defer loading.Wait()
	listed := o.listStore()
	if m.partial {
		if idle, err := m.idle(p, listed()); idle || err != nil {
			return p, err
		}
	}
	err = m.mark(ctx)
	store := listed()
	if err != nil {
		return nil, err
	}
	return p, m.fill(ctx, p, store)
}

// begin marks the tips.
func begin(ctx context.Context, o *Options) (*marker, *Plan, error) {
	m, p, err := prepare(o)
	if err != nil {
		return nil, nil, err
	}
	return m, p, m.mark(ctx)
}

// prepare checks what must hold before anything is read.
func prepare(o *Options) (*marker, *Plan, error) {
	p := &Plan{started: o.Now()}
	var err error
	if p.place, err = o.place(); err != nil {
		return nil, nil, err
	}
	if o.Repo != nil {
		// Open packs could still be read after git has collected their objects.
		if err := o.Repo.Close(); err != nil {
			return nil, nil, err
		}
	}
	m := newMarker(o)
	m.last = o.lastHistoryCache()
	for _, dir := range linked(p.place) {
		m.obstruct(Obstacle{
			Reason: ReasonLinked, Root: dir,
			Detail: "is a symbolic link: others may refer to what is behind it",
		})
	}
	if o.Repo != nil && !o.UserLocal {
		if err := m.readShape(); err != nil {
			return nil, nil, err
		}
	}
	return m, p, m.refused()
}

func (m *marker) mark(ctx context.Context) error {
	if err := m.markTips(ctx); err != nil {
		return err
	}
	return m.refused()
}

// readShape finds out which parts of the repository may be elsewhere.
func (m *marker) readShape() (err error) {
	m.lazy, err = m.o.Repo.Lazy(context.Background()) // it reads only a few files
	m.partial = slices.ContainsFunc(m.o.Repo.Incomplete(), func(i gitint.Incomplete) bool {
		return i.Reason == gitint.ReasonPartial
	})
	return err
}

// idle reports whether nothing is old enough to be deleted. Then references do not matter, which in
// a partial clone might have to be fetched.
func (m *marker) idle(p *Plan, listed listing) (bool, error) {
	runs, err := m.expired(p)
	if err != nil || len(runs) > 0 || len(listed.obstacles) > 0 {
		return false, err
	}
	all, err := m.candidates(p, listed.blobs)
	if err != nil || len(all) > 0 {
		p.Young = 0 // they are counted again
		return false, err
	}
	p.Total, p.Unmarked = len(listed.blobs.all), true
	p.Temporaries, err = m.o.oldTemporaries(p, &m.notes)
	p.Notes = m.notes
	return true, err
}

// linked returns the directories of a store that are symlinks, so that others may use them under
// another name.
func linked(p place) []string {
	return lists.Filter([]string{p.dir, p.store}, func(dir string) bool {
		info, err := os.Lstat(dir)
		return err == nil && info.Mode()&fs.ModeSymlink != 0
	})
}

func (o *Options) blobs() *blobs.Store {
	if o.UserLocal {
		return o.Workspace.BlobsOf(workspace.Entry{Local: true})
	}
	return o.Workspace.Blobs()
}

// fill completes a plan after the tips were marked.
func (m *marker) fill(ctx context.Context, p *Plan, listed listing) error {
	store := listed.blobs
	m.obstacles = append(m.obstacles, listed.obstacles...)
	if err := m.refused(); err != nil {
		return err
	}
	p.Total, p.userDirs = len(store.all), m.workspaces.userDirs
	candidates, err := m.candidates(p, store)
	if err != nil {
		return err
	}
	runs, err := m.expired(p)
	if err != nil {
		return err
	}
	presence := func() (*presence, error) { return nil, nil }
	if len(candidates) > 0 && !m.o.UserLocal {
		presence = m.startPresence(ctx)
	}
	h, err := m.askHistory(ctx, p, candidates, runs)
	tips, presenceErr := presence()
	if err != nil {
		return err
	}
	if presenceErr != nil {
		return m.absorb(ctx, presenceErr)
	}
	present := m.present(ctx, h)
	if err = m.choose(ctx, p, h, candidates); err == nil {
		p.Expired = h.sortRuns(runs)
		err = m.refuseMissing(p, tips, store)
	}
	if absent := present(); err != nil || absent != nil {
		return cmp.Or(err, absent)
	}
	p.Temporaries, err = m.o.oldTemporaries(p, &m.notes)
	if at := m.workspaces.noUserData; at != "" && len(p.Items) > 0 {
		// The command may run as another user, such as with sudo.
		m.notes = append(m.notes, "no user-local copies were looked for: "+at+" is not there")
	}
	p.Notes = m.notes
	return errors.Join(err, m.refused())
}

// A listing has the content of the store.
type listing struct {
	blobs     *hashes
	obstacles []Obstacle
}

// listStore lists the blobs, while the tips are marked. A blob written meanwhile is missing in the
// list or within the grace period: a list from before the mark has nothing that one from after it
// lacks, except deleted blobs. Other files in the store may be a later format, in which content is
// elsewhere.
func (o *Options) listStore() (wait func() listing) {
	store, done := o.blobs(), make(chan listing, 1)
	go func() {
		l := listing{blobs: newHashes()}
		obstruct := func(reason, name, detail string) {
			l.obstacles = append(l.obstacles, Obstacle{
				Reason: reason, Root: store.Dir(), Path: name, Detail: detail,
			})
		}
		for h, err := range store.All() {
			foreign := new(blobs.ForeignError)
			switch {
			case err == nil:
				l.blobs.add(h)
			case errors.As(err, &foreign):
				if !isMarker(foreign.Path) {
					obstruct(ReasonForeign, foreign.Path,
						"is not a blob: a newer version may have created it")
				}
			default:
				obstruct(ReasonFiles, "", err.Error())
			}
		}
		done <- l
	}()
	return sync.OnceValue(func() listing { return <-done })
}

// isMarker reports whether a file is allowed beside blobs.
func isMarker(name string) bool {
	switch path.Base(name) {
	case ".gitignore", ".gitattributes", ".gitkeep", ".DS_Store":
		return true
	}
	return false
}

// A candidate is a blob older than the grace period to which no tip refers.
type candidate struct {
	size int64
	time time.Time
}

func (m *marker) candidates(
	p *Plan, store *hashes,
) (map[blobs.Hash]candidate, error) {
	all := make(map[blobs.Hash]candidate)
	limit := p.started.Add(-m.o.Grace)
	for _, h := range store.all {
		if m.wants(h) {
			p.Wanted++
			continue
		}
		info, err := m.o.blobs().Stat(h)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.ModTime().Before(limit) {
			p.Young++
			continue
		}
		all[h] = candidate{info.Size(), info.ModTime()}
	}
	return all, nil
}

// askHistory searches the older commits for the candidates, and for the blobs in the trash.
func (m *marker) askHistory(
	ctx context.Context, p *Plan, candidates map[blobs.Hash]candidate, runs []ExpiredRun,
) (*history, error) {
	sorted := slices.SortedFunc(maps.Keys(candidates), blobs.Hash.Compare)
	for _, r := range runs {
		sorted = append(sorted, r.Dead...)
	}
	numbers := newHashes()
	for _, hash := range sorted {
		numbers.add(hash)
	}
	h := newHistory(m.o, m.trees, numbers)
	if len(sorted) == 0 || m.o.UserLocal {
		return h, nil
	}
	if err := m.requireHistory(ctx); err != nil {
		return nil, err
	}
	if err := h.markNew(ctx, m.commits, m.last()); err != nil {
		return nil, m.absorb(ctx, err)
	}
	p.Commits = len(h.commits)
	notes, dark := h.notes()
	m.notes = append(m.notes, notes...)
	m.obstacles = append(m.obstacles, dark...)
	return h, nil
}

// choose makes items of the candidates that history does not need.
func (m *marker) choose(
	ctx context.Context, p *Plan, h *history, candidates map[blobs.Hash]candidate,
) error {
	tracked := m.tracked()
	held, err := m.o.held()
	if err != nil {
		return err
	}
	t := titler{repo: m.o.Repo, known: make(map[string]Mention)}
	for n, hash := range h.references.hashes.all {
		c, ok := candidates[hash]
		item := Item{
			Hash: hash, Size: c.size, ModTime: c.time, Path: path.Join(p.place.prefix, hash.Path()),
		}
		item.Tracked = tracked[item.Path]
		switch {
		case !ok:
		case h.needs(n):
			p.Past++
		case held && !item.Tracked:
			p.Locked++
		case item.Tracked && m.o.OnlyUntracked:
			p.Tracked++
		default:
			item.Last = t.mention(ctx, h.last[n])
			p.Items = append(p.Items, item)
		}
	}
	slices.SortFunc(p.Items, func(a, b Item) int {
		if a.Tracked != b.Tracked {
			if a.Tracked {
				return 1
			}
			return -1
		}
		return cmp.Or(a.ModTime.Compare(b.ModTime), a.Hash.Compare(b.Hash))
	})
	return nil
}

// tracked returns the paths in the index, on any side of a conflict.
func (m *marker) tracked() map[string]bool {
	paths := make(map[string]bool)
	if m.o.UserLocal {
		return paths
	}
	x := m.index
	all, _ := x.Entries(".") // an index that was read has no error
	for _, e := range all {
		paths[e.Path] = true
	}
	for _, e := range x.Stages() {
		paths[e.Path] = true
	}
	return paths
}

// held reports whether another process holds a conversation: maybe a program that does not check
// again whether the content it refers to exists.
func (o *Options) held() (bool, error) {
	locks, err := o.Workspace.Locks()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(locks, func(l *workspace.LockedError) bool {
		return l.PID == 0 || l.PID != o.PID
	}), nil
}

// A titler finds the titles of conversations.
type titler struct {
	repo  *gitint.Repo
	known map[string]Mention // by commit and path
}

func (t *titler) mention(ctx context.Context, last *lastMention) *Mention {
	if last == nil {
		return nil
	}
	key := last.commit.String() + ":" + last.path
	found, ok := t.known[key]
	if !ok {
		found = Mention{Commit: last.commit, Path: last.path}
		dir := path.Dir(last.path)
		found.Conversation, _ = events.ParseDirname(path.Base(dir))
		// An unreadable conversation has no title here.
		if tree, err := t.repo.Tree(ctx, last.commit.String()); err == nil {
			if data, err := tree.ReadFile(path.Join(dir, workspace.MetadataFile)); err == nil {
				details, _ := events.DecodeDetails(data)
				found.Title = details.Name()
			}
		}
		t.known[key] = found
	}
	return &found
}

// refuseMissing refuses to delete anything while some content is already missing: whatever removed
// it may still be running.
func (m *marker) refuseMissing(
	p *Plan, tips *presence, store *hashes,
) error {
	if len(p.Items) == 0 || m.o.UserLocal {
		return nil
	}
	missing, err := m.missing(tips, store)
	if err != nil {
		return err
	}
	if m.o.AcceptMissing {
		p.Missing = missing
		return nil
	}
	m.obstacles = append(m.obstacles, missing...)
	return nil
}

// minLeftover is how old a leftover is at least: a grace period of nothing is meant for content,
// and processes that lock no conversation are writing, such as a merge in another working tree.
const minLeftover = 24 * time.Hour

// oldTemporaries lists leftovers of killed writers. While a conversation is locked it lists none,
// to disturb no writer. A temporary that may be the only copy of another program's version is kept,
// and noted whatever its age: nothing else ever names it.
func (o *Options) oldTemporaries(p *Plan, notes *[]string) ([]string, error) {
	held, err := o.held()
	if err != nil || held {
		return nil, err
	}
	dirs := []string{filepath.Join(p.place.store, ".tmp")}
	if p.place.prefix != "" {
		dirs = append(dirs, spare.Unfinished(o.Repo.GitDir(), p.place.prefix))
		for _, state := range []string{o.Repo.Dir(), filepath.Join(o.Repo.GitDir(), "jp")} {
			dirs = append(dirs, temporariesIn(state)...)
		}
	}
	slices.Sort(dirs)
	limit := p.started.Add(-max(o.Grace, minLeftover))
	var old []string
	for _, dir := range slices.Compact(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			info, err := e.Info()
			at := filepath.Join(dir, e.Name())
			switch {
			case err != nil || isOurs(e.Name()):
			case strings.HasPrefix(e.Name(), atomicfile.Marked):
				*notes = append(*notes, at+" was left by a killed process and may hold another"+
					" program's changes; look at it before you remove it")
			case info.ModTime().Before(limit):
				old = append(old, at)
			}
		}
	}
	return old, nil
}

// temporariesIn returns the directories in which temporaries of a state directory are written. They
// are named one by one: others there have what users named, such as spare copies of the content of
// a workspace in a directory tmp.
func temporariesIn(state string) []string {
	dirs := []string{"tmp", ".tmp", "cache/tmp", "captures/tmp", "answers/.tmp", "conflicts/.tmp"}
	for i, dir := range dirs {
		dirs[i] = filepath.Join(state, filepath.FromSlash(dir))
	}
	return dirs
}

// isOurs reports whether a name in the directory of temporaries belongs to the collector.
func isOurs(name string) bool {
	return name == "trash" || name == "gc.lock" || name == "gc.open" || name == stampName
}
