package blame

import (
	"cmp"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/view"
)

// A Record is one turn that lines come from, in JSON.
type Record struct {
	From    int       `json:"from"`
	To      int       `json:"to"`
	Commit  string    `json:"commit"`        // "" for uncommitted lines
	Cut     bool      `json:"cut,omitempty"` // what the commit added is not known
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Turn    int       `json:"turn"`
	Link    string    `json:"link"`
	Time    time.Time `json:"time"`
	Author  string    `json:"author"`
	Prompt  string    `json:"prompt"`
	Origin  string    `json:"origin"`
	Written int       `json:"written"`
}

// Print prints where lines come from. It prints a few of the turns that a commit added and that
// wrote none of its lines, or all.
func Print(p *render.Printer, spans []Span, all bool) error {
	for i, s := range spans {
		shown, left := s.shown(all)
		if p.JSON {
			for _, t := range shown {
				if err := p.Records(newRecord(s, t)); err != nil {
					return err
				}
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		if err := s.print(p, shown, left); err != nil {
			return err
		}
	}
	return nil
}

// most is how many turns of a commit are printed that wrote none of its lines.
const most = 3

// shown returns the turns to print, and how many are left out.
func (s Span) shown(all bool) (shown []Turn, left int) {
	for i, t := range s.Turns {
		if t.Wrote == 0 && i >= most && !all {
			return s.Turns[:i], len(s.Turns) - i
		}
	}
	return s.Turns, 0
}

func (s Span) print(p *render.Printer, shown []Turn, left int) error {
	out := p.Output
	by := "not committed"
	if !s.Commit.Commit.IsZero() {
		by = fmt.Sprintf("%.12s %s, %s: %s", s.Commit.Commit, s.Commit.Author,
			p.Ago(s.Commit.At), s.Commit.Summary)
	}
	if s.Cut {
		by = fmt.Sprintf("in or before %.12s, with which the history that is here begins",
			s.Commit.Commit)
	}
	fmt.Fprintln(p.Out, out.Line(s.lines()+"  "+by))
	for _, t := range shown {
		fmt.Fprintln(p.Out, out.Line(fmt.Sprintf("  %s  %s turn %d, %s, %s: %s",
			t.origin(), t.ID, t.Number, cmp.Or(t.Author, "User"), p.Ago(t.At), t.Title)))
		fmt.Fprintln(p.Out, out.Line("    "+render.Clip(t.Prompt)))
	}
	var err error
	switch {
	case left > 0:
		_, err = fmt.Fprintf(p.Out, "  … and %s of this commit, listed with --all\n",
			render.Count(left, "turn"))
	case len(shown) == 0:
		_, err = fmt.Fprintln(p.Out, "  no turn is known")
	}
	return err
}

func (s Span) lines() string {
	if s.From == s.To {
		return fmt.Sprintf("line %d", s.From)
	}
	return fmt.Sprintf("lines %d to %d", s.From, s.To)
}

// known says how it is known that lines come from a turn.
func (t Turn) known() string {
	if t.Recorded {
		return "recorded"
	}
	return "inferred"
}

// origin says how a turn is known, and what it wrote.
func (t Turn) origin() string {
	if t.Wrote > 0 {
		return t.known() + ", wrote " + render.Count(t.Wrote, "line")
	}
	return t.known()
}

func newRecord(s Span, t Turn) Record {
	r := Record{
		From: s.From, To: s.To, ID: t.ID.String(), Title: t.Title, Turn: t.Number,
		Link: view.Permalink(t.ID, t.Key), Time: t.At, Author: t.Author, Prompt: t.Prompt,
		Origin: t.known(), Written: t.Wrote, Cut: s.Cut,
	}
	if !s.Commit.Commit.IsZero() {
		r.Commit = s.Commit.Commit.String()
	}
	return r
}
