package grep

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/search"
)

func TestCompileKnowsScopes(t *testing.T) {
	for _, c := range []struct {
		scopes   string
		context  int
		ok       bool
		contents bool // tool results or attachments are searched
	}{
		{"", 0, true, true},
		{"user", 0, true, false},
		{"user tool-result", 0, true, true},
		{"tool", 2, true, true},
		{"nosuch", 0, false, false},
		{"", -1, false, false},
	} {
		p, err := Compile(search.Query{Pattern: "x", Context: c.context}, strings.Fields(c.scopes))
		if (err == nil) != c.ok || p != nil && p.Contents() != c.contents {
			t.Errorf("%q with %d lines: %v", c.scopes, c.context, err)
		}
	}
}

// TestFewProblemsAreNamed verifies that a conversation with many unreadable parts does not hide the
// others, and that content that is only elsewhere is left to the caller.
func TestFewProblemsAreNamed(t *testing.T) {
	elsewhere := errors.New("elsewhere")
	for _, c := range []struct {
		here, away, lines int
		more              string
	}{
		{0, 0, 0, ""},
		{0, 5, 0, ""},
		{3, 2, 3, ""},
		{4, 0, 4, ""},
		{5, 0, 4, "and 2 more"},
		{9, 1, 4, "and 6 more"},
	} {
		var said bytes.Buffer
		s := New(&render.Printer{Out: &said, Err: &said}, Request{},
			func(err error) bool { return errors.Is(err, elsewhere) })
		var problems []*search.Problem
		for range c.here {
			problems = append(problems, &search.Problem{Err: errors.New("damaged")})
		}
		for range c.away {
			problems = append(problems, &search.Problem{Err: elsewhere})
		}
		s.unread(0, problems)
		counted := strings.Contains(said.String(), " more")
		if n := strings.Count(said.String(), "\n"); n != c.lines ||
			s.Failed != (c.here+c.away > 0) || counted != (c.more != "") ||
			!strings.Contains(said.String(), c.more) {
			t.Errorf("%d and %d elsewhere: %d lines, failed is %v:\n%s",
				c.here, c.away, n, s.Failed, said.String())
		}
	}
}
