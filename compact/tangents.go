package compact

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// A Tangent is a turn that has little to do with the current subject of the conversation.
type Tangent struct {
	Turn   int    `json:"turn"` // counted from 1
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

// A Digest is a shortened turn.
type Digest struct {
	Turn            int // counted from 1
	Request, Answer string
	Tools           []string
}

// A Classifier finds tangents.
type Classifier interface {
	// Tangents returns those of some turns that are tangential to last, the last turn of the
	// conversation.
	Tangents(ctx context.Context, turns []Digest, last Digest) ([]Tangent, Usage, error)
}

// classify removes the turns that are tangential and confirmed to be.
func (j *job) classify(ctx context.Context, step *Step) error {
	if j.Classifier == nil {
		return ErrNoModel
	}
	all, limit := digests(j.stream), j.closedTurns()
	starts := openings(j.stream)
	held := withPinned(j.stream)
	var old []Digest
	for n, d := range all {
		if n+1 < len(starts) && starts[n+1] <= limit && !held[j.stream.At(starts[n])] {
			old = append(old, d)
		}
	}
	if len(old) == 0 {
		return nil
	}
	found, usage, err := j.Classifier.Tangents(ctx, old, all[len(all)-1])
	if err != nil {
		return err
	}
	step.Usage = &usage
	for _, t := range found {
		n := slices.IndexFunc(old, func(d Digest) bool { return d.Turn == t.Turn })
		if n < 0 {
			step.Notes = append(step.Notes,
				fmt.Sprintf("the answer names turn %d, which was not asked about", t.Turn))
			continue
		}
		t.Title = old[n].Request
		step.Tangents = append(step.Tangents, t)
	}
	if j.Confirm == nil || len(step.Tangents) == 0 {
		return nil
	}
	gone := map[int]bool{}
	for _, t := range j.Confirm(step.Tangents) {
		for i := starts[t.Turn-1]; i < starts[t.Turn]; i++ {
			gone[i] = j.stream.At(i).Kind().IsEvent()
		}
		j.curated = true
	}
	j.revise(nil, gone)
	return nil
}

// digestLength is how much of a text a digest has, in characters.
const digestLength = 400

// digests returns the shortened turns of a stream, in order.
func digests(s *events.Stream) []Digest {
	starts := openings(s)
	all := make([]Digest, len(starts))
	for n := range starts {
		end := s.Len()
		if n+1 < len(starts) {
			end = starts[n+1]
		}
		all[n] = Digest{Turn: n + 1}
		for i := starts[n]; i < end; i++ {
			all[n].add(s.At(i))
		}
	}
	return all
}

func (d *Digest) add(e *events.Element) {
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		if d.Request == "" {
			d.Request = clip(ev.Content, digestLength)
		}
	case *events.ChatResponse:
		if ev.Form == events.FormMessage {
			d.Answer = clip(ev.Text, digestLength)
		}
	case *events.ToolCallRequest:
		if !slices.Contains(d.Tools, ev.Name) {
			d.Tools = append(d.Tools, ev.Name)
		}
	}
}
