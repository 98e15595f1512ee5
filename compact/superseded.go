package compact

import (
	"context"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// Limits keep superseded contents that are not worth the loss (RFD 065). The zero value keeps
// none.
type Limits struct {
	MinBytes int64 // smaller contents stay
	// CacheTurns is how many turns at the end a provider has in its cache: they stay.
	CacheTurns int
	// MinDelta is the share of lines that must have changed: what is nearly the same confuses
	// nobody.
	MinDelta float64
	MinTurns int // fewer turns between the two keep both
}

// trimSuperseded leaves a line of each result that a later one makes obsolete.
func (j *job) trimSuperseded(context.Context, *Step) error {
	limit := j.limit()
	o := j.obsoleteOptions()
	o.Shown, o.Stays = j.shown(), j.stays()
	obsolete, err := Obsolete(j.stream, o)
	if err != nil {
		return err
	}
	with := map[int]*events.Element{}
	blocks := map[int][]int{}
	for _, o := range obsolete {
		if o.Element >= limit {
			continue
		}
		if o.Block >= 0 {
			blocks[o.Element] = append(blocks[o.Element], o.Block)
			continue
		}
		e := j.stream.At(o.Element)
		if r, ok := e.Event().(*events.ToolCallResponse); ok {
			with[o.Element] = emptied(e, r, dedup.Stub(o.Tool))
		}
	}
	for i, gone := range blocks {
		e := j.stream.At(i)
		if r, ok := e.Event().(*events.ChatRequest); ok {
			with[i] = detached(e, r, func(n int) bool { return slices.Contains(gone, n) })
		}
	}
	j.revise(with, nil)
	return nil
}

// ObsoleteOptions say what is looked for by [Obsolete].
type ObsoleteOptions struct {
	Rules    func(tool string) []dedup.Rule // nil is [DefaultRules]
	Limits   Limits
	Dedup    dedup.Options
	Contents blobs.Reader
	// Shown reports whether the model is given an element as it is, and Stays whether it will
	// be; see [dedup.Search]. Nil says so of all.
	Shown func(*events.Element) bool
	Stays func(element int) bool
	// Stale reports whether what shows a file that was changed later may go; nil says so of none.
	Stale func(key string) bool
	// Referents says that what a reference in the same request speaks of counts, too: somebody
	// counts what has to be given again for it.
	Referents bool
	// Estimator counts tokens; the zero value is the one that the stream teaches, if that is how
	// its requests were sent.
	Estimator Estimator
	// Beside is how many tokens the system prompt and the tools have, 0 when it is not known.
	Beside float64
}

func (o Options) obsoleteOptions() ObsoleteOptions {
	return ObsoleteOptions{
		Rules: o.Rules, Limits: o.Limits, Dedup: o.Dedup, Contents: o.Contents,
	}
}

// Obsolete returns what of a stream a later result supersedes and may be left out: what is
// larger than what would stand in its place, nothing that a reference in the same request
// speaks of, and what the limits do not keep.
func Obsolete(s *events.Stream, o ObsoleteOptions) ([]dedup.Superseded, error) {
	if o.Rules == nil {
		o.Rules = DefaultRules
	}
	found := dedup.FindSuperseded(s, dedup.Search{
		Rules: listen(s, o.Contents).spare(o.Rules), Contents: o.Contents,
		Given: o.Dedup.Given, Shown: o.Shown, Stays: o.Stays, Stale: o.Stale,
	})
	if len(found) == 0 {
		return nil, nil
	}
	plan, err := deliveries(s, o.Dedup, o.Contents)
	if err != nil {
		return nil, err
	}
	referents, turns := plan.Referents(), s.TurnOf()
	last := 0
	if len(turns) > 0 {
		last = turns[len(turns)-1]
	}
	var all []dedup.Superseded
	held := pinnedPlaces(s)
	for _, f := range found {
		if held[f.Element] {
			continue
		}
		distance, age := turns[f.By]-turns[f.Element], last-turns[f.Element]
		size := obsoleteSize(s, plan, f)
		if (o.Referents || !isReferent(s, referents, f)) && o.Limits.admit(size, distance, age) &&
			(o.Limits.MinDelta <= 0 || delta(s, f, o.Contents) >= o.Limits.MinDelta) {
			all = append(all, f)
		}
	}
	return all, nil
}

// admit reports whether something of so many bytes may go, with so many turns to what
// supersedes it and to the end.
func (l Limits) admit(bytes int64, distance, age int) bool {
	return bytes > max(l.MinBytes, minStub) && distance >= l.MinTurns &&
		(l.CacheTurns == 0 || age >= l.CacheTurns)
}

// minStub is larger than what stands in the place of a content.
const minStub = 160

// deliveries returns the plan by which a stream is delivered. Where contents are not here, what
// needs no look at them still counts.
func deliveries(s *events.Stream, o dedup.Options, rd blobs.Reader) (*dedup.Plan, error) {
	return dedup.New(s, o, absent{rd})
}

// absent reads what is not there as if it were empty: a stream without its contents can still
// be looked at.
type absent struct{ blobs.Reader }

func (a absent) Read(r blobs.Ref) ([]byte, error) {
	if a.Reader == nil {
		return nil, nil
	}
	data, err := a.Reader.Read(r)
	if err != nil {
		data = nil
	}
	return data, nil
}

func isReferent(s *events.Stream, referents map[dedup.Place]bool, f dedup.Superseded) bool {
	if f.Block >= 0 {
		return referents[dedup.Place{Element: f.Element, Block: f.Block}]
	}
	r, _ := s.At(f.Element).Event().(*events.ToolCallResponse)
	for i := range r.Blocks {
		if referents[dedup.Place{Element: f.Element, Block: i}] {
			return true
		}
	}
	return false
}

// obsoleteSize returns how many bytes a model is given of what is superseded.
func obsoleteSize(s *events.Stream, plan *dedup.Plan, f dedup.Superseded) int64 {
	switch ev := s.At(f.Element).Event().(type) {
	case *events.ToolCallResponse:
		return resultSize(ev, f.Element, plan)
	case *events.ChatRequest:
		return resourceSize(&ev.Resources[f.Block], plan.Block(f.Element, f.Block))
	default:
		return 0
	}
}

func resultSize(r *events.ToolCallResponse, at int, plan *dedup.Plan) int64 {
	var n int64
	for i := range r.Blocks {
		if d := plan.Block(at, i); d.Form != dedup.Whole {
			n += int64(len(d.Text))
		} else {
			n += blockSize(&r.Blocks[i])
		}
	}
	return n
}

func resourceSize(r *events.Resource, d dedup.Delivery) int64 {
	if d.Form != dedup.Whole {
		return int64(len(d.Text))
	}
	return delivered(r).Size()
}

// delta returns the share of lines that what is superseded does not have in common with what
// supersedes it. What is no text is all new.
func delta(s *events.Stream, f dedup.Superseded, rd blobs.Reader) float64 {
	before, ok1 := textAt(s, f.Element, f.Block, rd)
	after, ok2 := textAt(s, f.By, -1, rd)
	if !ok1 || !ok2 || before == "" {
		return 1
	}
	lines := map[string]bool{}
	for line := range strings.Lines(after) {
		lines[line] = true
	}
	all, changed := 0, 0
	for line := range strings.Lines(before) {
		all++
		if !lines[line] {
			changed++
		}
	}
	return float64(changed) / float64(all)
}

// textAt returns the text of a result, or of a request's resource; -1 for all of them.
func textAt(s *events.Stream, element, block int, rd blobs.Reader) (string, bool) {
	switch ev := s.At(element).Event().(type) {
	case *events.ToolCallResponse:
		text, err := ev.Text(rd)
		return text, err == nil
	case *events.ChatRequest:
		var all strings.Builder
		for n := range ev.Resources {
			if block >= 0 && n != block {
				continue
			}
			data, err := delivered(&ev.Resources[n]).Bytes(rd)
			if err != nil {
				return "", false
			}
			all.Write(data)
		}
		return all.String(), true
	default:
		return "", false
	}
}

// contentOf returns what a block holds.
func contentOf(b *events.Block) blobs.Content {
	if b.Resource != nil {
		return b.Resource.Content
	}
	return b.Content
}
