package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/search"
	"github.com/git-jp/git-jp/internal/workspace"
)

type grepCmd struct {
	Pattern       string   `arg:"" help:"What to look for."`
	Conversation  []string `arg:"" optional:"" help:"Conversations to search; all by default."`
	Regexp        bool     `short:"E" aliases:"regex" help:"The pattern is a regular expression (RE2)."`
	IgnoreCase    bool     `short:"i" xor:"case" help:"Upper and lower case are the same."`
	CaseSensitive bool     `xor:"case" help:"They are not, also when the pattern is all lower case."`
	Context       int      `placeholder:"N" help:"Show N lines around each hit."`
	Scope         []string `short:"s" placeholder:"SCOPE" help:"Search only here; repeat for several."`
	Names         bool     `short:"l" xor:"output" help:"Print only the conversations."`
	Count         bool     `xor:"output" help:"Print only the number of matching lines of each."`
	All           bool     `help:"Search every branch and other ref, not the working tree."`
	Archived      bool     `short:"a" help:"Search archived conversations too, as those of agents."`
	Label         []string `sep:"none" placeholder:"KEY[=VALUE]" help:"Search those with this label; repeat for several."`
	Heading       *bool    `negatable:"" help:"Group lines below conversations and turns, as on a terminal."`
}

// Help explains scopes and output.
func (grepCmd) Help() string {
	return `Sees what lies in blobs and in base64, which 'git grep' cannot. The pattern is plain
text; case matters when it has an upper-case letter.

Scopes: title, user, assistant, reasoning, structured, tool-call, tool-result, attachment,
inquiry; chat and tool stand for several of them.

On a terminal lines are grouped by conversation and turn, and cut around what matched.
Elsewhere, or with --no-heading, each is ID:TURN:SCOPE:LINE:TEXT as it is, with - in place of
the last : for a line of context.
The exit code is 0 when something was found, and 1 when nothing was or when something
could not be searched.`
}

// hitRecord is one matching line in `grep --json`.
type hitRecord struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Ref     string   `json:"ref,omitempty"`
	Turn    int      `json:"turn"` // counted from 1, 0 for the title
	Element int      `json:"element"`
	Scope   string   `json:"scope"`
	Where   string   `json:"where,omitempty"`
	Line    int      `json:"line"`
	Text    string   `json:"text"`
	Match   bool     `json:"match"`
	Spans   [][2]int `json:"spans,omitempty"`
}

// countRecord is one conversation in `grep --json --count` and `--names`.
type countRecord struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Ref   string `json:"ref,omitempty"`
	Lines int    `json:"lines"`
}

// A grepRun carries what all conversations of one search share.
type grepRun struct {
	*app
	cmd     grepCmd
	pattern *search.Pattern
	lines   *render.JSONLines
	hits    *render.Hits // nil where lines are not grouped
	found   bool
	failed  bool
	printed bool // a line, so that a further group is parted from it
}

// Run searches.
func (c grepCmd) Run(ctx context.Context, a *app) error {
	pattern, err := c.compile()
	if err != nil {
		return err
	}
	g := &grepRun{
		app: a, cmd: c, pattern: pattern, lines: render.NewJSONLines(a.stdout, a.output()),
	}
	if heading := a.stdoutTerminal; !a.JSON && (c.Heading == nil && heading ||
		c.Heading != nil && *c.Heading) {
		g.hits = render.NewHits(a.stdout, a.output())
	}
	if c.All {
		err = g.refs(ctx)
	} else {
		err = g.workTree(ctx)
	}
	if err != nil {
		return err
	}
	if g.failed || !g.found {
		return report.ErrProblems
	}
	return nil
}

func (c grepCmd) compile() (*search.Pattern, error) {
	if c.Context < 0 {
		return nil, usagef("--context %d: expected a positive number", c.Context)
	}
	q := search.Query{Pattern: c.Pattern, Regexp: c.Regexp, Context: c.Context}
	switch {
	case c.IgnoreCase:
		q.Case = search.CaseIgnore
	case c.CaseSensitive:
		q.Case = search.CaseExact
	}
	all := false
	for _, name := range c.Scope {
		scopes, ok := search.ParseScope(name)
		if !ok {
			return nil, usagef("no scope named %q", name)
		}
		all = all || scopes == nil
		q.Scopes = append(q.Scopes, scopes...)
	}
	if all {
		q.Scopes = nil
	}
	p, err := search.Compile(q)
	if err != nil {
		return nil, &report.UsageError{Err: err}
	}
	return p, nil
}

// workTree searches conversations as they lie in the working tree.
func (g *grepRun) workTree(ctx context.Context) error {
	walk, err := newWalk(g.app, g.cmd.Conversation, g.cmd.Archived)
	if err != nil {
		return err
	}
	walk.Problem = g.problem
	return walk.Each(ctx, func(e workspace.Entry, conv *workspace.Conversation) error {
		return g.search(search.Version{
			ID: e.ID, Title: conv.Title(), Labels: conv.Details.Labels, Stream: conv.Stream,
			Contents: walk.Workspace.BlobsOf(e),
		})
	})
}

// newWalk loads the conversations that were named, or all.
func newWalk(a *app, names []string, archived bool) (k workspace.Walk, err error) {
	k.Archived = archived
	if k.Workspace, err = a.workspace(); err != nil || len(names) == 0 {
		return k, err
	}
	k.Named, err = findAll(a, names)
	return k, err
}

// refs searches what the tips of all refs have.
func (g *grepRun) refs(ctx context.Context) error {
	repo, err := g.repo(ctx)
	if err != nil {
		return err
	}
	wanted, err := g.want()
	if err != nil {
		return err
	}
	all := search.Refs{
		Repo: repo, Wanted: wanted, Archived: g.cmd.Archived,
		Contents: g.pattern.Contents(), Problem: g.problem,
	}
	return all.Each(ctx, g.search)
}

// want understands the conversations that were named for a search of refs, where one
// need not be in the working tree.
func (g *grepRun) want() (wanted map[events.ID]bool, err error) {
	for _, name := range g.cmd.Conversation {
		e, err := g.find(name)
		if err != nil {
			id, noID := events.ParseID(name)
			if noID != nil {
				return nil, err
			}
			e.ID = id
		}
		if wanted == nil {
			wanted = make(map[events.ID]bool)
		}
		wanted[e.ID] = true
	}
	return wanted, nil
}

// problem reports what could not be searched and goes on.
func (g *grepRun) problem(err error) {
	g.failed = true
	if !isNotHere(g.app, err) {
		g.warn("%v", err)
	}
}

// mostUnread is how many contents of a conversation are named that could not be searched.
const mostUnread = 3

// unread reports contents that could not be searched.
func (g *grepRun) unread(id events.ID, problems []*search.Problem) {
	problems = slices.DeleteFunc(problems, func(p *search.Problem) bool {
		away := isNotHere(g.app, p.Err)
		g.failed = g.failed || away
		return away
	})
	for i, p := range problems {
		if i == mostUnread && len(problems) > mostUnread+1 {
			g.problem(fmt.Errorf("%s: and %d more", id, len(problems)-i))
			break
		}
		g.problem(fmt.Errorf("%s: turn %d (%s): sha256:%.12s… is not searched: %s",
			id, p.Turn+1, p.Where, p.Ref.Hash, render.Reason(p.Err)))
	}
}

func (g *grepRun) search(s search.Version) error {
	if !listing.HasLabels(s.Labels, g.cmd.Label) {
		return nil
	}
	hits, problems := g.pattern.Stream(s.Stream, s.Contents)
	title, titled := g.pattern.Title(s.Title)
	g.unread(s.ID, problems)
	if len(hits) == 0 && !titled {
		return nil
	}
	g.found = true
	switch {
	case g.cmd.Names || g.cmd.Count:
		if titled {
			hits = append(hits, title)
		}
		return g.printCount(s, hits)
	case g.hits != nil:
		return g.printGroup(s, title, hits)
	case titled:
		hits = append([]search.Hit{title}, hits...)
	}
	return g.eachLine(hits, g.part, func(h search.Hit, l search.Line) error {
		return g.printLine(s, h, l)
	})
}

// eachLine calls part before each run of lines that follow each other.
func (g *grepRun) eachLine(
	hits []search.Hit, part func() error, f func(search.Hit, search.Line) error,
) error {
	for _, h := range hits {
		for i, l := range h.Lines {
			if i == 0 || h.Lines[i-1].Number != l.Number-1 {
				if err := part(); err != nil {
					return err
				}
			}
			if err := f(h, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// part separates groups of lines, as grep does, when there is context around hits.
func (g *grepRun) part() error {
	var err error
	if g.printed && g.cmd.Context > 0 && !g.JSON {
		_, err = fmt.Fprintln(g.stdout, "--")
	}
	g.printed = true
	return err
}

// printGroup prints the hits of a conversation for people.
func (g *grepRun) printGroup(s search.Version, title search.Hit, hits []search.Hit) error {
	var spans [][]int
	for _, l := range title.Lines {
		spans = l.Spans
	}
	if err := g.hits.Conversation(placeOf(s), s.Title, spans); err != nil {
		return err
	}
	gap := func() error {
		g.hits.Part(g.cmd.Context > 0)
		return nil
	}
	return g.eachLine(hits, gap, func(h search.Hit, l search.Line) error {
		return g.hits.Line(render.Hit{
			Group: fmt.Sprintf("turn %d, %s", h.Turn+1, scopeOf(h)),
			Place: lineMark(l) + " ", Text: l.Text, Spans: l.Spans,
		})
	})
}

func (g *grepRun) printCount(s search.Version, hits []search.Hit) error {
	n := 0
	for _, h := range hits {
		for _, l := range h.Lines {
			if l.Match {
				n++
			}
		}
	}
	if g.JSON {
		return g.lines.Write(countRecord{ID: s.ID.String(), Title: s.Title, Ref: s.Ref, Lines: n})
	}
	text := placeOf(s)
	if g.cmd.Count {
		text += fmt.Sprintf(":%d", n)
	}
	_, err := fmt.Fprintln(g.stdout, g.output().Line(text+"  "+s.Title))
	return err
}

// placeOf names the conversation, and the ref where it is not the working tree's.
func placeOf(s search.Version) string {
	if s.Ref == "" {
		return s.ID.String()
	}
	return s.Ref + ":" + s.ID.String()
}

func (g *grepRun) printLine(s search.Version, h search.Hit, l search.Line) error {
	if g.JSON {
		return g.lines.Write(newHitRecord(s, h, l))
	}
	turn := "-"
	if h.Turn >= 0 {
		turn = fmt.Sprint(h.Turn + 1)
	}
	out := g.output()
	before := fmt.Sprintf("%s:%s:%s:%s", placeOf(s), turn, scopeOf(h), lineMark(l))
	_, err := fmt.Fprintln(g.stdout, out.Line(before)+out.Marked(l.Text, l.Spans))
	return err
}

// scopeOf says where a hit is, with the tool or the resource.
func scopeOf(h search.Hit) string {
	if h.Where == "" {
		return string(h.Scope)
	}
	return string(h.Scope) + "(" + strings.ReplaceAll(h.Where, ":", "%3A") + ")"
}

// lineMark is the number of a line, and whether it matches.
func lineMark(l search.Line) string {
	if l.Match {
		return fmt.Sprintf("%d:", l.Number)
	}
	return fmt.Sprintf("%d-", l.Number)
}

func newHitRecord(s search.Version, h search.Hit, l search.Line) hitRecord {
	r := hitRecord{
		ID: s.ID.String(), Title: s.Title, Ref: s.Ref, Turn: h.Turn + 1, Element: h.Element,
		Scope: string(h.Scope), Where: h.Where, Line: l.Number, Text: l.Text, Match: l.Match,
	}
	for _, span := range l.Spans {
		r.Spans = append(r.Spans, [2]int{span[0], span[1]})
	}
	return r
}
