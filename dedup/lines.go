package dedup

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

const (
	// minRun is the least number of bytes that an anchor replaces.
	minRun = 300
	// fanout is how many places of a line are tried. It bounds the time if a line occurs
	// everywhere.
	fanout = 8
)

// text returns the text of a resource that a model is given, or false if the content is not text or
// is missing. The model is informed about missing content, and the conversation continues.
func (p *planner) text(r *events.Resource) (string, bool, error) {
	b, err := r.Delivered().Bytes(p.reader)
	if blobs.IsLost(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return string(b), utf8.Valid(b) && bytes.IndexByte(b, 0) < 0, nil
}

// A shelf holds the whole deliveries of a file in the request so far, of any of its lines.
type shelf struct {
	whole []*delivered
	table lineTable // of the first deliveries, one sheet for each
}

// put adds the whole deliveries that are not in the table yet.
func (p *planner) put(s *shelf) error {
	for _, d := range s.whole[len(s.table.sheets):] {
		text, ok, err := p.text(d.resource)
		if err != nil {
			return err
		}
		if !ok {
			text = ""
		}
		s.table.add(newSheet(text))
	}
	return nil
}

// lines sends f as line runs that refer to whole deliveries of its file, if these have most of it.
// The choice of referents depends only on what came before. They must be near, unless decided
// reports that f was sent this way before.
func (p *planner) lines(a arrival, f found, h *history, decided bool) (Delivery, error) {
	now, ok, err := p.text(f.resource)
	if err != nil || !ok {
		return Delivery{}, err
	}
	shelf := p.shelf(f.resource.URI)
	if err := p.put(shelf); err != nil {
		return Delivery{}, err
	}
	told := newSheet(now)
	runs, covered := shelf.table.runs(told)
	if 2*covered < len(now) || covered == 0 {
		return Delivery{}, nil
	}
	t := telling{found: f, sheet: told, runs: runs}
	far := t.refer(shelf.whole, func(d *delivered) bool { return p.near(a, d) })
	if far && !decided {
		return Delivery{}, nil
	}
	t.marker = markerFor(t.sheet.lines, t.runs)
	text := p.linesHead(t, h) + t.tell()
	if len(text) >= len(now) {
		return Delivery{}, nil
	}
	out := Delivery{Form: Lines, Text: text}
	for _, d := range t.of {
		out.Referents = append(out.Referents, d.at)
	}
	return out, nil
}

// A telling is content that is sent as line runs.
type telling struct {
	found  found
	sheet  sheet
	runs   []run
	of     []*delivered // the referents of the runs, earliest first
	index  map[int]int  // index into of, by the index of the sheet
	marker string
}

// refer finds the referents of the runs, and reports whether one of them is not near.
func (t *telling) refer(whole []*delivered, near func(*delivered) bool) (far bool) {
	sheets := lists.Set(lists.Map(t.runs, func(r run) int { return r.sheet }))
	t.index = map[int]int{}
	for _, n := range slices.Sorted(maps.Keys(sheets)) {
		t.index[n] = len(t.of)
		t.of = append(t.of, whole[n])
		far = far || !near(whole[n])
	}
	return far
}

// linesHead explains the line runs in few words, because it is sent with each result.
func (p *planner) linesHead(t telling, h *history) string {
	uri := t.found.resource.URI
	head := "The content of " + p.spell(uri)
	if one := t.of[0]; len(t.of) == 1 && one.resource.URI == uri {
		head += changed(t.found, one, h)
	} else {
		head = "Most of the content of " + p.spell(uri) + " stands in " + places(t.of, uri)
	}
	head += fmt.Sprintf(". A line that begins with %q stands for lines that are the same there,"+
		" counted ", t.marker)
	if !t.numbered() {
		return head + "from 1.\n"
	}
	head += "by the numbers before them"
	if n := len(t.sheet.heads); n > 0 {
		head += fmt.Sprintf(" (here %q to %d)", t.sheet.heads[0], t.sheet.first+n-1)
	}
	return head + ", else from 1.\n"
}

// changed returns a phrase that states since when content is different. Content that was sent as
// line runs before has not changed since then: a model that reads that it has would look for the
// change.
func changed(f found, d *delivered, h *history) string {
	if h.last != nil && h.last.resource.Content.Ref().Hash == f.hash() {
		return " has not changed since " + h.last.where() + ". It differs from " + d.where()
	}
	return " has changed since " + d.where()
}

// places describes deliveries of one file, each with its number if there are several, and with its
// lines if they differ from those of uri.
func places(all []*delivered, uri string) string {
	var names []string
	for n, d := range all {
		name := d.where()
		if len(all) > 1 {
			name = fmt.Sprintf("[%d] %s", n+1, name)
		}
		if _, lines, part := strings.Cut(d.resource.URI, "#"); part && d.resource.URI != uri {
			name += " (" + lines + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// numbered reports whether lines have numbers, in the content or in a referent.
func (t telling) numbered() bool {
	return len(t.sheet.heads) > 0 ||
		slices.ContainsFunc(t.runs, func(r run) bool { return r.numbered })
}

// A run is a sequence of lines that is also in a sheet of a table, from line old on.
type run struct {
	from, to, old, sheet int
	first                int // number of the sheet's first line
	numbered             bool
}

// tell returns the lines with anchors in place of the runs.
func (t telling) tell() string {
	var b strings.Builder
	at, first := 0, t.sheet.first
	for _, r := range t.runs {
		write(&b, t.sheet.lines[at:r.from])
		there := "there"
		if len(t.of) > 1 {
			there = fmt.Sprintf("in [%d]", t.index[r.sheet]+1)
		}
		fmt.Fprintf(&b, "%slines %d-%d: lines %d-%d %s\n", t.marker, first+r.from, first+r.to-1,
			r.first+r.old, r.first+r.old+r.to-r.from-1, there)
		at = r.to
	}
	write(&b, t.sheet.lines[at:])
	return b.String()
}

func write(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString(l)
	}
}

// markerFor returns the beginning of anchors. It differs from the beginning of every line that is
// sent.
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

// split splits text after each newline.
func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// A lineTable finds lines in several texts.
type lineTable struct {
	sheets []sheet
	at     map[string][]spot // places of each line, those in the latest sheet first
}

// A spot is a line of a sheet.
type spot struct{ sheet, line int }

// add adds a text. If a line occurs everywhere only its latest places are kept.
func (t *lineTable) add(s sheet) {
	if t.at == nil {
		t.at = map[string][]spot{}
	}
	here := map[string][]spot{}
	for i, l := range s.bare {
		if places := here[l]; len(places) < fanout {
			here[l] = append(places, spot{len(t.sheets), i})
		}
	}
	for l, places := range here {
		places = append(places, t.at[l]...)
		t.at[l] = places[:min(len(places), fanout)]
	}
	t.sheets = append(t.sheets, s)
}

// runs returns the runs of lines that are in the table, in order and without overlap, and how many
// bytes they cover. It is greedy. A run that is too short costs at most the lines of minRun bytes
// at each of fanout places; the lines of a longer one are not examined again.
func (t *lineTable) runs(s sheet) ([]run, int) {
	var runs []run
	covered, done := 0, 0
	for i := 0; i < len(s.bare); {
		best, size := t.longest(s.bare, i, done)
		if size < minRun {
			i++
			continue
		}
		for _, l := range s.lines[best.from:best.to] {
			covered += len(l)
		}
		of := t.sheets[best.sheet]
		best.first, best.numbered = of.first, len(of.heads) > 0
		runs = append(runs, best)
		i, done = best.to, best.to
	}
	return runs, covered
}

// longest returns the longest run around line i that begins at done or later; if several are equal,
// the one in the latest text.
func (t *lineTable) longest(lines []string, i, done int) (best run, size int) {
	for _, at := range t.at[lines[i]] {
		there := t.sheets[at.sheet].bare
		r, n := run{from: i, to: i, old: at.line, sheet: at.sheet}, 0
		for _, l := range there[at.line:] {
			if r.to == len(lines) || lines[r.to] != l {
				break
			}
			n += len(l)
			r.to++
		}
		for r.from > done && r.old > 0 && lines[r.from-1] == there[r.old-1] {
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
