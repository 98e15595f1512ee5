package render

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func listing(o Output, rows ...[]string) *Table {
	t := NewTable(o, Column{Head: "ID"}, Column{Head: "#", Align: AlignRight},
		Column{Head: "Title", Shrink: true}, Column{Head: "Where", Shrink: true})
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

func TestTable(t *testing.T) {
	rows := [][]string{
		{"jp-c1", "3", "Short", "here"},
		{"jp-c17838000000", "1 234", "标题 title that is too\nlong for a narrow terminal", "there"},
		{"x"},
	}
	tests := []struct {
		name string
		out  Output
		want string
	}{
		{"pipe", Output{}, `
ID                   #  Title                                              Where
jp-c1                3  Short                                              here
jp-c17838000000  1 234  标题 title that is too long for a narrow terminal  there
x
`},
		{"terminal", Output{Terminal: true, Width: 50}, `
ID                   #  Title                Where
jp-c1                3  Short                here
jp-c17838000000  1 234  标题 title that is…  there
x
`},
		{"narrow", Output{Terminal: true, Width: 20}, `
ID                   #  Title     Where
jp-c1                3  Short     here
jp-c17838000000  1 234  标题 ti…  there
x
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := listing(tt.out, rows...).Write(&b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), b.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTableWithoutRowsOrHeads(t *testing.T) {
	var b strings.Builder
	if err := listing(Output{}).Write(&b); err != nil || b.Len() > 0 {
		t.Errorf("no rows: %q, %v", b.String(), err)
	}
	table := NewTable(Output{}, Column{}, Column{})
	table.Row("a", "b", "dropped")
	if err := table.Write(&b); err != nil || b.String() != "a  b\n" {
		t.Errorf("no heads: %q, %v", b.String(), err)
	}
}

// A table fits the terminal when its columns can shrink enough, and is harmless.
func TestTableFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Output{Terminal: true, Width: rapid.IntRange(60, 100).Draw(t, "width")}
		var rows [][]string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			rows = append(rows, []string{
				"jp-c1", "12", hostileText().Draw(t, "title"), hostileText().Draw(t, "where"),
			})
		}
		var b strings.Builder
		if err := listing(o, rows...).Write(&b); err != nil {
			t.Fatal(err)
		}
		harmless(t, o, b.String())
		if got := strings.Count(b.String(), "\n"); got != len(rows)+1 {
			t.Fatalf("%d lines for %d rows", got, len(rows))
		}
		for line := range strings.Lines(b.String()) {
			if w := ansi.StringWidth(line); w > o.Width {
				t.Fatalf("%d columns, the terminal has %d: %q", w, o.Width, line)
			}
		}
	})
}

func TestFields(t *testing.T) {
	var b strings.Builder
	err := Fields(&b, Output{Terminal: true, Color: true},
		[2]string{"ID", "jp-c1"}, [2]string{"Nothing", ""}, [2]string{"Title", "a\x1b[2J\nb"})
	if err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1mID:\x1b[m    jp-c1\n\x1b[1mTitle:\x1b[m a\\x1b[2J b\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// The widest column shrinks, and no more than it must.
func TestTableShrinksTheWidest(t *testing.T) {
	table := NewTable(Output{Terminal: true, Width: 34},
		Column{Shrink: true}, Column{Shrink: true}, Column{Shrink: true, Least: 9})
	table.Row("0123456789", "0123456789abcdef", "0123456789abcdef")
	var b strings.Builder
	want := "0123456789  012345678…  012345678…\n"
	if err := table.Write(&b); err != nil || b.String() != want {
		t.Errorf("got %q, %v", b.String(), err)
	}
	table.out.Width = 10
	b.Reset()
	if err := table.Write(&b); err != nil || b.String() != "0123456…  0123456…  01234567…\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

// Optional columns are left out before any column is cut below its least width, the least important
// first.
func TestTableLeavesColumnsOut(t *testing.T) {
	for width, want := range map[int]string{
		0:  "ID  AGE  SIZE  TITLE\n1   now  3     0123456789abcdef\n",
		40: "ID  AGE  SIZE  TITLE\n1   now  3     0123456789abcdef\n",
		26: "ID  AGE  SIZE  TITLE\n1   now  3     0123456789…\n",
		24: "ID  AGE  TITLE\n1   now  0123456789abcd…\n",
		18: "ID  TITLE\n1   0123456789abc…\n",
		9:  "ID  TITLE\n1   012345678…\n",
	} {
		table := NewTable(Output{Terminal: width > 0, Width: width}, Column{Head: "ID"},
			Column{Head: "AGE", Optional: 1}, Column{Head: "SIZE", Optional: 2},
			Column{Head: "NOTE", Optional: 3, Sparse: true},
			Column{Head: "TITLE", Shrink: true, Least: 10})
		table.Row("1", "now", "3", "", "0123456789abcdef")
		var b strings.Builder
		if err := table.Write(&b); err != nil || b.String() != want {
			t.Errorf("width %d: got %q, %v; want %q", width, b.String(), err, want)
		}
	}
}
