package check

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
)

// maxShown is the number of findings of a group that are written without Verbose.
const maxShown = 10

// Text writes the report for people, without escape codes: a paragraph for each file and state,
// then a line with counts.
func (p Printer) Text(w io.Writer, r *Report) error {
	if err := p.Findings(w, r.Findings); err != nil || len(r.Findings) == 0 && !p.Verbose {
		return err
	}
	_, err := fmt.Fprintln(w, r.Summary())
	return err
}

// maxGroups is the number of paragraphs that are written without Verbose.
const maxGroups = 10

// Findings writes findings as Text does, without the counts. If there are too many, it writes the
// worst, with one hint for each state, and counts the others.
func (p Printer) Findings(w io.Writer, findings []Finding) error {
	out := bufio.NewWriter(w)
	all := groups(findings)
	shown := all
	if !p.Verbose && len(all) > maxGroups+1 {
		shown = worst(all, maxGroups)
	}
	helped := make(map[State]bool)
	for _, group := range shown {
		p.group(out, group)
		if state := group[0].State; len(shown) == len(all) || !helped[state] {
			p.hints(out, group, len(shown) < len(all))
			helped[state] = true
		}
	}
	if len(shown) < len(all) {
		p.rest(out, findings, shown)
	}
	return out.Flush()
}

// worst returns the n groups of the highest severity, in their original order.
func worst(all [][]Finding, n int) [][]Finding {
	order := lists.Numbers(len(all))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(all[b][0].Severity, all[a][0].Severity)
	})
	order = order[:n]
	slices.Sort(order)
	return lists.Map(order, func(at int) []Finding { return all[at] })
}

// rest writes the counts of the findings that are not shown, by state.
func (p Printer) rest(w io.Writer, findings []Finding, shown [][]Finding) {
	counts := make(map[State]int)
	for _, f := range findings {
		counts[f.State]++
	}
	n := len(findings)
	for _, group := range shown {
		counts[group[0].State] -= len(group)
		n -= len(group)
	}
	var kinds []string
	for _, s := range states() {
		if counts[s.State] > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", counts[s.State], s.State))
		}
	}
	fmt.Fprintf(w, "and %d more: %s", n, strings.Join(kinds, ", "))
	if p.More != "" {
		fmt.Fprintf(w, "; %s", p.More)
	}
	fmt.Fprintln(w)
}

// Summary returns the counts of the report as a sentence.
func (r *Report) Summary() string {
	s := fmt.Sprintf("checked %s, %s, %s",
		count(r.Sources, "tree"), count(r.Conversations, "conversation"),
		count(r.References, "reference"))
	if r.Verified > 0 {
		s += fmt.Sprintf(", the content of %s", count(r.Verified, "blob"))
	}
	if len(r.Findings) == 0 {
		return s + ": no problems found"
	}
	separator := ": "
	for _, severity := range []Severity{Error, Warning, Note} {
		if n := r.Count(severity); n > 0 {
			s += separator + count(n, severity.String())
			separator = ", "
		}
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// groups groups findings that differ only in their reference, in the order of the first of each
// group.
func groups(all []Finding) [][]Finding {
	type key struct {
		state        State
		commit, path string
		single       int // keeps findings without a reference separate
	}
	index := make(map[key]int)
	var out [][]Finding
	for i, f := range all {
		k := key{state: f.State, commit: f.Commit, path: f.Path}
		if f.Hash.IsZero() {
			k.single = i + 1
		}
		n, ok := index[k]
		if !ok {
			n = len(out)
			index[k] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], f)
	}
	return out
}

func (p Printer) group(w io.Writer, group []Finding) {
	first := group[0]
	fmt.Fprintf(w, "%s:", first.Severity)
	if where := p.where(first); where != "" {
		fmt.Fprintf(w, " check %s:", where)
	}
	if first.Hash.IsZero() {
		fmt.Fprintf(w, " %s\n", p.Sentence(first))
	} else {
		fmt.Fprintf(w, " %s\n", heading(first.State, len(group)))
		p.lines(w, group)
	}
}

// where returns the file as git writes it, with the title of the conversation.
func (p Printer) where(f Finding) string {
	if f.Path == "" {
		return ""
	}
	s := escape(f.Path)
	switch f.Commit {
	case WorkTreeName, "":
	case IndexName:
		s = ":" + s
	default:
		s = escape(abbreviate(f.Commit)) + ":" + s
	}
	if f.Title != "" {
		s += " (" + escape(f.Title) + ")"
	}
	return s
}

// abbreviate shortens the id of a commit, and leaves other names alone.
func abbreviate(commit string) string {
	hex := func(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' }
	if len(commit) < 40 {
		return commit
	}
	for i := range len(commit) {
		if !hex(commit[i]) {
			return commit
		}
	}
	return commit[:12]
}

func heading(s State, n int) string {
	refs := count(n, "reference")
	switch s {
	case Missing:
		return refs + " without content"
	case Corrupt:
		return refs + " to damaged content"
	case Unreadable:
		return refs + " to content that cannot be read"
	case SizeMismatch:
		return refs + " with a wrong size"
	case LFSPointer:
		return refs + " to content that was not fetched"
	case Oversize:
		return refs + " over the limit"
	default:
		return refs + " not checked"
	}
}

// lines writes the references. It writes only the first of the notes, because they are many and
// alike.
func (p Printer) lines(w io.Writer, group []Finding) {
	shown := len(group)
	switch {
	case p.Verbose:
	case group[0].Severity == Note:
		shown = 1
	case shown > maxShown+1: // a line that says "1 more" could as well show it
		shown = maxShown
	}
	for _, f := range group[:shown] {
		fmt.Fprintf(w, "  %s\n", p.Sentence(f))
	}
	if rest := len(group) - shown; rest > 0 {
		fmt.Fprintf(w, "  and %d more\n", rest)
	}
}

// hints writes the next commands, or only the first.
func (p Printer) hints(w io.Writer, group []Finding, one bool) {
	var seen []string
	for _, f := range group {
		if one && len(seen) > 0 {
			return
		}
		if f.Next == "" || slices.Contains(seen, f.Next) {
			continue
		}
		seen = append(seen, f.Next)
		fmt.Fprintf(w, "hint: %s\n", escape(f.Next))
	}
}
