package dedup

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

const (
	// minRun is the least number of bytes that an anchor stands for.
	minRun = 300
	// fanout is how many places of one line are tried. It bounds the time where a
	// line is everywhere.
	fanout = 8
)

// delivery returns what a model is given of a resource, which is what lines are
// counted in.
func delivery(r *events.Resource) blobs.Content {
	if r.Formatted != nil {
		return *r.Formatted
	}
	return r.Content
}

// text reads what a model is given of a resource; false when it is not text, or not here: a model
// is told so, and a conversation goes on.
func (p *planner) text(r *events.Resource) (string, bool, error) {
	b, err := delivery(r).Bytes(p.reader)
	if blobs.IsLost(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return string(b), utf8.Valid(b) && bytes.IndexByte(b, 0) < 0, nil
}

// lines tells f by the lines of the latest whole delivery, when most of it stands there.
func (p *planner) lines(f found, h *history) (Delivery, error) {
	d := h.latest
	now, ok, err := p.text(f.resource)
	if err != nil || !ok {
		return Delivery{}, err
	}
	if d.table == nil {
		before, ok, err := p.text(d.resource)
		if err != nil {
			return Delivery{}, err
		}
		if !ok {
			before = ""
		}
		d.table = newLineTable(before)
	}
	told := split(now)
	runs, covered := d.table.runs(told)
	if 2*covered < len(now) || covered == 0 {
		return Delivery{}, nil
	}
	marker := markerFor(told, runs)
	text := p.linesHead(f, h, marker) + tell(told, runs, marker)
	if len(text) >= len(now) {
		return Delivery{}, nil
	}
	return Delivery{Form: Lines, Text: text, Referent: d.at}, nil
}

// linesHead says what the lines are of. What was told by lines before has not changed since then:
// a model that reads that it has would look for what did.
func (p *planner) linesHead(f found, h *history, marker string) string {
	d, changed := h.latest, "has changed since "
	if last := h.last.resource.Content.Ref().Hash; last == f.hash() {
		changed = "has not changed since " + h.last.where() + ". It differs from "
	}
	return fmt.Sprintf("The content of %s %s%s"+
		" (checksum: %s, now %s). Only new lines are repeated. A line that begins with"+
		" %q stands for lines that are the same there, where they are counted from 1.\n",
		p.spell(f.resource.URI), changed, d.where(), checksum(d.resource.Content.Ref().Hash),
		checksum(f.hash()), marker)
}

// A run is some lines in a row that stand in the referent too, from the line old on.
type run struct{ from, to, old int }

// tell writes the lines with anchors in place of the runs.
func tell(lines []string, runs []run, marker string) string {
	var b strings.Builder
	at := 0
	for _, r := range runs {
		write(&b, lines[at:r.from])
		fmt.Fprintf(&b, "%slines %d-%d: lines %d-%d there\n",
			marker, r.from+1, r.to, r.old+1, r.old+r.to-r.from)
		at = r.to
	}
	write(&b, lines[at:])
	return b.String()
}

func write(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString(l)
	}
}

// markerFor returns what anchors begin with: nothing that a line begins with that is
// repeated.
func markerFor(lines []string, runs []run) string {
	ats := 2
	at := 0
	longest := func(lines []string) {
		for _, l := range lines {
			if n := len(l) - len(strings.TrimLeft(l, "@")); n >= ats && l[n:] != "" && l[n] == ' ' {
				ats = n + 1
			}
		}
	}
	for _, r := range runs {
		longest(lines[at:r.from])
		at = r.to
	}
	longest(lines[at:])
	return strings.Repeat("@", ats) + " "
}

// split cuts text behind each newline.
func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// A lineTable finds lines of one text.
type lineTable struct {
	lines []string
	at    map[string][]int // where each line is first
}

func newLineTable(text string) *lineTable {
	t := &lineTable{lines: split(text), at: map[string][]int{}}
	for i, l := range t.lines {
		if places := t.at[l]; len(places) < fanout {
			t.at[l] = append(places, i)
		}
	}
	return t
}

// runs returns the runs of lines that stand in the table, in order and apart, and how
// many bytes they cover. It is greedy. A run that is too short costs at most the lines
// of minRun bytes at each of fanout places, a longer one is not looked at again.
func (t *lineTable) runs(lines []string) ([]run, int) {
	var runs []run
	covered, done := 0, 0
	for i := 0; i < len(lines); {
		best, size := t.longest(lines, i, done)
		if size < minRun {
			i++
			continue
		}
		runs, covered = append(runs, best), covered+size
		i, done = best.to, best.to
	}
	return runs, covered
}

// longest returns the largest run around line i that begins at done or later.
func (t *lineTable) longest(lines []string, i, done int) (best run, size int) {
	for _, old := range t.at[lines[i]] {
		r, n := run{i, i, old}, 0
		for r.to < len(lines) && old+r.to-i < len(t.lines) && lines[r.to] == t.lines[old+r.to-i] {
			n += len(lines[r.to])
			r.to++
		}
		for r.from > done && r.old > 0 && lines[r.from-1] == t.lines[r.old-1] {
			r.from--
			r.old--
			n += len(lines[r.from])
		}
		if n > size {
			best, size = r, n
		}
	}
	return best, size
}
