package events_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"pgregory.net/rapid"
)

// The model of this file does not know how merges work. It builds histories from operations that
// change the text of a stream as a tool or a person would, and records which operations a commit
// contains. That set alone determines what a stream must hold, however its commits were merged.

// An op is a change made in a commit.
type op struct {
	id    int
	what  string
	seen  map[int]bool // the operations that preceded it
	turn  int          // the turn that it changes
	uids  []string     // of the events that it created, for "append" and "continue"
	uid   string       // of the event that it edited
	text  string       // the text since then
	mark  string       // timestamp of the compaction that it created
	clock int          // when it was made
}

func (a *op) before(b *op) bool { return b.seen[a.id] }

// A commit is a state of the conversation.
type commit struct {
	stream    []byte
	config    []byte
	parents   []*commit
	ancestors map[*commit]bool
	ops       map[int]bool
	clock     int
	name      string
	appended  bool // it only added a turn
	turn      int
	conflict  bool // its merge, or an earlier one, had a conflict
}

// A history is a set of commits with all operations made in them.
type history struct {
	*rapid.T
	ops     []*op
	turnOf  map[string]int    // by uid of an event
	texts   map[string]string // the original text of an event
	configs map[int]string    // the configuration that a turn ran with
	covers  map[string][]int  // by timestamp, the turns that a compaction was created for
	summary map[string]bool   // which of them are summaries
	cut     map[string]bool   // partly or completely removed
	extras  map[string]bool   // uids of elements of unknown kinds
	entries map[string]entry  // by their text, which many streams have
	store   memory
	clock   int
	turns   int
	legacy  bool
	plain   bool // no manual operation that moves turns
	// collide makes turns of different branches begin at the same microsecond. Then no turn is
	// removed or cherry-picked: a removed turn and a new one with the same key cannot be
	// distinguished.
	collide bool
	// picked are the turns that several branches have by a cherry-pick. They are not changed,
	// because a merge that does not know their origin cannot know which side changed them.
	picked map[int]bool
	used   map[int]bool
	// loose allows the order of turns to depend on the order of merges: a turn was removed from a
	// file with notes of a merge, which were written for that turn too.
	loose  bool
	merges *int
}

func newHistory(t *rapid.T, merges *int) *history {
	return &history{
		T: t, turnOf: map[string]int{}, texts: map[string]string{}, configs: map[int]string{},
		covers: map[string][]int{}, summary: map[string]bool{}, cut: map[string]bool{},
		extras: map[string]bool{}, entries: map[string]entry{},
		store: memory{}, merges: merges, used: map[int]bool{}, picked: map[int]bool{},
	}
}

func (h *history) n(label string, from, to int) int { return rapid.IntRange(from, to).Draw(h.T, label) }

func (h *history) one(in int, label string) bool { return h.n(label, 1, in) == 1 }

// elems returns the elements of a stream, read without the package under test.
func (h *history) elems(stream []byte) []string {
	var raw []json.RawMessage
	if err := json.Unmarshal(stream, &raw); err != nil {
		h.Fatalf("not JSON: %v\n%s", err, stream)
	}
	out := make([]string, len(raw))
	for i, r := range raw {
		out[i] = string(r)
	}
	return out
}

// An entry is an element as the model sees it.
type entry struct {
	Type, Timestamp, ID    string
	Content, Message, Data json.RawMessage
	Delta                  map[string]json.RawMessage
	From                   int `json:"from_turn"`
	To                     int `json:"to_turn"`
	Metadata               map[string]json.RawMessage
	Seam                   bool `json:"git_jp_seam"`
	UID                    string
}

// entry parses an element, which the caller must not change.
func (h *history) entry(elem string) entry {
	e, ok := h.entries[elem]
	if ok {
		return e
	}
	if err := json.Unmarshal([]byte(elem), &e); err != nil {
		h.Fatalf("not JSON: %v\n%s", err, elem)
	}
	h.entries[elem] = e
	return e
}

var uidPattern = regexp.MustCompile(`u[0-9]+(:[a-z0-9 ]*)?`)

// uid returns the name of an event and its text, or "" for an element that is not one of the
// history's events.
func (h *history) uid(elem string, e entry) (string, string) {
	switch e.Type {
	case "config_delta", "compaction", "turn_start":
		return "", ""
	case "tool_call_response":
		// Its content may be in a blob, so it is named after its call.
		return "r" + strings.TrimPrefix(e.ID, "u"), ""
	case "tool_call_request":
		return e.ID, ""
	}
	found := uidPattern.FindString(elem)
	name, text, _ := strings.Cut(found, ":")
	return name, text
}

func isGlobal(kind string) bool {
	return kind == "config_delta" || kind == "compaction" || kind == "future"
}

// join writes elements as a stream in one of several layouts.
func (h *history) join(elems []string, layout int) []byte {
	if len(elems) == 0 { // as a merge writes it too
		return events.New().Encode()
	}
	switch layout {
	case 0:
		return []byte("[" + strings.Join(elems, ",") + "]")
	case 1:
		return []byte("[\r\n " + strings.Join(elems, " ,\r\n\t") + " ]")
	default:
		return []byte("[\n  " + strings.Join(elems, ",\n  ") + "\n]\n")
	}
}

func stamp(tenths int) string {
	return fmt.Sprintf("2026-01-01 %02d:%02d:%02d.%d",
		tenths/36000, tenths/600%60, tenths/10%60, tenths%10)
}

// begin creates the first commit.
func (h *history) begin() *commit {
	h.legacy = h.one(5, "legacy")
	h.plain, h.collide = !h.one(4, "by hand"), h.one(3, "collide")
	c := &commit{
		name: "o", stream: events.New().Encode(), config: []byte(`{"model":"m0","tools":["a"],"note":"n0"}`),
		ancestors: map[*commit]bool{}, ops: map[int]bool{},
	}
	for range h.n("first turns", 0, 4) {
		c = h.change(c, h.appendTurn)
	}
	if h.one(3, "first compaction") {
		c = h.change(c, h.compact)
	}
	return c
}

// change commits the result of f for a commit.
func (h *history) change(c *commit, f func(c *commit, o *op) []byte) *commit {
	o := &op{id: len(h.ops), seen: maps.Clone(c.ops)}
	next := &commit{
		config: c.config, parents: []*commit{c}, ancestors: maps.Clone(c.ancestors),
		ops: maps.Clone(c.ops), conflict: c.conflict, clock: c.clock,
	}
	if next.stream = f(c, o); next.stream == nil {
		return c
	}
	next.ancestors[c], next.appended, next.turn = true, o.what == "append", o.turn
	next.clock = max(c.clock, o.clock)
	h.ops = append(h.ops, o)
	next.ops[o.id] = true
	next.name = fmt.Sprintf("%s.%d", c.name, o.id)
	h.Logf("%s: %s of turn %d %v %s", next.name, o.what, o.turn, o.uids, o.uid)
	return next
}

// work applies a few operations to a branch.
func (h *history) work(c *commit) *commit {
	for range h.n("operations", 0, 3) {
		switch kind := h.n("operation", 0, 20); {
		case kind < 8:
			c = h.change(c, h.appendTurn)
		case kind < 10:
			c = h.change(c, h.edit)
		case kind < 12 && !h.collide:
			c = h.change(c, h.remove)
		case kind == 12:
			c = h.change(c, h.proceed)
		case kind == 13:
			c = h.change(c, h.migrate)
		case kind == 14:
			c = h.change(c, h.compact)
		case kind == 15:
			c = h.change(c, h.reformat)
		case kind == 16:
			c = h.change(c, h.unknown)
		case kind == 17:
			c = h.setBase(c)
		case kind == 18 && !h.plain:
			c = h.change(c, h.swap)
		case kind == 19 && h.legacy:
			c = h.change(c, h.sanitize)
		case kind == 20 && !h.collide:
			c = h.revert(c)
		default:
			c = h.change(c, h.appendTurn)
		}
	}
	return c
}

// fold returns the configuration at the end of elems, by its own implementation of the rules.
func (h *history) fold(base []byte, elems []string) string {
	var v struct {
		Model string
		Tools []string
	}
	if err := json.Unmarshal(base, &v); err != nil {
		h.Fatal(err)
	}
	for _, elem := range elems {
		e := h.entry(elem)
		if e.Type != "config_delta" {
			continue
		}
		if m := e.Delta["model"]; m != nil {
			if json.Unmarshal(m, &v.Model) != nil {
				h.Fatalf("model: %s", m)
			}
		}
		if m := e.Delta["tools"]; m != nil {
			var list []string
			var replaced struct{ Value []string }
			if json.Unmarshal(m, &replaced) == nil {
				v.Tools = replaced.Value
			} else if err := json.Unmarshal(m, &list); err != nil {
				h.Fatal(err)
			}
			for _, t := range list {
				if !slices.Contains(v.Tools, t) {
					v.Tools = append(v.Tools, t)
				}
			}
		}
	}
	return v.Model + " " + strings.Join(v.Tools, ",")
}
