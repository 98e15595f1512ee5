package compact_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A talk builds a stream, with one second between elements.
type talk struct {
	elems []*events.Element
	calls int
}

func (k *talk) add(ev events.Event, md ...events.Metadata) *talk {
	m := events.Metadata{}
	if len(md) > 0 {
		m = md[0]
	}
	k.elems = append(k.elems, events.NewElement(second(len(k.elems)), ev, m))
	return k
}

func second(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func (k *talk) turn(q string) *talk {
	return k.add(&events.TurnStart{}).ask(q)
}

func (k *talk) ask(q string, attached ...events.Resource) *talk {
	return k.add(&events.ChatRequest{Content: q, Resources: attached})
}

func (k *talk) think(text string) *talk {
	return k.add(&events.ChatResponse{Form: events.FormReasoning, Text: text})
}

func (k *talk) say(text string) *talk { return k.add(&events.ChatResponse{Text: text}) }

// call adds a call; a result that begins with "!" is an error.
func (k *talk) call(tool, args, result string) *talk {
	k.calls++
	id := fmt.Sprint("c", k.calls)
	text, failed := strings.CutPrefix(result, "!")
	return k.add(&events.ToolCallRequest{ID: id, Name: tool, Arguments: jsontext.Value(args)}).
		add(&events.ToolCallResponse{ID: id, IsError: failed, Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(text)),
		}}})
}

// asking adds a call that asks a question, which a model answers.
func (k *talk) asking(tool, args, result string) *talk {
	k.call(tool, args, result)
	id := fmt.Sprint("c", k.calls)
	last := k.elems[len(k.elems)-1]
	k.elems = k.elems[:len(k.elems)-1]
	k.add(&events.InquiryRequest{
		ID: id + ".apply", Source: jsontext.Value(`{"source":"tool"}`),
		Question: jsontext.Value(`{"text":"Apply?","answer_type":{"type":"boolean"}}`),
	})
	k.add(&events.InquiryResponse{ID: id + ".apply", Answer: jsontext.Value(`true`)})
	k.elems = append(k.elems, last)
	return k
}

// open adds a call without a result.
func (k *talk) open(tool, args string) *talk {
	k.calls++
	return k.add(&events.ToolCallRequest{
		ID: fmt.Sprint("c", k.calls), Name: tool, Arguments: jsontext.Value(args),
	})
}

func (k *talk) delta(v string) *talk {
	return k.add(&events.ConfigDelta{Delta: jsontext.Value(v)})
}

func (k *talk) stream() *events.Stream { return events.New(k.elems...) }

// told formats a stream in short notation.
func told(s *events.Stream) string {
	var words []string
	for _, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.TurnStart:
			words = append(words, "T")
		case *events.ChatRequest:
			words = append(words, fmt.Sprintf("q(%s)", ev.Content))
		case *events.ChatResponse:
			words = append(words, map[events.Form]string{
				events.FormMessage: "m", events.FormReasoning: "r",
			}[ev.Form]+"("+ev.Text+")")
		case *events.ToolCallRequest:
			words = append(words, "+"+ev.ID)
		case *events.InquiryRequest:
			words = append(words, "?"+ev.ID)
		case *events.InquiryResponse:
			words = append(words, "!"+ev.ID)
		case *events.ToolCallResponse:
			text, err := ev.Text(nil)
			if err != nil {
				text = err.Error()
			}
			words = append(words, fmt.Sprintf("-%s(%s)", ev.ID, text))
		case *events.ConfigDelta:
			words = append(words, "D"+string(ev.Delta))
		case *events.Compaction:
			words = append(words, fmt.Sprintf("C%d-%d", ev.FromTurn, ev.ToTurn))
		}
	}
	return strings.Join(words, " ")
}
