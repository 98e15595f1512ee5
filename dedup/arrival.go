package dedup

import (
	"slices"

	"github.com/git-jp/git-jp/events"
)

// An arrival is an element that adds resources to the history.
type arrival struct {
	element int
	turn    int
	call    events.Call // of a tool's result; Request is -1 if unknown
	tool    bool
	found   []found
}

// A found is a resource and its index in its element.
type found struct {
	block    int
	resource *events.Resource
}

// batches returns the elements that deliver resources, in the order in which the model receives
// them: results of parallel calls in the order of the calls.
func batches(s *events.Stream) [][]arrival {
	var all [][]arrival
	var results []arrival
	flush := func() {
		slices.SortStableFunc(results, func(a, b arrival) int {
			return a.call.Request - b.call.Request
		})
		all, results = append(all, results), nil
	}
	calls, turns := callsByResponse(s), s.TurnOf()
	for i, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.ToolCallResponse:
			a := arrival{element: i, turn: turns[i], tool: true, found: inBlocks(ev.Blocks)}
			if a.call = calls[i]; a.call.ID == "" {
				a.call = events.Call{Request: i, ID: ev.ID}
			}
			results = append(results, a)
		case *events.ChatRequest:
			flush()
			all = append(all, []arrival{{element: i, turn: turns[i], found: attached(ev)}})
		case *events.ChatResponse, *events.ToolCallRequest:
			flush()
		}
	}
	flush()
	return all
}

func callsByResponse(s *events.Stream) map[int]events.Call {
	calls := map[int]events.Call{}
	for _, c := range s.Calls() {
		if !c.Open() {
			calls[c.Response] = c
		}
	}
	return calls
}

func inBlocks(blocks []events.Block) []found {
	var all []found
	for i, b := range blocks {
		if b.Type == events.BlockResource && b.Resource != nil {
			all = append(all, found{i, b.Resource})
		}
	}
	return all
}

func attached(r *events.ChatRequest) []found {
	var all []found
	for i := range r.Resources {
		all = append(all, found{i, &r.Resources[i]})
	}
	return all
}
