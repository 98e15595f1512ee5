package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"text/tabwriter"
)

func main() {
	t, err := read(".")
	if err == nil {
		err = t.print(os.Stdout)
	}
	if err != nil {
		log.Fatalf("metrics: %v", err)
	}
}

// A row is one figure. A limit of 0 means that there is none.
type row struct {
	what         string
	value, limit int
	where        string
}

func (t *tree) print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "figure\tnow\tlimit\twhere")
	for _, r := range t.rows() {
		limit, mark := "-", ""
		if r.limit > 0 {
			limit = fmt.Sprint(r.limit)
		}
		if r.limit > 0 && r.value > r.limit {
			mark = " over"
		}
		fmt.Fprintf(out, "%s\t%d\t%s%s\t%s\n", r.what, r.value, limit, mark, r.where)
	}
	return out.Flush()
}

func (t *tree) rows() []row {
	file, run, names := t.longestFile(), t.largestType(), t.mostNames()
	single, all := t.singleCallers()
	lengths := t.functionLengths()
	return []row{
		{"lines of cmd/git-jp", t.lines("cmd/git-jp"), 9500, ""},
		{"lines of the first rooms", t.firstRooms(), 90000, ""},
		{"lines in all", t.lines(""), 0, ""},
		{"longest file", file.value, 600, file.where},
		{"fields of a run object, at most", run.fields.value, 25, run.fields.where},
		{"methods of a run object, at most", run.methods.value, 40, run.methods.where},
		{"exported names of a package, at most", names.value, 125, names.where},
		{"functions with one caller, %", percent(single, all), 33, ""},
		{"function length, median", at(lengths, 50), 0, ""},
		{"function length, 95th percentile", at(lengths, 95), 45, ""},
		{"function length, at most", at(lengths, 100), 0, ""},
	}
}

func percent(part, all int) int {
	if all == 0 {
		return 0
	}
	return (100*part + all/2) / all
}

// at returns a percentile of sorted numbers.
func at(sorted []int, percentile int) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percentile/100]
}
