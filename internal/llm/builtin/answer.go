package builtin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
)

// advice says how to choose a model if no better offer is known.
const advice = "Choose one with `--model provider/name`, or for good with `git jp config " +
	"assistant.model.id provider/name`; `git jp models` lists them."

func (s *search) answer() {
	for _, part := range s.paragraphs() {
		s.out.Say(llm.PartText, part)
	}
	s.out.EndSaid()
	s.out.Stop(llm.Stop{Reason: llm.StopEnd})
}

// paragraphs returns the answer in the pieces in which it is emitted.
func (s *search) paragraphs() []string {
	offer := cmp.Or(s.o.Offer, advice)
	out := []string{"No language model is configured; this is a search for words. " + offer + "\n"}
	quotes := s.quotes()
	switch {
	case len(s.words) == 0:
		return append(out, "\nThe question has no words to look for.\n")
	case len(quotes) == 0:
		return append(out, "\nNothing was found for "+s.said()+s.failures()+".\n")
	}
	out = append(out, "\nFound for "+s.said()+":\n")
	out = append(out, lists.Map(quotes, quote.markdown)...)
	return out
}

// said lists the words of the search.
func (s *search) said() string {
	quoted := lists.Map(s.words, func(w word) string { return "“" + w.said + "”" })
	return strings.Join(quoted, ", ")
}

// failures returns why nothing was found, if that was not for lack of matches.
func (s *search) failures() string {
	if s.grep == "" {
		return ": there is no tool to search with"
	}
	for _, st := range s.steps(s.grep) {
		if st.result != nil && st.result.IsError {
			first, _, _ := strings.Cut(st.result.Plain(), "\n")
			return ": " + first
		}
	}
	return ""
}

// markdown returns a passage under its location, in a fence that no text in it can end.
func (q quote) markdown() string {
	place := fmt.Sprintf("%s:%d", q.path, q.from)
	if n := strings.Count(strings.TrimSuffix(q.text, "\n"), "\n"); n > 0 {
		place += fmt.Sprintf("-%d", q.from+n)
	}
	fence := "```"
	for strings.Contains(q.text, fence) {
		fence += "`"
	}
	language := strings.TrimPrefix(path.Ext(q.path), ".")
	return fmt.Sprintf("\n**%s**\n\n%s%s\n%s\n%s\n", place, fence, language,
		strings.TrimRight(q.text, "\n"), fence)
}

// asked returns the passage that a read asked for.
func asked(c llm.Call) passage {
	var args struct {
		Path string `json:"path"`
		From int    `json:"start_line"`
		To   int    `json:"end_line"`
	}
	if json.Unmarshal(c.Args, &args) != nil {
		return passage{}
	}
	return passage{path: args.Path, from: max(1, args.From), to: args.To}
}

// attached returns the matching passages of attachments.
func (s *search) attached() []quote {
	var all []quote
	for _, m := range s.request.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(llm.Resource); ok && r.Bytes == nil && m.Role == llm.RoleUser {
				all = append(all, s.within(r)...)
			}
		}
	}
	return all[:min(len(all), maxPassages)]
}

// within returns the best passage of an attached text.
func (s *search) within(r llm.Resource) []quote {
	lines := strings.Split(strings.TrimSuffix(r.Text, "\n"), "\n")
	best, most := -1, 0
	for i, line := range lines {
		n := 0
		for _, w := range s.words {
			if w.in(strings.ToLower(line)) {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		return nil
	}
	from, to := max(0, best-linesBefore), min(len(lines), best+linesAfter+1)
	text := strings.Join(lines[from:to], "\n")
	return []quote{{passage{path: r.URI, from: from + 1, to: to}, text}}
}
