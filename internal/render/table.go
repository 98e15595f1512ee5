package render

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/git-jp/git-jp/internal/lists"
)

// Align is how a column of a [Table] is aligned.
type Align int

// The alignments of a column.
const (
	AlignLeft Align = iota
	AlignRight
)

// A Column is a column of a [Table].
type Column struct {
	Head  string
	Align Align
	// Shrink marks a column that is cut, with an ellipsis, when the table is wider than the
	// terminal: the widest first, none below its least width. Without such a column, lines are too
	// long.
	Shrink bool
	Least  int // columns of the terminal that a cut one keeps, 0 for 8
	// Optional columns are left out, the highest number first, until the others fit; 0 is never
	// left out. Sparse ones are left out when they are empty.
	Optional int
	Sparse   bool
}

// A Table collects rows and writes them aligned by the width of their text on a terminal. Text is
// sanitised for terminals and kept to one line.
type Table struct {
	out     Output
	columns []Column
	rows    [][]string
}

// NewTable returns an empty table.
func NewTable(o Output, columns ...Column) *Table { return &Table{out: o, columns: columns} }

// Row adds a row. Missing cells are empty, surplus ones are dropped.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.columns))
	for i := range row {
		if i < len(cells) {
			row[i] = t.out.Line(cells[i])
		}
	}
	t.rows = append(t.rows, row)
}

// tableGap is the space between columns.
const tableGap = "  "

// Write writes the table: its head, if any column has one and there are rows, and the
// rows.
func (t *Table) Write(w io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	widths := t.widths()
	var b strings.Builder
	if t.hasHead() {
		heads := lists.Map(t.columns, func(c Column) string { return c.Head })
		b.WriteString(t.out.styled(bold, t.line(heads, widths)) + "\n")
	}
	for _, row := range t.rows {
		b.WriteString(t.line(row, widths) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) hasHead() bool {
	return slices.ContainsFunc(t.columns, func(c Column) bool { return c.Head != "" })
}

func (t *Table) line(cells []string, widths []int) string {
	var parts []string
	for i, text := range cells {
		if widths[i] < 0 {
			continue
		}
		text = fit(text, widths[i])
		space := strings.Repeat(" ", max(widths[i]-ansi.StringWidth(text), 0))
		if t.columns[i].Align == AlignRight {
			parts = append(parts, space+text)
		} else {
			parts = append(parts, text+space)
		}
	}
	return strings.TrimRight(strings.Join(parts, tableGap), " ")
}

// widths returns the widths of the columns, those that shrink narrowed to fit the terminal, and -1
// for those that are left out.
func (t *Table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		for _, row := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
		if widths[i] == 0 && c.Sparse {
			widths[i] = -1
		} else {
			widths[i] = max(widths[i], ansi.StringWidth(c.Head))
		}
	}
	if t.out.Width > 0 {
		t.leaveOut(widths)
		t.shrink(widths)
	}
	return widths
}

// over returns by how much a table of these widths is wider than the terminal.
func (t *Table) over(widths []int) int {
	wide := -len(tableGap)
	for _, w := range widths {
		if w >= 0 {
			wide += w + len(tableGap)
		}
	}
	return wide - t.out.Width
}

// leaveOut leaves optional columns out until the others can be made to fit.
func (t *Table) leaveOut(widths []int) {
	narrowest := make([]int, len(widths))
	for i := range widths {
		narrowest[i] = min(widths[i], t.least(i, widths[i]))
	}
	for t.over(narrowest) > 0 {
		last := -1
		for i, c := range t.columns {
			if c.Optional > 0 && widths[i] >= 0 &&
				(last < 0 || c.Optional > t.columns[last].Optional) {
				last = i
			}
		}
		if last < 0 {
			return
		}
		widths[last], narrowest[last] = -1, -1
	}
}

// least returns how narrow a column of some width can be made.
func (t *Table) least(i, width int) int {
	const usual = 8
	if !t.columns[i].Shrink {
		return width
	}
	return cmp.Or(t.columns[i].Least, usual)
}

// shrink narrows the widest of the columns that may be cut until the table fits.
func (t *Table) shrink(widths []int) {
	for over := t.over(widths); over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if w > t.least(i, w) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// Fields writes pairs of a name and a value, a line each, with the values aligned. A
// pair with an empty value is left out.
func Fields(w io.Writer, o Output, pairs ...[2]string) error {
	widest := 0
	for _, p := range pairs {
		if p[1] != "" {
			widest = max(widest, ansi.StringWidth(p[0]))
		}
	}
	var b strings.Builder
	for _, p := range pairs {
		if p[1] == "" {
			continue
		}
		space := strings.Repeat(" ", widest-ansi.StringWidth(p[0])+1)
		b.WriteString(o.styled(bold, p[0]+":") + space + o.Line(p[1]) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
