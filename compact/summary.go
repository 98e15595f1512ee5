package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// MetadataSummary is the key under which a summary records the events that it replaced, see
// [Summary].
const MetadataSummary = events.MetadataPrefix + "summary"

// A Summary identifies the events that a summary replaced, so that they can be found again.
type Summary struct {
	Events int      `json:"events"` // number of events, from the beginning of the stream
	Sum    string   `json:"sum"`    // of those events
	Model  string   `json:"model,omitempty"`
	Usage  *Usage   `json:"usage,omitempty"`
	Files  []string `json:"active_files,omitempty"`
	Tasks  []string `json:"open_tasks,omitempty"`
}

// SummaryOf returns the record of the events that a summary replaced, or false if the element is
// not a summary.
func SummaryOf(e *events.Element) (s Summary, ok bool) {
	ok = e.Metadata().JSON(MetadataSummary, &s)
	return s, ok
}

// Find returns the events that a summary replaced, if a stream begins with them.
func (s Summary) Find(in *events.Stream) ([]*events.Element, bool) {
	var elems []*events.Element
	for _, e := range in.All() {
		if len(elems) == s.Events {
			break
		}
		if e.Kind().IsEvent() {
			elems = append(elems, e)
		}
	}
	return elems, len(elems) == s.Events && digest(elems) == s.Sum
}

// digest returns a hash of the content of events.
func digest(elems []*events.Element) string {
	var all []byte
	for _, e := range elems {
		sum := e.Sum()
		all = append(all, sum[:]...)
	}
	return blobs.Sum(all).String()
}

// A Passage is an excerpt to summarize.
type Passage struct {
	Events []*events.Element // in their original form
	// Live reports whether the conversation still begins with exactly these events as it is sent,
	// so that the provider may have them in its cache.
	Live  bool
	Facts Facts
	// Draft and Missing hold a first summary and the facts that it lacks, if it is to be corrected.
	Draft    *Draft
	Missing  []string
	Contents blobs.Reader
}

// A Draft is a summary as its author returns it.
type Draft struct {
	Summary string   `json:"summary"`
	Files   []string `json:"active_files"`
	Tasks   []string `json:"open_tasks"`
}

// Text returns a draft as it is stored in the conversation.
func (d Draft) Text() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(d.Summary))
	list := func(title string, items []string) {
		if len(items) == 0 {
			return
		}
		b.WriteString("\n\n" + title + ":\n")
		for _, item := range items {
			b.WriteString("\n- " + strings.Join(strings.Fields(item), " "))
		}
	}
	list("Active files", d.Files)
	list("Open tasks", d.Tasks)
	return b.String()
}

// A Summarizer writes summaries.
type Summarizer interface {
	// Name returns the id of the model that writes, or "" if there is none.
	Name() string
	Summarize(ctx context.Context, p Passage) (Draft, Usage, error)
}

// summarize replaces everything before the turns that are kept by a summary.
func (j *job) summarize(ctx context.Context, step *Step) error {
	limit := j.closedTurns()
	held := withPinned(j.stream)
	head := slices.DeleteFunc(eventsBefore(j.stream, limit), func(e *events.Element) bool {
		return held[e]
	})
	if _, n, ok := leading(head); len(head) == 0 || ok && !asks(head[n:]) {
		return nil // there is only a summary, and pinned turns
	}
	p, mark, carried := j.passage(limit)
	if len(p.Events) == 0 {
		return nil
	}
	draft, usage, refused, err := j.draft(ctx, p)
	step.Usage = &usage
	if err != nil {
		return err
	}
	if refused != "" {
		step.Notes = append(step.Notes, "the summary is refused: "+refused)
		return nil
	}
	text := summaryText(draft, p, carried)
	size, err := measure(events.New(head...), j.sized())
	if err != nil {
		return err
	}
	if got := j.estimator.tokens(SortAnswer, int64(len(text))); got >= size.Tokens {
		step.Notes = append(step.Notes, fmt.Sprintf(
			"the summary is refused: it is not smaller than what it replaces (%s, %s)",
			tokens(got), tokens(size.Tokens)))
		return nil
	}
	mark.Model, mark.Usage = j.Summarizer.Name(), &usage
	mark.Files, mark.Tasks = draft.Files, draft.Tasks
	j.put(head, text, mark)
	return nil
}

// summaryText returns a summary as it is stored: after the text of an earlier one that is carried
// over, and followed by what people asked and said about calls, which no author shortens.
func summaryText(d Draft, p Passage, carried string) string {
	if carried != "" {
		carried += "\n\n"
	}
	s := events.New(p.Events...)
	return carried + d.Text() + requestWords(s) + listen(s, p.Contents).words(s)
}

// maxRequest is how much of a request a summary repeats, in characters.
const maxRequest = 2000

// asked precedes the requests in each summary that is written here.
const asked = "\n\nWhat the user asked, word for word:"

// requestWords returns the requests of people in a stream, word for word.
func requestWords(s *events.Stream) string {
	var b strings.Builder
	for _, e := range s.All() {
		r, ok := e.Event().(*events.ChatRequest)
		if !ok || strings.TrimSpace(r.Content) == "" || r.Content == events.SummaryRequest {
			continue
		}
		text := []rune(strings.ToValidUTF8(r.Content, "\uFFFD"))
		if len(text) > maxRequest {
			text = append(text[:maxRequest], '…')
		}
		b.WriteString("\n\n> " + strings.ReplaceAll(string(text), "\n", "\n> "))
	}
	if b.Len() == 0 {
		return ""
	}
	return asked + b.String()
}

func (j *job) sized() measureOptions {
	o := j.measureOptions()
	o.estimator = j.estimator
	return o
}

// passage returns the events to summarize, in their original form even if they were changed since.
// It looks for the events that an earlier summary replaced; if they are gone, its text is carried
// over and not summarized again.
func (j *job) passage(limit int) (p Passage, mark Summary, carried string) {
	raw := eventsBefore(j.stream, limit)
	if !j.curated {
		whole := &job{Options: j.Options, stream: j.source}
		raw = eventsBefore(j.source, whole.closedTurns())
	}
	mark = Summary{Events: len(raw), Sum: digest(raw)}
	p = Passage{Contents: j.Contents, Live: j.stream == j.source}
	p.Live = p.Live && places(j.source, events.KindCompaction) == nil // none changes what is sent
	if _, _, again := leading(raw); again {
		p.Live = false
		raw, carried = j.original(raw)
	}
	if !asks(raw) {
		return Passage{}, mark, ""
	}
	p.Events = raw
	p.Facts = FactsOf(raw, j.Contents)
	return p, mark, carried
}

// original replaces a leading summary by the events that it replaced. If they are gone, it removes
// the summary and returns its text, to be carried over.
func (o Options) original(raw []*events.Element) (said []*events.Element, carried string) {
	const nested = 16 // summaries of summaries
	for range nested {
		old, n, ok := leading(raw)
		if !ok {
			break
		}
		found, ok := []*events.Element(nil), false
		if o.Raw != nil {
			found, ok = o.Raw(old)
		}
		if !ok {
			return raw[n:], messageOf(raw[n-1])
		}
		raw = slices.Concat(found, raw[n:])
	}
	return raw, ""
}

// leading returns the summary at the beginning of events, and how many events it takes up.
func leading(elems []*events.Element) (s Summary, n int, ok bool) {
	for i, e := range elems {
		if s, ok := SummaryOf(e); ok {
			return s, i + 1, true
		}
		if i == 2 { // after turn_start, request and response
			break
		}
	}
	return Summary{}, 0, false
}

func messageOf(e *events.Element) string {
	r, ok := e.Event().(*events.ChatResponse)
	if !ok {
		return ""
	}
	return r.Text
}

func asks(elems []*events.Element) bool {
	return slices.ContainsFunc(elems, func(e *events.Element) bool {
		return e.Kind() == events.KindChatRequest
	})
}

func eventsBefore(s *events.Stream, limit int) []*events.Element {
	var all []*events.Element
	for i, e := range s.All() {
		if i < limit && e.Kind().IsEvent() {
			all = append(all, e)
		}
	}
	return all
}

// draft requests a summary, and another one if facts are missing.
func (o Options) draft(
	ctx context.Context, p Passage,
) (d Draft, spent Usage, refused string, err error) {
	for range 2 {
		var usage Usage
		d, usage, err = o.Summarizer.Summarize(ctx, p)
		spent = spent.Add(usage)
		if err != nil {
			return d, spent, "", err
		}
		if strings.TrimSpace(d.Summary) == "" {
			return d, spent, "it is empty", nil
		}
		p.Missing = p.Facts.Missing(d.Text())
		if len(p.Missing) == 0 {
			return d, spent, "", nil
		}
		again := d
		p.Draft = &again
	}
	return d, spent, "it lacks " + strings.Join(p.Missing, ", "), nil
}

// put replaces the beginning of the stream by a summary.
func (j *job) put(head []*events.Element, text string, mark Summary) {
	at := head[len(head)-1].Time()
	if at.IsZero() {
		at = j.Now
	}
	none := events.Metadata{}
	lead := []*events.Element{
		events.NewElement(at, &events.TurnStart{}, none),
		events.NewElement(at, &events.ChatRequest{Content: events.SummaryRequest}, none),
		events.NewElement(at, &events.ChatResponse{Text: text},
			none.WithJSON(MetadataSummary, mark)),
	}
	gone := lists.Set(head)
	for _, c := range j.stream.Calls() { // a result may follow the next question
		if gone[j.stream.At(c.Request)] && !c.Open() {
			gone[j.stream.At(c.Response)] = true
		}
	}
	if !opensWithout(j.stream, gone) {
		lead = append(lead, events.NewElement(at, &events.TurnStart{}, none))
	}
	j.stream = j.stream.Revise(func(_ int, e *events.Element) *events.Element {
		if gone[e] {
			return nil
		}
		return e
	}, lead...)
}

// opensWithout reports whether the rest of the stream begins with a turn of its own, or is empty.
func opensWithout(s *events.Stream, gone map[*events.Element]bool) bool {
	for _, e := range s.All() {
		if e.Kind().IsEvent() && !gone[e] {
			return e.Kind() == events.KindTurnStart
		}
	}
	return true
}
