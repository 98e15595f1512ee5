package site

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/view"
)

const commitsName = "commits.html"

// The limits of a history: older commits, and further turns, are in the repository.
const (
	mostCommits = 500
	mostTurns   = 500 // of a commit
)

// A History is the commits behind the conversations of a site.
type History struct {
	Repo *gitint.Repo
	Rev  string   // the newest commit
	Dirs []string // .jp in it
}

// An added lists what a commit added. It is read once: a commit does not change.
type added struct {
	Read  bool        `json:"read"`
	Turns []addedTurn `json:"turns,omitempty"`
	More  int         `json:"more,omitempty"` // turns besides these
}

// An addedTurn is a turn of a commit without its text: what is shown of it is what the conversation
// says now. It may have been redacted since, and the commit still has it.
type addedTurn struct {
	Page   string // its permalink
	Number int    // counted from 1
	At     time.Time
}

// commits writes the pages of commits that added turns, and returns the link to their list.
func (b *build) commits(ctx context.Context) ([]view.Link, error) {
	if b.History == nil {
		return nil, nil
	}
	h := b.History
	all, err := revisions.Changing(ctx, h.Repo, mostCommits, h.Rev, h.Dirs...)
	if err != nil {
		return nil, fmt.Errorf("list the commits behind %s: %w", h.Rev, err)
	}
	if err := b.fetch(ctx, all); err != nil {
		b.Problem(err)
	}
	var pages []string
	for _, c := range all {
		if id := c.OID.String(); !b.was.Commits[id].Read {
			pages = append(pages, view.CommitPage(id))
		}
	}
	if err := b.begin(pages...); err != nil {
		return nil, err
	}
	b.is.Commits = make(map[string]added, len(all))
	var shown []view.Commit
	for _, c := range all {
		id := c.OID.String()
		a := b.was.Commits[id]
		if !a.Read {
			if a, err = h.added(ctx, c.OID); err != nil {
				return nil, err
			}
		}
		b.is.Commits[id] = a
		if len(a.Turns) == 0 {
			continue
		}
		at, _ := time.Parse(time.RFC3339, c.Date) // if it does not parse: no time is shown
		shown = append(shown, view.Commit{ID: id, Author: c.Author, Subject: c.Subject, At: at})
		if err := b.commit(shown[len(shown)-1], a); err != nil {
			return nil, err
		}
	}
	if len(shown) == 0 {
		return nil, nil
	}
	var page bytes.Buffer
	if err := view.WriteCommits(&page, indexName, shown); err != nil {
		return nil, err
	}
	return []view.Link{{Name: "Commits", Page: commitsName}}, b.write(commitsName, page.Bytes())
}

// fetch fetches what is not read yet.
func (b *build) fetch(ctx context.Context, all []gitint.Revision) error {
	if partial, err := b.History.Repo.Partial(ctx); err != nil || !partial {
		return err
	}
	var ranges []review.Range
	for _, c := range all {
		if b.was.Commits[c.OID.String()].Read {
			continue
		}
		base, _, err := b.History.Repo.Parent(ctx, c.OID)
		if err != nil {
			return err
		}
		ranges = append(ranges, review.Range{Base: base, Head: c.OID})
	}
	return review.Fetch(ctx, b.History.Repo, false, ranges...)
}

// ask keeps what the turns of a conversation say, for the pages of commits.
func (b *build) ask(id events.ID, title string, s *events.Stream) {
	keys := s.Keys()
	for at, turn := range s.Turns() {
		page := view.Permalink(id, keys[turn.First])
		author, prompt, _, _ := review.Asked(s, turn)
		b.turns[page] = view.Origin{
			Title: title, Page: page, Prompt: render.Clip(prompt), Author: author,
			Number: at + 1, At: s.At(turn.First).Time(),
		}
	}
}

// commit writes the page of a commit. Of turns that the site does not have only the conversation is
// named.
func (b *build) commit(c view.Commit, a added) error {
	turns := make([]view.Origin, len(a.Turns))
	for i, t := range a.Turns {
		var ok bool
		if turns[i], ok = b.turns[t.Page]; !ok {
			turns[i] = view.Origin{Title: "a conversation", Number: t.Number, At: t.At}
			digits, _, _ := strings.Cut(t.Page, ".")
			if id, err := events.ParseID(digits); err == nil {
				turns[i].Title = id.String()
			}
		}
	}
	var page bytes.Buffer
	if err := view.WriteCommit(&page, indexName, c, turns, a.More); err != nil {
		return err
	}
	return b.write(view.CommitPage(c.ID), page.Bytes())
}

// added reads what a commit added. Unreadable conversations in it added nothing, until they can be
// read.
func (h *History) added(ctx context.Context, commit gitint.OID) (added, error) {
	base, _, err := h.Repo.Parent(ctx, commit)
	if err != nil {
		return added{}, err
	}
	a := added{Read: true}
	all, err := review.Between(ctx, h.Repo, base, commit, func(error) { a.Read = false })
	if err != nil {
		return added{}, fmt.Errorf("read what commit %s added: %w", commit, err)
	}
	for _, c := range all {
		keys := c.Stream.Keys()
		for _, at := range c.Turns {
			if len(a.Turns) == mostTurns {
				a.More++
				continue
			}
			first := c.Stream.Turns()[at].First
			a.Turns = append(a.Turns, addedTurn{
				Page: view.Permalink(c.ID, keys[first]), Number: at + 1,
				At: c.Stream.At(first).Time(),
			})
		}
	}
	return a, nil
}
