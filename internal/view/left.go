package view

import (
	"cmp"
	"net/url"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
)

// A Left is the part of a session from which the person went back: a separate conversation, to
// which old links into the session lead.
type Left struct {
	Page  string
	turns []leftTurn
}

type leftTurn struct {
	prompt string
	keys   []string // of its events
}

// LeftOf returns the turns of a conversation from which a person went back.
func LeftOf(page string, s *events.Stream) Left {
	l := Left{Page: page}
	keys := s.Keys()
	for _, t := range s.Turns() {
		l.turns = append(l.turns, leftTurn{promptOf(s, t), keys[t.First : t.Last+1]})
	}
	return l
}

// promptOf returns the first words that a person wrote in a turn, "" for none.
func promptOf(s *events.Stream, t events.Turn) string {
	for i := t.First; i <= t.Last; i++ {
		r, ok := s.At(i).Event().(*events.ChatRequest)
		if ok && !render.Injected(s.At(i)) && r.Content != "" {
			return render.Clip(cutRunes(render.Typed(r.Content), clip))
		}
	}
	return ""
}

// without returns the turns that a page lacks events of, each with these events.
func (l Left) without(has map[string]bool) (all []leftTurn) {
	for _, t := range l.turns {
		gone := leftTurn{prompt: t.prompt}
		for _, key := range t.keys {
			if key != "" && !has[key] {
				has[key] = true
				gone.keys = append(gone.keys, key)
			}
		}
		if len(gone.keys) > 0 {
			all = append(all, gone)
		}
	}
	return all
}

// left lists the turns that were left, with the anchors of links to them.
func (p *pageWriter) left() {
	has := lists.Set(p.keys)
	m := p.m
	for _, l := range p.conv.Left {
		turns := l.without(has)
		if len(turns) == 0 {
			continue
		}
		said := "1 turn was"
		if len(turns) > 1 {
			said = render.Count(len(turns), "turn") + " were"
		}
		m.open("details", class("mark"))
		m.put("summary", said+" left when the person went back")
		m.open("ul", class("moved"), attr{"data-page", l.Page})
		for _, t := range turns {
			m.open("li")
			m.put("a", orNoPrompt(t.prompt), href(l.Page+"#e-"+url.PathEscape(t.keys[0])))
			for _, key := range t.keys {
				m.put("span", "", id(p.anchor(key)))
			}
			m.end("li")
		}
		m.end("ul")
		m.end("details")
	}
}

func orNoPrompt(prompt string) string {
	return cmp.Or(prompt, "(no prompt)")
}
