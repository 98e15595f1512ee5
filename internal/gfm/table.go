package gfm

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// tables turns paragraphs with a line of delimiters into tables.
type tables struct{}

// Transform implements [parser.ParagraphTransformer].
func (tables) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	r := rows{source: reader.Source(), pc: pc, work: workOf(pc, reader.Source())}
	lines := p.Lines()
	at := 1
	for ; at < lines.Len(); at++ {
		line := lines.At(at)
		if r.aligned = alignments(line.Value(r.source)); r.aligned != nil {
			break
		}
	}
	if r.aligned == nil {
		return
	}
	head := r.row(lines.At(at-1), true)
	if len(r.aligned) > widest {
		r.work.short = true
		return
	}
	if head.ChildCount() != len(r.aligned) {
		return
	}
	table := east.NewTable()
	table.Alignments = r.aligned
	table.SetPos(p.Pos())
	table.AppendChild(table, east.NewTableHeader(head))
	for i := at + 1; i < lines.Len(); i++ {
		table.AppendChild(table, r.row(lines.At(i), false))
	}
	lines.SetSliced(0, at-1)
	p.Parent().InsertAfter(p.Parent(), p, table)
	if n := lines.Len(); n > 0 {
		last := lines.At(n - 1)
		last.Stop-- // its line feed
		lines.Set(n-1, last)
		return
	}
	p.Parent().RemoveChild(p.Parent(), p)
}

// alignments returns the alignments in a line of delimiters, nil for any other line.
func alignments(line []byte) []east.Alignment {
	if indent, _ := util.IndentWidth(line, 0); indent > 3 {
		return nil
	}
	if len(bytes.Trim(line, "-")) == 0 {
		return nil
	}
	columns := bytes.Split(line, []byte{'|'})
	if util.IsBlank(columns[0]) {
		columns = columns[1:]
	}
	if n := len(columns); n > 0 && util.IsBlank(columns[n-1]) {
		columns = columns[:n-1]
	}
	var all []east.Alignment
	for _, column := range columns {
		dashes, left := bytes.CutPrefix(bytes.Trim(column, " \t\n\r"), []byte{':'})
		dashes, right := bytes.CutSuffix(dashes, []byte{':'})
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return nil
		}
		switch {
		case left && right:
			all = append(all, east.AlignCenter)
		case left:
			all = append(all, east.AlignLeft)
		case right:
			all = append(all, east.AlignRight)
		default:
			all = append(all, east.AlignNone)
		}
	}
	return all
}

// rows makes the rows of one table.
type rows struct {
	source  []byte
	pc      parser.Context
	work    *work
	aligned []east.Alignment
}

// row returns a row. A header has the cells that it writes; any other row has as many as the table,
// while there is work left for the cells that it leaves out.
func (r rows) row(segment text.Segment, header bool) *east.TableRow {
	row := east.NewTableRow(r.aligned)
	row.SetPos(segment.Start)
	before := segment.Start - segment.Padding
	segment = segment.TrimLeftSpace(r.source)
	segment = segment.TrimRightSpace(r.source)
	line := segment.Value(r.source)
	from, limit := 0, len(line)
	if bytes.HasPrefix(line, []byte{'|'}) {
		from++
	}
	if bytes.HasSuffix(line, []byte{'|'}) {
		limit--
	}
	i := 0
	for ; from < limit; i++ {
		if i == len(r.aligned) && !header {
			return row
		}
		cell := east.NewTableCell()
		cell.SetPos(before + from)
		if i < len(r.aligned) {
			cell.Alignment = r.aligned[i]
		}
		to, escaped := cellEnd(line, from, limit)
		if len(escaped) > 0 {
			r.note(cell, segment.Start, escaped)
		}
		words := text.NewSegment(segment.Start+from, segment.Start+to)
		words = words.TrimLeftSpace(r.source)
		cell.Lines().Append(words.TrimRightSpace(r.source))
		row.AppendChild(row, cell)
		from = to + 1
	}
	for ; i < len(r.aligned) && r.work.take(eachCell); i++ {
		row.AppendChild(row, east.NewTableCell())
	}
	return row
}

// Excess returns what a row has beyond the columns of its table, which has no cell.
func Excess(row ast.Node, source []byte) string {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 {
		return ""
	}
	line, _, _ := bytes.Cut(source[last.Lines().At(0).Stop:], []byte{'\n'})
	return string(bytes.Trim(line, "| \t\r"))
}

// Info returns all that is beside the fence of a code block: its language, and further words.
func Info(n ast.Node, source []byte) string {
	if block, ok := n.(*ast.FencedCodeBlock); ok && block.Info != nil {
		return string(block.Info.Segment.Value(source))
	}
	return ""
}

// cellEnd returns where the cell that begins at from ends, and the offsets of backslashes before a
// pipe after the first backtick.
func cellEnd(line []byte, from, limit int) (end int, escaped []int) {
	ticked := false
	for end = from; end < limit; end++ {
		switch {
		case line[end] == '`':
			ticked = true
		case line[end] != '|':
		case end == 0 || line[end-1] != '\\':
			return end, escaped
		case ticked:
			escaped = append(escaped, end-1)
		}
	}
	return end, escaped
}

// escapes are the backslashes before pipes in a cell, which may be in code.
type escapes struct {
	cell *east.TableCell
	at   []int // offsets in the source, ascending
}

var escapesKey = parser.NewContextKey()

func (r rows) note(cell *east.TableCell, start int, escaped []int) {
	for i := range escaped {
		escaped[i] += start
	}
	all, _ := r.pc.Get(escapesKey).([]escapes)
	r.pc.Set(escapesKey, append(all, escapes{cell, escaped}))
}

// pipes removes the backslash of an escaped pipe from code in a cell: elsewhere nothing is escaped
// in code.
type pipes struct{}

// Transform implements [parser.ASTTransformer].
func (pipes) Transform(_ *ast.Document, _ text.Reader, pc parser.Context) {
	all, _ := pc.Get(escapesKey).([]escapes)
	for _, e := range all {
		_ = ast.Walk(e.cell, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering && n.Kind() == ast.KindCodeSpan {
				e.remove(n)
			}
			return ast.WalkContinue, nil
		})
	}
}

// remove splits the texts of a code span around backslashes.
func (e escapes) remove(code ast.Node) {
	for child := code.FirstChild(); child != nil; {
		next := child.NextSibling()
		if t, ok := child.(*ast.Text); ok {
			for _, at := range e.at {
				if t.Segment.Start <= at && at < t.Segment.Stop {
					before := ast.NewRawTextSegment(t.Segment.WithStop(at))
					after := ast.NewRawTextSegment(t.Segment.WithStart(at + 1))
					code.InsertAfter(code, t, before)
					code.InsertAfter(code, before, after)
					code.RemoveChild(code, t)
					t = after
				}
			}
		}
		child = next
	}
}
