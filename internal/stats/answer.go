package stats

import (
	"cmp"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/llm"
)

// An answer is one that has recorded usage.
type answer struct {
	element *events.Element
	index   int // of the element
	usage   llm.Usage
	hour    int64 // what of usage.CacheWrite was to be kept for an hour
	model   string
	author  string
	sent    compact.Sent
	asked   asking
	// rewritten says that since the answer before something was put in the place of others.
	rewritten bool
}

// An asking is when a request was sent, and whether that is recorded: else it is when what it
// ends with came.
type asking struct {
	at   time.Time
	sent bool
}

// eachAnswer calls f with the answers of a stream that have usage, in their order.
func eachAnswer(base []byte, s *events.Stream, f func(answer)) error {
	config, err := settings.Parse(orEmpty(base), 0)
	if err != nil {
		return err
	}
	var a answer
	model := modelOf(config)
	for i, e := range s.All() {
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
		if !ok {
			continue
		}
		a.index = i
		a.complete(e, u, model)
		f(a)
		a.rewritten = false
	}
	return nil
}

// complete enters what is recorded with an answer.
func (a *answer) complete(e *events.Element, u compact.Usage, model string) {
	a.element, a.usage, a.hour = e, usageOf(u), u.CacheWriteHour
	a.sent, a.asked.sent = compact.SentOf(e)
	if a.asked.sent {
		a.asked.at = a.sent.At
	}
	a.model = cmp.Or(a.sent.Model, model, u.Model)
}
