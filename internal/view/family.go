package view

import (
	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// Families sets in summaries where each conversation comes from, and its cost together with its
// sub-agents and forks, and with theirs. Forks repeat answers, which count once.
func Families(all []Summary) {
	g := families{all: all, byName: make(map[string]int, len(all)), done: make([]bool, len(all))}
	g.children = make([][]int, len(all))
	for i, s := range all {
		g.byName[s.ID.String()] = i
		for _, session := range s.Resumed {
			if _, own := g.byName[session]; !own {
				g.byName[session] = i
			}
		}
		if s.Session != "" {
			g.byName[s.Session] = i
		}
	}
	for i, s := range all {
		all[i].OriginPage, all[i].OriginName = "", ""
		if p, ok := g.byName[s.origin()]; ok && s.Fork != "" && p != i {
			g.children[p] = append(g.children[p], i)
			all[i].OriginPage = all[p].Page
			if s.origin() != all[p].ID.String() { // which is not a name for people
				all[i].OriginName = all[p].name()
			}
		}
	}
	for i := range all {
		g.add(i)
	}
}

// A families adds up from the leaves. Each conversation has one parent, so an answer is moved only
// from a smaller set into a larger one. A cycle of parents, which only a malicious author writes,
// is broken where it is met.
type families struct {
	all      []Summary
	byName   map[string]int
	children [][]int
	done     []bool
}

// A family is the answers of a conversation and of those that come from it.
type family struct {
	answers map[blobs.Hash]bool
	counted []stats.Answer
	sum     stats.Row
	members int
}

func (f *family) count(all []stats.Answer) {
	for _, a := range all {
		if !f.answers[a.Key] {
			f.answers[a.Key] = true
			f.counted = append(f.counted, a)
			f.sum.Count(a)
		}
	}
}

func (g *families) add(i int) *family {
	if g.done[i] {
		return nil
	}
	g.done[i] = true
	s := &g.all[i]
	f := &family{answers: make(map[blobs.Hash]bool), members: 1}
	f.count(s.answers)
	for _, c := range g.children[i] {
		other := g.add(c)
		if other == nil {
			continue
		}
		members := f.members + other.members
		if len(other.counted) > len(f.counted) {
			f, other = other, f
		}
		f.count(other.counted)
		f.members = members
	}
	s.Family, s.Relatives = f.sum, f.members-1
	return f
}

// Kin says what a conversation and those that come from it have cost, "" if nothing comes from it.
func (s Summary) Kin() string {
	if s.Relatives == 0 || s.Family.Answers == 0 {
		return ""
	}
	if s.Relatives == 1 {
		return figuresLine(s.Family) + " with a sub-agent or fork"
	}
	return figuresLine(s.Family) + " with " + render.Number(int64(s.Relatives)) +
		" sub-agents or forks"
}

// spentIn adds up the cost of conversations, each answer once.
func spentIn(all []Summary) (stats.Row, []stats.Answer) {
	f := family{answers: make(map[blobs.Hash]bool)}
	for _, s := range all {
		f.count(s.answers)
	}
	return f.sum, f.counted
}
