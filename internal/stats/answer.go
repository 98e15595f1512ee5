package stats

import (
	"cmp"
	"fmt"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// An Answer is one that has recorded usage, with its cost.
type Answer struct {
	Key   blobs.Hash // the same wherever the answer is copied
	Index int        // of its last element
	At    time.Time
	Model string
	// Tool is the one whose result is the largest new part of the request; "" if the prompt was
	// larger.
	Tool string

	Input, Cached, Output int64 // tokens; what came from a cache is in both
	// Largest is the number of tokens in the largest prompt, LargestCached how many of them came
	// from a cache.
	Largest, LargestCached int64
	USD                    float64
	Priced                 bool
}

// Answers returns the answers of a conversation that have recorded usage, in their order. Those
// before an unreadable configuration are returned with the error.
func Answers(s Subject, table *models.Table) (all []Answer, err error) {
	err = eachAnswer(s.Base, s.Stream, func(a answer) {
		all = append(all, a.priced(s.Agent, table))
	})
	if err != nil {
		return all, fmt.Errorf("read the configuration of %s: %w", s.ID, err)
	}
	return all, nil
}

// priced returns the exported form of an answer.
func (a *answer) priced(agent string, table *models.Table) Answer {
	usd, known := a.cost(table)
	most := a.prompt()
	return Answer{
		Largest: most.Prompt(), LargestCached: most.CacheRead,
		Key: a.identity(agent), Index: a.index, At: a.element.Time(),
		Model: a.model, Tool: a.given.tool,
		Input: a.usage.Prompt(), Cached: a.usage.CacheRead, Output: a.usage.Output,
		USD: usd, Priced: known,
	}
}

// An answer is one that has recorded usage.
type answer struct {
	element *events.Element
	index   int       // of the element
	agent   string    // its author after an export, "" for none
	usage   llm.Usage // of all its requests
	charges []charge  // one for each
	model   string
	author  string
	given   given
	sent    compact.Sent
	asked   asking
	// rewritten says that earlier elements were replaced since the answer before.
	rewritten bool
}

// A charge is the usage of one request.
type charge struct {
	llm.Usage

	hour int64 // the part of CacheWrite that was to be kept for an hour
}

// prompt returns the largest prompt of an answer's requests, most of which were sent with each.
func (a *answer) prompt() (most charge) {
	for _, c := range a.charges {
		if c.Prompt() > most.Prompt() {
			most = c
		}
	}
	return most
}

// An asking is when a request was sent, if that is recorded: else it is when its last element came.
type asking struct {
	at   time.Time
	sent bool
}

// A given is the largest new part of a request, under which its answer is counted.
type given struct {
	tool     string // "" for a prompt
	size     int64
	answered bool              // the next element is part of another request
	names    map[string]string // of tools, by the ids of their calls
}

func (g *given) enter(e *events.Element) {
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		size := int64(len(ev.Content))
		for _, r := range ev.Resources {
			size += r.Content.Size()
		}
		g.offer("", size)
	case *events.ToolCallResponse:
		g.offer(g.names[ev.ID], compact.SizeOf(ev))
	case *events.ChatResponse:
		g.answered = true
	case *events.ToolCallRequest:
		if g.answered = true; g.names == nil {
			g.names = make(map[string]string)
		}
		g.names[ev.ID] = ev.Name
	}
}

// offer keeps the larger one.
func (g *given) offer(tool string, size int64) {
	if g.answered || size > g.size {
		g.tool, g.size = tool, size
	}
	g.answered = false
}

// eachAnswer calls f with the answers of a stream that have usage, in their order. An answer that
// cost nothing is one that an export repeats.
func eachAnswer(base []byte, s *events.Stream, f func(answer)) error {
	config, err := settings.Parse(orEmpty(base), 0)
	if err != nil {
		return err
	}
	var a answer
	model, said := modelOf(config), s.SessionOf(nil)
	for i, e := range compact.InOrder(s) {
		a.given.enter(e)
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			a.author, a.asked.at = ev.Author, e.Time()
		case *events.ToolCallResponse:
			a.asked.at = e.Time()
		case *events.Compaction:
			a.rewritten = true
		case *events.ConfigDelta:
			delta, err := settings.Parse(orEmpty(ev.Delta), 0)
			if err != nil {
				return err
			}
			config = config.Merge(delta)
			model = modelOf(config)
		}
		if _, ok := compact.SummaryOf(e); ok {
			a.rewritten = true
		}
		u, ok := compact.UsageOf(e)
		if all := u.Total(); !ok || all.Prompt() == 0 && all.Output == 0 {
			continue
		}
		a.index, a.agent = i, events.AgentOf(said[i])
		a.complete(e, u, model)
		f(a)
		a.rewritten = false
	}
	return nil
}

// complete adds what is recorded with an answer.
func (a *answer) complete(e *events.Element, u compact.Usage, model string) {
	a.element, a.usage, a.charges = e, usageOf(u.Total()), nil
	a.sent, a.asked.sent = compact.SentOf(e)
	if a.asked.sent {
		a.asked.at = a.sent.At
	}
	long := a.sent.Lifetime >= int64(time.Hour/time.Second)
	for x := range u.Exchanges() {
		c := charge{usageOf(x), x.CacheWriteHour}
		if long && c.hour == 0 {
			c.hour = x.CacheWrite // all of it was to be kept as long as the request asked
		}
		if c.Prompt()+c.Output > 0 {
			a.charges = append(a.charges, c)
		}
	}
	a.model = cmp.Or(a.sent.Model, model, u.Total().Model)
}
