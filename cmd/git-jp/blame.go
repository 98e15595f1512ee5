package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/web"
)

type blameCmd struct {
	File  string `arg:"" help:"The file."`
	Lines string `short:"L" placeholder:"FROM[,TO]" help:"Look only at these lines."`
	Ref   string `placeholder:"REF" help:"The file, and conversations, as a commit has them."`
	All   bool   `help:"List all turns of a commit, not only the first."`
}

// Help says what is found, and how sure it is.
func (blameCmd) Help() string {
	return `Shows for lines of a file what was asked when they came about. git blame gives the
commit. A turn that this commit added is marked recorded; one whose call wrote the same line
before it was committed, and that is in no commit or in another one, is marked inferred. Those
that wrote the lines come first.

    git jp blame -L 12,20 main.go`
}

// blameRecord is one turn in `blame --json`.
type blameRecord struct {
	From    int       `json:"from"`
	To      int       `json:"to"`
	Commit  string    `json:"commit"`        // "" where the lines are not committed
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

// Run looks for turns.
func (c blameCmd) Run(ctx context.Context, a *app) error {
	from, to, err := c.lines()
	if err != nil {
		return err
	}
	failed := false
	all, err := blameLines(ctx, a, blame.Request{
		Rev: c.Ref, Path: c.File, From: from, To: to,
	}, func(err error) {
		a.warn("%v", err)
		failed = true
	})
	if err != nil {
		return err
	}
	if err := c.print(a, all); err != nil || !failed {
		return err
	}
	return report.ErrProblems
}

// lines reads FROM[,TO].
func (c blameCmd) lines() (from, to int, err error) {
	if c.Lines == "" {
		return 0, 0, nil
	}
	first, last, two := strings.Cut(c.Lines, ",")
	if from, err = strconv.Atoi(first); err == nil {
		to = from
		if two {
			to, err = strconv.Atoi(last)
		}
	}
	if err != nil || from < 1 || to < from {
		return 0, 0, usagef("--lines %s: expected numbers of lines, as in 12,20", c.Lines)
	}
	return from, to, nil
}

// blameLines looks for the turns that lines come from. The path is one of the file system.
func blameLines(
	ctx context.Context, a *app, q blame.Request, problem func(error),
) ([]blame.Span, error) {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, err
	}
	if q.Path, err = inRepo(a, repo, q.Path); err != nil {
		return nil, err
	}
	source, err := webCmd{Ref: q.Rev}.source(ctx, a)
	if err != nil {
		return nil, err
	}
	if q.Rev == "" && repo.Bare() {
		q.Rev = "HEAD"
	}
	return blame.Of(ctx, repo, q, web.Subjects(ctx, source, problem), problem)
}

// inRepo returns the path of a file below the root of the repository.
func inRepo(a *app, repo *gitint.Repo, file string) (string, error) {
	if repo.Root() == "" {
		return filepath.ToSlash(file), nil
	}
	root, err := realDir(repo.Root())
	if err != nil {
		return "", err
	}
	dir, name := filepath.Split(a.path(file))
	if real, err := realDir(filepath.Clean(dir)); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, name))
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in the repository %s", file, root)
	}
	return filepath.ToSlash(rel), nil
}

// mostBlamed is how many turns of a commit are listed that wrote none of its lines.
const mostBlamed = 3

func (c blameCmd) print(a *app, all []blame.Span) error {
	lines := render.NewJSONLines(a.stdout, a.output())
	for i, s := range all {
		shown, left := c.shown(s)
		if a.JSON {
			for _, t := range shown {
				if err := lines.Write(recordOf(s, t)); err != nil {
					return err
				}
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		if err := printSpan(a, s, shown, left); err != nil {
			return err
		}
	}
	return nil
}

// shown returns the turns to list, and how many are left out.
func (c blameCmd) shown(s blame.Span) (shown []blame.Turn, left int) {
	for i, t := range s.Turns {
		if t.Wrote == 0 && i >= mostBlamed && !c.All {
			return s.Turns[:i], len(s.Turns) - i
		}
	}
	return s.Turns, 0
}

func printSpan(a *app, s blame.Span, shown []blame.Turn, left int) error {
	out := a.output()
	by := "not committed"
	if !s.Commit.Commit.IsZero() {
		by = fmt.Sprintf("%.12s %s, %s: %s", s.Commit.Commit, s.Commit.Author,
			a.terminal.Ago(s.Commit.At), s.Commit.Summary)
	}
	if s.Cut {
		by = fmt.Sprintf("in or before %.12s, with which the history that is here begins",
			s.Commit.Commit)
	}
	fmt.Fprintln(a.stdout, out.Line(linesOf(s)+"  "+by))
	for _, t := range shown {
		fmt.Fprintln(a.stdout, out.Line(fmt.Sprintf("  %s  %s turn %d, %s, %s: %s",
			originOf(t), t.ID, t.Number, cmp.Or(t.Author, "User"), a.terminal.Ago(t.At), t.Title)))
		fmt.Fprintln(a.stdout, out.Line("    "+render.Clip(t.Prompt)))
	}
	var err error
	switch {
	case left > 0:
		_, err = fmt.Fprintf(a.stdout, "  … and %s of this commit, listed with --all\n",
			render.Count(left, "turn"))
	case len(shown) == 0:
		_, err = fmt.Fprintln(a.stdout, "  no turn is known")
	}
	return err
}

func linesOf(s blame.Span) string {
	if s.From == s.To {
		return fmt.Sprintf("line %d", s.From)
	}
	return fmt.Sprintf("lines %d to %d", s.From, s.To)
}

// originOf says how a turn is known to be where lines come from.
func originOf(t blame.Turn) string {
	origin := "inferred"
	if t.Recorded {
		origin = "recorded"
	}
	if t.Wrote > 0 {
		origin += ", wrote " + render.Count(t.Wrote, "line")
	}
	return origin
}

func recordOf(s blame.Span, t blame.Turn) blameRecord {
	r := blameRecord{
		From: s.From, To: s.To, ID: t.ID.String(), Title: t.Title, Turn: t.Number,
		Link: view.Permalink(t.ID, t.Key), Time: t.At, Author: t.Author, Prompt: t.Prompt,
		Origin: "inferred", Written: t.Wrote, Cut: s.Cut,
	}
	if t.Recorded {
		r.Origin = "recorded"
	}
	if !s.Commit.Commit.IsZero() {
		r.Commit = s.Commit.Commit.String()
	}
	return r
}
