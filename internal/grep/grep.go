package grep

import (
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/search"
)

// A Request says what to search for, and what to print of the results.
type Request struct {
	Pattern *search.Pattern // required
	Labels  []string        // that a conversation has, as KEY or KEY=VALUE
	Names   bool            // only the conversations
	Count   bool            // only how many lines match in each
	Context bool            // there are lines around hits
	Groups  bool            // lines are below conversations and turns
}

// A Search prints the hits of one conversation after the other.
type Search struct {
	Found  bool // a hit was printed
	Failed bool // something could not be searched

	request Request
	printer *render.Printer
	notHere func(error) bool
	lines   *render.JSONLines
	hits    *render.Hits // nil if lines are not grouped
	printed bool         // a line, so that a further group is separated from it
}

// New returns a search without results. The caller counts errors for which notHere is true, and
// reports them once.
func New(p *render.Printer, q Request, notHere func(error) bool) *Search {
	s := &Search{
		request: q, printer: p, notHere: notHere, lines: render.NewJSONLines(p.Out, p.Output),
	}
	if q.Groups && !p.JSON {
		s.hits = render.NewHits(p.Out, p.Output)
	}
	return s
}

// Problem reports what could not be searched.
func (s *Search) Problem(err error) {
	s.Failed = true
	if !s.notHere(err) {
		s.printer.Warn("%v", err)
	}
}

// mostUnread is how many blobs of a conversation are named that could not be searched.
const mostUnread = 3

// unread reports blobs that could not be searched.
func (s *Search) unread(id events.ID, problems []*search.Problem) {
	problems = slices.DeleteFunc(problems, func(p *search.Problem) bool {
		away := s.notHere(p.Err)
		s.Failed = s.Failed || away
		return away
	})
	for i, p := range problems {
		if i == mostUnread && len(problems) > mostUnread+1 {
			s.Problem(fmt.Errorf("%s: and %d more", id, len(problems)-i))
			break
		}
		s.Problem(fmt.Errorf("%s: turn %d (%s): sha256:%.12s… is not searched: %s",
			id, p.Turn+1, p.Where, p.Ref.Hash, render.Reason(p.Err)))
	}
}

// Version searches one version of a conversation.
func (s *Search) Version(v search.Version) error {
	if !listing.HasLabels(v.Labels, s.request.Labels) {
		return nil
	}
	hits, problems := s.request.Pattern.Stream(v.Stream, v.Contents)
	title, titled := s.request.Pattern.Title(v.Title)
	s.unread(v.ID, problems)
	if len(hits) == 0 && !titled {
		return nil
	}
	s.Found = true
	switch {
	case s.request.Names || s.request.Count:
		if titled {
			hits = append(hits, title)
		}
		return s.printCount(v, hits)
	case s.hits != nil:
		return s.printGroup(v, title, hits)
	case titled:
		hits = append([]search.Hit{title}, hits...)
	}
	return eachLine(hits, s.part, func(h search.Hit, l search.Line) error {
		return s.printLine(v, h, l)
	})
}

// eachLine calls part before each run of consecutive lines.
func eachLine(
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
func (s *Search) part() error {
	var err error
	if s.printed && s.request.Context && !s.printer.JSON {
		_, err = fmt.Fprintln(s.printer.Out, "--")
	}
	s.printed = true
	return err
}

// printGroup prints the hits of a conversation for people.
func (s *Search) printGroup(v search.Version, title search.Hit, hits []search.Hit) error {
	var spans [][]int
	for _, l := range title.Lines {
		spans = l.Spans
	}
	if err := s.hits.Conversation(placeOf(v), v.Title, spans); err != nil {
		return err
	}
	gap := func() error {
		s.hits.Part(s.request.Context)
		return nil
	}
	return eachLine(hits, gap, func(h search.Hit, l search.Line) error {
		return s.hits.Line(render.Hit{
			Group: fmt.Sprintf("turn %d, %s", h.Turn+1, scopeOf(h)),
			Place: lineMark(l) + " ", Text: l.Text, Spans: l.Spans,
		})
	})
}

func (s *Search) printCount(v search.Version, hits []search.Hit) error {
	n := 0
	for _, h := range hits {
		for _, l := range h.Lines {
			if l.Match {
				n++
			}
		}
	}
	if s.printer.JSON {
		return s.lines.Write(CountRecord{ID: v.ID.String(), Title: v.Title, Ref: v.Ref, Lines: n})
	}
	text := placeOf(v)
	if s.request.Count {
		text += fmt.Sprintf(":%d", n)
	}
	return s.printer.Line(text + "  " + v.Title)
}

func (s *Search) printLine(v search.Version, h search.Hit, l search.Line) error {
	if s.printer.JSON {
		return s.lines.Write(newHitRecord(v, h, l))
	}
	turn := "-"
	if h.Turn >= 0 {
		turn = fmt.Sprint(h.Turn + 1)
	}
	out := s.printer.Output
	before := fmt.Sprintf("%s:%s:%s:%s", placeOf(v), turn, scopeOf(h), lineMark(l))
	_, err := fmt.Fprintln(s.printer.Out, out.Line(before)+out.Marked(l.Text, l.Spans))
	return err
}
