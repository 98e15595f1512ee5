package events_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// The operations of a history. Each returns the stream of the new commit, or nil if it cannot be
// applied.

func (h *history) newUID(turn int, text string) string {
	uid := fmt.Sprintf("u%d", len(h.turnOf))
	h.turnOf[uid], h.texts[uid] = turn, text
	return uid
}

// bare reports whether a turn can follow without a turn_start.
func (h *history) bare(elems []string) bool {
	kind := "message"
	for _, elem := range elems {
		switch e := h.entry(elem); {
		case e.Type == "turn_start", e.Type == "compaction":
			return false // it would be part of that turn, or be covered with it
		case !isGlobal(e.Type):
			kind = e.Type + string(e.Message)
		}
	}
	return strings.Contains(kind, "message") || strings.Contains(kind, "answers")
}

// appendTurn adds a turn at the end.
func (h *history) appendTurn(c *commit, o *op) []byte {
	elems := h.elems(c.stream)
	o.what, o.turn = "append", h.turns
	h.turns++
	at := c.clock + h.n("tick", 1, 3)*10
	for !h.collide && h.used[at] {
		at += 10
	}
	h.used[at] = true
	o.clock = at
	if h.one(4, "delta") {
		delta := fmt.Sprintf(`{"model":"m%d"}`, o.turn)
		if h.one(3, "list") {
			delta = fmt.Sprintf(`{"tools":["t%d"]}`, o.turn)
		}
		elems = append(elems, fmt.Sprintf(
			`{"type":"config_delta","timestamp":%q,"delta":%s}`, stamp(at), delta))
	}
	if !h.legacy || !h.bare(elems) || h.one(3, "with start") {
		elems = append(elems, fmt.Sprintf(`{"timestamp":%q,"type":"turn_start"}`, stamp(at)))
	}
	h.configs[o.turn] = h.fold(c.config, elems)
	elems = append(elems, h.event(o, at+1, "chat_request", `"content":"%s:asks"`))
	elems = append(elems, h.reply(o, at+2, h.one(6, "incomplete"))...)
	return h.join(elems, 2)
}

func (h *history) event(o *op, at int, kind, members string) string {
	_, text, _ := strings.Cut(members, "%s:")
	text, _, _ = strings.Cut(text, `"`)
	uid := h.newUID(o.turn, text)
	o.uids = append(o.uids, uid)
	return fmt.Sprintf(`{"timestamp":%q,"type":%q,`+members+`}`, stamp(at), kind, uid)
}

// reply writes the model's part of a turn.
func (h *history) reply(o *op, at int, incomplete bool) []string {
	var out []string
	if h.one(3, "reasoning") {
		out = append(out, h.event(o, at, "chat_response",
			`"reasoning":"%s:thinks","metadata":{"signature":"`+b64([]byte("c2ln"))+`"}`))
	}
	for range h.n("calls", 0, 2) {
		call := h.newUID(o.turn, "")
		out = append(out, fmt.Sprintf(`{"timestamp":%q,"type":"tool_call_request","id":%q,`+
			`"name":"read","arguments":{"path":%q}}`, stamp(at), call, b64([]byte("p"))))
		o.uids = append(o.uids, call)
		if incomplete && h.one(2, "cut") {
			return out
		}
		res := "r" + call[1:]
		h.turnOf[res] = o.turn
		o.uids = append(o.uids, res)
		out = append(out, fmt.Sprintf(`{"timestamp":%q,"type":"tool_call_response","id":%q,`+
			`"content":%q,"is_error":false}`, stamp(at), call, b64([]byte("result of "+call))))
	}
	if !incomplete {
		out = append(out, h.event(o, at+1, "chat_response", `"message":"%s:answers"`))
	}
	return out
}

// proceed continues the last turn.
func (h *history) proceed(c *commit, o *op) []byte {
	elems := h.elems(c.stream)
	last := -1
	for i, e := range elems {
		if uid, _ := h.uid(e, h.entry(e)); uid != "" && !h.extras[uid] {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	e := h.entry(elems[last])
	uid, _ := h.uid(elems[last], e)
	o.what, o.turn = "continue", h.turnOf[uid]
	if h.picked[o.turn] {
		return nil
	}
	h.clock++
	more := []string{h.event(o, h.clock+5, "chat_response", `"message":"%s:goes on"`)}
	return h.join(slices.Insert(elems, last+1, more...), 2)
}

// events returns the indexes of the events that have a text.
func (h *history) texted(elems []string) []int {
	var at []int
	for i, e := range elems {
		// Among turns with the same key only the request identifies one.
		kind := h.entry(e).Type
		if kind == "chat_request" && !h.collide || kind == "chat_response" {
			at = append(at, i)
		}
	}
	return at
}

func (h *history) edit(c *commit, o *op) []byte {
	elems := h.elems(c.stream)
	at := h.texted(elems)
	if len(at) == 0 {
		return nil
	}
	i := at[h.n("which", 0, len(at)-1)]
	uid, _ := h.uid(elems[i], h.entry(elems[i]))
	o.what, o.turn, o.uid, o.text = "edit", h.turnOf[uid], uid, fmt.Sprintf("edited %d", o.id)
	if h.picked[o.turn] {
		return nil
	}
	elems[i] = uidPattern.ReplaceAllString(elems[i], uid+":"+o.text)
	return h.join(elems, 2)
}

// A block is a turn in a list of elements: indexes of its events, with its turn_start.
type turnBlock struct {
	turn   int
	events []int
}

// blocks returns the turns of a stream in file order.
func (h *history) blocks(elems []string) []turnBlock {
	var out []turnBlock
	start := -1
	for i, elem := range elems {
		e := h.entry(elem)
		if e.Type == "turn_start" {
			start = i
			continue
		}
		uid, _ := h.uid(elem, e)
		if uid == "" || isGlobal(e.Type) {
			continue
		}
		turn, ok := h.turnOf[uid]
		if !ok {
			h.Fatalf("nobody wrote %s", elem)
		}
		if len(out) == 0 || out[len(out)-1].turn != turn {
			out = append(out, turnBlock{turn: turn})
		}
		b := &out[len(out)-1]
		if start >= 0 {
			b.events, start = append(b.events, start), -1
		}
		b.events = append(b.events, i)
	}
	return out
}

// remove deletes a turn and, as jp does, the compactions whose ranges it invalidates.
func (h *history) remove(c *commit, o *op) []byte {
	elems := h.elems(c.stream)
	blocks := h.blocks(elems)
	if len(blocks) == 0 {
		return nil
	}
	n := h.n("which", 0, len(blocks)-1)
	o.what, o.turn = "remove", blocks[n].turn
	if h.picked[o.turn] {
		return nil
	}
	if strings.Contains(string(c.stream), events.MetadataParent) {
		h.loose = true
	}
	start := h.entry(elems[blocks[n].events[0]]).Type == "turn_start"
	if start && n+1 < len(blocks) && h.entry(elems[blocks[n+1].events[0]]).Type != "turn_start" {
		return nil // the next turn shares the turn_start, as jp counts
	}
	index := h.positions(elems)[blocks[n].events[len(blocks[n].events)-1]]
	var left []string
	for i, e := range elems {
		x := h.entry(e)
		if slices.Contains(blocks[n].events, i) {
			continue
		}
		if x.Type == "compaction" && x.To >= index {
			h.cut[x.Timestamp] = true
			continue
		}
		left = append(left, e)
	}
	return h.join(left, 2)
}

// positions returns for each element the turn that it is in, as jp counts.
func (h *history) positions(elems []string) []int {
	turn, any := -1, false
	at := make([]int, len(elems))
	for i, elem := range elems {
		e := h.entry(elem)
		switch {
		case e.Type == "turn_start":
			turn++
			any = true
		case !isGlobal(e.Type) && !any:
			turn, any = 0, true
		}
		at[i] = turn
	}
	return at
}

// swap exchanges two turns, as a person could by hand.
func (h *history) swap(c *commit, o *op) []byte {
	elems := h.elems(c.stream)
	blocks := h.blocks(elems)
	if len(blocks) < 2 || strings.Contains(string(c.stream), `"compaction"`) {
		return nil
	}
	for _, b := range blocks {
		if h.entry(elems[b.events[0]]).Type != "turn_start" {
			return nil // it would become part of another turn
		}
	}
	n := h.n("which", 0, len(blocks)-2)
	o.what, o.turn = "swap", -1
	var left []string
	for i, e := range elems {
		switch {
		case slices.Contains(blocks[n].events, i):
		case i == blocks[n+1].events[len(blocks[n+1].events)-1]:
			left = append(left, e)
			for _, j := range blocks[n].events {
				left = append(left, elems[j])
			}
		default:
			left = append(left, e)
		}
	}
	return h.join(left, 2)
}

// independent reports whether two branches may have the same element independently. Then it cannot
// be known which of them changed its bytes.
func (h *history) independent() bool { return h.legacy || len(h.picked) > 0 }

// rewritten reports whether all bytes were rewritten before. Once they equal their old form again,
// or their form elsewhere, the change cannot be detected.
func (h *history) rewritten(c *commit) bool {
	return len(h.opsOf(c, "reformat")) > 0 || len(h.opsOf(c, "migrate")) > 0
}

// migrate moves content to blobs, or back.
func (h *history) migrate(c *commit, o *op) []byte {
	if h.independent() || h.rewritten(c) {
		return nil
	}
	o.what, o.turn = "migrate", -1
	s, err := events.Decode(c.stream)
	if err != nil {
		h.Fatal(err)
	}
	if h.one(2, "direction") {
		_, err = s.Externalize(h.store, migrate)
	} else {
		_, err = s.Inline(h.store)
	}
	if err != nil {
		h.Fatal(err)
	}
	return s.Encode()
}

func (h *history) compact(c *commit, o *op) []byte {
	elems := h.elems(c.stream)
	positions := h.positions(elems)
	if len(elems) == 0 || positions[len(elems)-1] < 0 {
		return nil
	}
	last := positions[len(elems)-1]
	from := h.n("from", 0, last)
	to := h.n("to", from, last)
	h.clock++
	o.what, o.turn, o.mark = "compact", -1, "2027"+stamp(h.clock*7 + len(h.ops))[4:]
	policy := `"reasoning":"strip"`
	if h.summary[o.mark] = h.one(3, "summary"); h.summary[o.mark] {
		policy = `"summary":{"summary":"all that"}`
	}
	h.covers[o.mark] = h.covered(elems, from, to)
	return h.join(append(elems, fmt.Sprintf(`{"type":"compaction","timestamp":%q,`+
		`"from_turn":%d,"to_turn":%d,%s}`, o.mark, from, to, policy)), 2)
}

// covered returns the turns at the given positions.
func (h *history) covered(elems []string, from, to int) []int {
	positions := h.positions(elems)
	var turns []int
	for _, b := range h.blocks(elems) {
		if p := positions[b.events[len(b.events)-1]]; from <= p && p <= to {
			turns = append(turns, b.turn)
		}
	}
	return turns
}

// reformat rewrites the whole stream in another layout. The next merge loses the layout of its own
// notes, so a stream with notes is left alone.
func (h *history) reformat(c *commit, o *op) []byte {
	if h.independent() || h.rewritten(c) || strings.Contains(string(c.stream), events.MetadataPrefix) {
		return nil
	}
	o.what, o.turn = "reformat", -1
	elems := h.elems(c.stream)
	layout := h.n("layout", 0, 1)
	for i, e := range elems {
		var v map[string]json.RawMessage
		if err := json.Unmarshal([]byte(e), &v); err != nil {
			h.Fatal(err)
		}
		b, _ := json.Marshal(v) // sorts
		if layout == 1 {
			b, _ = json.MarshalIndent(v, " ", "\t")
		}
		elems[i] = string(b)
	}
	return h.join(elems, layout)
}

func (h *history) unknown(c *commit, o *op) []byte {
	o.what, o.turn = "unknown", -1
	uid := h.newUID(-1, "")
	h.extras[uid] = true
	o.uids = []string{uid}
	elems := h.elems(c.stream)
	i := h.n("where", 0, len(elems))
	return h.join(slices.Insert(elems, i,
		fmt.Sprintf(`{"timestamp":%q,"type":"future","v":"%s:x"}`, stamp(h.clock), uid)), 2)
}

// setBase changes the base configuration.
func (h *history) setBase(c *commit) *commit {
	c = h.change(c, func(c *commit, o *op) []byte {
		o.what, o.turn = "base", -1
		return c.stream
	})
	var v map[string]any
	_ = json.Unmarshal(c.config, &v)
	v["note"] = fmt.Sprint("n", len(h.ops))
	c.config, _ = json.Marshal(v)
	return c
}

// sanitize puts a turn_start before the first request, as jp does.
func (h *history) sanitize(c *commit, o *op) []byte {
	elems := h.elems(c.stream)
	for i, e := range elems {
		x := h.entry(e)
		if x.Type == "turn_start" {
			return nil
		}
		if x.Type == "chat_request" {
			// Then everything without a turn_start is one turn, also in the model.
			o.what, o.turn = "sanitize", -1
			return h.join(slices.Insert(elems, i,
				fmt.Sprintf(`{"timestamp":%q,"type":"turn_start"}`, x.Timestamp)), 2)
		}
	}
	return nil
}
