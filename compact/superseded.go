package compact

import (
	"context"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// Limits excludes superseded content from trimming that is not worth the loss (RFD 065). The zero
// value excludes nothing.
type Limits struct {
	MinBytes int64 // smaller content is kept
	// CacheTurns is how many turns at the end a provider has in its cache; they are kept.
	CacheTurns int
	// MinDelta is the share of lines that must have changed: nearly identical content confuses no
	// model.
	MinDelta float64
	MinTurns int // with fewer turns between the two, both are kept
}

// trimSuperseded reduces each result that a later one makes obsolete to one line.
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

// ObsoleteOptions selects what [Obsolete] finds.
type ObsoleteOptions struct {
	Rules    func(tool string) []dedup.Rule // nil means [DefaultRules]
	Limits   Limits
	Dedup    dedup.Options
	Contents blobs.Reader
	// Shown reports whether the model is given an element unchanged, and Stays whether it will be;
	// see [dedup.Search]. Nil means true for all.
	Shown func(*events.Element) bool
	Stays func(element int) bool
	// Stale reports whether reads of a file that was changed later may be removed; nil means never.
	Stale func(key string) bool
	// Referents also allows results that a reference in the same request refers to. The caller then
	// accounts for the content that has to be sent again.
	Referents bool
	// Estimator counts tokens; the zero value is replaced by [Calibrate] on the stream, if its
	// requests were sent that way.
	Estimator Estimator
	// Beside is the number of tokens of the system prompt and the tools, 0 if unknown.
	Beside float64
}

func (o Options) obsoleteOptions() ObsoleteOptions {
	return ObsoleteOptions{
		Rules: o.Rules, Limits: o.Limits, Dedup: o.Dedup, Contents: o.Contents,
	}
}

// Obsolete returns the elements that a later result in the stream supersedes and that may be left
// out: each is larger than its replacement, no reference in the same request refers to it, and the
// limits do not exclude it.
func Obsolete(s *events.Stream, o ObsoleteOptions) ([]dedup.Superseded, error) {
	if o.Rules == nil {
		o.Rules = DefaultRules
	}
	found := dedup.FindSuperseded(s, dedup.Search{
		Rules: listen(s, o.Contents).spare(o.Rules), Contents: o.Contents,
		Shown: o.Shown, Stays: o.Stays, Stale: o.Stale,
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
		referent := func(at dedup.Place) bool { return referents[at] }
		if (o.Referents || !slices.ContainsFunc(placesOf(s, f), referent)) &&
			o.Limits.admit(size, distance, age) &&
			(o.Limits.MinDelta <= 0 || delta(s, f, o.Contents) >= o.Limits.MinDelta) {
			all = append(all, f)
		}
	}
	return all, nil
}

// admit reports whether content of a size may be removed, given the number of turns to what
// supersedes it and to the end.
func (l Limits) admit(bytes int64, distance, age int) bool {
	return bytes > max(l.MinBytes, minStub) && distance >= l.MinTurns &&
		(l.CacheTurns == 0 || age >= l.CacheTurns)
}

// minStub is larger than the replacement of any content.
const minStub = 160

// deliveries returns the plan by which a stream is sent. If content is missing, everything that
// does not depend on it is still planned.
func deliveries(s *events.Stream, o dedup.Options, rd blobs.Reader) (*dedup.Plan, error) {
	return dedup.New(s, o, absent{rd})
}

// absent reads missing content as if it were empty, so that a stream without its content can be
// examined.
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

// placesOf returns where a model is given something superseded.
func placesOf(s *events.Stream, f dedup.Superseded) (all []dedup.Place) {
	if f.Block >= 0 {
		return []dedup.Place{{Element: f.Element, Block: f.Block}}
	}
	r, _ := s.At(f.Element).Event().(*events.ToolCallResponse)
	for i := range r.Blocks {
		all = append(all, dedup.Place{Element: f.Element, Block: i})
	}
	return all
}

// obsoleteSize returns how many bytes of something superseded a model is given.
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
	return r.Delivered().Size()
}

// delta returns the share of lines of superseded content that the superseding content lacks. Binary
// content counts as completely different.
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

// textAt returns the text of a result or of a request's resource; -1 for all resources.
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
			data, err := ev.Resources[n].Delivered().Bytes(rd)
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

// contentOf returns the content of a block.
func contentOf(b *events.Block) blobs.Content {
	if b.Resource != nil {
		return b.Resource.Content
	}
	return b.Content
}
