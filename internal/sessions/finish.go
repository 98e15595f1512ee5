package sessions

import (
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Compact records that the agent replaced everything before with a summary, except what it still
// gives the model: everything from the first event on whose key isKept accepts. In the middle of a
// turn, this splits the turn. isKept may be nil.
func (b *Builder) Compact(at time.Time, summary string, isKept func(key string) bool) {
	if b.current.begun() || len(b.turns) > 0 {
		b.endTurn(true)
	}
	turns := len(b.turns)
	if isKept != nil && b.err == nil {
		was := b.size
		turns = b.splitAt(isKept)
		b.count(was)
	}
	text := b.Text(summary)
	b.brought = append(b.brought, SummaryName(text))
	if turns == 0 {
		b.Record(at, "summary", quote(text))
		return
	}
	at = b.moment(at)
	b.push(events.NewElement(at, &events.Compaction{
		ToTurn: turns - 1, Summary: &text,
	}, events.Metadata{}))
}

// SummaryName names a summary among what imports brought. Its text identifies it in all imports of
// a session, whatever it covers (docs/merge.md, "Compactions").
func SummaryName(text string) string {
	return blobs.Sum([]byte("summary\x00" + text)).String()[:broughtDigits]
}

// broughtDigits is the length of the names in [events.Details.ImportedTurns].
const broughtDigits = 8

func quote(s string) []byte {
	q, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		q, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return q
}

// Trim records that the agent no longer gives the model the results of some calls.
func (b *Builder) Trim(calls []string) {
	yes := jsontext.Value("true")
	for _, id := range calls {
		if i, ok := b.calls[id]; ok && i < len(b.elements) {
			e := b.elements[i]
			b.elements[i] = e.WithMetadata(e.Metadata().With(dedup.Trimmed, yes))
		}
		for i := range b.current.drafts {
			d := &b.current.drafts[i]
			if r, ok := d.event.(*events.ToolCallResponse); ok && r.ID == id {
				d.md = d.md.With(dedup.Trimmed, yes)
			}
		}
	}
}

// add adds a finished event to the turn.
func (b *Builder) add(d draft) {
	b.key = ""
	*b.told++
	if b.err != nil {
		return
	}
	b.current.drafts = append(b.current.drafts, d)
	b.current.size += d.size()
	b.bound(b.size + b.current.size)
}

// push appends an element outside of the current turn.
func (b *Builder) push(e *events.Element) {
	*b.told++
	was := b.size
	b.append(e)
	b.count(was)
}

// count counts the growth of the conversation since it had a size.
func (b *Builder) count(was int64) {
	*b.all += b.size - was
	b.bound(b.size)
}

// maxStreams limits the total size of a source's conversations, in streams of the maximum size:
// forks repeat the turns before them, and sub-agents have conversations of their own.
const maxStreams = 16

// bound ends the import if the conversation, or all conversations of the source together, exceed
// the limit.
func (b *Builder) bound(size int64) {
	limit := b.options.MaxStream
	switch {
	case limit <= 0:
	case size > limit:
		b.Fail(ErrTooLarge)
	case *b.all > maxStreams*limit:
		b.Fail(ErrTooMany)
	}
}

// endTurn writes the current turn, if there is one, and its records.
func (b *Builder) endTurn(over bool) {
	b.tellUnsaid()
	t := b.current
	b.current = &turn{}
	defer b.current.reuse(t)
	if b.err != nil {
		return
	}
	t.over = t.over || over
	t.settle()
	for reply, u := range t.usage {
		if b.Seen("usage of " + reply) {
			continue // repeated because the person went back into a turn
		}
		b.report.Input += u.Prompt()
		b.report.Output += u.Output
	}
	for i := range t.drafts {
		if t.drafts[i].event.Kind() == events.KindTurnStart {
			b.pass(t.before)
		}
		b.push(t.drafts[i].element())
	}
	b.writeRecords(&t.records)
}

// Finish returns the conversations: that of the session first, then its rewound forks, then those
// of other sessions in its source.
func (b *Builder) Finish(v Version) ([]*Conversation, error) {
	if x := b.session.Export; x != nil {
		b.reach(x.Lines + 1)
	}
	b.endTurn(b.ended)
	if b.err != nil {
		return nil, b.err
	}
	main := b.conversation(b.session.Name)
	main.Parent, main.Archived = b.session.Parent, !b.session.Parent.IsZero()
	all := append([]*Conversation{main}, b.forks...)
	for _, c := range all {
		c.BaseConfig = baseConfig(b.base)
		c.Details.Labels[LabelImport] = v.String()
	}
	main.Report = b.report
	for _, c := range b.children {
		theirs, err := c.Finish(v)
		if err != nil {
			return nil, err
		}
		all = append(all, theirs...)
	}
	return all, nil
}

// conversation returns the conversation built so far.
func (b *Builder) conversation(n Name) *Conversation {
	d := &events.Details{LastActivatedAt: b.latest, Labels: b.kept(&b.keeper)}
	if title := b.called(&b.keeper); title != "" {
		if err := d.SetImportTitle(title); err != nil {
			b.Fail(err)
		}
	}
	if n == b.session.Name {
		if err := d.SetRewound(b.rewound); err != nil {
			b.Fail(err)
		}
	}
	s := events.New(slices.Clone(b.elements)...)
	if err := d.SetImportedTurns(slices.Concat(s.SourceTurns(), b.brought)); err != nil {
		b.Fail(err)
	}
	d.Labels[LabelSession] = n.String()
	if !b.first.IsZero() {
		if err := d.SetCreatedAt(b.first); err != nil {
			b.Fail(err)
		}
	}
	if n != b.session.Name {
		d.Labels[LabelParent] = b.session.Name.String()
	} else if !b.session.Parent.IsZero() {
		d.Labels[LabelParent] = b.session.Parent.String()
	}
	c := &Conversation{Name: n, Stream: s, Details: d, Report: newReport()}
	if b.hasExport() {
		c.Exported = b.shared
	}
	return c
}

// baseConfig returns the smallest configuration that jp accepts: a model, and how tools run. It
// does not depend on the user.
func baseConfig(m model) []byte {
	if m.name == "" {
		m = model{provider: "anthropic", name: events.UnknownModel}
	}
	data, err := json.Marshal(map[string]any{
		"assistant":    configured(m),
		"conversation": map[string]any{"tools": map[string]any{"*": map[string]any{"run": "ask"}}},
	}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return []byte("{}\n") // a name that is not UTF-8
	}
	return append(data, '\n')
}
