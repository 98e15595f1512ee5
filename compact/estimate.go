package compact

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// unlearned is the error that is told where a conversation has no usage to learn from:
// tokenizers of providers differ by about that much.
const unlearned = 0.2

// minSamples is how many differences of usage are needed to learn from.
const minSamples = 3

// An Estimator guesses tokens.
type Estimator struct {
	Scale   float64 // by which this conversation differs from what was measured
	Growth  float64 // by which what is added to it is expected to
	Error   float64 // of what is added or taken out, as a share of it
	Whole   float64 // of a whole prompt, as a share of it
	Samples int     // exchanges that were learned from
	Base    float64 // of the system prompt and the tools, 0 when it is not known
}

// scale is 1 where nothing was learned.
func (e Estimator) scale() float64 {
	if e.Scale == 0 {
		return 1
	}
	return e.Scale
}

func (e Estimator) tokens(s Sort, bytes int64) float64 { return e.scale() * s.Tokens(bytes) }

// Calibrate learns from the usage that a stream has stored: what came between two requests
// made the second prompt so much larger, and the last one was so large.
func Calibrate(s *events.Stream, o measureOptions) (Estimator, error) {
	sent := o
	sent.estimator = Estimator{}
	if !foretold(s) {
		sent.dedup = dedup.Options{} // by another program, which sends everything whole
	}
	m, err := measure(s, sent)
	if err != nil {
		return Estimator{}, err
	}
	all := prompts(dedup.Trim(s.Project().Stream), m)
	e := learn(all)
	if e.Base, err = base(s, sent, e.Scale); err != nil {
		return Estimator{}, err
	}
	if c, ok := compactedOf(s); ok {
		e.Scale, e.Base = c.Scale, c.Base
	}
	if b := e.Base; o.known > 0 && (b > maxOdds*o.known || maxOdds*b < o.known) {
		e.Base = o.known
	}
	last, ok := e.last(s, all)
	if !ok {
		return e, nil
	}
	o.estimator = Estimator{}
	now, err := measure(s, o)
	if err != nil || now.Tokens == 0 {
		return e, err
	}
	level := (last.tokens - e.Base) / last.guess
	if more := now.Tokens - last.guess; more > 0 {
		level = (last.tokens + e.Growth*more - e.Base) / now.Tokens
	}
	if level <= maxOdds && maxOdds*level >= 1 {
		e.Scale, e.Whole = level, wholeError(all)
	}
	return e, nil
}

// Told returns how many tokens a view that is sent by a plan has, by what was measured: see [Sent].
func Told(view *events.Stream, plan *dedup.Plan) int64 {
	m, err := measure(view, measureOptions{plan: plan})
	if err != nil {
		return 0 // a plan is all that can fail
	}
	return int64(math.Round(m.Tokens))
}

// foretold reports whether the requests of a stream were recorded by this program, so that they
// were sent as it sends them.
func foretold(s *events.Stream) bool {
	sent, ok := LastSent(s)
	return !ok || sent.Prefix != ""
}

// A prompt is one of which usage tells how large it was.
type prompt struct {
	tokens float64
	guess  float64 // tokens of what the stream has of it
	size   float64 // what that was guessed to be when it was sent, 0 where that is not recorded
	at     time.Time
}

// prompts returns those of a view.
func prompts(s *events.Stream, m Measure) (all []prompt) {
	var sum, opened float64 // opened: at the first event of the answer
	answers := false
	for i, e := range s.All() {
		said := e.Kind() == events.KindChatResponse || e.Kind() == events.KindToolCallRequest
		if said && !answers {
			opened = sum
		}
		if e.Kind().IsEvent() {
			answers = said
		}
		sum += m.Element[i].Tokens
		u, ok := UsageOf(e)
		if !ok || u.Prompt() == 0 {
			continue
		}
		sent, _ := SentOf(e)
		p := prompt{float64(u.Prompt()), opened, float64(sent.Size), e.Time()}
		if n := len(all) - 1; n >= 0 && all[n].guess == p.guess {
			all[n] = p // some programs tell usage with each part of an answer
			continue
		}
		all = append(all, p)
	}
	return all
}

// prior is how many tokens what was measured counts against the conversation's own usage: ten
// calls must not make an estimate worse than none.
const prior = 100_000

// minGrowth is the least growth that says something about text: below it, what every message
// has counts for more.
const minGrowth = 200

// maxOdds is by how much a prompt can differ from what its text says. Beyond that it had
// another text: usage that was recorded before a compaction is of what that took out.
const maxOdds = 2

// grew returns by how much a prompt grew since the last one, was guessed to, and whether that says
// something about how many tokens a text has.
func (p prompt) grew(last prompt) (tokens, guess float64, tells bool) {
	tokens, guess = p.tokens-last.tokens, p.guess-last.guess
	return tokens, guess, tokens >= minGrowth && guess >= minGrowth &&
		tokens <= maxOdds*guess && guess <= maxOdds*tokens
}

// learn learns from how prompts grew.
func learn(all []prompt) Estimator {
	grew, guessed := float64(prior), float64(prior)
	var samples [][2]float64
	for n := 1; n < len(all); n++ {
		if tokens, guess, tells := all[n].grew(all[n-1]); tells {
			grew, guessed = grew+tokens, guessed+guess
			samples = append(samples, [2]float64{tokens, guess})
		}
	}
	e := Estimator{Scale: 1, Growth: 1, Error: unlearned, Whole: unlearned, Samples: len(samples)}
	if len(samples) < minSamples {
		return e
	}
	e.Scale = grew / guessed
	faults := make([]float64, len(samples))
	for i, g := range samples {
		faults[i] = math.Abs(g[0]-e.Scale*g[1]) / g[0]
	}
	e.Error = covering(faults)
	e.Growth, e.Whole = e.Scale, e.Error
	return e
}

// wholeError returns the error of guessing each whole prompt from the one before.
func wholeError(all []prompt) float64 {
	var faults []float64
	for n := 1; n < len(all); n++ {
		tokens, guess, _ := all[n].grew(all[n-1])
		faults = append(faults, math.Abs(tokens-guess)/all[n].tokens)
	}
	if len(faults) < minSamples {
		return unlearned
	}
	return covering(faults)
}

// strayed is by how much the last prompt may differ from what its text is guessed to be, where
// nobody recorded what it was guessed to be then. A compaction that left no trace takes out more.
const strayed = 0.1

// last returns the last prompt of which usage tells, if that is of the text that is there, or it is
// recorded what it was of.
func (e Estimator) last(s *events.Stream, all []prompt) (prompt, bool) {
	if len(all) == 0 {
		return prompt{}, false
	}
	p := all[len(all)-1]
	if c, ok := compactedOf(s); ok {
		return p, p.at.After(c.At)
	}
	if p.size > 0 {
		p.guess = p.size
		return p, true
	}
	guess := e.Base + e.Scale*p.guess
	return p, !curtailed(s) && math.Abs(p.tokens-guess) <= strayed*p.tokens
}

// curtailed reports whether something was taken out of a stream, or is not given to a model, which
// prompts that are recorded had.
func curtailed(s *events.Stream) bool {
	for _, e := range s.All() {
		_, trimmed := e.Metadata().Value(dedup.Trimmed)
		_, summary := SummaryOf(e)
		if trimmed || summary || e.Kind() == events.KindCompaction ||
			len(e.Metadata().Stripped()) > 0 {
			return true
		}
	}
	return false
}

// metadataCompacted is the key below which the first event of a conversation that was compacted
// keeps how large its prompt was guessed to be then: usage of before is of another text.
const metadataCompacted = events.MetadataPrefix + "compacted"

type compacted struct {
	At    time.Time `json:"at"`
	Scale float64   `json:"scale"` // see [Estimator]
	Base  float64   `json:"base"`
}

func compactedOf(s *events.Stream) (c compacted, ok bool) {
	for _, e := range s.All() {
		if e.Kind().IsEvent() {
			v, ok := e.Metadata().Value(metadataCompacted)
			return c, ok && json.Unmarshal(v, &c) == nil && c.Scale > 0
		}
	}
	return c, false
}

// remember keeps what the text that is left was guessed by, where that is not all left alone.
func (j *job) remember() {
	pruned := SortTools.Tokens(j.definitions(j.source) - j.definitions(j.stream))
	v, err := json.Marshal(compacted{
		j.Now.UTC(), math.Round(1e4*j.estimator.scale()) / 1e4,
		math.Round(max(j.estimator.Base-pruned, 0)),
	})
	for i, e := range j.stream.All() {
		switch {
		case err != nil || i >= j.limit(): // a time out of range: nothing is kept
			return
		case e.Kind().IsEvent():
			md := e.Metadata().With(metadataCompacted, jsontext.Value(v))
			j.stream = j.stream.Clone()
			j.stream.Set(i, e.WithMetadata(md))
			return
		}
	}
}

// base returns what the first prompt had beside the conversation, 0 when it is not known. What was
// attached to it and taken out since was in it, too.
func base(s *events.Stream, o measureOptions, scale float64) (float64, error) {
	for i, e := range s.All() {
		if _, ok := SummaryOf(e); ok {
			return 0, nil
		}
		u, ok := UsageOf(e)
		if !ok || u.Prompt() == 0 {
			continue
		}
		var said []*events.Element
		stripped := 0.0
		for k := range i + 1 {
			if s.At(k).Kind() == events.KindCompaction {
				continue
			}
			said = append(said, s.At(k))
			for _, r := range s.At(k).Metadata().Stripped() {
				stripped += SortAttachment.Tokens(r.Content.Size())
			}
		}
		view := events.New(said...)
		m, err := measure(view, o)
		all := prompts(dedup.Trim(view.Project().Stream), m)
		if err != nil || len(all) == 0 {
			return 0, err
		}
		guess := all[0].guess + stripped
		if all[0].size > 0 {
			guess = all[0].size
		}
		return max(float64(u.Prompt())-scale*guess, 0), nil
	}
	return 0, nil
}

// covering returns what four of five of some faults are not above.
func covering(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[(len(v)*4+4)/5-1]
}
