package render

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/git-jp/git-jp/internal/gfm"
	"github.com/git-jp/git-jp/internal/lists"
)

// liveColumn is the least width of a column whose other rows have not come yet.
const liveColumn = 10

// A cell is the lines of one cell of a Markdown table, rendered.
type cell []string

func (r *markdown) table(n *east.Table, width int) []string {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		st := style(0)
		if row.Kind() == east.KindTableHeader {
			st = bold
		}
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.inlines(c, st))
		}
		if more := gfm.Excess(row, r.src); more != "" {
			cells[len(cells)-1] += " " + r.out.styled(styleMark, inlineText("| "+more))
		}
		rows = append(rows, cells)
	}
	measured := rows
	if r.live { // by the head and the first row, with some room for the next ones
		room := slices.Repeat([]string{strings.Repeat(" ", liveColumn)}, len(rows[0]))
		measured = append([][]string{room}, rows[:min(len(rows), 2)]...)
	}
	widths := fitColumns(measured, width)
	var lines []string
	for i, cells := range rows {
		lines = append(lines, r.row(n, cells, widths)...)
		if i == 0 {
			lines = append(lines, r.rule(widths))
		}
	}
	return lines
}

// row renders the cells of one row beside each other.
func (r *markdown) row(n *east.Table, cells []string, widths []int) []string {
	height := 1
	wrapped := make([]cell, len(widths))
	for i := range wrapped {
		if i < len(cells) {
			wrapped[i] = r.wrap(cells[i], widths[i])
		}
		height = max(height, len(wrapped[i]))
	}
	bar := r.out.styled(styleMark, "│")
	lines := make([]string, height)
	for y := range lines {
		parts := make([]string, len(widths))
		for i, c := range wrapped {
			line := ""
			if y < len(c) {
				line = c[y]
			}
			parts[i] = aligned(line, widths[i], alignment(n, i))
		}
		lines[y] = strings.TrimRight(strings.Join(parts, " "+bar+" "), " ")
	}
	return lines
}

func (r *markdown) rule(widths []int) string {
	parts := lists.Map(widths, func(w int) string { return strings.Repeat("─", w) })
	return r.out.styled(styleMark, strings.Join(parts, "─┼─"))
}

func alignment(n *east.Table, column int) east.Alignment {
	if column < len(n.Alignments) {
		return n.Alignments[column]
	}
	return east.AlignNone
}

// aligned fills line with spaces to width columns.
func aligned(line string, width int, a east.Alignment) string {
	space := max(width-ansi.StringWidth(line), 0)
	left := 0
	switch a {
	case east.AlignRight:
		left = space
	case east.AlignCenter:
		left = space / 2
	}
	return strings.Repeat(" ", left) + line + strings.Repeat(" ", space-left)
}

// fitColumns returns the widths of the columns: the natural ones when they fit, else the widest are
// narrowed until they do.
func fitColumns(rows [][]string, width int) []int {
	const gap, least = 3, 4
	var widths []int
	for _, cells := range rows {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c))
		}
	}
	room := width - gap*(len(widths)-1)
	for total(widths) > room {
		widest := slices.Max(widths)
		if widest <= least {
			break
		}
		widths[slices.Index(widths, widest)]--
	}
	return widths
}

func total(widths []int) int {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	return sum
}
