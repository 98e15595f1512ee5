package compact

import (
	"maps"
	"slices"
	"time"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// A History is a conversation as it was sent, request by request.
type History struct {
	Sizes     []float64 // estimated tokens of each element
	Estimator Estimator // that estimated them
	Base      float64   // tokens before the first element: the system prompt and the tools
	Exchanges []Exchange
	Trims     []Trim
	Obsolete  []dedup.Superseded // what Trims are for, if known
	Window    float64
	Work      Work // on files
	// Current returns the tokens of a file as it is before an element, or false if that is unknown.
	// May be nil.
	Current func(key string, upto int) (tokens float64, ok bool)
	// Restored returns how many tokens more elements have once some of Trims, given by index, are
	// removed: references to those are replaced by content. May be nil.
	Restored func(gone []int) map[int]float64
	// Watch, if not nil, is called with the elements that are trimmed from a request that ends
	// before element upto, and the files that are attached to it.
	Watch func(upto int, gone []int, attached []string)
}

// An Exchange is one request.
type Exchange struct {
	At   time.Time
	Upto int // number of elements in it
}

// A Trim is an element that became obsolete.
type Trim struct {
	Element int
	By      int     // the element that made it obsolete
	Tokens  float64 // that are removed with it
	Stale   string  // the file that By changed, see [dedup.Superseded]
	Feeds   []Fed   // what refers to it
}

// A Provider is the actual behavior of a cache, whereas a [Market] holds the promised one.
type Provider struct {
	TTL     time.Duration
	Minimum float64
	Grain   float64
}

// Promised returns a provider that behaves exactly as the market promises.
func (m Market) Promised() Provider {
	return Provider{TTL: m.TTL, Minimum: float64(m.Minimum), Grain: float64(m.Grain)}
}

// A Cost is the cost of the input of a conversation.
type Cost struct {
	USD      float64 `json:"usd"`
	Units    float64 `json:"token_equivalents"` // in uncached tokens
	Calls    int     `json:"calls"`
	Rewrites int     `json:"rewrites"`
	Trimmed  int     `json:"trimmed"`
	Attached float64 `json:"tokens_attached"` // of files that were out of date
	Sent     float64 `json:"tokens_sent"`
}

// Replay computes the input cost of a history under a schedule. The part of each request that
// equals the beginning of the one before is read from the cache as long as it is kept; the rest is
// written. A cache hit extends to the first token that differs, which is the best that providers
// do.
func Replay(h History, s Schedule, m Market, p Provider) Cost {
	return replay(h, s, m, p, false)
}

// Bound computes a lower bound for all schedules: each request without the elements that are
// obsolete by then, as if they had never been sent. Content that others refer to is not sent again
// instead, and all that was sent before is read from the cache while that is kept, even if the
// prompt is too short to be cached. Because of either, a schedule may be unable to reach it.
//
// Content that is not obsolete counts as it is sent if nothing is trimmed. A schedule may be below
// that where it sends content in full instead of as a reference: later content may have more in
// common with it than with the copy before, or with one that is fewer turns back.
func Bound(h History, m Market, p Provider) Cost {
	h.Work, h.Current, h.Watch, h.Restored = Work{}, nil, nil, nil
	h.Trims = slices.Clone(h.Trims)
	for i := range h.Trims {
		h.Trims[i].Feeds = nil
	}
	p.Grain = 0
	return replay(h, Eager, m, p, true)
}

func replay(h History, s Schedule, m Market, p Provider, free bool) Cost {
	r := replayer{
		History: h, market: m, provider: p, sizes: slices.Clone(h.Sizes), free: free,
	}
	for n, t := range h.Trims {
		r.waiting = append(r.waiting, waiting{Trim: t, n: n})
	}
	r.add()
	for _, x := range h.Exchanges {
		r.exchange(x, s)
	}
	if m.Priced() {
		r.cost.USD = r.cost.Units * m.Input / million
	}
	return r.cost
}

type waiting struct {
	Trim
	n     int     // index in the history, -1 for a file that was attached since
	calls float64 // since it could be removed
}

type replayer struct {
	History
	market   Market
	provider Provider
	sizes    []float64       // of the elements, as they are sent now
	gone     []int           // removed trims of the history, by index
	more     map[int]float64 // tokens that elements gained when references became content
	upTo     []float64       // upTo[n]: tokens of the first n elements
	waiting  []waiting
	cost     Cost
	free     bool // rewriting costs nothing, and no prompt is too short to be cached
	last     *Exchange
	prompt   float64 // of the last request
}

// add computes the sums of the sizes.
func (r *replayer) add() {
	r.upTo = make([]float64, 1, len(r.sizes)+1)
	sum := 0.0
	for _, n := range r.sizes {
		sum += n
		r.upTo = append(r.upTo, sum)
	}
}

// exchange sends one request.
func (r *replayer) exchange(x Exchange, s Schedule) {
	x.Upto = min(x.Upto, len(r.sizes))
	p := Pending{
		Prompt: r.Base + r.upTo[x.Upto], Window: r.Window, Cold: r.cold(x), Sent: r.cost.Sent,
	}
	due := r.due(r.trims(), x.Upto, Moment{
		Opens:    r.last == nil || r.last.Upto < r.Work.turn(x.Upto, 0),
		Rewrites: p.Cold || p.Overflows(),
	})
	first := x.Upto
	for _, n := range due.trims {
		w := r.waiting[n]
		p.Tokens += w.Tokens
		p.Carried += w.Tokens * w.calls
		first = min(first, w.Element)
	}
	p.Tail = r.upTo[x.Upto] - r.upTo[first]
	same, more := x.Upto, r.more
	trim, _ := s.Decide(p, r.market)
	if trim { // so far, not counting content that is sent again
		more = r.moreWithout(due)
		p.comesBack(due, more, r.more, x.Upto)
		trim, _ = s.Decide(p, r.market)
	}
	if trim {
		if !r.free {
			same = first
		}
		r.apply(due, more, x.Upto)
	} else {
		for _, n := range due.trims {
			r.waiting[n].calls++
		}
	}
	prefix := r.Base
	if r.last != nil {
		prefix += r.upTo[min(r.last.Upto, same)]
	}
	total := r.Base + r.upTo[x.Upto]
	r.pay(x, total, prefix)
	r.last, r.prompt = &x, total
}

func (r *replayer) trims() []Trim {
	return lists.Map(r.waiting, func(w waiting) Trim { return w.Trim })
}

// moreWithout returns the additional tokens of elements once the due trims are removed too.
func (r *replayer) moreWithout(d due) map[int]float64 {
	gone := slices.Clone(r.gone)
	for _, n := range d.trims {
		if i := r.waiting[n].n; i >= 0 {
			gone = append(gone, i)
		}
	}
	if more := r.restored(gone); more != nil {
		return more
	}
	return r.more
}

// giveAgain applies additional tokens to the sizes of elements.
func (r *replayer) giveAgain(more map[int]float64) {
	for i, w := range r.waiting {
		r.waiting[i].Tokens += more[w.Element] - r.more[w.Element]
	}
	for i := range r.sizes {
		r.sizes[i] += more[i] - r.more[i]
	}
	r.more = more
}

// cold reports what the client knows of the cache: only what the provider promises.
func (r *replayer) cold(x Exchange) bool {
	return r.last == nil || r.market.Gone > 0 && x.At.Sub(r.last.At) > r.market.Gone
}

// apply removes the due elements from the prompt. A file that is attached instead is out of date
// when it is changed again.
func (r *replayer) apply(d due, more map[int]float64, upto int) {
	r.giveAgain(more)
	var gone []int
	for _, n := range d.trims {
		t := r.waiting[n].Trim
		if i := r.waiting[n].n; i >= 0 {
			r.gone = append(r.gone, i)
		}
		gone = append(gone, t.Element)
		r.sizes[t.Element] = max(r.sizes[t.Element]-t.Tokens, 0)
		r.cost.Trimmed++
	}
	for _, n := range slices.Backward(d.trims) {
		r.waiting = slices.Delete(r.waiting, n, n+1)
	}
	for i := range r.waiting { // what is gone refers to nothing
		r.waiting[i].Feeds = slices.DeleteFunc(slices.Clone(r.waiting[i].Feeds), func(f Fed) bool {
			return slices.Contains(gone, f.Element)
		})
	}
	for key, tokens := range d.attached {
		r.sizes[upto-1] += tokens
		r.cost.Attached += tokens
		if by, again := r.Work.nextWrite(key, upto); again {
			again := Trim{Element: upto - 1, By: by, Tokens: tokens, Stale: key}
			r.waiting = append(r.waiting, waiting{Trim: again, n: -1})
		}
	}
	if r.Watch != nil {
		r.Watch(upto, gone, slices.Sorted(maps.Keys(d.attached)))
	}
	r.cost.Rewrites++
	r.add()
}

// pay adds the cost of a request with total tokens. The first prefix tokens are those of the last
// request.
func (r *replayer) pay(x Exchange, total, prefix float64) {
	read, write := r.market.factors()
	hit := 0.0
	if r.last != nil && x.At.Sub(r.last.At) <= r.provider.TTL && r.market.Caches() {
		hit = min(prefix, r.prompt, total)
	}
	if hit < r.provider.Minimum && !r.free {
		hit = 0
	}
	rest := total - hit
	if total < r.provider.Minimum || !r.market.Caches() {
		write = 1
	}
	if g := r.provider.Grain; g > 0 && hit > 0 {
		hit = float64(int(hit/g)) * g
		rest = total - hit
	}
	r.cost.Units += read*hit + write*rest
	r.cost.Sent += total
	r.cost.Calls++
}

// HistoryOf reads the history of a stream. If it has no usage, each answer of the model counts as
// one request.
func HistoryOf(s *events.Stream, o ObsoleteOptions) (History, error) {
	mo := measureOptions{
		dedup: o.Dedup, contents: o.Contents, estimator: o.Estimator, known: o.Beside,
	}
	if o.Estimator.Scale == 0 {
		var err error
		if mo.estimator, err = Calibrate(s, mo); err != nil {
			return History{}, err
		}
	}
	m, err := measure(s, mo)
	if err != nil {
		return History{}, err
	}
	view := dedup.Trim(s.Project().Stream)
	o.Referents = true
	obsolete, err := Obsolete(view, o)
	if err != nil {
		return History{}, err
	}
	h := History{
		Exchanges: exchanges(view), Work: workOf(view, o), Estimator: mo.estimator,
		Base: mo.estimator.Base,
	}
	for _, z := range m.Element {
		h.Sizes = append(h.Sizes, z.Tokens)
	}
	plan, err := deliveries(view, o.Dedup, o.Contents)
	if err != nil {
		return History{}, err
	}
	fed := feeds(plan, mo.estimator)
	for _, f := range obsolete {
		stub := mo.estimator.tokens(SortOutput, minStub/2)
		n := mo.estimator.tokens(SortRead, obsoleteSize(view, plan, f)) - stub
		if n = min(n, h.Sizes[f.Element]); n > 0 {
			h.Trims = append(h.Trims, Trim{f.Element, f.By, n, f.Stale, fedBy(view, fed, f)})
			h.Obsolete = append(h.Obsolete, f)
		}
	}
	h.Restored = restoring(view, h.Obsolete, h.Trims, m, mo)
	return h, nil
}

// comesBack subtracts text that is attached or sent again from the removed text, for earlier
// requests as well.
func (p *Pending) comesBack(d due, more, before map[int]float64, upto int) {
	all := p.Tokens
	for _, tokens := range d.attached {
		p.Tokens -= tokens
	}
	for i, tokens := range more {
		if i < upto {
			p.Tokens -= tokens - before[i]
		}
	}
	if all > 0 {
		p.Carried *= max(p.Tokens, 0) / all
	}
}

// Pending returns the trims that are possible in the next request, and reduces the history's trims
// to these. Files that have to be attached instead are returned by key, with their tokens. opens
// reports whether the request opens a turn, and cold whether the provider has evicted the prompt.
func (h *History) Pending(opens, cold bool) (p Pending, attached map[string]float64) {
	p.Window, p.Cold, p.Prompt = h.Window, cold, h.Base
	upTo := []float64{h.Base}
	for _, n := range h.Sizes {
		p.Prompt += n
		upTo = append(upTo, p.Prompt)
	}
	first := len(h.Sizes)
	due := h.due(h.Trims, first, Moment{Opens: opens, Rewrites: cold || p.Overflows()})
	more := h.restored(due.trims)
	trims, obsolete := h.Trims, h.Obsolete
	h.Trims, h.Obsolete = nil, nil
	for _, n := range due.trims {
		t := trims[n]
		h.Trims, h.Obsolete = append(h.Trims, t), append(h.Obsolete, obsolete[n])
		p.Tokens += t.Tokens
		first = min(first, t.Element)
		for _, x := range h.Exchanges {
			if x.Upto > t.By {
				p.Carried += t.Tokens
			}
		}
	}
	p.comesBack(due, more, nil, len(h.Sizes))
	p.Tail = p.Prompt - upTo[first]
	for _, x := range h.Exchanges {
		p.Sent += upTo[x.Upto]
	}
	return p, due.attached
}

// exchanges returns the requests of a stream: one before each answer.
func exchanges(s *events.Stream) []Exchange {
	var all []Exchange
	said := false
	for i, e := range InOrder(s) {
		if !e.Kind().IsEvent() {
			continue
		}
		says := e.Kind() == events.KindChatResponse || e.Kind() == events.KindToolCallRequest
		if says && !said {
			all = append(all, Exchange{At: e.Time(), Upto: i})
		}
		if sent, ok := SentOf(e); ok && len(all) > 0 {
			all[len(all)-1].At = sent.At
		}
		said = says
	}
	return all
}
