package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/sessions/copilot"
	"github.com/git-jp/git-jp/internal/sessions/gemini"
	"github.com/git-jp/git-jp/internal/sessions/opencode"
)

// A written session has the files of an agent after each step, and what it sends a model at the end.
type written struct {
	dialect sessions.Dialect
	path    string // of the session
	states  []map[string]string
	sends   []string
	// says has all texts, nil if the agent deletes some.
	says []string
}

type object = map[string]any

// An author writes what happens in a session as one agent does.
type author interface {
	prompt(text string) (id string)
	calls(ids []string) // of tools, which print their ids
	answer(text string, ends bool)
	note()
	// back goes back to before a prompt, and takes back so many. What was typed instead follows.
	back(id string, prompts int)
	// compact replaces everything with a summary. It reports whether it keeps what begins with the
	// first prompt.
	compact(summary, first string) (keeps bool)
	written() written
}

// agents make an author each.
var agents = map[string]func(*desk) author{
	"codex":        func(d *desk) author { return newCodexAuthor(d) },
	"copilot":      func(d *desk) author { return newCopilotAuthor(d) },
	"gemini":       func(d *desk) author { return newGeminiAuthor(d, "s.jsonl") },
	"gemini, json": func(d *desk) author { return newGeminiAuthor(d, "s.json") },
	"opencode":     func(d *desk) author { return newOpencodeAuthor(d) },
}

// randomSessionOf returns a session of some steps.
func randomSessionOf(agent string, seed uint64, steps int) written {
	d := &desk{Rand: rand.New(rand.NewPCG(seed, 20261128)), files: map[string]string{}}
	// opencode sorts by time. What rewinding deletes in place is known by its time.
	d.wrong = seed%3 == 2 && agent != "opencode" && agent != "gemini, json"
	a := agents[agent](d)
	var all []string
	c := &memory{}
	next := func(kind string) string {
		d.n++
		all = append(all, fmt.Sprintf("%s %d", kind, d.n))
		return all[len(all)-1]
	}
	ask := func() {
		text := next("Prompt")
		c.asks(a.prompt(text), text)
	}
	answer := func(ends bool) {
		text := next("Answer")
		a.answer(text, ends)
		c.says(text)
	}
	ask()
	for range steps {
		switch n, to := d.IntN(20), d.IntN(len(c.sends)); {
		case n < 5:
			ask()
		case n < 9:
			var ids []string
			for range 1 + d.IntN(3) {
				ids = append(ids, next("Output"))
				c.says(ids[len(ids)-1])
			}
			a.calls(ids)
		case n < 13:
			answer(n < 11)
		case n < 15:
			a.note()
		case n < 18 && c.prompts[to] != "":
			a.back(c.prompts[to], len(c.prompts)-to)
			c = c.back(to, agent == "opencode")
			ask()
		case n == 19:
			text, first := next("Summary"), ""
			if to > 0 {
				first = c.prompts[to]
			}
			if !a.compact(text, first) {
				to = len(c.sends)
			}
			c = c.compact(text, to)
		}
	}
	ask()
	answer(true)
	w := a.written()
	w.states, w.sends = d.states, slices.Concat(c.summary, slices.Concat(c.sends...))
	w.sends = slices.DeleteFunc(w.sends, func(text string) bool { return text == "" })
	if w.dialect.Appends(sessions.Session{Path: w.path}) || agent == "gemini" {
		w.says = all
	}
	return w
}

// A memory is what an agent sends: a summary, and what was said since, by prompt.
type memory struct {
	summary, prompts []string
	sends            [][]string
	before           *memory // the compaction
	from, kept       int     // prompts of before that it kept: from one on, so many
}

func (c *memory) says(text string) {
	last := len(c.sends) - 1
	c.sends[last] = append(slices.Clip(c.sends[last]), text)
}

func (c *memory) asks(id, text string) {
	c.prompts, c.sends = append(c.prompts, id), append(c.sends, []string{text})
}

// back goes back to before a prompt. If the agent has a prompt that it kept before the compaction,
// that goes too.
func (c *memory) back(to int, isBefore bool) *memory {
	if isBefore && to < c.kept {
		return c.before.back(c.from+to, isBefore)
	}
	c.sends, c.prompts = c.sends[:to], c.prompts[:to]
	return c
}

func (c *memory) compact(summary string, from int) *memory {
	next := &memory{
		summary: []string{summary}, prompts: slices.Clone(c.prompts[from:]),
		sends: slices.Clone(c.sends[from:]), before: c, from: from, kept: len(c.sends) - from,
	}
	if next.kept == 0 {
		next.asks("", "") // what follows is in the turn that was open
	}
	return next
}

// A desk has the files of an author.
type desk struct {
	*rand.Rand
	n      int
	wrong  bool // whether the clock is
	files  map[string]string
	states []map[string]string
}

func (d *desk) save() { d.states = append(d.states, maps.Clone(d.files)) }

// line appends a line to a file.
func (d *desk) line(name string, o object) {
	d.files[name] += encoded(o) + "\n"
	d.save()
}

func encoded(o any) string {
	out, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// id returns a new id and the time.
func (d *desk) id() (id, at string) {
	d.n++
	return uuidOf(d.n), d.now().Format(time.RFC3339)
}

func (d *desk) now() time.Time { return clockAt(d.n, d.wrong) }

// clockAt returns the time of a step. A wrong clock is a year ahead from time to time, and stands
// still or runs backwards then.
func clockAt(step int, wrong bool) time.Time {
	if wrong && step%23 > 12 {
		return time.Date(2027, 5, 2, 10, 0, -step/23*(step%3), 0, time.UTC)
	}
	return time.Date(2026, 5, 2, 10, 0, step, 0, time.UTC)
}

type codexAuthor struct {
	*desk
	thread, file, turn string
	threads            int
}

func newCodexAuthor(d *desk) author {
	a := &codexAuthor{desk: d}
	a.begin(nil)
	return a
}

// begin begins a thread, which may be a fork.
func (a *codexAuthor) begin(base any) {
	a.threads++
	a.thread = fmt.Sprintf("019d0000-0000-7000-8000-%012d", a.threads)
	a.file = "rollout-2026-05-02T10-00-00-" + a.thread + ".jsonl"
	a.states = nil // they are of another session
	a.record("session_meta", object{
		"id": a.thread, "cwd": "/home/ada/proj",
		"model_provider": "openai", "history_base": base,
	})
}

func (a *codexAuthor) record(kind string, payload object) {
	_, at := a.id()
	a.line(a.file, object{"timestamp": at, "type": kind, "payload": payload})
}

func (a *codexAuthor) end(kind string) {
	if a.turn != "" {
		a.record("event_msg", object{"type": kind, "turn_id": a.turn})
	}
	a.turn = ""
}

func (a *codexAuthor) item(role, text string) {
	a.record("response_item", object{
		"type": "message", "role": role,
		"content": []any{object{"type": "text", "text": text}},
	})
}

func (a *codexAuthor) prompt(text string) string {
	a.end("turn_aborted")
	if a.IntN(8) == 0 {
		a.begin(object{"thread_id": a.thread, "end_byte_offset": len(a.files[a.file])})
	}
	a.turn, _ = a.id()
	a.record("event_msg", object{"type": "task_started", "turn_id": a.turn})
	a.record("turn_context", object{"turn_id": a.turn, "cwd": "/home/ada/proj", "model": "gpt-5.5"})
	a.item("user", text)
	a.record("event_msg", object{"type": "user_message", "message": text})
	return a.turn
}

func (a *codexAuthor) calls(ids []string) {
	for _, id := range ids {
		a.record("response_item", object{
			"type": "function_call", "call_id": id, "name": "shell",
			"arguments": `{"command":["ls"]}`,
		})
	}
	for _, id := range ids {
		a.record("response_item", object{"type": "function_call_output", "call_id": id, "output": id})
	}
}

func (a *codexAuthor) answer(text string, ends bool) {
	a.record("event_msg", object{"type": "agent_message", "message": text})
	a.item("assistant", text)
	a.note()
	if ends {
		a.end("task_complete")
	}
}

func (a *codexAuthor) note() {
	used := object{"input_tokens": a.n, "output_tokens": 1, "total_tokens": a.n + 1}
	a.record("event_msg", object{
		"type": "token_count",
		"info": object{"total_token_usage": used, "last_token_usage": used}, "rate_limits": a.n,
	})
}

func (a *codexAuthor) back(_ string, prompts int) {
	a.end("turn_aborted")
	a.record("event_msg", object{"type": "thread_rolled_back", "num_turns": prompts})
}

func (a *codexAuthor) compact(summary, _ string) bool {
	said := object{"message": summary}
	if a.IntN(2) == 0 {
		said["replacement_history"] = []any{object{
			"type": "message", "role": "user",
			"content": []any{object{"type": "input_text", "text": summary}},
		}}
	}
	a.record("compacted", said)
	return false
}

func (a *codexAuthor) written() written { return written{dialect: codex.Dialect{}, path: a.file} }

type copilotAuthor struct{ *desk }

func newCopilotAuthor(d *desk) author {
	a := &copilotAuthor{d}
	a.event("session.start", object{
		"sessionId": "bbbbbbbb-0000-4000-8000-000000000001",
		"startTime": "2026-05-02T10:00:00Z", "context": object{"cwd": "/home/ada/proj"},
	})
	a.event("session.model_change", object{"newModel": "gpt-5.5"})
	return a
}

func (a *copilotAuthor) event(kind string, data object) (id string) {
	id, at := a.id()
	a.line("events.jsonl", object{"type": kind, "data": data, "id": id, "timestamp": at})
	return id
}

func (a *copilotAuthor) prompt(text string) string {
	return a.event("user.message", object{"content": text, "attachments": []any{}})
}

func (a *copilotAuthor) said(text string, calls []object) {
	a.event("assistant.message", object{
		"messageId": fmt.Sprint("m", a.n), "content": text,
		"toolRequests": calls, "outputTokens": 5,
	})
}

func (a *copilotAuthor) calls(ids []string) {
	var all []object
	for _, id := range ids {
		all = append(all, object{"toolCallId": id, "name": "bash", "arguments": `{"command":"ls"}`})
	}
	a.said("", all)
	for _, id := range ids {
		a.event("tool.execution_complete", object{
			"toolCallId": id, "success": true,
			"result": object{"content": id},
		})
	}
}

func (a *copilotAuthor) answer(text string, ends bool) {
	a.said(text, nil)
	if ends {
		a.event("assistant.turn_end", object{})
	}
}

func (a *copilotAuthor) note() { a.event("hologram.seen", object{"x": a.n}) }

func (a *copilotAuthor) back(id string, _ int) {
	a.event("session.snapshot_rewind", object{"upToEventId": id})
}

func (a *copilotAuthor) compact(summary, _ string) bool {
	a.event("session.compaction_complete", object{"success": true, "summaryContent": summary})
	return false
}

func (a *copilotAuthor) written() written {
	return written{dialect: copilot.Dialect{}, path: "events.jsonl"}
}

// A geminiAuthor writes lines, or one object with all messages.
type geminiAuthor struct {
	*desk
	file     string
	about    object
	messages []object
}

func newGeminiAuthor(d *desk, file string) author {
	a := &geminiAuthor{desk: d, file: file, about: object{
		"sessionId": "aaaaaaaa-0000-4000-8000-000000000001", "projectHash": "ff", "kind": "main",
		"startTime": "2026-05-02T10:00:00Z", "directories": []string{"/home/ada/proj"},
	}}
	a.write(a.about)
	return a
}

func (a *geminiAuthor) write(o object) {
	if strings.HasSuffix(a.file, "l") {
		a.line(a.file, o)
		return
	}
	a.about["messages"] = a.messages
	a.files[a.file] = encoded(a.about)
	a.save()
}

func (a *geminiAuthor) message(kind, text string) object {
	id, at := a.id()
	m := object{"id": id, "timestamp": at, "type": kind, "content": text}
	if kind == "gemini" {
		m["model"], m["tokens"] = "gemini-3-pro", object{"input": a.n, "output": 5}
	}
	return m
}

func (a *geminiAuthor) add(kind, text string) object {
	m := a.message(kind, text)
	a.messages = append(a.messages, m)
	a.write(m)
	return m
}

func (a *geminiAuthor) prompt(text string) string { return a.add("user", text)["id"].(string) }

func (a *geminiAuthor) answer(text string, _ bool) { a.add("gemini", text) }

func (a *geminiAuthor) note() { a.add("info", fmt.Sprint("Note ", a.n)) }

// calls writes a message again with the results.
func (a *geminiAuthor) calls(ids []string) {
	m := a.add("gemini", "")
	var all []object
	for _, id := range ids {
		all = append(all, object{
			"id": id, "name": "ls", "args": object{"path": "."},
			"status": "success", "result": []any{object{"functionResponse": object{
				"id": id, "name": "ls", "response": object{"output": id},
			}}},
		})
		m["toolCalls"] = all
		a.write(m)
	}
}

func (a *geminiAuthor) index(id string) int {
	return slices.IndexFunc(a.messages, func(m object) bool { return m["id"] == id })
}

func (a *geminiAuthor) back(id string, _ int) {
	a.messages = a.messages[:a.index(id)]
	a.write(object{"$rewindTo": id})
}

func (a *geminiAuthor) compact(summary, first string) bool {
	kept := a.messages[len(a.messages):]
	if first != "" {
		kept = a.messages[a.index(first):]
	}
	a.messages = slices.Concat([]object{a.message("user", summary)}, kept)
	a.write(object{"$set": object{"messages": a.messages}})
	return first != ""
}

func (a *geminiAuthor) written() written { return written{dialect: gemini.Dialect{}, path: a.file} }

// An opencodeAuthor writes a file for each message and part.
type opencodeAuthor struct {
	*desk
	messages []string // ids, in order
	revert   string
	about    object
}

func newOpencodeAuthor(d *desk) author {
	return &opencodeAuthor{desk: d, about: object{
		"id": "ses_main", "projectID": "proj", "directory": "/home/ada/proj", "version": "1.18.33",
	}}
}

// update writes the file of the session.
func (a *opencodeAuthor) update() {
	a.about["time"] = object{"created": 1, "updated": a.now().UnixMilli()}
	delete(a.about, "revert")
	if a.revert != "" {
		a.about["revert"] = object{"messageID": a.revert}
	}
	a.files["storage/session/proj/ses_main.json"] = encoded(a.about)
	a.save()
}

func (a *opencodeAuthor) message(role string, more object) (id string) {
	a.undo()
	a.n++
	id = fmt.Sprintf("msg_%04d", a.n)
	m := object{"role": role, "time": object{"created": a.now().UnixMilli()}}
	maps.Copy(m, more)
	a.files[path.Join("storage/message/ses_main", id+".json")] = encoded(m)
	a.messages = append(a.messages, id)
	return id
}

// undo removes what was taken back.
func (a *opencodeAuthor) undo() {
	for i := slices.Index(a.messages, a.revert); i >= 0 && i < len(a.messages); {
		id := a.messages[len(a.messages)-1]
		a.messages = a.messages[:len(a.messages)-1]
		maps.DeleteFunc(a.files, func(name, _ string) bool {
			return strings.Contains(name, "/"+id+".json") || strings.Contains(name, "/"+id+"/")
		})
	}
	a.revert = ""
}

// part writes a part of the last message.
func (a *opencodeAuthor) part(name string, o object) {
	id := a.messages[len(a.messages)-1]
	a.files[path.Join("storage/part", id, "prt_"+id[len("msg_"):]+name+".json")] = encoded(o)
}

func (a *opencodeAuthor) prompt(text string) string {
	id := a.message("user", nil)
	a.part("a", object{"type": "text", "text": text})
	a.update()
	return id
}

func (a *opencodeAuthor) reply(more object) {
	all := object{"modelID": "claude-x", "providerID": "anthropic"}
	maps.Copy(all, more)
	a.message("assistant", all)
}

// answer writes a text as it arrives.
func (a *opencodeAuthor) answer(text string, ends bool) {
	more := object{"tokens": object{"input": 5, "output": a.n}}
	if ends {
		more["finish"] = "stop"
	}
	a.reply(more)
	for _, text := range []string{text[:2], text} {
		a.n++
		a.part("a", object{"type": "text", "text": text})
		a.update()
	}
}

func (a *opencodeAuthor) calls(ids []string) {
	a.reply(nil)
	for _, status := range []string{"running", "completed"} {
		for i, id := range ids {
			state := object{"status": status, "input": object{"command": "ls"}}
			if status == "completed" {
				state["output"] = id
			}
			a.n++
			a.part(fmt.Sprint("a", i), object{"type": "tool", "tool": "bash", "callID": id, "state": state})
			a.update()
		}
	}
}

func (a *opencodeAuthor) note() {
	a.n++
	a.part(fmt.Sprint("z", a.n), object{"type": "hologram", "x": a.n})
	a.update()
}

func (a *opencodeAuthor) back(id string, _ int) {
	a.n++
	a.revert = id
	a.update()
}

func (a *opencodeAuthor) compact(summary, first string) bool {
	a.message("user", nil)
	part := object{"type": "compaction", "auto": true}
	if first != "" {
		part["tail_start_id"] = first
	}
	a.part("a", part)
	a.update()
	a.reply(object{"summary": true, "finish": "stop"})
	a.part("a", object{"type": "text", "text": summary})
	a.update()
	return first != ""
}

func (a *opencodeAuthor) written() written {
	return written{dialect: opencode.Dialect{}, path: "storage/message/ses_main"}
}
