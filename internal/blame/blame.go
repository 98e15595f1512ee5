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

// A Request selects lines, as they are in Rev, or in the working tree.
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

// A Span is consecutive lines that come from one commit.
type Span struct {
	From, To int
	Text     []string
	Commit   gitint.BlamedLine // of the first line; its Commit is zero for uncommitted lines
	// Cut says that the local history begins with the commit: the lines are older.
	Cut   bool
	Turns []Turn // those that wrote the lines first
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
	// Recorded says that the commit of the lines added the turn. Otherwise it is inferred.
	Recorded bool
	// Wrote is how many of the lines a call of the turn put into the file.
	Wrote int
}

// Of returns where lines come from. The function each passes on the conversations whose calls may
// have written them; if one cannot be read, the others are still used.
func Of(
	ctx context.Context, repo *gitint.Repo, q Request,
	each func(func(Subject) error) error, problem func(error),
) ([]Span, error) {
	lines, err := repo.Blame(ctx, q.Rev, q.Path, q.From, q.To)
	if err != nil {
		return nil, err
	}
	f, names := NewFinder(repo, problem), names(q.Path, lines)
	err = each(func(s Subject) error {
		f.add(s, func(c view.Change) bool { return slices.ContainsFunc(names, c.Names) })
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("search for who wrote %s: %w", q.Path, err)
	}
	return f.origins(ctx, q.Path, lines)
}

// names returns the paths that a file had when its lines were committed, the present one first.
func names(file string, lines []gitint.BlamedLine) []string {
	all := []string{file}
	for _, l := range lines {
		if l.Path != "" && !slices.Contains(all, l.Path) {
			all = append(all, l.Path)
		}
	}
	return all
}

// before orders turns by how many lines they wrote, then recorded ones first, then newer ones.
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

// spans returns the lines in spans, and the spans that contain each text.
func spans(lines []gitint.BlamedLine) (all []Span, texts map[string][]int) {
	texts = make(map[string][]int)
	for _, l := range lines {
		n := len(all)
		if n > 0 && all[n-1].continues(l) {
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

// continues reports whether a line comes from the same version of a file as those before it.
func (s *Span) continues(l gitint.BlamedLine) bool {
	return s.Commit.Commit == l.Commit && s.Commit.Path == l.Path && s.To == l.Number-1
}

// essence returns the text that identifies a line, "" if many lines have the same text: a brace, an
// else.
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

// turn returns a turn of a conversation, counted from 0.
func (s Subject) turn(at int) Turn {
	turn := s.Stream.Turns()[at]
	author, prompt, answer, _ := review.Asked(s.Stream, turn)
	return Turn{
		ID: s.ID, Title: s.Title, Number: at + 1, Key: s.Stream.Keys()[turn.First],
		At: s.Stream.At(turn.First).Time(), Author: author, Prompt: prompt, Answer: answer,
	}
}

// Shown returns a span for a page that has no page for the commit.
func (s Span) Shown() view.Span {
	span := view.Span{From: s.From, Lines: s.Text, Cut: s.Cut}
	if !s.Commit.Commit.IsZero() {
		span.Commit = view.Commit{
			ID: s.Commit.Commit.String(), Author: s.Commit.Author, Subject: s.Commit.Summary,
			At: s.Commit.At,
		}
	}
	for _, t := range s.Turns {
		span.Turns = append(span.Turns, view.Origin{
			Title: t.Title, Page: view.Permalink(t.ID, t.Key), Prompt: t.Prompt,
			Author: t.Author, Number: t.Number, At: t.At, Recorded: t.Recorded, Wrote: t.Wrote,
		})
	}
	return span
}
