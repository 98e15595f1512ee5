package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/git-jp/git-jp/internal/lists"
)

// A Hit is a line that a search found, or a line of context.
type Hit struct {
	Group string // heading above the lines, such as the turn
	Place string // text before the line
	Text  string
	Spans [][]int // pairs of byte offsets of what matched, in order
}

// Hits writes search results for people: below a heading for each conversation the groups, in each
// its lines, cut around the first match to the width of a terminal.
type Hits struct {
	w       io.Writer
	out     Output
	group   string
	written bool
	parted  bool // the next line does not follow the last one
}

// NewHits returns a writer of hits.
func NewHits(w io.Writer, o Output) *Hits { return &Hits{w: w, out: o} }

// Conversation begins the hits of a conversation, whose title may contain some itself.
func (h *Hits) Conversation(place, title string, spans [][]int) error {
	head := h.out.styled(styleHeading, oneLine(place))
	if line := oneLine(title); line != title {
		title, spans = line, nil // they are of one of its lines
	}
	if title != "" {
		head += "  " + h.out.around(title, spans, len(place)+2)
	}
	if h.written {
		head = "\n" + head
	}
	h.written, h.group = true, ""
	_, err := fmt.Fprintln(h.w, head)
	return err
}

// Line writes one line.
func (h *Hits) Line(l Hit) error {
	before := ""
	switch {
	case l.Group != h.group:
		before = "  " + h.out.styled(bold, oneLine(l.Group)) + "\n"
	case h.parted:
		before = h.out.Faint("     --") + "\n"
	}
	h.group, h.parted = l.Group, false
	place := h.out.Line(fmt.Sprintf("%8s", l.Place))
	_, err := fmt.Fprintln(h.w,
		before+h.out.Faint(place)+h.out.around(l.Text, l.Spans, ansi.StringWidth(place)))
	return err
}

// Part separates the next line from the last one of its group, visibly if seen is set.
func (h *Hits) Part(seen bool) { h.parted = seen }

// around is [Output.Marked], cut to the width of the terminal minus used columns in such a way that
// the first span is visible.
func (o Output) around(line string, spans [][]int, used int) string {
	if o.Width <= 0 {
		return o.Marked(line, spans)
	}
	line, spans = untabbed(line, spans)
	width := max(o.Width-used, leastWidth)
	marked := o.Marked(line, spans)
	whole := ansi.StringWidth(marked)
	if whole <= width {
		return marked
	}
	if len(spans) == 0 {
		return fit(marked, width)
	}
	at := spans[0][0]
	head := o.Text(line[:at])
	start := ansi.StringWidth(head)
	match := ansi.StringWidth(o.Text(line[at:spans[0][1]]))
	// A third of the remaining width shows the text before.
	if from := min(max(start-max(width-match, 0)/3, 0), whole-width); from > 0 {
		moved := lists.Map(spans, func(s []int) []int { return []int{s[0] - at, s[1] - at} })
		marked = "…" + behind(head, from+1) + o.Marked(line[at:], moved)
	}
	return o.unmarked(fit(marked, width))
}

// behind is what follows the first columns of text, which has no escape sequences. It goes by
// characters as people see them: [ansi.TruncateLeft] counts a digit with the variation selector
// behind it (a keycap) as one column where [ansi.StringWidth] counts two.
func behind(text string, columns int) string {
	for columns > 0 && text != "" {
		char, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		columns, text = columns-width, text[len(char):]
	}
	return text
}

// fit is line, cut to columns with an ellipsis. [ansi.Truncate] alone leaves a line with keycaps
// wider than that.
func fit(line string, columns int) string {
	for n := columns; ; n-- {
		if cut := ansi.Truncate(line, n, "…"); ansi.StringWidth(cut) <= columns {
			return cut
		}
	}
}

// unmarked removes the marks of hits that a cut has removed: the cut keeps the sequences.
func (o Output) unmarked(cut string) string {
	open, shut, _ := strings.Cut(o.styled(styleHit, " "), " ")
	if open == "" {
		return cut
	}
	return strings.ReplaceAll(cut, open+shut, "")
}

// untabbed replaces the tabs of a line, whose width depends on where they are, by spaces.
func untabbed(line string, spans [][]int) (string, [][]int) {
	const tab = "    "
	if !strings.Contains(line, "\t") {
		return line, spans
	}
	at := func(i int) int { return i + strings.Count(line[:i], "\t")*(len(tab)-1) }
	moved := lists.Map(spans, func(s []int) []int { return []int{at(s[0]), at(s[1])} })
	return strings.ReplaceAll(line, "\t", tab), moved
}
