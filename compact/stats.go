package compact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Share is the share that something has in a conversation.
type Share struct {
	Name   string  `json:"name"`
	Count  int     `json:"count"`
	Bytes  int64   `json:"bytes"`
	Tokens float64 `json:"estimated_tokens"`
}

// Stats describes where the tokens of a conversation are, and the possible savings.
type Stats struct {
	Events  int     `json:"events"`
	Bytes   int64   `json:"bytes"`
	Tokens  float64 `json:"estimated_tokens"`
	Error   float64 `json:"estimate_error"`
	Samples int     `json:"estimate_samples"`

	Sorts []Share `json:"sorts"`
	Tools []Share `json:"tools"`
	Turns []Share `json:"turns"`
	// Sent lists the text in the next request that replaces content that the model was given
	// before.
	Sent []Share `json:"sent"`
	// Waste lists the content that a model is given twice or without use: see [Survey].
	Waste []Share `json:"waste"`
	// Strategies lists what each strategy would save alone.
	Strategies []Share `json:"strategies"`
}

// Survey examines a stream and changes nothing. It counts the waste in results as
//
//   - "exact duplicates": the same content of the same thing occurred before;
//   - "same content": any result had it before;
//   - "repeated lines": runs of lines of at least 300 bytes that occurred before;
//   - "superseded": a later result has all of it;
//   - "stale reads": files that were read and then written;
//   - "failed calls".
//
// One result may be in several categories.
func Survey(ctx context.Context, s *events.Stream, o Options) (Stats, error) {
	j := &job{Options: o.withDefaults(), source: s, stream: s}
	err := j.begin()
	if err != nil {
		return Stats{}, err
	}
	out := Stats{
		Events: j.first.Events, Bytes: j.first.Bytes, Tokens: j.first.Tokens,
		Error: j.estimator.Whole, Samples: j.estimator.Samples,
		Sorts: []Share{}, Tools: []Share{}, Turns: []Share{}, Strategies: []Share{},
	}
	for _, sort := range Sorts() {
		if z := j.first.BySort[sort]; z.Bytes > 0 || z.Tokens >= 1 {
			out.Sorts = append(out.Sorts, share(string(sort), z))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.first.Tools)) {
		out.Tools = append(out.Tools, share(name, j.first.Tools[name]))
	}
	slices.SortStableFunc(out.Tools, func(a, b Share) int { return int(b.Bytes - a.Bytes) })
	for n, z := range j.first.Turns {
		out.Turns = append(out.Turns, share(fmt.Sprint(n+1), z))
	}
	if out.Sent, err = j.sent(); err != nil {
		return Stats{}, err
	}
	out.Waste = j.viewed().waste()
	for _, name := range append(Mechanical(), Summarize) {
		o.Strategies, o.Summarizer, o.Confirm = []string{name}, nil, nil
		r, err := Run(ctx, s, o)
		if err != nil {
			return Stats{}, err
		}
		rep := r.Report
		out.Strategies = append(out.Strategies, Share{
			Name: name, Count: rep.EventsRemoved, Bytes: rep.BytesBefore - rep.BytesAfter,
			Tokens: rep.TokensSaved,
		})
	}
	return out, nil
}

// viewed returns a job for the stream that a model is given, so that all shares are of the same
// stream.
func (j *job) viewed() *job {
	var given []*events.Element
	for _, e := range dedup.Trim(j.stream.Project().Stream).All() {
		if e.Kind() != events.KindCompaction { // it was applied
			given = append(given, e)
		}
	}
	s := events.New(given...)
	return &job{Options: j.Options, source: s, stream: s, estimator: j.estimator}
}

// sent counts content that is not sent again, with the bytes that are saved, and content that is
// sent again because the model asked once more.
func (j *job) sent() ([]Share, error) {
	plan, err := deliveries(dedup.Trim(j.stream.Project().Stream), j.Dedup, j.Contents)
	if err != nil {
		return nil, err
	}
	forms := map[dedup.Form]*Share{
		dedup.Reference: {Name: "sent as a reference"},
		dedup.Lines:     {Name: "sent as its new lines"},
	}
	for _, d := range plan.All() {
		forms[d.Form].Count++
		forms[d.Form].Bytes += d.Saved
	}
	count, bytes := plan.Again()
	all := []Share{
		*forms[dedup.Reference], *forms[dedup.Lines],
		{Name: "sent again when asked for again", Count: count, Bytes: bytes},
	}
	for i := range all {
		all[i].Tokens = j.estimator.tokens(SortRead, all[i].Bytes)
	}
	return all, nil
}

func share(name string, z Size) Share {
	return Share{Name: name, Count: z.Events, Bytes: z.Bytes, Tokens: z.Tokens}
}

// leastDuplicate is the size from which a duplicate counts.
const leastDuplicate = 300

// A waster goes through the results of a stream once.
type waster struct {
	job    *job
	seen   map[blobs.Hash]bool            // content
	whole  map[string]bool                // content of one thing
	lines  map[string]map[blobs.Hash]bool // lines of one thing
	reads  map[string][]int64             // sizes of reads of a file that was not written since
	shares map[string]*Share
}

const (
	wasteExact, wasteSame   = "exact duplicates", "same content"
	wasteLines, wasteFailed = "repeated lines", "failed calls"
	wasteStale, wasteSuper  = "stale reads", "superseded"
)

// waste finds content that a model has twice or that is of no use to it.
func (j *job) waste() []Share {
	w := &waster{
		job: j, seen: map[blobs.Hash]bool{}, whole: map[string]bool{},
		lines: map[string]map[blobs.Hash]bool{}, reads: map[string][]int64{},
		shares: map[string]*Share{},
	}
	names := []string{wasteExact, wasteSame, wasteLines, wasteSuper, wasteStale, wasteFailed}
	for _, n := range names {
		w.shares[n] = &Share{Name: n}
	}
	for _, c := range j.stream.Calls() {
		if !c.Open() {
			w.call(j.invocation(c))
		}
	}
	for _, f := range dedup.FindSuperseded(j.stream, j.search(listen(j.stream, j.Contents))) {
		if r, ok := j.stream.At(f.Element).Event().(*events.ToolCallResponse); ok {
			w.add(wasteSuper, SizeOf(r))
		}
	}
	return lists.Map(names, func(n string) Share { return *w.shares[n] })
}

func (w *waster) add(name string, bytes int64) {
	s := w.shares[name]
	s.Count++
	s.Bytes += bytes
	s.Tokens += w.job.estimator.tokens(SortRead, bytes)
}

func (w *waster) call(in dedup.Invocation) {
	size := SizeOf(in.Result)
	if in.Result.IsError {
		w.add(wasteFailed, size)
		return
	}
	name, ok := dedup.FileOf(in)
	if args := string(in.Arguments); ok && writes(in.Tool) && args != "" {
		for _, n := range w.reads[name] {
			w.add(wasteStale, n)
		}
		delete(w.reads, name)
		return
	}
	if ok && reads(in.Tool) {
		w.reads[name] = append(w.reads[name], size)
	}
	thing, part := in.Tool+" "+string(in.Arguments), ""
	if claims, understood := dedup.Rules()[ioContent].Read(in); understood && len(claims) == 1 {
		thing, part = claims[0].Key, fmt.Sprint(" ", claims[0].First, " ", claims[0].Last)
	}
	text, err := in.Result.Text(w.job.Contents)
	if err != nil || size < leastDuplicate {
		return
	}
	sum := blobs.Sum([]byte(text))
	exact := fmt.Sprint(thing, part, " ", sum)
	if w.whole[exact] {
		w.add(wasteExact, size)
	}
	if w.seen[sum] {
		w.add(wasteSame, size)
	}
	w.whole[exact], w.seen[sum] = true, true
	if n := w.repeatedLines(thing, text); n > 0 {
		w.add(wasteLines, n)
	}
}

// repeatedLines returns how many bytes of a text are in runs of lines that the same thing had
// before, and records its lines.
func (w *waster) repeatedLines(thing, text string) (total int64) {
	known := w.lines[thing]
	if known == nil {
		known = map[blobs.Hash]bool{}
		w.lines[thing] = known
	}
	var run int64
	end := func() {
		if run >= leastDuplicate {
			total += run
		}
		run = 0
	}
	var fresh []blobs.Hash
	for line := range strings.Lines(text) {
		h := blobs.Sum([]byte(line))
		if known[h] {
			run += int64(len(line))
			continue
		}
		end()
		fresh = append(fresh, h)
	}
	end()
	for _, h := range fresh {
		known[h] = true
	}
	return total
}
