package compact

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/events"
)

// Extractive writes summaries without a model: the questions and the last answer, shortened, and
// the facts.
type Extractive struct{}

// Name implements [Summarizer].
func (Extractive) Name() string { return "" }

// extractHead says that no person or model wrote the summary, which the reader needs to judge it.
const extractHead = "Extracted by rules, without a language model. What was asked, and how each" +
	" answer ended:"

const (
	extractShare = 4     // a summary has at most this share of the text
	extractMost  = 12000 // and at most this many bytes
	extractLeast = 400   // or this many, if the share is very small
	extractLine  = 40    // at least this many of each turn, or nothing of it
)

// Summarize implements [Summarizer].
func (Extractive) Summarize(_ context.Context, p Passage) (Draft, Usage, error) {
	turns := digests(events.New(p.Events...))
	n := 0
	for _, d := range turns {
		n += len(d.Request) + len(d.Answer)
	}
	room := len(extractHead) + min(max(n/extractShare, extractLeast), extractMost)
	each := room / max(2*len(turns), 1)
	var b strings.Builder
	b.WriteString(extractHead)
	b.WriteString("\n")
	left := 0
	for _, d := range turns {
		if each < extractLine && b.Len() > room {
			left++
			continue
		}
		fmt.Fprintf(&b, "\n- %s", clip(d.Request, max(each, extractLine)))
		if d.Answer != "" {
			fmt.Fprintf(&b, " → %s", clip(d.Answer, max(each, extractLine)))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n- and %d more turns", left)
	}
	if c := p.Facts.Commits; len(c) > 0 {
		b.WriteString("\n\nCommits: " + strings.Join(c, ", "))
	}
	return Draft{Summary: b.String(), Files: p.Facts.Paths, Tasks: p.Facts.Tasks}, Usage{}, nil
}

// clip returns a text as one line of at most n characters.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:n-1]) + "…"
}
