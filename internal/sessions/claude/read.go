package claude

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// Read implements [sessions.Dialect].
func (Dialect) Read(
	ctx context.Context, s sessions.Session, until int64, b *sessions.Builder,
) (sessions.Version, error) {
	m := newMapper(s, b)
	m.LeaveOut(left...)
	v, err := sessions.ReadLines(ctx, s.Path, until, b, m.line)
	if err == nil {
		m.finish()
	}
	return v, err
}

// A mapper passes the records of one conversation to a builder.
type mapper struct {
	*sessions.Builder
	session sessions.Session
	turns   map[string]int  // the Point of each record, by uuid
	sayings map[string]said // by uuid
	told    map[saying]bool // of uuids with several records, except the first of each
	seeds   [2]maphash.Seed
	dir     string         // the last one that a record has
	in      string         // the one in the last record
	cwd     []byte         // the JSON of in
	parts   []part         // that have titles, in the order of these
	queued  map[string]int // prompts that were told when they left the queue, by text
	agents  map[string]*mapper
	order   []*mapper
	chains  map[string]string // the sub-agent of each record of one that is not named, by uuid
	files   map[string]bool   // sub-agents that have a file of their own
	kept    map[string]bool   // names of the messages that the summary to follow does not replace
	last    record            // the last record that was read; the next one reuses its memory
}

// A saying identifies a record by its uuid and two sums with random seeds: different records
// collide with a probability of 1 in 2^128.
type saying struct {
	uuid string
	sums sums
}

type sums [2]uint64

// A said has the first record of a uuid, and the number of its different records.
type said struct {
	first sums
	count int
}

// A part of a session ends at the record that its title refers to.
type part struct{ last, title string } // last is the uuid of a record

func newMapper(s sessions.Session, b *sessions.Builder) *mapper {
	return &mapper{
		Builder: b, session: s, turns: map[string]int{},
		told: map[saying]bool{}, sayings: map[string]said{},
		seeds:  [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		queued: map[string]int{}, agents: map[string]*mapper{},
		chains: map[string]string{}, files: map[string]bool{},
	}
}

func (m *mapper) line(number int, line []byte) {
	r := &m.last
	if err := sessions.UnmarshalInner(line, r); err != nil {
		m.Broken(number, err)
		return
	}
	r.line = line
	m.tell(r)
}

// tell maps a record, of the session or of a sub-agent in its file.
func (m *mapper) tell(r *record) {
	if bool(r.IsSidechain) && m.session.Parent.IsZero() {
		m = m.sidechain(r)
	}
	m.Telling(r.Time.Time, r.kind(), r.line, func() { m.record(r) })
}

// record maps one record.
func (m *mapper) record(r *record) {
	if r.UUID != "" && m.repeats(r) {
		m.Drop("repeated", len(r.line))
		return
	}
	m.context(r)
	switch r.Type {
	case "user":
		m.user(r)
	case "assistant":
		m.assistant(r)
	case "system":
		m.system(r)
	case "attachment":
		m.attachment(r)
	case "progress":
		m.progress(r)
	case "queue-operation":
		m.queue(r)
	case "last-prompt", sessions.ExportType:
		m.Leave(string(r.Type), len(r.line)) // repeats a prompt; our own line
	case "api-request", "api-request-blob", "api-request-shape":
		// They repeat earlier records, and the prompt_snapshot that is kept.
		m.Leave(string(r.Type), len(r.line))
	default:
		m.title(r)
		m.Record(r.Time.Time, r.kind(), r.line)
	}
	if r.UUID != "" {
		m.turns[string(r.UUID)] = m.Point()
	}
}

// repeats reports whether a record equals an earlier one with the same uuid, as in a copy of
// earlier records. A different record with that uuid, as in damaged files, is mapped under a key of
// its own.
func (m *mapper) repeats(r *record) bool {
	is := saying{uuid: string(r.UUID), sums: m.sums(r)}
	all, known := m.sayings[is.uuid]
	switch {
	case known && (is.sums == all.first || m.told[is]):
		return true
	case known:
		m.told[is] = true
	default:
		all.first = is.sums
	}
	r.further = all.count
	all.count++
	m.sayings[is.uuid] = all
	return false
}

// sums returns the sums of what a record says.
func (m *mapper) sums(r *record) (all sums) {
	for i, seed := range m.seeds {
		var parts [6 * 8]byte
		for n, part := range [...][]byte{r.Message, r.Attachment, r.Data} {
			binary.LittleEndian.PutUint64(parts[n*8:], maphash.Bytes(seed, part))
		}
		for n, part := range [...]sessions.Text{r.Type, r.Subtype, r.Content} {
			binary.LittleEndian.PutUint64(parts[(3+n)*8:], maphash.String(seed, string(part)))
		}
		all[i] = maphash.Bytes(seed, parts[:])
	}
	return all
}

// context records the agent's directory, which changes within a session.
func (m *mapper) context(r *record) {
	if !bytes.Equal(r.CWD, m.cwd) {
		m.cwd = append(m.cwd[:0], r.CWD...)
		m.in = string(r.CWD.Text())
	}
	if m.in != "" {
		m.dir = m.in
		m.In(m.dir)
	}
	if r.Branch != "" && r.Branch != "HEAD" {
		m.Label(sessions.LabelBranch, string(r.Branch))
	}
}

func (m *mapper) title(r *record) {
	switch {
	case r.Type == "custom-title":
		m.Title(sessions.TitlePerson, string(r.CustomTitle))
	case r.Type == "ai-title":
		m.Title(sessions.TitleModel, string(r.AITitle))
	case r.Type == "summary" && r.LeafUUID != "":
		m.parts = append(m.parts, part{string(r.LeafUUID), string(r.Summary)})
	case r.Type == "pr-link":
		m.Label("pr", string(r.PRURL))
	}
}

// key returns the stable key of a piece of a record.
func key(r *record, piece int) string {
	id, _ := sessions.RandomHalf(string(r.UUID))
	if r.further > 0 {
		id += "~" + strconv.Itoa(r.further)
	}
	if piece > 0 {
		id += "." + strconv.Itoa(piece)
	}
	return id
}

func (m *mapper) user(r *record) {
	all := blocks(r.message().Content)
	text := all.text()
	switch {
	case bool(r.IsSummary):
		m.Compact(r.Time.Time, text, m.isKept)
		m.kept = nil
		m.beside(r, all)
	case all.answers():
		m.results(r, all)
	case len(all) == 0:
		m.Record(r.Time.Time, "user", r.line)
	case bool(r.IsMeta) || isInjected(text):
		m.follow(r)
		m.Injected(key(r, 0), r.Time.Time, text, all.attached()...)
		m.others(r, all)
	default:
		m.prompt(r, text, all)
	}
	if r.Plan != "" {
		m.Record(r.Time.Time, "plan", sessions.Marshal(map[string]string{"plan": string(r.Plan)}))
	}
}

// follow finds the turn that a person's record follows. If that is not the last one, the person
// went back to it.
func (m *mapper) follow(r *record) {
	if turn, known := m.turns[string(r.Parent)]; known {
		m.Follow(turn, key(r, 0))
	}
}

// prompt begins a turn.
func (m *mapper) prompt(r *record, text string, all content) {
	m.follow(r)
	m.Headline(words(text))
	m.Prompt(key(r, 0), r.Time.Time, text, all.attached()...)
	m.others(r, all)
}

// others keeps the blocks of a message that are not text, attachments, or results of calls.
func (m *mapper) others(r *record, all content) {
	for i := range all {
		if _, content := all[i].bytes(); !content {
			m.beside(r, all[i:i+1])
		}
	}
}

// beside keeps the blocks that are not text or results of calls, where only text is added.
func (m *mapper) beside(r *record, all content) {
	for i := range all {
		if t := string(all[i].Type); t != "text" && t != "tool_result" {
			m.Record(r.Time.Time, "user/"+cmp.Or(t, "unknown"), all[i].raw)
		}
	}
}

func (m *mapper) assistant(r *record) {
	msg := r.message()
	if bool(r.IsError) || msg.Content == nil {
		m.Record(r.Time.Time, "assistant/error", r.line)
		return
	}
	if msg.Model != "" && msg.Model != "<synthetic>" {
		m.Model(r.Time.Time, "anthropic", string(msg.Model))
	}
	reply := string(msg.ID)
	if reply == "" {
		reply = string(r.UUID)
	}
	all := blocks(msg.Content)
	for i := range all {
		m.block(r, i, reply, &all[i])
	}
	if msg.Usage.Value != nil && msg.Model != "<synthetic>" {
		m.Usage(reply, msg.Usage.Value.compact(string(msg.Model)))
	}
	if msg.Stop == "end_turn" {
		m.Complete()
	}
}

func (u *usage) compact(model string) compact.Usage {
	return compact.Usage{
		Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.CacheRead),
		CacheWrite: int64(u.CacheWrite), CacheWriteHour: int64(u.Writes.Value.Hour), Model: model,
	}
}

func (m *mapper) block(r *record, i int, reply string, b *block) {
	at, key := r.Time.Time, key(r, i)
	switch b.Type {
	case "text":
		m.Message(key, at, reply, string(b.Text), events.Metadata{})
	case "thinking":
		md := events.Metadata{}.AsImported()
		if b.Signature != "" {
			md = md.WithText(llm.MetadataAnthropicSignature, string(b.Signature))
		}
		m.Reasoning(key, at, reply, string(b.Thinking), md)
	case "redacted_thinking":
		md := events.Metadata{}.AsImported().WithText(llm.MetadataAnthropicRedacted, string(b.Data))
		m.Reasoning(key, at, reply, "", md)
	case "tool_use":
		m.Call(key, at, reply, sessions.Call{
			ID: string(b.ID), Name: string(b.Name), Arguments: b.Input,
		})
	default:
		m.Record(at, "assistant/"+cmp.Or(string(b.Type), "unknown"), b.raw)
	}
}

func (m *mapper) system(r *record) {
	m.Trim(lists.Map(r.Micro.Value.Calls, func(id sessions.Text) string { return string(id) }))
	if kept := r.Compaction.Value; r.Subtype == "compact_boundary" {
		m.kept = map[string]bool{}
		for _, uuid := range append(kept.Messages.UUIDs, kept.Segment.Head) {
			id, _ := sessions.RandomHalf(string(uuid))
			m.kept[id] = id != ""
		}
	}
	if r.Subtype == "turn_duration" {
		m.Complete()
	}
	m.Record(r.Time.Time, "system/"+cmp.Or(string(r.Subtype), "unknown"), r.line)
}

// isKept reports whether a key is of a message that is still given to the model after a compaction.
func (m *mapper) isKept(key string) bool {
	id, _, _ := strings.Cut(key, ".")
	id, _, _ = strings.Cut(id, "~")
	return m.kept[id]
}

// attachment adds a prompt that was typed while a tool ran and given to the model then.
func (m *mapper) attachment(r *record) {
	var a struct {
		Type   sessions.Text  `json:"type"`
		Prompt jsontext.Value `json:"prompt"`
	}
	if sessions.UnmarshalInner(r.Attachment, &a) != nil {
		a.Type = ""
	}
	if a.Type == "queued_command" {
		all := blocks(a.Prompt)
		text := all.text()
		attached := all.attached()
		switch {
		case m.queued[text] > 0:
			m.queued[text]-- // it was added when it left the queue
			m.Drop("attachment/queued_command", len(r.line))
			m.beside(r, all)
		case text != "" || len(attached) > 0:
			m.Headline(words(text))
			m.Further(key(r, 0), r.Time.Time, text, attached...)
			m.others(r, all)
		}
		return
	}
	m.Record(r.Time.Time, "attachment/"+cmp.Or(string(a.Type), "unknown"), r.line)
}

// queue adds prompts that were removed from the queue in the middle of a turn. A dequeued prompt
// follows as a record of its own.
func (m *mapper) queue(r *record) {
	if text := string(r.Content); r.Operation == "remove" && text != "" {
		m.queued[text]++
		m.Further("queue."+strconv.FormatInt(r.Time.UnixMilli(), 10), r.Time.Time, text)
	}
	m.Record(r.Time.Time, "queue-operation", r.line)
}

// progress adds messages of sub-agents, whose own files may be gone. The outcome of other progress
// is in a result.
func (m *mapper) progress(r *record) {
	var p struct {
		Type    sessions.Text  `json:"type"`
		AgentID sessions.Text  `json:"agentId"`
		Message jsontext.Value `json:"message"`
	}
	if r.Data == nil || sessions.UnmarshalInner(r.Data, &p) != nil || p.Type != "agent_progress" ||
		p.AgentID == "" || p.Message == nil || m.hasFile(string(p.AgentID)) {
		m.Leave("progress", len(r.line))
		return
	}
	var inner record
	if err := sessions.UnmarshalInner(p.Message, &inner); err != nil {
		m.Record(r.Time.Time, "progress/agent", r.line)
		return
	}
	m.Held()
	inner.line = p.Message
	m.agent(string(p.AgentID)).tell(&inner)
}

// hasFile reports whether a sub-agent has a file, which is a source of its own: beside the
// session's, or in its directory.
func (m *mapper) hasFile(agent string) bool {
	has, known := m.files[agent]
	if !known {
		name := "agent-" + agent + ".jsonl"
		own := strings.TrimSuffix(m.session.Path, filepath.Ext(m.session.Path))
		for _, dir := range []string{filepath.Join(own, "subagents"), filepath.Dir(own)} {
			_, err := os.Lstat(filepath.Join(dir, name))
			has = has || err == nil && filepath.IsLocal(name)
		}
		m.files[agent] = has
	}
	return has
}

// sidechain returns the mapper of a sub-agent in the file of its session, as early versions wrote
// it. The sub-agent is identified by its name, or else by the first record of its chain.
func (m *mapper) sidechain(r *record) *mapper {
	id := string(r.AgentID)
	if id == "" {
		id = m.chain(r)
	}
	return m.agent(id)
}

func (m *mapper) chain(r *record) string {
	id, known := m.chains[string(r.Parent)]
	if !known {
		id = key(r, 0)
	}
	if _, told := m.chains[string(r.UUID)]; !told {
		m.chains[string(r.UUID)] = id
	}
	return id
}

// agent returns the mapper of a sub-agent that has no file of its own.
func (m *mapper) agent(id string) *mapper {
	if a := m.agents[id]; a != nil {
		return a
	}
	s := m.session
	s.Name, s.Parent = subagent(m.session.Name, id), m.session.Name
	a := newMapper(s, m.Child(s))
	m.agents[id] = a
	m.order = append(m.order, a)
	return a
}

// finish adds what is only known at the end: the titles of parts.
func (m *mapper) finish() {
	for _, p := range m.parts {
		if _, own := m.turns[p.last]; own { // old files begin with titles of other sessions
			m.Title(sessions.TitleSummary, p.title)
		}
	}
	for _, a := range m.order {
		a.finish()
	}
}
