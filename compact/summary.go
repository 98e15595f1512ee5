package compact

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// MetadataSummary is the key below which a summary keeps what it replaced, see [Summary].
const MetadataSummary = events.MetadataPrefix + "summary"

// A Summary is what is kept of the events that one replaced, so that they can be found again.
type Summary struct {
	Events int      `json:"events"` // the first ones of the stream
	Sum    string   `json:"sum"`    // of those events
	Model  string   `json:"model,omitempty"`
	Usage  *Usage   `json:"usage,omitempty"`
	Files  []string `json:"active_files,omitempty"`
	Tasks  []string `json:"open_tasks,omitempty"`
}

// SummaryOf returns what a summary replaced; false when an element is none.
func SummaryOf(e *events.Element) (s Summary, ok bool) {
	v, ok := e.Metadata().Value(MetadataSummary)
	return s, ok && json.Unmarshal(v, &s) == nil
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

// digest is the hash of what events say.
func digest(elems []*events.Element) string {
	var all []byte
	for _, e := range elems {
		sum := e.Sum()
		all = append(all, sum[:]...)
	}
	return blobs.Sum(all).String()
}

// A Passage is what is to be summarized.
type Passage struct {
	Events []*events.Element // as they were said
	// Live says that these are what the conversation begins with as it is sent now, so that
	// the provider may have them in its cache.
	Live  bool
	Facts Facts
	// Draft and Missing are a first summary and the facts that it lacks, where it is to be
	// mended.
	Draft    *Draft
	Missing  []string
	Contents blobs.Reader
}

// A Draft is a summary as its author gives it.
type Draft struct {
	Summary string   `json:"summary"`
	Files   []string `json:"active_files"`
	Tasks   []string `json:"open_tasks"`
}

// Text returns a draft as the conversation keeps it.
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
	// Name tells who writes: the id of a model, or that it is none.
	Name() string
	Summarize(ctx context.Context, p Passage) (Draft, Usage, error)
}

// summarize puts a summary in the place of everything before the turns that are kept.
func (j *job) summarize(ctx context.Context, step *Step) error {
	limit := j.closedTurns()
	held := withPinned(j.stream)
	head := slices.DeleteFunc(eventsBefore(j.stream, limit), func(e *events.Element) bool {
		return held[e]
	})
	if _, n, ok := leading(head); len(head) == 0 || ok && !asks(head[n:]) {
		return nil // there is nothing but a summary, and what is pinned
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
	return j.put(head, text, mark)
}

// summaryText returns a summary as it is kept: behind an earlier one that is carried over, and
// with what persons asked and said about calls, which no author shortens.
func summaryText(d Draft, p Passage, carried string) string {
	if carried != "" {
		carried += "\n\n"
	}
	s := events.New(p.Events...)
	return carried + d.Text() + requestWords(s) + listen(s, p.Contents).words(s)
}

// maxRequest is how much of a request a summary repeats, in characters.
const maxRequest = 2000

// requestWords returns what persons asked in a stream, word for word.
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
	return "\n\nWhat the user asked, word for word:" + b.String()
}

func (j *job) sized() measureOptions {
	o := j.measureOptions()
	o.estimator = j.estimator
	return o
}

// passage returns what is to be summarized: the events as they were said, whatever was done to
// them since. Those that an earlier summary replaced are looked for; where they are gone, its
// text is carried over and not summarized again.
func (j *job) passage(limit int) (p Passage, mark Summary, carried string) {
	raw := eventsBefore(j.stream, limit)
	if !j.curated {
		whole := &job{Options: j.Options, stream: j.source}
		raw = eventsBefore(j.source, whole.closedTurns())
	}
	mark = Summary{Events: len(raw), Sum: digest(raw)}
	p = Passage{Contents: j.Contents, Live: j.stream == j.source && !overlaid(j.source)}
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

// original puts the events that a leading summary replaced in its place. Where they are gone,
// the summary is taken off and its text is returned, to be carried over.
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

// overlaid reports whether a model is given something else than what the stream says.
func overlaid(s *events.Stream) bool {
	for _, e := range s.All() {
		if e.Kind() == events.KindCompaction {
			return true
		}
	}
	return false
}

// leading returns the summary that events begin with, and how many events it takes.
func leading(elems []*events.Element) (s Summary, n int, ok bool) {
	for i, e := range elems {
		if s, ok := SummaryOf(e); ok {
			return s, i + 1, true
		}
		if i == 2 { // turn_start, request, response
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
	for _, e := range elems {
		if e.Kind() == events.KindChatRequest {
			return true
		}
	}
	return false
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

// draft asks for a summary, and once more where facts are missing.
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

// put replaces the head of the stream by a summary.
func (j *job) put(head []*events.Element, text string, mark Summary) error {
	v, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	at := head[len(head)-1].Time()
	if at.IsZero() {
		at = j.Now
	}
	none := events.Metadata{}
	lead := []*events.Element{
		events.NewElement(at, &events.TurnStart{}, none),
		events.NewElement(at, &events.ChatRequest{Content: events.SummaryRequest}, none),
		events.NewElement(at, &events.ChatResponse{Text: text},
			none.With(MetadataSummary, jsontext.Value(v))),
	}
	gone := map[*events.Element]bool{}
	for _, e := range head {
		gone[e] = true
	}
	for _, c := range j.stream.Calls() { // a result may come after the next question
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
	return nil
}

// opensWithout reports whether what is left begins with a turn of its own, or is nothing.
func opensWithout(s *events.Stream, gone map[*events.Element]bool) bool {
	for _, e := range s.All() {
		if e.Kind().IsEvent() && !gone[e] {
			return e.Kind() == events.KindTurnStart
		}
	}
	return true
}

// Add returns the sum of two exchanges.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Model: first(v.Model, u.Model),
	}
}
