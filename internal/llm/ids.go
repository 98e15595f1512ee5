package llm

import (
	"slices"
	"strconv"
	"strings"
)

// An IDRule says which ids of tool calls a provider takes.
type IDRule struct {
	Max     int // characters
	Allowed func(c byte) bool
}

// WordRule takes letters, digits, "_" and "-", up to limit of them.
func WordRule(limit int) IDRule {
	return IDRule{Max: limit, Allowed: func(c byte) bool {
		return c == '_' || c == '-' || '0' <= c && c <= '9' ||
			'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}}
}

// UniqueIDs returns the messages with ids of calls that are unique and that the provider
// takes. An id that is both stays as it is. A result belongs to the first open call with its
// id, as in [events.Stream.Calls]. Only what stands before a call decides its id, so a prompt
// that was sent keeps its ids when the conversation grows.
func UniqueIDs(messages []Message, rule IDRule) []Message {
	u := uniquer{rule: rule, used: map[string]bool{}, open: map[string][]string{}}
	return rewrite(messages, u.part)
}

// rewrite returns the messages with each part replaced by f of it. Nothing that is given is
// changed.
func rewrite(messages []Message, f func(Part) Part) []Message {
	out := slices.Clone(messages)
	for i, m := range out {
		parts := make([]Part, len(m.Parts))
		for j, p := range m.Parts {
			parts[j] = f(p)
		}
		out[i].Parts = parts
	}
	return out
}

// MadeUpID returns an id for call n of an answer to r, for providers that give none: by the
// tool and how many calls were made before, as jp makes them up.
func MadeUpID(r *Request, tool string, n int) string {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if _, ok := p.(Call); ok {
				n++
			}
		}
	}
	return tool + "_" + strconv.Itoa(n)
}

type uniquer struct {
	rule IDRule
	used map[string]bool     // on the wire
	open map[string][]string // wire ids of calls without a result, by their own id
}

func (u *uniquer) part(p Part) Part {
	switch p := p.(type) {
	case Call:
		own := p.ID
		p.ID = u.fresh(own)
		u.used[p.ID] = true
		u.open[own] = append(u.open[own], p.ID)
		return p
	case Result:
		if waiting := u.open[p.CallID]; len(waiting) > 0 {
			u.open[p.CallID] = waiting[1:]
			p.CallID = waiting[0]
		}
		return p
	default:
		return p
	}
}

func (u *uniquer) fresh(id string) string {
	id = u.clean(id)
	if !u.used[id] {
		return id
	}
	for n := 2; ; n++ {
		suffix := "_" + strconv.Itoa(n)
		next := id[:min(len(id), u.rule.Max-len(suffix))] + suffix
		if !u.used[next] {
			return next
		}
	}
}

func (u *uniquer) clean(id string) string {
	if id == "" {
		return "call"
	}
	id = strings.Map(func(r rune) rune {
		if r < 0x80 && u.rule.Allowed(byte(r)) {
			return r
		}
		return '_'
	}, id)
	return id[:min(len(id), u.rule.Max)]
}
