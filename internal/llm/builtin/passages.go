package builtin

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// Limits of the passages in an answer.
const (
	maxPassages = 4
	maxPerFile  = 2
	linesBefore = 3
	linesAfter  = 12
)

// A passage is a range of lines that may answer the question, judged by its words.
type passage struct {
	path     string
	from, to int
	score    float64
}

// A hit is a line that the search tool found.
type hit struct {
	path string
	line int
	text string
}

// hits reads the results of the search tool: lines "path:12:text".
func (s *search) hits() []hit {
	form := regexp.MustCompile(`^([^:]+):(\d+):(.*)$`)
	found := map[string]hit{}
	for _, st := range s.steps(s.grep) {
		if st.result == nil || st.result.IsError {
			continue
		}
		for line := range strings.SplitSeq(st.result.Plain(), "\n") {
			m := form.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if n, err := strconv.Atoi(m[2]); err == nil {
				found[m[1]+":"+m[2]] = hit{m[1], n, m[3]}
			}
		}
	}
	all := slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(a, b hit) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
	return all
}

// weights returns the weight of each word: the rarer, the higher.
func (s *search) weights(hits []hit) []float64 {
	weights := make([]float64, len(s.words))
	for i, w := range s.words {
		n := s.total(w)
		for _, h := range hits {
			if n == 0 && w.in(strings.ToLower(h.text)) {
				n++
			}
		}
		weights[i] = 1 / math.Log2(2+float64(n))
	}
	return weights
}

// total returns how many lines have the word, which the search tool reports if it does not show
// all.
func (s *search) total(w word) int {
	form := regexp.MustCompile(`(?m)^\[\d+ of (\d+) matches`)
	args := string(encoded(map[string]any{"pattern": "(?i)" + w.pattern}))
	for _, st := range s.steps(s.grep) {
		if st.result == nil || string(st.call.Args) != args {
			continue
		}
		text := st.result.Plain()
		if m := form.FindStringSubmatch(text); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				return n
			}
		}
		return strings.Count(text, "\n") + 1
	}
	return 0
}

// passages returns the best passages, best first.
func (s *search) passages() []passage {
	hits := s.hits()
	weights := s.weights(hits)
	all := make([]passage, len(hits))
	for i, h := range hits {
		all[i] = passage{
			path: h.path, from: max(1, h.line-linesBefore), to: h.line + linesAfter,
			score: s.score(hits, i, weights),
		}
	}
	slices.SortStableFunc(all, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	var best []passage
	perFile := map[string]int{}
	for _, p := range all {
		overlaps := func(q passage) bool {
			return q.path == p.path && p.from <= q.to && q.from <= p.to
		}
		if perFile[p.path] >= maxPerFile || slices.ContainsFunc(best, overlaps) {
			continue
		}
		perFile[p.path]++
		if best = append(best, p); len(best) == maxPassages {
			break
		}
	}
	return best
}

// score rates how well a line answers the question: by the words in it, near it, and in the file's
// name. Definitions count more, tests and copied code less.
func (s *search) score(hits []hit, i int, weights []float64) float64 {
	h := hits[i]
	near := strings.ToLower(h.text)
	for _, o := range hits {
		d := o.line - h.line
		if o.path == h.path && d != 0 && -linesBefore <= d && d <= linesAfter {
			near += "\n" + strings.ToLower(o.text)
		}
	}
	line, path := strings.ToLower(h.text), strings.ToLower(h.path)
	score := 0.0
	for k, w := range s.words {
		switch {
		case w.in(line):
			score += weights[k]
		case w.in(near):
			score += weights[k] * 0.6
		}
		if w.in(path) {
			score += weights[k] * 0.3
		}
	}
	if s.defines.MatchString(h.text) {
		score *= 1.5
	}
	lesser := []string{"test", "vendor/", "node_modules/", ".lock", ".sum", "changelog"}
	for _, mark := range lesser {
		if strings.Contains(path, mark) {
			score *= 0.6
		}
	}
	return score
}

// A quote is a passage with its text.
type quote struct {
	passage
	text string
}

// quotes returns the passages to show: those that were read, and matches in attachments.
func (s *search) quotes() []quote {
	var all []quote
	for _, st := range s.steps(s.read) {
		p := asked(st.call)
		if text, ok := s.textOf(st); ok && p.path != "" {
			all = append(all, quote{p, text})
		}
	}
	if len(all) == 0 {
		for _, h := range bestHits(s) {
			all = append(all, quote{passage{path: h.path, from: h.line, to: h.line}, h.text})
		}
	}
	return append(all, s.attached()...)
}

// bestHits returns the matching lines themselves, for a workspace without a read tool.
func bestHits(s *search) []hit {
	var some []hit
	hits := s.hits()
	for _, p := range s.passages() {
		i := slices.IndexFunc(hits, func(h hit) bool {
			return h.path == p.path && h.line == p.to-linesAfter
		})
		if i >= 0 {
			some = append(some, hits[i])
		}
	}
	return some
}

// textOf returns the text of a read: that of its result or, if the result is a reference, that of
// the earlier result.
func (s *search) textOf(st step) (string, bool) {
	if st.result == nil || st.result.IsError {
		return "", false
	}
	if text, ok := resourceText(*st.result); ok {
		return text, true
	}
	for _, m := range s.request.Messages {
		for _, p := range m.Parts {
			r, isResult := p.(llm.Result)
			if !isResult || !s.sameCall(r.CallID, st.call) {
				continue
			}
			if text, ok := resourceText(r); ok {
				return text, true
			}
		}
	}
	return st.result.Plain(), true
}

func resourceText(r llm.Result) (string, bool) {
	for _, p := range r.Parts {
		if res, ok := p.(llm.Resource); ok && res.Bytes == nil {
			return res.Text, true
		}
	}
	return "", false
}

// sameCall reports whether the call with an id has the same tool and arguments.
func (s *search) sameCall(id string, call llm.Call) bool {
	for _, m := range s.request.Messages {
		for _, p := range m.Parts {
			if c, ok := p.(llm.Call); ok && c.ID == id {
				return c.Name == call.Name && string(c.Args) == string(call.Args)
			}
		}
	}
	return false
}
