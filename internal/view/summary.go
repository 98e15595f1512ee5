package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/stats"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Summary is a row of a list of conversations.
type Summary struct {
	ID      events.ID
	Page    string // where it is
	Title   string
	Session string // the agent's session that it was imported from, "" for none
	// Resumed are the sessions in which agents continued it.
	Resumed []string `json:",omitempty"`
	Labels  []string
	Branch  string
	Fork    string // what it was forked from or started by, "" for nothing
	Agent   string // the agent it was imported from, "" for jp's own
	Last    time.Time
	// Pending says that its stream was not read yet: the following fields are not set.
	Pending bool `json:",omitempty"`

	First  string // words of the first prompt
	Model  string
	Author string // of the commit that added it, else of the first prompt
	Turns  int
	Spent  stats.Row // by recorded usage
	// Family is the cost of the conversation with its sub-agents and forks, each answer once, and
	// Relatives their number.
	Family    stats.Row
	Relatives int
	// OriginPage is the page of its origin, "" for none, and OriginName its title if it is an
	// agent's session.
	OriginPage, OriginName string
	Doc                    int // where its turns begin in the search index, -1 if not in it

	answers []stats.Answer
}

// HeadOf returns the summary of a conversation's metadata.
func HeadOf(id events.ID, d *events.Details) Summary {
	s := Summary{
		ID: id, Page: id.Digits() + ".html", Labels: labelsOf(d),
		Branch: d.Labels[sessions.LabelBranch], Resumed: slices.Sorted(maps.Keys(d.Resumed())),
		Session: d.Labels[sessions.LabelSession], Fork: d.Labels[sessions.LabelParent],
		Last: d.LastActivatedAt, Pending: true, Doc: -1,
	}
	s.Title, s.Agent = render.Typed(d.Name()), agentOf(d)
	if o := workspace.OriginOf(d); o != nil {
		s.Fork = o.String()
	}
	return s
}

// agentOf returns the agent that a conversation was imported from, or is a copy of an import from.
func agentOf(d *events.Details) string {
	return events.AgentOf(cmp.Or(d.Labels[sessions.LabelSession], d.Labels[sessions.LabelOf]))
}

// labelsOf returns the labels for people, in their written form.
func labelsOf(d *events.Details) (all []string) {
	for _, k := range slices.Sorted(maps.Keys(d.Labels)) {
		told := k == sessions.LabelBranch || k == sessions.LabelCommit
		if !strings.HasPrefix(k, "agent-") && !told {
			all = append(all, strings.TrimSuffix(k+"="+d.Labels[k], "="))
		}
	}
	return all
}

// Summarize returns the summary of a conversation.
func (d Document) Summarize(conv *workspace.Conversation) Summary {
	s := HeadOf(conv.ID, conv.Details)
	s.Pending = false
	outline := render.OutlineOf(conv.Stream, conv.BaseConfig, 0)
	s.First, s.Model, s.Turns = outline.First, outline.Model, outline.Turns
	if _, last := times(conv.Stream); !last.IsZero() {
		s.Last = last
	}
	for _, e := range conv.Stream.All() {
		if r, ok := e.Event().(*events.ChatRequest); ok && r.Author != "" {
			s.Author = r.Author
			break
		}
	}
	// If the configuration becomes unreadable, the figures are those of the answers before.
	s.answers, _ = stats.Answers(stats.Subject{
		ID: conv.ID, Agent: s.Agent, Base: conv.BaseConfig, Stream: conv.Stream,
	}, d.Prices)
	for _, a := range s.answers {
		s.Spent.Count(a)
	}
	return s
}

// name returns the title, or its replacement.
func (s Summary) name() string {
	if s.Title == "" && s.First != "" {
		return "“" + s.First + "”"
	}
	return cmp.Or(s.Title, s.ID.String())
}

// origin returns the session or the conversation that it comes from.
func (s Summary) origin() string {
	origin, _, _ := strings.Cut(s.Fork, ",")
	return origin
}
