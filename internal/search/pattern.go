package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/git-jp/git-jp/internal/lists"
)

// Case sets when case is ignored.
type Case int

// Smart ignores case unless the pattern has an upper-case letter.
const (
	CaseSmart Case = iota
	CaseIgnore
	CaseExact
)

// A Query is a search.
type Query struct {
	Pattern string // required
	Regexp  bool   // the pattern is a regular expression (RE2), else plain text
	Case    Case
	Scopes  []Scope // nil for all
	Context int     // lines before and after a hit
}

// A Pattern is a compiled Query. It is safe for concurrent use.
type Pattern struct {
	re      *regexp.Regexp
	filter  filter
	scopes  map[Scope]bool
	context int
}

// Compile checks and compiles a query.
func Compile(q Query) (*Pattern, error) {
	if q.Pattern == "" {
		return nil, fmt.Errorf("search for %q: the pattern is empty", q.Pattern)
	}
	expr := q.Pattern
	if !q.Regexp {
		expr = regexp.QuoteMeta(expr)
	}
	flags := ""
	if ignoresCase(q) {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + expr)
	if err != nil {
		if fault, ok := errors.AsType[*syntax.Error](err); ok {
			err = errors.New(fault.Code.String()) // without the flags, which the user did not write
		}
		return nil, fmt.Errorf("compile pattern %q: %w", q.Pattern, err)
	}
	p := &Pattern{re: re, filter: newFilter(flags + expr), context: q.Context}
	if q.Scopes != nil {
		p.scopes = lists.Set(q.Scopes)
	}
	return p, nil
}

func ignoresCase(q Query) bool {
	return q.Case == CaseIgnore ||
		q.Case == CaseSmart && !strings.ContainsFunc(q.Pattern, unicode.IsUpper)
}

// Contents reports whether the blobs that streams refer to are searched too.
func (p *Pattern) Contents() bool { return p.wants(ToolResult) || p.wants(Attachment) }

func (p *Pattern) wants(s Scope) bool { return p.scopes == nil || p.scopes[s] }

// A Line is one line of a searched text.
type Line struct {
	Number int    // from 1
	Text   string // without its end
	Match  bool   // false for a line of context
	Spans  [][]int
}

// lines returns the matching lines of text with their context, nil if there are none.
func (p *Pattern) lines(text string) []Line {
	if !p.filter.mayMatch(text) || p.filter.whole && !p.re.MatchString(text) {
		return nil // the usual case
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var found []Line
	next := 0 // first line not yet taken
	for i, line := range all {
		spans := p.re.FindAllStringIndex(line, -1)
		if spans == nil {
			continue
		}
		for j := max(next, i-p.context); j < i; j++ {
			found = append(found, Line{Number: j + 1, Text: all[j]})
		}
		found = append(found, Line{Number: i + 1, Text: line, Match: true, Spans: spans})
		next = i + 1
		for ; next <= i+p.context && next < len(all) && !p.re.MatchString(all[next]); next++ {
			found = append(found, Line{Number: next + 1, Text: all[next]})
		}
	}
	return found
}
