package compact

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// unlearned is the error that is reported if a conversation has no usage to learn from: tokenizers
// of providers differ by about that much.
const unlearned = 0.2

// minSamples is the number of differences of usage that are needed to learn from them.
const minSamples = 3

// An Estimator estimates tokens.
type Estimator struct {
	Scale   float64 // this conversation's tokens relative to the default estimate
	Growth  float64 // the same, expected for text that is added
	Error   float64 // of added or removed text, as a share of it
	Whole   float64 // of an entire prompt, as a share of it
	Samples int     // number of exchanges that were learned from
	Base    float64 // tokens of the system prompt and the tools, 0 if unknown

	grown float64 // tokens by which prompts grew, relative to the default estimate
}

// scale returns 1 if nothing was learned.
func (e Estimator) scale() float64 {
	return cmp.Or(e.Scale, 1)
}

func (e Estimator) tokens(s Sort, bytes int64) float64 { return e.scale() * s.Tokens(bytes) }

// Calibrate learns from the usage that a stream has stored: the elements added between two requests
// made the second prompt larger by a known number of tokens, and the size of the last one is known.
func Calibrate(s *events.Stream, o measureOptions) (Estimator, error) {
	sent := o
	sent.estimator = Estimator{}
	if !foretold(s) {
		sent.dedup = dedup.Options{} // another program sent it, without deduplication
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

// Told returns the estimated tokens of a view that is sent according to a plan, before any
// calibration: see [Sent].
func Told(view *events.Stream, plan *dedup.Plan) int64 {
	m, err := measure(view, measureOptions{plan: plan})
	if err != nil {
		return 0 // only planning can fail
	}
	return int64(math.Round(m.Tokens))
}

// foretold reports whether this program recorded the requests of a stream, so that they were sent
// as it sends them.
func foretold(s *events.Stream) bool {
	sent, ok := LastSent(s)
	return !ok || sent.Prefix != ""
}

// A prompt is one whose size is known from usage.
type prompt struct {
	tokens float64
	guess  float64 // estimated tokens of the part that is in the stream
	size   float64 // the estimate when it was sent, 0 if it was not recorded
	at     time.Time
}

// prompts returns the prompts of a view whose size is known.
func prompts(s *events.Stream, m Measure) (all []prompt) {
	var sum, opened float64 // opened: sum at the first event of the answer
	answers := false
	for i, e := range InOrder(s) {
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
			all[n] = p // some programs report usage with each part of an answer
			continue
		}
		all = append(all, p)
	}
	return all
}

// prior is the weight of the default estimate, in tokens, against the conversation's own usage: ten
// calls must not make an estimate worse than none.
const prior = 100_000

// minGrowth is the smallest growth that says something about text: below it the overhead of
// messages dominates.
const minGrowth = 200

// maxOdds is the largest plausible factor between a prompt and the estimate of its text. Beyond
// that the prompt had another text: usage that was recorded before a compaction includes the
// removed text.
const maxOdds = 2

// grew returns by how much a prompt grew since the last one, in tokens and by estimate, and whether
// that says something about the tokens of a text.
func (p prompt) grew(last prompt) (tokens, guess float64, tells bool) {
	tokens, guess = p.tokens-last.tokens, p.guess-last.guess
	return tokens, guess, tokens >= minGrowth && guess >= minGrowth &&
		tokens <= maxOdds*guess && guess <= maxOdds*tokens
}

// learn learns from the growth of prompts.
func learn(all []prompt) Estimator {
	grew, guessed := 0.0, 0.0
	var samples [][2]float64
	for n := 1; n < len(all); n++ {
		if tokens, guess, tells := all[n].grew(all[n-1]); tells {
			grew, guessed = grew+tokens, guessed+guess
			samples = append(samples, [2]float64{tokens, guess})
		}
	}
	e := Estimator{
		Scale: 1, Growth: 1, Error: unlearned, Whole: unlearned, Samples: len(samples), grown: 1,
	}
	if len(samples) < minSamples {
		return e
	}
	e.Scale, e.grown = (grew+prior)/(guessed+prior), grew/guessed
	e.Error = covering(lists.Map(samples, func(g [2]float64) float64 {
		return math.Abs(g[0]-e.Scale*g[1]) / g[0]
	}))
	e.Growth, e.Whole = e.Scale, e.Error
	return e
}

// wholeError returns the error of predicting each entire prompt from the one before.
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

// strayed is by how much the last prompt may differ from the estimate of its text, if no estimate
// was recorded with it. A compaction that left no trace removes more than that. If all prompts grew
// more or less than the default estimate, the last one differs by as much.
const strayed = 0.1

// last returns the last prompt with known usage, if it had the text that the stream has now, or if
// the estimate of its text is recorded.
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
	least, most := e.Base+min(e.Scale, e.grown)*p.guess, e.Base+max(e.Scale, e.grown)*p.guess
	slack := strayed * p.tokens
	return p, !curtailed(s) && least-slack <= p.tokens && p.tokens <= most+slack
}

// curtailed reports whether the stream lacks, or hides from a model, something that the last
// recorded prompt had. An overlay before that was applied in it.
func curtailed(s *events.Stream) bool {
	told := false
	for i := s.Len() - 1; i >= 0; i-- {
		e := s.At(i)
		_, trimmed := e.Metadata().Value(dedup.Trimmed)
		_, summary := SummaryOf(e)
		if trimmed || summary || e.Kind() == events.KindCompaction && !told ||
			len(e.Metadata().Stripped()) > 0 {
			return true
		}
		u, ok := UsageOf(e)
		told = told || ok && u.Prompt() > 0
	}
	return false
}

type compacted struct {
	At    time.Time `json:"at"`
	Scale float64   `json:"scale"` // see [Estimator]
	Base  float64   `json:"base"`
}

func compactedOf(s *events.Stream) (c compacted, ok bool) {
	for _, e := range s.All() {
		if e.Kind().IsEvent() {
			ok = e.Metadata().JSON(events.MetadataCompacted, &c)
			return c, ok && c.Scale > 0
		}
	}
	return c, false
}

// remember records how the remaining text was estimated, unless all of it is left alone.
func (j *job) remember() {
	pruned := SortTools.Tokens(j.definitions(j.source) - j.definitions(j.stream))
	for i, e := range j.stream.All() {
		switch {
		case i >= j.limit():
			return
		case e.Kind().IsEvent():
			md := e.Metadata().WithJSON(events.MetadataCompacted, compacted{
				j.Now.UTC(), math.Round(1e4*j.estimator.scale()) / 1e4,
				math.Round(max(j.estimator.Base-pruned, 0)),
			})
			j.stream = j.stream.Clone()
			j.stream.Set(i, e.WithMetadata(md))
			return
		}
	}
}

// base returns the tokens of the first prompt that are not from the conversation, or 0 if unknown.
// The first prompt also had attachments that were removed since.
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

// covering returns the value that four of five of some errors do not exceed.
func covering(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[(len(v)*4+4)/5-1]
}
