package stats

import (
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// A Turn has the cost of the answers of a turn, and how full the context was.
type Turn struct {
	Row

	Number int // counted from 1
	// Largest is the number of tokens in the largest prompt, LargestCached how many of them came
	// from a cache.
	Largest, LargestCached int64
}

// Turns returns the turns of a conversation that have answers with recorded usage.
func Turns(base []byte, s *events.Stream, table *models.Table) ([]Turn, error) {
	var all []Turn
	turns, at := s.Turns(), 0
	err := eachAnswer(base, s, func(a answer) {
		for at < len(turns)-1 && turns[at].Last < a.index {
			at++
		}
		if at == len(turns) {
			return
		}
		number := turns[at].Index + 1
		if len(all) == 0 || all[len(all)-1].Number != number {
			all = append(all, Turn{Row: Row{Name: fmt.Sprintf("turn %d", number)}, Number: number})
		}
		t := &all[len(all)-1]
		one := a.priced("", table)
		t.Count(one)
		if one.Largest > t.Largest {
			t.Largest, t.LargestCached = one.Largest, one.LargestCached
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return all, nil
}
