package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sqlite"
)

// A conversation is a snapshot of all rows of one conversation.
type conversation struct {
	id        string
	name      string
	responses []sqlite.Row // by id, which begins with the time
	turns     []sqlite.Row
	chain     []sqlite.Row            // messages from the first on
	asides    map[string][]sqlite.Row // messages of turns that do not lead to the last message
	parts     map[string][]sqlite.Row // of messages, by hash
	owners    owners

	calls       map[string][]sqlite.Row // of responses, by id
	results     map[string][]sqlite.Row
	fragments   map[string][]sqlite.Row // of responses, turns and parts
	system      map[string][]sqlite.Row
	tools       map[string][]sqlite.Row // of responses and turns
	schemas     map[string]string       // of answers, by id
	attachments map[string][]sqlite.Row
	given       map[string][]sqlite.Row // attachments of results, by id
	size        int
}

// owners has the turns of all threads, by the last message of their input and by the last message
// of their answer. A fork shares its first turns with another thread.
type owners struct{ asked, answered map[string]sqlite.Row }

func load(ctx context.Context, s sessions.Session) (*conversation, error) {
	var c *conversation
	err := sqlite.View(ctx, s.Path, func(db *sqlite.Database) error {
		c = &conversation{
			id: s.Name.ID, parts: map[string][]sqlite.Row{}, asides: map[string][]sqlite.Row{},
			owners: owners{map[string]sqlite.Row{}, map[string]sqlite.Row{}},
			calls:  map[string][]sqlite.Row{}, results: map[string][]sqlite.Row{},
			fragments: map[string][]sqlite.Row{}, system: map[string][]sqlite.Row{},
			attachments: map[string][]sqlite.Row{}, given: map[string][]sqlite.Row{},
			tools: map[string][]sqlite.Row{}, schemas: map[string]string{},
		}
		for _, read := range []func(*sqlite.Database) error{c.legacy, c.thread} {
			if err := read(db); err != nil {
				return err
			}
		}
		if len(c.responses)+len(c.turns) == 0 {
			return fmt.Errorf("conversation %s: %w", c.id, fs.ErrNotExist)
		}
		return db.Table("schemas").Each(func(r sqlite.Row) error {
			c.schemas[r.Text("id")] = r.Text("content")
			return c.keep(r, "content")
		})
	})
	return c, err
}

// keep counts the size of a row that is kept.
func (c *conversation) keep(r sqlite.Row, columns ...string) error {
	for _, name := range columns {
		c.size += len(r.Bytes(name))
	}
	if c.size > sessions.MaxRows {
		return sessions.ErrRows
	}
	return nil
}

// gather keeps the rows of a table that belong to known ids, in order.
func (c *conversation) gather(
	t *sqlite.Table, column string, known func(string) bool, into map[string][]sqlite.Row,
) error {
	err := t.Each(func(r sqlite.Row) error {
		id := idOf(r, column)
		if !known(id) {
			return nil
		}
		into[id] = append(into[id], r)
		return c.keep(r, "output", "arguments", "text", "payload", "content")
	})
	for _, rows := range into {
		slices.SortStableFunc(rows, func(a, b sqlite.Row) int {
			return cmp.Or(cmp.Compare(a.Int("position"), b.Int("position")),
				cmp.Compare(a.Int("order"), b.Int("order")), cmp.Compare(a.Int("id"), b.Int("id")))
		})
	}
	return err
}

// idOf returns an id, which is a text or a number.
func idOf(r sqlite.Row, column string) string {
	if s := r.Text(column); s != "" || !r.Has(column) {
		return s
	}
	return strconv.FormatInt(r.Int(column), 10)
}

func idsOf(all map[string][]sqlite.Row) map[string]bool {
	ids := map[string]bool{}
	for _, rows := range all {
		for _, r := range rows {
			ids[idOf(r, "id")] = true
		}
	}
	return ids
}

func sorted(rows []sqlite.Row) {
	slices.SortStableFunc(rows, func(a, b sqlite.Row) int {
		return cmp.Compare(strings.ToLower(a.Text("id")), strings.ToLower(b.Text("id")))
	})
}

// legacy reads what versions before 0.32 logged.
func (c *conversation) legacy(db *sqlite.Database) error {
	if !db.Has("responses", "id", "conversation_id", "response") {
		return nil
	}
	own := map[string]bool{}
	err := errors.Join(
		db.Table("conversations").Where("id", c.id, func(r sqlite.Row) error {
			c.name = r.Text("name")
			return nil
		}),
		db.Table("responses").Each(func(r sqlite.Row) error {
			if ownerOf(r) != c.id {
				return nil
			}
			own[r.Text("id")] = true
			c.responses = append(c.responses, r)
			return c.keep(r, "prompt", "system", "response", "response_json", "reasoning")
		}))
	if err != nil {
		return err
	}
	sorted(c.responses)
	is := func(id string) bool { return own[id] }
	err = c.gather(db.Table("tool_results"), "response_id", is, c.results)
	results := idsOf(c.results)
	isResult := func(id string) bool { return results[id] }
	return errors.Join(err,
		c.gather(db.Table("tool_calls"), "response_id", is, c.calls),
		c.join(db, "tool_results_attachments", "tool_result_id", isResult, c.given),
		c.join(db, "tool_responses", "response_id", is, c.tools),
		c.join(db, "prompt_fragments", "response_id", is, c.fragments),
		c.join(db, "system_fragments", "response_id", is, c.system),
		c.join(db, "prompt_attachments", "response_id", is, c.attachments))
}

// join keeps the fragments, attachments or tools that a table assigns to known ids.
func (c *conversation) join(
	db *sqlite.Database, table, column string, known func(string) bool,
	into map[string][]sqlite.Row,
) error {
	links := map[string][]sqlite.Row{}
	if err := c.gather(db.Table(table), column, known, links); err != nil || len(links) == 0 {
		return err
	}
	what, key := "fragments", "fragment_id"
	switch {
	case strings.HasSuffix(table, "attachments"):
		what, key = "attachments", "attachment_id"
	case !strings.HasSuffix(table, what):
		what, key = "tools", "tool_id"
	}
	wanted := map[string]sqlite.Row{}
	for _, rows := range links {
		for _, r := range rows {
			wanted[idOf(r, key)] = sqlite.Row{}
		}
	}
	err := db.Table(what).Each(func(r sqlite.Row) error {
		id := idOf(r, "id")
		if _, ok := wanted[id]; !ok {
			return nil
		}
		wanted[id] = r
		return c.keep(r, "content", "input_schema")
	})
	for owner, rows := range links {
		for _, r := range rows {
			into[owner] = append(into[owner], wanted[idOf(r, key)])
		}
	}
	return err
}

// thread reads what version 0.32 and later logged.
func (c *conversation) thread(db *sqlite.Database) error {
	if !db.Has("turns", "id", "thread_id", "tip_message_hash") {
		return nil
	}
	tip := ""
	err := errors.Join(
		db.Table("threads").Where("id", c.id, func(r sqlite.Row) error {
			tip = r.Text("tip_message_hash")
			if r.Text("name") != "" {
				c.name = r.Text("name")
			}
			return nil
		}),
		db.Table("turns").Each(func(r sqlite.Row) error {
			if r.Text("thread_id") == c.id {
				c.turns = append(c.turns, r)
			}
			c.owners.add(r, r.Text("thread_id") == c.id)
			return c.keep(r, "response_json", "options_json")
		}))
	if err != nil || len(c.turns) == 0 {
		return err
	}
	sorted(c.turns)
	if tip == "" {
		tip = c.turns[len(c.turns)-1].Text("tip_message_hash")
	}
	own := func(id string) bool {
		return slices.ContainsFunc(c.turns, func(r sqlite.Row) bool { return r.Text("id") == id })
	}
	return errors.Join(c.messages(db, tip), c.join(db, "turn_tools", "turn_id", own, c.tools))
}

// add records a turn. A turn of the thread itself replaces one of another thread; of those from one
// other thread the first counts.
func (o owners) add(r sqlite.Row, own bool) {
	for hash, into := range map[string]map[string]sqlite.Row{
		r.Text("parent_message_hash"): o.asked, r.Text("tip_message_hash"): o.answered,
	} {
		if old, ok := into[hash]; own || !ok ||
			r.Text("id") < old.Text("id") && old.Text("thread_id") == r.Text("thread_id") {
			into[hash] = r
		}
	}
}

// messages reads the messages that lead to the last one, and their parts.
func (c *conversation) messages(db *sqlite.Database, tip string) error {
	seen := map[string]bool{}
	var err error
	if c.chain, err = upTo(db, tip, seen); err != nil {
		return err
	}
	for _, turn := range c.turns {
		aside, err := upTo(db, turn.Text("tip_message_hash"), seen)
		if err != nil {
			return err
		}
		c.asides[turn.Text("id")] = aside
	}
	is := func(hash string) bool { return seen[hash] }
	if err := c.gather(db.Table("parts"), "message_hash", is, c.parts); err != nil {
		return err
	}
	ids := idsOf(c.parts)
	is = func(id string) bool { return ids[id] }
	return errors.Join(
		c.join(db, "part_fragments", "part_id", is, c.fragments),
		c.join(db, "part_attachments", "part_id", is, c.attachments))
}

// upTo reads the messages that lead to one, starting after those already seen.
func upTo(db *sqlite.Database, tip string, seen map[string]bool) (all []sqlite.Row, err error) {
	for next := tip; next != "" && !seen[next] && err == nil; {
		hash := next
		seen[hash], next = true, ""
		err = db.Table("messages").Where("hash", hash, func(r sqlite.Row) error {
			all = append(all, r)
			next = r.Text("parent_hash")
			return nil
		})
	}
	slices.Reverse(all)
	return all, err
}

// version returns the number of turns and a digest of them.
func (c *conversation) version() sessions.Version {
	h := sha256.New()
	add := func(fields ...string) {
		for _, f := range fields {
			h.Write([]byte(strconv.Itoa(len(f)) + ":" + f))
		}
	}
	add(c.name)
	for _, r := range c.responses {
		add("response", r.Text("id"), r.Text("prompt"), r.Text("response"))
	}
	for _, r := range c.turns {
		add("turn", r.Text("id"), r.Text("tip_message_hash"))
	}
	for _, r := range c.chain {
		add("message", r.Text("hash"))
	}
	return sessions.VersionOf(int64(len(c.responses)+len(c.turns)), [sha256.Size]byte(h.Sum(nil)))
}
