package blame

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/view"
)

// A Finder finds the turns of lines, of one file after the other. It reads what a commit added only
// once.
type Finder struct {
	repo    *gitint.Repo
	problem func(error)
	commits map[gitint.OID]commit
	written map[string][]written // by the last element of the path
}

// A commit has the turns that it added, or says that its parent is not here.
type commit struct {
	turns []Turn
	cut   bool
}

// A written is text that a call wrote into a file.
type written struct {
	view.Change

	key  string // of the call
	at   time.Time
	turn *Turn
}

// NewFinder returns one without conversations. Read errors are reported, and the rest is found.
func NewFinder(repo *gitint.Repo, problem func(error)) *Finder {
	return &Finder{
		repo: repo, problem: problem,
		commits: make(map[gitint.OID]commit), written: make(map[string][]written),
	}
}

// Add adds the calls of a conversation. It returns the files that they name.
func (f *Finder) Add(s Subject) (files []string) {
	f.add(s, func(c view.Change) bool {
		if !slices.Contains(files, c.File) {
			files = append(files, c.File)
		}
		return true
	})
	return files
}

func (f *Finder) add(s Subject, wanted func(view.Change) bool) {
	var turnOf []int
	var keys []string
	turns := make(map[int]*Turn)
	for _, c := range view.Changes(s.Stream) {
		if !wanted(c) {
			continue
		}
		if turnOf == nil {
			turnOf, keys = s.Stream.TurnOf(), s.Stream.Keys()
		}
		n := turnOf[c.Index]
		if n < 0 {
			continue
		}
		if turns[n] == nil {
			t := s.turn(n)
			turns[n] = &t
		}
		name := path.Base(c.Path())
		f.written[name] = append(f.written[name], written{
			Change: c, key: keys[c.Index], at: s.Stream.At(c.Index).Time(), turn: turns[n],
		})
	}
}

// naming returns what calls wrote into a file.
func (f *Finder) naming(file string) []written {
	return lists.Filter(f.written[path.Base(file)], func(w written) bool { return w.Names(file) })
}

// Naming returns the conversations with calls that name a file.
func (f *Finder) Naming(file string) (all []events.ID) {
	for _, w := range f.naming(file) {
		if !slices.Contains(all, w.turn.ID) {
			all = append(all, w.turn.ID)
		}
	}
	return all
}

// Find returns where lines come from.
func (f *Finder) Find(ctx context.Context, q Request) ([]Span, error) {
	lines, err := f.repo.Blame(ctx, q.Rev, q.Path, q.From, q.To)
	if err != nil {
		return nil, err
	}
	return f.origins(ctx, q.Path, lines)
}

// origins returns where lines of a file come from.
func (f *Finder) origins(
	ctx context.Context, file string, lines []gitint.BlamedLine,
) ([]Span, error) {
	all, texts := spans(lines)
	if err := f.fetch(ctx, all); err != nil {
		f.problem(err)
	}
	for i := range all {
		id := all[i].Commit.Commit
		if id.IsZero() {
			continue
		}
		c, err := f.commit(ctx, id)
		if err != nil {
			return nil, err
		}
		all[i].Turns, all[i].Cut = slices.Clone(c.turns), c.cut
	}
	f.find(names(file, lines), all, texts)
	for i := range all {
		slices.SortStableFunc(all[i].Turns, Turn.before)
	}
	return all, nil
}

// fetch fetches the turns that the commits of lines added.
func (f *Finder) fetch(ctx context.Context, all []Span) error {
	var ranges []review.Range
	for _, span := range all {
		id := span.Commit.Commit
		known := slices.ContainsFunc(ranges, func(r review.Range) bool { return r.Head == id })
		if _, read := f.commits[id]; id.IsZero() || read || known {
			continue
		}
		base, cut, err := f.repo.Parent(ctx, id)
		if err != nil {
			return err
		}
		if !cut {
			ranges = append(ranges, review.Range{Base: base, Head: id})
		}
	}
	return review.Fetch(ctx, f.repo, false, ranges...)
}

// commit returns what a commit added. For the commit at which a shallow clone ends that is unknown.
func (f *Finder) commit(ctx context.Context, id gitint.OID) (commit, error) {
	if c, ok := f.commits[id]; ok {
		return c, nil
	}
	base, cut, err := f.repo.Parent(ctx, id)
	if err != nil {
		return commit{}, err
	}
	c := commit{cut: cut}
	var all []review.Conversation
	if !cut {
		if all, err = review.Between(ctx, f.repo, base, id, f.problem); err != nil {
			return commit{}, err
		}
	}
	for _, conv := range all {
		s := Subject{conv.ID, conv.Title(), conv.Stream}
		for _, at := range conv.Turns {
			t := s.turn(at)
			t.Recorded = true
			c.turns = append(c.turns, t)
		}
	}
	f.commits[id] = c
	return c, nil
}

// find adds the turns whose calls put lines into a file before they were committed. A call names
// the file by its present name, which is the first, or by the one in the commit of the lines. Texts
// are the spans that have a line.
func (f *Finder) find(names []string, all []Span, texts map[string][]int) {
	type place struct {
		span int
		turn *Turn
	}
	var places []place
	counts, first := make(map[place]int), make(map[place]string)
	seen := make(map[place]map[string]bool)
	count := func(w written, line string, i int) {
		p, at := place{i, w.turn}, all[i].Commit
		if seen[p][line] || !at.Commit.IsZero() && w.at.After(at.At) {
			return
		}
		if seen[p] == nil {
			seen[p], first[p] = make(map[string]bool), w.key
			places = append(places, p)
		}
		seen[p][line] = true
		counts[p]++
	}
	for n, name := range names {
		for _, w := range f.naming(name) {
			for _, line := range w.Lines {
				key := essence(line)
				for _, i := range texts[key] {
					if n == 0 || all[i].Commit.Path == name {
						count(w, key, i)
					}
				}
			}
		}
	}
	for _, p := range places {
		t := *p.turn
		t.Wrote, t.Key = counts[p], first[p]
		all[p.span].add(t)
	}
}

// add adds a turn that wrote lines to a span, which may already have it because of its commit.
func (s *Span) add(t Turn) {
	i := slices.IndexFunc(s.Turns, func(u Turn) bool {
		return u.ID == t.ID && u.Number == t.Number
	})
	if i < 0 {
		s.Turns = append(s.Turns, t)
		return
	}
	s.Turns[i].Wrote, s.Turns[i].Key = t.Wrote, t.Key
}
