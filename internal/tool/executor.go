package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// Texts for models, in jp's words where jp has them.
const (
	textInterrupted   = "Tool call was interrupted."
	textSkipped       = "Tool skipped by user."
	textSkippedConfig = "Tool skipped by configuration."
	textNotDelivered  = "Result delivery skipped by configuration."
	textNobody        = "Tool '%s' was not run: it needs approval, and no user could be asked."
	textUnavailable   = "Tool '%s' is not available. Available tools: %s."
)

const (
	defaultGrace     = 5 * time.Second
	defaultParallel  = 8
	defaultSlowAfter = 2 * time.Minute
)

// An Item is a tool with its policy.
type Item struct {
	Tool   Tool
	Policy Policy
}

// Options of an Executor. The zero value is safe: it approves nothing.
type Options struct {
	Gate   Gate
	Limits Limits
	// Now is the clock by which the time of a call is paused while the user is asked. Without it,
	// each answer gives a call all of its time again.
	Now func() time.Time
	// Slow is called repeatedly for a call that takes long, with its time so far; it may be nil. It
	// may be called from several goroutines.
	Slow func(c Call, elapsed time.Duration)
	// SlowAfter is the interval of calls of Slow; zero is two minutes.
	SlowAfter time.Duration
	// Grace is how long a cancelled call may take to end; zero is 5 seconds.
	Grace time.Duration
	// Parallel is how many calls run at once; zero is 8.
	Parallel int
}

// An Executor runs calls of a set of tools.
type Executor struct {
	items   map[string]Item
	order   []string
	options Options
	gate    sync.Mutex      // one question at a time
	cleared map[string]bool // subjects that the user has approved
}

// NewExecutor returns an executor of these tools, in this order. Two tools of one name are an
// error.
func NewExecutor(items []Item, o Options) (*Executor, error) {
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	o.SlowAfter = cmp.Or(o.SlowAfter, defaultSlowAfter)
	o.Parallel = cmp.Or(o.Parallel, defaultParallel)
	x := &Executor{
		items: make(map[string]Item, len(items)), options: o, cleared: map[string]bool{},
	}
	for _, it := range items {
		name := it.Tool.Definition().Name
		if _, ok := x.items[name]; ok {
			return nil, fmt.Errorf("two tools have the name %q", name)
		}
		x.items[name] = it
		x.order = append(x.order, name)
	}
	return x, nil
}

// Definitions returns the definitions for models, in order.
func (x *Executor) Definitions() []Definition {
	return lists.Map(x.order, func(name string) Definition {
		return x.items[name].Tool.Definition()
	})
}

// An admitted is a call that may run, or one that may not, with its result.
type admitted struct {
	call   Call
	item   Item
	result *Result
	edited bool // a person edited the arguments
}

// admitOne prepares a call and decides whether it may run, which may ask the user. A call that may
// not run is no error: its result has the reason. An error comes from the Gate or from the context.
func (x *Executor) admitOne(ctx context.Context, c Call) (admitted, error) {
	it, ok := x.items[c.Name]
	if !ok {
		names := strings.Join(x.order, ", ")
		return refuse(c, Failed(fmt.Sprintf(textUnavailable, c.Name, names))), nil
	}
	def := it.Tool.Definition()
	args, err := def.Prepare(c.Arguments)
	if err != nil {
		return refuse(c, failure(err)), nil
	}
	c.Arguments = args
	_, cautious := it.Tool.(Cautious)
	switch {
	case it.Policy.Run == Skip:
		return refuse(c, OK(textSkippedConfig)), nil
	case it.Policy.Run == Unattended && !cautious:
		return admitted{call: c, item: it}, nil
	}
	x.gate.Lock()
	defer x.gate.Unlock()
	return x.ask(ctx, admitted{call: c, item: it}, it.Policy.Run != Unattended)
}

// ask asks for a call what its policy and its caution require. Edited arguments make it another
// call, whose caution is asked about again.
func (x *Executor) ask(ctx context.Context, a admitted, asked bool) (admitted, error) {
	c := a.call
	caution, err := x.caution(ctx, a)
	switch {
	case err != nil:
		return refuse(c, failure(err)), nil
	case !asked && caution.Subjects == nil:
		return a, nil
	case x.options.Gate == nil:
		return refuse(c, Failed(nobody(c, caution))), nil
	}
	r := a.item.request(c)
	r.Caution = caution
	d, err := x.options.Gate.Admit(ctx, r)
	if err != nil {
		return admitted{}, fmt.Errorf("ask about tool %q: %w", c.Name, err)
	}
	if !d.Run {
		d.Reply = cmp.Or(d.Reply, textSkipped)
		return refuse(c, OK(d.Reply).by(Refused)), nil
	}
	if d.Arguments != nil {
		a.edited = true
		if a.call.Arguments, err = a.item.Tool.Definition().Prepare(d.Arguments); err != nil {
			return refuse(c, failure(err).by(EditedArguments)), nil
		}
		return x.ask(ctx, a, false)
	}
	for _, subject := range caution.Subjects {
		x.cleared[subject] = true
	}
	return a, nil
}

// caution returns the caution of a call, with subjects only if one of them is not approved yet.
func (x *Executor) caution(ctx context.Context, a admitted) (Caution, error) {
	t, ok := a.item.Tool.(Cautious)
	if !ok {
		return Caution{}, nil
	}
	c, err := t.Caution(ctx, a.call)
	for _, subject := range c.Subjects {
		if !x.cleared[subject] {
			return c, err
		}
	}
	return Caution{Change: c.Change}, err
}

// nobody returns the text for a call that needs approval when no user can be asked.
func nobody(c Call, caution Caution) string {
	text := fmt.Sprintf(textNobody, c.Name)
	if caution.Subjects != nil {
		text += " " + strings.Join(caution.Subjects, ", ") + ": " + caution.Reason + "."
	}
	return text
}

func (it Item) request(c Call) Request {
	r := Request{Call: c, Policy: it.Policy}
	if f, ok := it.Tool.(Formatter); ok {
		r.Formatter = f
	}
	if renamed, ok := it.Tool.(Renamed); ok {
		r.Origin = renamed.Origin()
	}
	return r
}

func refuse(c Call, r Result) admitted { return admitted{call: c, result: &r} }

func failure(err error) Result {
	r := Failed(err.Error())
	r.Err = err
	return r
}

// Run runs calls and returns their results in the order of the calls: side by side, except that
// those of tools that change files run neither beside others nor out of order: another change may
// be of the same file, a command reads files while it runs, and the gate knows them as they were
// when it started. A call is admitted when those that it waits for have ended, so that whoever is
// asked sees the change of the file as it then is. Run calls arrived for each result as soon as it
// exists, from the goroutine of the caller, one at a time; an error of arrived cancels the other
// calls and is returned. When ctx ends, every call that was admitted or still waits gets a result,
// which says that it was interrupted.
func (x *Executor) Run(
	ctx context.Context, calls []Call, arrived func(i int, r Result) error,
) ([]Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limits := x.options.Limits.share(len(calls))
	results := make([]Result, len(calls))
	var firstErr error
	for from := 0; from < len(calls) && firstErr == nil; {
		to := from + x.beside(calls[from:])
		may, err := x.admit(ctx, calls[from:to], from > 0)
		if err != nil {
			return nil, err
		}
		x.together(ctx, may, limits, func(i int, r Result) {
			results[from+i] = r
			if arrived == nil || firstErr != nil {
				return
			}
			if firstErr = arrived(from+i, r); firstErr != nil {
				cancel()
			}
		})
		from = to
	}
	return results, firstErr
}

// beside returns how many calls, from the first one on, may run side by side.
func (x *Executor) beside(calls []Call) int {
	n := 1
	for n < len(calls) && !x.changes(calls[0]) && !x.changes(calls[n]) {
		n++
	}
	return n
}

// changes reports whether a call is one of a tool that changes files.
func (x *Executor) changes(c Call) bool {
	_, cautious := x.items[c.Name].Tool.(Cautious)
	return cautious
}

// admit admits calls one after the other. If they have waited, and the context has ended
// meanwhile, nobody is asked.
func (x *Executor) admit(ctx context.Context, calls []Call, waited bool) ([]admitted, error) {
	all := make([]admitted, len(calls))
	for i, c := range calls {
		if waited && ctx.Err() != nil {
			all[i] = refuse(c, admitted{item: x.items[c.Name]}.interrupted(ctx, Result{}))
			continue
		}
		a, err := x.admitOne(ctx, c)
		if err != nil {
			return nil, err
		}
		all[i] = a
	}
	return all, nil
}

// together runs calls side by side, and calls arrived for each result.
func (x *Executor) together(
	ctx context.Context, calls []admitted, limits Limits, arrived func(i int, r Result),
) {
	type indexed struct {
		index  int
		result Result
	}
	done := make(chan indexed, len(calls))
	slots := make(chan struct{}, x.options.Parallel)
	for i, a := range calls {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			done <- indexed{i, limits.Apply(x.one(ctx, a))}
		}()
	}
	for range calls {
		d := <-done
		arrived(d.index, d.result)
	}
}

// one runs one call and returns its result.
func (x *Executor) one(ctx context.Context, a admitted) Result {
	if a.result != nil {
		return *a.result
	}
	r := x.bounded(ctx, a)
	if a.edited && r.Person.Did == "" {
		r = r.by(EditedArguments)
	}
	if a.edited {
		r.Person.Arguments = a.call.Arguments
	}
	switch a.item.Policy.Result {
	case Skip:
		return OK(textNotDelivered)
	case Ask, Edit:
		return x.deliver(ctx, a, r)
	}
	return r
}

func (x *Executor) deliver(ctx context.Context, a admitted, r Result) Result {
	if x.options.Gate == nil {
		return Failed(fmt.Sprintf("The result of tool '%s' was not delivered: "+
			"it needs approval, and no user could be asked.", a.call.Name))
	}
	if ctx.Err() != nil {
		return r // interrupted: there is nothing to deliver or to ask
	}
	x.gate.Lock()
	defer x.gate.Unlock()
	r, err := x.options.Gate.Deliver(ctx, a.item.request(a.call), r)
	if err != nil {
		return failure(fmt.Errorf("result of tool %q: %w", a.call.Name, err))
	}
	return r
}

// bounded runs a call, and abandons it if it does not end.
func (x *Executor) bounded(ctx context.Context, a admitted) Result {
	run, b := newBudget(ctx, a.item.Policy.Timeout, x.options.Now)
	defer b.end()
	if run.Err() != nil {
		return a.interrupted(ctx, Result{})
	}
	if a.call.Asker != nil {
		a.call.Asker = asking{a.call.Asker, b}
	}
	ended := make(chan Result, 1)
	go func() { ended <- a.run(run) }()
	r := x.await(run, b, a.call, ended)
	switch {
	case r.Err == nil || run.Err() == nil:
		return r
	case ctx.Err() != nil:
		return a.interrupted(ctx, r)
	}
	return a.timedOut(r)
}

// await returns the result of a running call, or only the error of its context if it does not end
// in time.
func (x *Executor) await(
	run context.Context, b *budget, c Call, ended <-chan Result,
) Result {
	slow := time.NewTicker(x.options.SlowAfter)
	defer slow.Stop()
	for elapsed := x.options.SlowAfter; ; elapsed += x.options.SlowAfter {
		select {
		case r := <-ended:
			return r
		case <-slow.C:
			if x.options.Slow != nil && !b.isWaiting() {
				x.options.Slow(c, elapsed)
			}
			continue
		case <-run.Done():
		}
		select {
		case r := <-ended:
			return r
		case <-time.After(x.options.Grace):
			return Result{Err: run.Err()}
		}
	}
}

// run runs a call and turns errors and panics into results.
func (a admitted) run(ctx context.Context) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = Failed(fmt.Sprintf("Tool '%s' crashed: %v", a.call.Name, p))
			r.Err = fmt.Errorf("tool %q panicked: %v\n%s", a.call.Name, p, debug.Stack())
		}
	}()
	r, err := a.item.Tool.Run(ctx, a.call)
	if err == nil {
		return r
	}
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		r.Blocks = append(r.Blocks, Text(err.Error()))
	}
	r.IsError, r.Err = true, err
	return r
}

func (a admitted) interrupted(ctx context.Context, r Result) Result {
	text, did := textInterrupted, Deed("")
	var c *Cancelled
	switch {
	case errors.As(context.Cause(ctx), &c) && c.Reply != "":
		did = Replied
		text = "Tool call was interrupted by the user, who says: " + c.Reply
	case a.item.Policy.Cancelled != "":
		text = a.item.Policy.Cancelled
	}
	return r.stopped(text, context.Cause(ctx)).by(did)
}

func (a admitted) timedOut(r Result) Result {
	return r.stopped(fmt.Sprintf("Tool '%s' did not end within %s and was stopped.", a.call.Name,
		a.item.Policy.Timeout), r.Err)
}

// stopped returns the result of a call that was stopped: why, then what it had until then.
func (r Result) stopped(why string, err error) Result {
	return Result{Blocks: append([]events.Block{Text(why)}, r.Blocks...), IsError: true, Err: err}
}
