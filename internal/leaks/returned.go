package leaks

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A returnedText is a text of an element that was redacted and is back.
type returnedText struct {
	element [sha256.Size]byte // its sum in the conversation
	member  string
}

// unredacted reports texts that an entry says are redacted and that are back: in the first tree
// that has both the text and the entry, whichever came first.
func (s *Scanner) unredacted(c conversation) error {
	all, err := s.returned(c)
	if err != nil || len(all) == 0 {
		return err
	}
	for _, src := range s.skipped {
		if err := s.skipReturned(src, c); err != nil {
			return err
		}
	}
	for _, rep := range all {
		text := returnedText{c.sum(c.stream.At(rep.Element)), rep.Member}
		if s.back[text] {
			continue
		}
		s.back[text] = true
		f := c.finding(check.Unredacted, rep.Element, workspace.EventsFile)
		f.Detail = fmt.Sprintf("%s has what was redacted", rep.Member)
		f.Next = check.RedactAgain
		s.found = append(s.found, found{finding: f})
	}
	return nil
}

// returned returns the texts of a conversation that the entries of its tree say are redacted, also
// those that someone edited, so that what was redacted is in another place: the version of a
// skipped tree shows it.
func (s *Scanner) returned(c conversation) ([]secrets.Replaced, error) {
	redactions, err := c.redactions()
	if err != nil {
		return nil, err
	}
	done, err := redactions.Apply(c.id, c.stream, s.contents(c))
	if err != nil || len(redactions[c.id.Digits()]) == 0 {
		return done.Replaced, err
	}
	var others secrets.Copies
	for _, src := range s.skipped {
		other := conversation{src: src, dir: c.dir, at: c.at, id: c.id}
		if other.read(); other.stream != nil {
			others.KnowVersion(redactions, c.id, other.stream, s.contents(other))
		}
	}
	moved := secrets.NewRedactions(others.Of(c.id, c.stream, s.contents(c)))
	more, err := moved.Apply(c.id, c.stream, s.contents(c))
	return slices.Concat(done.Replaced, more.Replaced), err
}

// skipReturned marks what a skipped tree has of a conversation that was redacted and is back.
func (s *Scanner) skipReturned(src check.Source, of conversation) error {
	return directories(src, of.dir, func(id events.ID, at string, _ check.Entry) error {
		if id != of.id {
			return nil
		}
		data, err := src.ReadFile(path.Join(at, workspace.EventsFile))
		if err != nil {
			return nil //nolint:nilerr // a check reports it
		}
		stream, err := events.Decode(data)
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		c := conversation{
			src: src, dir: of.dir, at: at, id: id, stream: stream,
			redactions: s.redactionsOf(src, of.dir),
		}
		all, err := s.returned(c)
		for _, rep := range all {
			s.back[returnedText{c.sum(stream.At(rep.Element)), rep.Member}] = true
		}
		return err
	})
}

// redactionsOf returns a function that reads the redactions of a tree once.
func (s *Scanner) redactionsOf(
	src check.Source, dir string,
) func() (secrets.Redactions, error) {
	return sync.OnceValues(func() (secrets.Redactions, error) {
		entries, err := s.reader(src, dir).redactions()
		if err != nil {
			return nil, err
		}
		return entries.Redactions, nil
	})
}

// contents returns a reader of the content of a conversation.
func (s *Scanner) contents(c conversation) reader {
	return reader{c, blobs.Limits{MaxBlobBytes: s.MaxBlobBytes}, s.away}
}
