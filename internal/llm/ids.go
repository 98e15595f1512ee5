package llm

import (
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// UniqueIDs returns the messages with ids of calls that are unique and allowed by the provider. An
// id that is both does not change. A result belongs to the first open call with its id, as in
// [events.Stream.Calls]. The id of a call depends only on what precedes it, so that a prompt that
// was sent keeps its ids when the conversation grows.
func UniqueIDs(messages []Message, rule wire.IDRule) []Message {
	u := uniquer{rule: rule, used: map[string]bool{}, open: map[string][]string{}}
	return rewrite(messages, u.part)
}

// rewrite returns the messages with each part replaced by the result of f. It does not change the
// given messages.
func rewrite(messages []Message, f func(Part) Part) []Message {
	out := slices.Clone(messages)
	for i, m := range out {
		parts := lists.Map(m.Parts, f)
		out[i].Parts = parts
	}
	return out
}

// MadeUpID returns an id for call n of an answer to r, for providers that send none: the name of
// the tool and the number of earlier calls, as jp does it.
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
	rule wire.IDRule
	used map[string]bool     // on the wire
	open map[string][]string // wire ids of calls without a result, by the id in the stream
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
	id = u.rule.Clean(id)
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
