package render

import (
	"slices"
	"strings"
)

// An Output describes the stream that is written to. The zero value is a file or a pipe: no colour,
// no wrapping, nothing changed.
type Output struct {
	Terminal bool // a terminal reads this, perhaps through a pager
	Color    bool // SGR sequences may be used
	Width    int  // columns; 0 means that lines are neither wrapped nor cut
}

// Signals are the circumstances that decide what an [Output] can show.
type Signals struct {
	Terminal      bool   // the stream is a terminal, or a pager that shows on one
	Columns       int    // of the terminal, 0 if unknown
	Term          string // $TERM
	NoColor       string // $NO_COLOR
	Clicolor      string // $CLICOLOR
	ClicolorForce string // $CLICOLOR_FORCE
	ColorUI       string // git's color.ui, "" if it is not set
	ColorOff      bool   // the command line turns colours off
}

// defaultColumns is the width of a terminal that does not report its own.
const defaultColumns = 80

// Output decides. NO_COLOR and the command line take precedence over everything, CLICOLOR_FORCE and
// then git's color.ui over the kind of the stream and TERM=dumb.
func (s Signals) Output() Output {
	o := Output{Terminal: s.Terminal}
	if s.Terminal {
		o.Width = s.Columns
		if o.Width <= 0 {
			o.Width = defaultColumns
		}
	}
	switch forced := s.ClicolorForce != "" && s.ClicolorForce != "0"; {
	case s.ColorOff, s.NoColor != "":
	case forced, s.ColorUI == "always":
		o.Color = true
	case slices.Contains([]string{"never", "false", "no", "off", "0"}, s.ColorUI):
	case s.Clicolor == "0", s.Term == "dumb", s.Term == "":
	default:
		o.Color = s.Terminal
	}
	return o
}

// Text returns s as it may be written: sanitised when a terminal will show it, otherwise unchanged.
// If colours are forced, a terminal is assumed at the end.
func (o Output) Text(s string) string {
	if o.Terminal || o.Color {
		return Sanitize(s)
	}
	return s
}

// Line is [Output.Text] for text that must stay on one line, such as a title.
func (o Output) Line(s string) string { return o.Text(oneLine(s)) }

// Marked is [Output.Text] for a line in which the spans, pairs of byte offsets in order, are
// highlighted.
func (o Output) Marked(line string, spans [][]int) string {
	if !o.Color {
		return o.Text(line)
	}
	var b strings.Builder
	at := 0
	for _, span := range spans {
		b.WriteString(o.Text(line[at:span[0]]))
		b.WriteString(o.styled(styleHit, line[span[0]:span[1]]))
		at = span[1]
	}
	b.WriteString(o.Text(line[at:]))
	return b.String()
}

// Faint is [Output.Text] for remarks beside the answer.
func (o Output) Faint(s string) string { return o.styled(styleMark, s) }

// A style is a set of SGR attributes and at most one colour.
type style uint16

const (
	bold style = 1 << iota
	faint
	italic
	underline
	strike
	red
	green
	yellow
	blue
	magenta
	cyan
)

// Styles by their use.
const (
	styleHeading = bold | cyan
	styleCode    = yellow
	styleLink    = underline
	styleMark    = faint
	styleUser    = bold | green
	styleModel   = bold | blue
	styleTool    = magenta
	styleError   = red
	styleWarn    = yellow
	styleHit     = bold | red
)

// code returns the parameters of the style's SGR sequence, by bit.
func (st style) code() string {
	codes := [...]string{"1", "2", "3", "4", "9", "31", "32", "33", "34", "35", "36"}
	var list []string
	for i, c := range codes {
		if st&(1<<i) != 0 {
			list = append(list, c)
		}
	}
	return strings.Join(list, ";")
}

// styled is the only function that writes escape codes, and it sanitises the text between them. A
// style ends and begins again at each line end, so that a pager or a prefix never shows it where it
// does not belong.
func (o Output) styled(st style, text string) string {
	text = o.Text(text)
	if !o.Color || st == 0 || text == "" {
		return text
	}
	open, shut := "\x1b["+st.code()+"m", "\x1b[m"
	if !strings.Contains(text, "\n") {
		return open + text + shut
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = open + line + shut
		}
	}
	return strings.Join(lines, "\n")
}
