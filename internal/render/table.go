package render

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
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
	// Shrink marks the column that is cut, with an ellipsis, when the table is wider
	// than the terminal. Without one, lines are left too long.
	Shrink bool
}

// A Table collects rows and writes them aligned by the columns that their text
// takes on a terminal. Text is sanitised for terminals and kept to one line.
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

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

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
		heads := make([]string, len(t.columns))
		for i, c := range t.columns {
			heads[i] = c.Head
		}
		b.WriteString(t.out.styled(bold, t.line(heads, widths)) + "\n")
	}
	for _, row := range t.rows {
		b.WriteString(t.line(row, widths) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) hasHead() bool {
	for _, c := range t.columns {
		if c.Head != "" {
			return true
		}
	}
	return false
}

func (t *Table) line(cells []string, widths []int) string {
	parts := make([]string, len(cells))
	for i, text := range cells {
		text = ansi.Truncate(text, widths[i], "…")
		space := strings.Repeat(" ", max(widths[i]-ansi.StringWidth(text), 0))
		if t.columns[i].Align == AlignRight {
			parts[i] = space + text
		} else {
			parts[i] = text + space
		}
	}
	return strings.TrimRight(strings.Join(parts, tableGap), " ")
}

// widths returns the widths of the columns, those that shrink narrowed to what the
// terminal leaves them.
func (t *Table) widths() []int {
	const least = 8
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = ansi.StringWidth(c.Head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	if t.out.Width <= 0 {
		return widths
	}
	over := total(widths) + len(tableGap)*(len(widths)-1) - t.out.Width
	for i, c := range t.columns {
		if c.Shrink && over > 0 {
			narrowed := max(widths[i]-over, min(widths[i], least))
			over -= widths[i] - narrowed
			widths[i] = narrowed
		}
	}
	return widths
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
