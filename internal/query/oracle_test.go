package query_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// This file judges what was left out of a request by reading results only: no arguments, no rules,
// no names of tools. It shares no code with what it judges.

// A handed is everything that a request gives a model of calls and attachments.
type handed struct {
	results   map[string][]llm.Part // by the id of the call
	attached  []llm.Resource
	resources []llm.Resource // all, of results and attached
	texts     []string       // of results
	media     [][]byte
}

func handedBy(r *llm.Request) handed {
	h := handed{results: map[string][]llm.Part{}}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Resource:
				h.attached = append(h.attached, p)
				h.add(p)
			case llm.Result:
				h.results[p.CallID] = p.Parts
				for _, q := range p.Parts {
					h.add(q)
				}
			}
		}
	}
	h.texts = append(h.texts, h.byLines()...)
	return h
}

// byLines returns the texts that are given as lines of other results, reassembled.
func (h handed) byLines() (texts []string) {
	for _, parts := range h.results {
		for _, p := range parts {
			if t, ok := p.(llm.Text); ok {
				if whole, ok := h.rebuilt(t.Text); ok {
					texts = append(texts, whole)
				}
			}
		}
	}
	return texts
}

var (
	lineHead   = regexp.MustCompile(`A line that begins with "(@+ )" stands for lines .*, counted from 1\.$`)
	lineAnchor = regexp.MustCompile(`^lines (\d+)-(\d+): lines (\d+)-(\d+) (?:there|in \[(\d+)\])\n$`)
	calledIn   = regexp.MustCompile("tool call `([^`]+)`")
)

// rebuilt reassembles a text from the lines of other results that it names; false if it names none
// or some are missing.
func (h handed) rebuilt(text string) (string, bool) {
	head, rest, _ := strings.Cut(text, "\n")
	m := lineHead.FindStringSubmatch(head)
	if m == nil {
		return "", false
	}
	var places [][]string
	for _, call := range calledIn.FindAllStringSubmatch(head, -1) {
		places = append(places, h.linesOf(call[1]))
	}
	var b strings.Builder
	for line := range strings.Lines(rest) {
		said, ok := strings.CutPrefix(line, m[1])
		if !ok {
			b.WriteString(line)
			continue
		}
		a := lineAnchor.FindStringSubmatch(said)
		if a == nil {
			return "", false
		}
		n := [5]int{4: 1}
		for i, digits := range a[1:] {
			if digits != "" {
				n[i], _ = strconv.Atoi(digits)
			}
		}
		if n[4] > len(places) || n[3] > len(places[n[4]-1]) || n[1]-n[0] != n[3]-n[2] {
			return "", false
		}
		b.WriteString(strings.Join(places[n[4]-1][n[2]-1:n[3]], ""))
	}
	return b.String(), true
}

// linesOf returns the lines of the single resource in the result of a call.
func (h handed) linesOf(call string) []string {
	if parts := h.results[call]; len(parts) == 1 {
		if r, ok := parts[0].(llm.Resource); ok {
			return strings.SplitAfter(r.Text, "\n")
		}
	}
	return nil
}

func (h *handed) add(p llm.Part) {
	switch p := p.(type) {
	case llm.Resource:
		h.resources = append(h.resources, p)
	case llm.Text:
		if !told(p) {
			h.texts = append(h.texts, p.Text)
		}
	case llm.Media:
		h.media = append(h.media, p.Bytes)
	}
}

// told reports whether a part replaces a content.
func told(p llm.Part) bool {
	t, ok := p.(llm.Text)
	return ok && (strings.HasPrefix(t.Text, "[superseded] ") || stripped(p) ||
		strings.HasPrefix(t.Text, "The content of ") || strings.HasPrefix(t.Text, "[attachment "))
}

// stripped reports whether a part replaces a content that a lossy strategy removed.
func stripped(p llm.Part) bool {
	t, ok := p.(llm.Text)
	return ok && strings.HasPrefix(t.Text, "[compacted] ")
}

// lost returns the parts of before that are nowhere in after, and the number of removals.
func lost(before, after handed) (missing []string, removals int) {
	for id, parts := range before.results {
		now := after.results[id]
		if fmt.Sprint(parts) == fmt.Sprint(now) || len(now) == 1 && stripped(now[0]) {
			continue
		}
		for _, p := range parts {
			if told(p) || within(p, now) {
				continue
			}
			removals++
			if !after.has(p) {
				missing = append(missing, fmt.Sprintf("%s: %v", id, p))
			}
		}
	}
	for _, r := range before.attached {
		if !after.has(r) {
			missing = append(missing, "attached "+r.URI)
		}
	}
	return missing, removals + max(0, len(before.attached)-len(after.attached))
}

func within(p llm.Part, all []llm.Part) bool {
	for _, q := range all {
		if fmt.Sprint(p) == fmt.Sprint(q) {
			return true
		}
	}
	return false
}

// has reports whether a part is present: as a resource of the same name, as the same bytes, or with
// all its lines in one list.
func (h handed) has(p llm.Part) bool {
	switch p := p.(type) {
	case llm.Resource:
		for _, r := range h.resources {
			if partOf(p.URI, r.URI) {
				return true
			}
		}
		return h.hasBytes(p.Text, p.Bytes)
	case llm.Text:
		return h.hasBytes(p.Text, nil) || h.lists(p.Text)
	case llm.Media:
		return h.hasBytes("", p.Bytes)
	}
	return false
}

func (h handed) hasBytes(text string, data []byte) bool {
	for _, m := range h.media {
		if data != nil && bytes.Equal(m, data) {
			return true
		}
	}
	for _, r := range h.resources {
		if data == nil && strings.Contains(r.Text, text) || data != nil && bytes.Equal(r.Bytes, data) {
			return true
		}
	}
	for _, t := range h.texts {
		if data == nil && strings.Contains(t, text) {
			return true
		}
	}
	return false
}

func (h handed) lists(text string) bool {
	for _, t := range h.texts {
		all := map[string]bool{}
		for line := range strings.Lines(t) {
			all[strings.TrimRight(line, "\n")] = true
		}
		whole := true
		for line := range strings.Lines(text) {
			whole = whole && all[strings.TrimRight(line, "\n")]
		}
		if whole {
			return true
		}
	}
	return false
}

// partOf reports whether a URI names the same file as another one, or lines of it.
func partOf(part, whole string) bool {
	name, lines, some := strings.Cut(part, "#")
	other, held, ranged := strings.Cut(whole, "#")
	if part == whole {
		return true
	}
	if name != other || ranged && !some {
		return false
	}
	if !ranged {
		return !some || strings.HasPrefix(lines, "L")
	}
	from, to, ok1 := span(lines)
	first, last, ok2 := span(held)
	return ok1 && ok2 && first <= from && to <= last
}

func span(fragment string) (from, to int, ok bool) {
	a, b, _ := strings.Cut(strings.TrimPrefix(fragment, "L"), "-")
	from, err1 := strconv.Atoi(a)
	to, err2 := strconv.Atoi(strings.TrimPrefix(b, "L"))
	return from, to, err1 == nil && err2 == nil
}
