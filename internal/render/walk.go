package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/go-json-experiment/json/jsontext"
)

// A turn holds the data of a turn's heading, which is printed before its first event.
type turn struct {
	from, to int  // numbers in the stored stream, counted from 1
	summary  bool // a summary replaces the turns
	split    bool // it continues the turn before
	at       time.Time
	author   string // "" if unknown
	model    string // "" if unknown
	agent    string // from whose session it was imported, "" if from none
	// parallel are the turns directly before this one that its author did not know, nil for none.
	parallel *turnRange
}

// A turnRange is turns by their numbers in the stored stream, both included.
type turnRange struct{ from, to int }

func (r turnRange) String() string {
	if r.from == r.to {
		return fmt.Sprintf("turn %d", r.from)
	}
	return fmt.Sprintf("turns %d–%d", r.from, r.to)
}

// An item is one element to be shown.
type item struct {
	index int
	turn  turn
	el    *events.Element
	tool  string // of a result: name of the tool
	parts []part // contents of a request or a result
	extra []extra
}

// A walk goes through a stream once and passes the visible parts to a formatter.
type walk struct {
	conv     Conversation
	opts     Options
	turnOf   []int
	firstOf  map[int]int    // first element of each turn
	parents  []int          // of each turn, see [threeway.Parents]
	tools    map[int]string // name of the tool, by the element of the response
	model    model
	current  int // turn whose heading was written last, -1 for none
	head     turn
	problems []Problem
}

func newWalk(c Conversation, o Options) *walk {
	w := &walk{conv: c, opts: o, current: -1, tools: map[int]string{}, firstOf: map[int]int{}}
	w.turnOf = leadingDeltas(c.Stream, c.Stream.TurnOf())
	for i, t := range w.turnOf {
		if _, ok := w.firstOf[t]; !ok {
			w.firstOf[t] = i
		}
	}
	for _, call := range c.Stream.Calls() {
		if !call.Open() {
			w.tools[call.Response] = call.Name
		}
	}
	w.parents = threeway.Parents(c.Stream)
	w.model.apply(c.Base)
	return w
}

// leadingDeltas moves changes of configuration at the end of a turn to the next one, which ran
// under them.
func leadingDeltas(s *events.Stream, turnOf []int) []int {
	for i := len(turnOf) - 2; i >= 0; i-- {
		if s.At(i).Kind() == events.KindConfigDelta && turnOf[i+1] > turnOf[i] {
			turnOf[i] = turnOf[i+1]
		}
	}
	return turnOf
}

func (w *walk) run(f formatter) error {
	if err := f.begin(len(w.conv.Stream.Turns())); err != nil {
		return err
	}
	for _, i := range w.order() {
		el := w.conv.Stream.At(i)
		if d, ok := el.Event().(*events.ConfigDelta); ok {
			w.model.apply(d.Delta)
		}
		if !w.selected(w.turnOf[i]) {
			continue
		}
		if err := w.element(f, i, el); err != nil {
			return err
		}
	}
	return f.end()
}

// order returns the elements in the order in which they are shown. For people, a call is followed
// by its result and the questions of its tool: calls that a model makes at once are together in the
// stream, and so are their results.
func (w *walk) order() []int {
	s := w.conv.Stream
	order, behind := make([]int, 0, s.Len()), make([][]int, s.Len())
	calls := w.callOf()
	for i := range s.Len() {
		if call, ok := calls[i]; ok {
			behind[call] = append(behind[call], i)
		}
	}
	for i := range s.Len() {
		if _, ok := calls[i]; !ok {
			order = append(append(order, i), behind[i]...)
		}
	}
	return order
}

// callOf returns the call that results, questions of tools and answers to them belong to, by their
// elements. A program gets the stream in its own order.
func (w *walk) callOf() map[int]int {
	of := map[int]int{}
	if w.opts.Format.forPrograms() {
		return of
	}
	for _, call := range w.conv.Stream.Calls() {
		if !call.Open() {
			of[call.Response] = call.Request
		}
	}
	asking, turn := map[string]int{}, -1 // the last call of each id in this turn
	about := func(i int, question string) {
		id := question[:max(strings.LastIndexByte(question, '.'), 0)]
		if call, ok := asking[id]; ok {
			of[i] = call
		}
	}
	for i, e := range w.conv.Stream.All() {
		if w.turnOf[i] != turn {
			turn = w.turnOf[i]
			clear(asking)
		}
		switch ev := e.Event().(type) {
		case *events.ToolCallRequest:
			asking[ev.ID] = i
		case *events.InquiryRequest:
			about(i, ev.ID)
		case *events.InquiryResponse:
			about(i, ev.ID)
		}
	}
	return of
}

func (w *walk) element(f formatter, i int, el *events.Element) error {
	if !w.opts.Style.shows(el.Event()) || w.hidden(el) {
		return nil
	}
	if t := w.turnOf[i]; t >= 0 && t != w.current {
		w.current, w.head = t, w.headOf(t)
		goesOn := w.head.split && !w.opts.Format.forPrograms()
		if !goesOn {
			if err := f.turn(w.head); err != nil {
				return err
			}
		}
	}
	it := item{index: i, turn: w.head, el: el, tool: w.tools[i]}
	it.parts = w.parts(it)
	it.extra = extras(el.Metadata())
	return f.item(it)
}

// hidden reports whether an element is hidden from people by default: an agent's record, and the
// request of a turn that continues the one before.
func (w *walk) hidden(el *events.Element) bool {
	if w.opts.Format.forPrograms() {
		return false
	}
	return el.IsSplit() || el.Kind() == events.KindAgentRecord && !w.opts.Records
}

// shows reports whether events like ev are shown in the style. The start of a turn is shown as its
// heading.
func (s Style) shows(ev events.Event) bool {
	switch ev := ev.(type) {
	case *events.ChatRequest:
		return true
	case *events.ChatResponse:
		return s == StyleFull || s != StyleUser && ev.Form != events.FormReasoning
	case *events.ToolCallRequest, *events.ToolCallResponse, *events.Compaction:
		return s == StyleFull || s == StyleBrief
	default:
		return s == StyleFull
	}
}

func (w *walk) selected(t int) bool {
	if t < 0 {
		return w.opts.First <= 1 && w.opts.Last == 0
	}
	from, to, _ := w.numbers(t)
	return to >= w.opts.First && (w.opts.Last == 0 || from <= w.opts.Last)
}

// numbers returns the numbers that turn t has in the stored stream.
func (w *walk) numbers(t int) (from, to int, summary bool) {
	if t >= len(w.conv.Origins) {
		return t + 1, t + 1, false
	}
	o := w.conv.Origins[t]
	return o.From + 1, o.To + 1, o.Summary
}

// headOf collects the heading of turn t. The model is the one in force before the turn's first
// event, thanks to leadingDeltas.
func (w *walk) headOf(t int) turn {
	h := turn{}
	h.from, h.to, h.summary = w.numbers(t)
	h.parallel = w.parallelTo(t)
	for i := w.firstOf[t]; i < w.conv.Stream.Len() && w.turnOf[i] == t; i++ {
		el := w.conv.Stream.At(i)
		if d, ok := el.Event().(*events.ConfigDelta); ok && h.author == "" {
			w.model.apply(d.Delta)
		}
		if h.at.IsZero() && el.Kind().IsEvent() {
			h.at = el.Time()
		}
		if r, ok := el.Event().(*events.ChatRequest); ok {
			h.author = r.Author
			h.split = el.IsSplit()
			break
		}
	}
	h.model, h.agent = w.model.String(), w.conv.Agent
	return h
}

// parallelTo returns the turns between a turn and the one that it follows.
func (w *walk) parallelTo(t int) *turnRange {
	if t >= len(w.parents) || w.parents[t] == t-1 {
		return nil
	}
	from, _, _ := w.numbers(w.parents[t] + 1)
	_, to, _ := w.numbers(t - 1)
	return &turnRange{from, to}
}

// A model is the name of the model in force, collected from the configuration.
type model struct{ provider, name string }

// apply takes the model that a piece of configuration names. Anything unreadable changes nothing:
// the name is only shown.
func (m *model) apply(config []byte) {
	id := valueAt(config, "assistant", "model", "id")
	var alias string
	if json.Unmarshal(id, &alias) == nil && alias != "" {
		*m = model{name: settings.ModelOfWord(alias)}
		return
	}
	var full struct{ Provider, Name string }
	if json.Unmarshal(id, &full) != nil {
		return
	}
	if full.Provider != "" {
		m.provider = full.Provider
	}
	if full.Name != "" {
		m.name = full.Name
	}
}

// valueAt returns the value below names, nil for none. It reads no further than that: a
// configuration has hundreds of kilobytes.
func valueAt(object []byte, names ...string) jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewBuffer(object))
	for _, name := range names {
		if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
			return nil
		}
		for {
			t, err := d.ReadToken()
			if err != nil || t.Kind() == '}' {
				return nil
			}
			if t.String() == name {
				break
			}
			if d.SkipValue() != nil {
				return nil
			}
		}
	}
	v, err := d.ReadValue()
	if err != nil {
		return nil
	}
	return v
}

// String returns the model as "provider/name".
func (m model) String() string {
	if m.provider == "" {
		return m.name
	}
	return m.provider + "/" + m.name
}
