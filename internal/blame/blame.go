package blame

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/view"
)

// A Request says which lines are asked for, as they are in Rev, or in the working tree.
type Request struct {
	Rev, Path string
	From, To  int // counted from 1; 0 for no bound
}

// A Subject is a conversation whose calls may have written lines.
type Subject struct {
	ID     events.ID
	Title  string
	Stream *events.Stream
}

// A Span is lines that follow each other and come from one commit.
type Span struct {
	From, To int
	Text     []string
	Commit   gitint.BlamedLine // of the first line; its Commit is zero where none has it
	Turns    []Turn            // those that wrote the lines first
}

// A Turn is one that lines come from.
type Turn struct {
	ID             events.ID
	Title          string
	Number         int    // counted from 1
	Key            string // of the call that wrote a line, else of the turn's first event
	At             time.Time
	Author         string
	Prompt, Answer string
	// Recorded says that the commit of the lines added the turn. Else it is inferred.
	Recorded bool
	// Wrote is how many of the lines a call of the turn put into the file.
	Wrote int
}

// Of returns where lines come from. Each calls its function with the conversations whose calls
// may have written them; the problem of one that cannot be read is not the others'.
func Of(
	ctx context.Context, repo *gitint.Repo, q Request,
	each func(func(Subject) error) error, problem func(error),
) ([]Span, error) {
	lines, err := repo.Blame(ctx, q.Rev, q.Path, q.From, q.To)
	if err != nil {
		return nil, err
	}
	all, texts := spans(lines)
	f := finder{path: q.Path, spans: all, texts: texts}
	if err := f.recorded(ctx, repo, problem); err != nil {
		return nil, err
	}
	err = each(func(s Subject) error {
		f.written(s)
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("search for who wrote %s: %w", q.Path, err)
	}
	for i := range all {
		slices.SortStableFunc(all[i].Turns, Turn.before)
	}
	return all, nil
}

// before puts first who wrote most, then what is recorded, then what is newer.
func (t Turn) before(u Turn) int {
	rank := func(t Turn) int {
		if t.Recorded {
			return t.Wrote*2 + 1
		}
		return t.Wrote * 2
	}
	if r := rank(u) - rank(t); r != 0 {
		return r
	}
	return u.At.Compare(t.At)
}

// spans returns the lines in spans, and which of them have a text.
func spans(lines []gitint.BlamedLine) (all []Span, texts map[string][]int) {
	texts = make(map[string][]int)
	for _, l := range lines {
		n := len(all)
		if n > 0 && all[n-1].Commit.Commit == l.Commit && all[n-1].To == l.Number-1 {
			all[n-1].To = l.Number
		} else {
			all = append(all, Span{From: l.Number, To: l.Number, Commit: l})
		}
		last := &all[len(all)-1]
		last.Text = append(last.Text, l.Text)
		key := essence(l.Text)
		if at := len(all) - 1; key != "" && !slices.Contains(texts[key], at) {
			texts[key] = append(texts[key], at)
		}
	}
	return all, texts
}

// essence is what a line is known by, "" where many a line says the same: a brace, an else.
func essence(line string) string {
	const least = 6
	n := 0
	for _, r := range line {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	if n < least {
		return ""
	}
	return strings.TrimSpace(line)
}

// A finder adds turns to spans.
type finder struct {
	path  string
	spans []Span
	texts map[string][]int // the spans that have a line
}

// recorded adds the turns that the commits of lines added.
func (f *finder) recorded(ctx context.Context, repo *gitint.Repo, problem func(error)) error {
	known := make(map[gitint.OID][]Turn)
	for i := range f.spans {
		id := f.spans[i].Commit.Commit
		if id.IsZero() {
			continue
		}
		turns, ok := known[id]
		if !ok {
			base, err := repo.Resolve(ctx, id.String()+"^1")
			if err != nil {
				base = gitint.OID{} // the first commit, or that at which a shallow clone ends
			}
			all, err := review.Between(ctx, repo, base, id, problem)
			if err != nil {
				return err
			}
			for _, c := range all {
				s := Subject{c.ID, c.Title(), c.Stream}
				for _, at := range c.Turns {
					t := s.turn(at)
					t.Recorded = true
					turns = append(turns, t)
				}
			}
			known[id] = turns
		}
		f.spans[i].Turns = slices.Clone(turns)
	}
	return nil
}

// turn returns a turn of a conversation, counted from 0.
func (s Subject) turn(at int) Turn {
	turn := s.Stream.Turns()[at]
	author, prompt, answer, _ := review.Asked(s.Stream, turn)
	return Turn{
		ID: s.ID, Title: s.Title, Number: at + 1, Key: s.Stream.Keys()[turn.First],
		At: s.Stream.At(turn.First).Time(), Author: author, Prompt: prompt, Answer: answer,
	}
}

// written adds the turns of a conversation whose calls put lines into the file, before they were
// committed.
func (f *finder) written(s Subject) {
	type place struct{ span, turn int }
	counts, first := make(map[place]int), make(map[place]int)
	seen := make(map[place]map[string]bool)
	var turnOf []int
	for _, c := range view.Changes(s.Stream) {
		if !c.Names(f.path) {
			continue
		}
		if turnOf == nil {
			turnOf = s.Stream.TurnOf()
		}
		for _, line := range c.Lines {
			key := essence(line)
			for _, i := range f.texts[key] {
				p := place{i, turnOf[c.Index]}
				at := f.spans[i].Commit
				if p.turn < 0 || seen[p][key] ||
					!at.Commit.IsZero() && s.Stream.At(c.Index).Time().After(at.At) {
					continue
				}
				if seen[p] == nil {
					seen[p], first[p] = make(map[string]bool), c.Index
				}
				seen[p][key] = true
				counts[p]++
			}
		}
	}
	for p, n := range counts {
		t := s.turn(p.turn)
		t.Wrote, t.Key = n, s.Stream.Keys()[first[p]]
		f.add(p.span, t)
	}
}

// add adds a turn that wrote lines to a span, which may have it by its commit.
func (f *finder) add(span int, t Turn) {
	turns := f.spans[span].Turns
	i := slices.IndexFunc(turns, func(u Turn) bool { return u.ID == t.ID && u.Number == t.Number })
	if i < 0 {
		f.spans[span].Turns = append(turns, t)
		return
	}
	turns[i].Wrote, turns[i].Key = t.Wrote, t.Key
}
