package handover

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A Conversation is the input for an agent's session.
type Conversation struct {
	ID         events.ID
	Stream     *events.Stream
	Details    *events.Details
	BaseConfig []byte
	Contents   blobs.Reader
	// Root is where the agent will be started, which replaces $WORKSPACE.
	Root string
	// Places are the directories in which the agent looks for its sessions.
	Places sessions.Places
}

// A Session is a conversation in an agent's form.
type Session struct {
	Agent sessions.Agent
	ID    string
	Path  string // where the agent looks for it
	Data  []byte
	// Command continues it.
	Command []string
	// Left counts what the agent has no form for, by kind.
	Left map[string]int
	// Lost says why there is no content, where a line of the session says so.
	Lost map[blobs.Ref]error
}

// writers are the agents that take sessions, with the functions that write them.
var writers = map[sessions.Agent]func(*writer) error{
	sessions.ClaudeCode: (*writer).claude,
	sessions.Codex:      (*writer).codex,
}

// Write returns a conversation as a session of an agent.
func Write(agent sessions.Agent, c Conversation) (*Session, error) {
	write := writers[agent]
	if write == nil {
		return nil, fmt.Errorf("%s takes no sessions", agent)
	}
	w, err := newWriter(agent, c)
	if err == nil {
		err = write(w)
	}
	if err != nil {
		return nil, fmt.Errorf("write %s for %s: %w", c.ID, agent, err)
	}
	return w.session, w.finish()
}

// A writer makes the lines of one session.
type writer struct {
	Conversation
	session  *Session
	messages []llm.Message
	names    *llm.Names
	free     map[string]bool // calls with text in place of arguments
	start    time.Time
	written  int // lines
	lines    bytes.Buffer
	// head returns the first line, which says which conversation the session is an export of.
	head func(*sessions.Export) any
}

func newWriter(agent sessions.Agent, c Conversation) (*writer, error) {
	base, err := settings.Parse(orEmpty(c.BaseConfig), 0)
	if err != nil {
		return nil, fmt.Errorf("base configuration: %w", err)
	}
	source := query.Source{
		View: query.View(c.Stream), Contents: c.Contents, Base: base, Root: c.Root,
		Setup: query.Setup{Speaker: jpconfig.Speaker},
	}
	lost := map[blobs.Ref]error{}
	source.Lost = func(ref blobs.Ref, err error) { lost[ref] = err }
	here := places{root: c.Root, home: c.Places.Home}
	if !c.isImported() {
		source.Imported = here.part // what an agent said that continued it
	}
	messages, err := query.Messages(source)
	if err != nil {
		return nil, err
	}
	if c.isImported() {
		messages = here.expand(messages)
	}
	w := &writer{
		Conversation: c, start: c.Details.CreatedAt(c.ID).UTC(), written: 1,
		session: &Session{Agent: agent, Left: map[string]int{}, Lost: lost},
		names:   llm.NewNames(nil, wire.WordRule(maxName)),
	}
	w.messages = llm.UniqueIDs(messages, wire.WordRule(maxName))
	w.session.ID = w.sessionID()
	for _, e := range c.Stream.All() {
		switch {
		case e.Kind() == sessions.KindRecord:
			w.session.Left["record"]++
		case e.Event() == nil:
			w.session.Left["unknown event"]++
		}
	}
	return w, nil
}

// maxName is the longest id of a call and name of a tool that providers accept.
const maxName = 64

func orEmpty(config []byte) []byte {
	if len(config) == 0 {
		return []byte("{}")
	}
	return config
}

// line adds a line.
func (w *writer) line(v any) error {
	data, err := llm.Encode(v)
	if err != nil {
		return err
	}
	w.lines.Write(data)
	w.lines.WriteByte('\n')
	w.written++
	return nil
}

// finish puts the first line before the others.
func (w *writer) finish() error {
	first, err := llm.Encode(w.head(sessions.NewExport(w.ID, w.Stream, w.lines.Bytes())))
	w.session.Data = slices.Concat(first, []byte{'\n'}, w.lines.Bytes())
	return err
}

// now returns the time of the next line.
func (w *writer) now() string { return w.timeOf(w.written) }

// timeOf returns the time of the nth line. Each is later than the one before; the original times
// within a conversation do not matter to the agent.
func (w *writer) timeOf(n int) string {
	at := w.start.Add(time.Duration(n) * time.Millisecond)
	return at.Format("2006-01-02T15:04:05.000Z")
}

// form is the version of the sessions' form: the same conversation in another form is another
// session.
const form = 2

// sessionID returns a UUID of version 7: the time when the conversation began, and a hash of its
// content. A session that lacks content is another than that of the complete conversation, which
// could not take its place.
func (w *writer) sessionID() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%s\n%s\n", form, w.session.Agent, w.ID, w.Root)
	h.Write(w.Stream.Encode())
	for _, ref := range w.session.LostRefs() {
		fmt.Fprintf(h, "\n%s", ref)
	}
	id := h.Sum(nil)[:16]
	for i, ms := 5, w.start.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return format(id, 7)
}

// LostRefs returns what is lost, in the order of its hashes.
func (s *Session) LostRefs() []blobs.Ref {
	return slices.SortedFunc(maps.Keys(s.Lost), func(a, b blobs.Ref) int {
		return strings.Compare(a.String(), b.String())
	})
}

// recordID returns the UUID of the nth record, of version 8 (custom).
func (w *writer) recordID(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", w.session.ID, n))
	return format(sum[:16], 8)
}

// format writes 16 bytes as a UUID of a version (RFC 9562).
func format(id []byte, version byte) string {
	id = slices.Clone(id)
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	d := hex.EncodeToString(id)
	return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:]
}

// leave counts something that the agent has no form for.
func (w *writer) leave(what string) { w.session.Left[what]++ }

// inWords returns a text that replaces a file that the agent has no form for.
func (w *writer) inWords(f llm.File) string {
	w.leave(f.MIME)
	return llm.Result{Parts: []llm.Part{llm.Resource{
		URI: f.Name, MIME: f.MIME, Bytes: f.Bytes,
	}}}.Plain()
}

// label returns the line that names a file, "" for one without a name, such as pasted content.
func label(f llm.File) string {
	if strings.HasPrefix(f.Name, "attachment:") {
		return ""
	}
	return f.Label()
}

// shown returns a text of a result as the model was sent it.
func shown(part llm.Part) string {
	switch part := part.(type) {
	case llm.Text:
		return part.Text
	case llm.Resource:
		return part.Text
	}
	return ""
}

// modelName returns the name of the model that said something.
func modelName(m llm.Message) string {
	if _, name, ok := llm.SplitID(m.Model); ok {
		return name
	}
	return "unknown"
}
