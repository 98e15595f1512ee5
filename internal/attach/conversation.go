package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// The contents that a jp: attachment can select.
const (
	selectAssistant = "a"
	selectUser      = "u"
	selectReasoning = "r"
	selectTools     = "t"
)

var selectNames = map[string]string{
	"a": selectAssistant, "assistant": selectAssistant, "u": selectUser, "user": selectUser,
	"r": selectReasoning, "reasoning": selectReasoning, "t": selectTools, "tools": selectTools,
}

// A reference is a parsed jp: attachment.
type reference struct {
	id       events.ID
	contents []string // of the select constants, sorted; nil for all
	turns    string   // as written; "" for the last turn
	raw      string   // "", "events" or "all"
}

// parseReference parses jp://<id>?select=CONTENT[:RANGE]&raw[=all|events].
func parseReference(a string) (reference, error) {
	rest, raw, _ := strings.Cut(strings.TrimPrefix(a[len(schemeJP)+1:], "//"), "?")
	var r reference
	var err error
	if r.id, err = events.ParseID(strings.TrimSuffix(rest, "/")); err != nil {
		return r, err
	}
	q, err := query(raw, "select", "raw")
	if err != nil {
		return r, err
	}
	if q.Has("raw") {
		if r.raw = q.Get("raw"); r.raw == "" || r.raw == "true" {
			r.raw = "events"
		}
		if r.raw != "events" && r.raw != "all" {
			return r, fmt.Errorf("raw=%s: neither events nor all", r.raw)
		}
	}
	return r, r.selector(q.Get("select"))
}

// selector parses CONTENT[:RANGE]. Without a colon, a text of digits, dashes and dots is a range.
func (r *reference) selector(s string) error {
	content, turns, both := strings.Cut(s, ":")
	if !both && strings.Trim(s, "0123456789-.") == "" {
		content, turns = "", s
	}
	r.turns = turns
	if _, _, err := turnBounds(turns); err != nil {
		return err
	}
	if content == "" {
		r.contents = []string{selectAssistant}
		return nil
	}
	for name := range strings.SplitSeq(content, ",") {
		if name == "*" || name == "all" {
			r.contents = nil
			return nil
		}
		short, ok := selectNames[name]
		if !ok {
			return fmt.Errorf("select=%s: %q cannot be selected", s, name)
		}
		r.contents = append(r.contents, short)
	}
	slices.Sort(r.contents)
	r.contents = slices.Compact(r.contents)
	return nil
}

// turnBounds parses a range of turns: "5", "-3" for the last three, "2..4", "..3".
func turnBounds(s string) (from, to events.Bound, err error) {
	n, numErr := strconv.Atoi(s)
	switch {
	case s == "":
		from, to = events.LastTurns(1)
	case numErr == nil && n < 0:
		from, to = events.LastTurns(-n)
	default:
		from, to, err = events.ParseTurnRange(s)
	}
	return from, to, err
}

// uri returns the canonical form of the attachment.
func (r reference) uri() string {
	contents := strings.Join(r.contents, ",")
	if r.contents == nil {
		contents = "*"
	}
	s := contents
	if r.turns != "" {
		s += ":" + r.turns
	}
	u := "jp://" + r.id.String()
	sep := "?"
	if s != selectAssistant {
		u, sep = u+"?select="+s, "&"
	}
	if r.raw != "" {
		u += sep + "raw=" + url.QueryEscape(r.raw)
	}
	return u
}

func (r reference) wants(content string) bool {
	return r.contents == nil || slices.Contains(r.contents, content)
}

// conversation resolves a jp: attachment.
func (r *Resolver) conversation(a string) (events.Resource, error) {
	ref, err := parseReference(a)
	if err != nil {
		return events.Resource{}, err
	}
	w := r.o.Conversations
	entry, err := w.Find(ref.id.String(), workspace.FindOptions{
		ListOptions: workspace.ListOptions{Archived: true, Local: true},
	})
	if err == nil && entry.ID != ref.id {
		err = &workspace.NotFoundError{Arg: ref.id.String()} // a prefix of another id
	}
	if err != nil {
		return events.Resource{}, err
	}
	c, err := w.Load(entry)
	if err != nil {
		return events.Resource{}, err
	}
	res := events.Resource{URI: ref.uri(), Name: c.Title(), MIMEType: "text/markdown"}
	if res.Name == "" {
		res.Name = ref.id.String()
	}
	var text []byte
	if ref.raw != "" {
		res.MIMEType = "application/json"
		text, err = ref.events(c.Stream)
	} else {
		text, err = ref.markdown(c.Stream, w.BlobsOf(entry))
	}
	res.Content = blobs.Loaded(text)
	return res, err
}

var errNoTurn = errors.New("the conversation has no such turn")

// chosen returns the selected turns.
func (r reference) chosen(s *events.Stream) ([]events.Turn, error) {
	from, to, err := turnBounds(r.turns)
	if err != nil {
		return nil, err
	}
	span, ok := s.ResolveRange(from, to)
	if !ok {
		return nil, errNoTurn
	}
	return s.Turns()[span.From : span.To+1], nil
}

// events returns the complete stream, or the events of the selected turns.
func (r reference) events(s *events.Stream) ([]byte, error) {
	if r.raw == "all" {
		return s.Encode(), nil
	}
	turns, err := r.chosen(s)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, t := range turns {
		for i := t.First; i <= t.Last; i++ {
			if el := s.At(i); el.Kind().IsEvent() {
				all = append(all, el.Raw())
			}
		}
	}
	return json.MarshalIndent(all, "", "  ")
}

func (r reference) markdown(s *events.Stream, rd blobs.Reader) ([]byte, error) {
	turns, err := r.chosen(s)
	if err != nil {
		return nil, err
	}
	names := map[int]string{}
	for _, c := range s.Calls() {
		if names[c.Request] = c.Name; !c.Open() {
			names[c.Response] = c.Name
		}
	}
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "## Turn %d\n\n", t.Index+1)
		for i := t.First; i <= t.Last; i++ {
			head, text, err := r.section(s.At(i).Event(), names[i], rd)
			if err != nil {
				return nil, fmt.Errorf("turn %d: %w", t.Index+1, err)
			}
			if head != "" {
				fmt.Fprintf(&b, "### %s\n\n%s\n\n", head, strings.TrimRight(text, "\n"))
			}
		}
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n"), nil
}

// section returns the heading and the text of an event, empty if it is not selected.
func (r reference) section(
	ev events.Event, toolName string, rd blobs.Reader,
) (head, text string, err error) {
	switch ev := ev.(type) {
	case *events.ChatRequest:
		if r.wants(selectUser) {
			return "User", ev.Content, nil
		}
	case *events.ChatResponse:
		switch {
		case ev.Form == events.FormReasoning && r.wants(selectReasoning):
			return "Reasoning", ev.Text, nil
		case ev.Form == events.FormMessage && r.wants(selectAssistant):
			return "Assistant", ev.Text, nil
		case ev.Form == events.FormData && r.wants(selectAssistant):
			return "Assistant", "```json\n" + string(ev.Data) + "\n```", nil
		}
	case *events.ToolCallRequest:
		if r.wants(selectTools) {
			return "Tool: " + ev.Name, "```json\n" + string(ev.Arguments) + "\n```", nil
		}
	case *events.ToolCallResponse:
		if r.wants(selectTools) {
			text, err = ev.Text(rd)
			return "Result: " + toolName, text, err
		}
	}
	return "", "", nil
}
