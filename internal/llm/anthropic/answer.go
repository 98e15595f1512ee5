package anthropic

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// chainDirective asks for the rest of an answer that was cut off. The wording is jp's: the pieces
// are joined at the repetition.
const chainDirective = "Please continue from where you left off. DO NOT reason or mention being " +
	"asked to continue the conversation, just do it. YOU MUST repeat between 10 and 100 " +
	"characters from the end of the previous message, so that our system can find the correct " +
	"merge point between the two messages."

// An answer is the answer to one request, in one exchange or, if the model was cut off, in several.
type answer struct {
	model     *Model
	request   *llm.Request
	yield     func(llm.Delta, error) bool
	names     *llm.Names
	tell      func(llm.Delta, error) bool // receives the assembler's deltas
	assembler *llm.Assembler

	unsigned  bool          // a signature was refused
	before    []llm.Message // messages of the earlier exchanges
	n         int           // number of earlier exchanges
	continued int           // how many of them were cut off
	asked     bool          // the last request could not force a tool, only ask for one in words
	insisted  int           // how often the model did not follow that
	longest   int           // maximum tokens of an answer, if the provider had to be asked; else 0
	paused    int           // how often the provider paused its own work
	joins     bool          // the next exchange continues the text of the last
	last      *reader       // of the exchange that ended last
}

func newAnswer(m *Model, r *llm.Request, yield func(llm.Delta, error) bool) *answer {
	var taken []string
	if r.Params.Services.Searches() {
		taken = []string{searchTool}
	}
	a := &answer{
		model: m, request: r, yield: yield, tell: yield,
		names: llm.NewNames(r.Tools, nameRule(), taken...),
	}
	a.assembler = llm.NewAssembler(r, func(d llm.Delta, err error) bool { return a.tell(d, err) })
	return a
}

func (a *answer) run(ctx context.Context) {
	if a.request.Params.MaxTokens == 0 && traitOf(a.model.name).guessed {
		a.longest = a.model.longest(ctx)
	}
	for {
		b, err := a.build()
		if err != nil {
			a.yield(llm.Delta{}, err)
			return
		}
		exchange := func(ctx context.Context, yield func(llm.Delta, error) bool) error {
			return a.exchange(ctx, b, yield)
		}
		err, ok := a.model.at.Attempt(ctx, a.request, a.yield, exchange)
		switch {
		case !ok:
			return
		case err != nil && !a.unsigned && llm.SignatureRefused(err):
			a.unsigned = true
		case err != nil:
			a.yield(llm.Delta{}, err)
			return
		case a.again(), a.resume(), a.insist():
			if err := a.afford(); err != nil {
				a.yield(llm.Delta{}, err)
				return
			}
		default:
			a.tell = a.yield
			a.assembler.Stop(a.last.stop)
			return
		}
	}
}

// afford asks for the money for another exchange, if that is limited.
func (a *answer) afford() error {
	if a.request.Afford == nil {
		return nil
	}
	next := *a.request
	next.Messages = a.messages()
	err := next.Afford(&next)
	next.Messages = a.request.Messages
	a.request = &next
	return err
}

// messages returns those of the request, and of the exchanges so far.
func (a *answer) messages() []llm.Message { return slices.Concat(a.request.Messages, a.before) }

func (a *answer) build() (*built, error) {
	b := &builder{
		model: a.model.ID(), name: a.model.name, trait: traitOf(a.model.name), request: a.request,
		messages: a.messages(),
		names:    a.names, unsigned: a.unsigned, insisted: a.insisted,
	}
	if a.longest > 0 {
		b.trait.output = a.longest
	}
	out, err := b.build()
	if err == nil {
		a.asked = b.asked
	}
	return out, err
}

// exchange sends one body and reads what answers it.
func (a *answer) exchange(
	ctx context.Context, b *built, yield func(llm.Delta, error) bool,
) error {
	return a.model.send(ctx, b, func(body io.Reader) error {
		a.tell = yield
		x := newReader(a)
		if err := a.assembler.Broken(x.read(body)); err != nil {
			return err
		}
		x.tell()
		a.assembler.Settle()
		a.last = x
		return nil
	})
}

// again reports whether the answer continues in another exchange, and prepares for it. Only text is
// joined: a partial call or a partial JSON value cannot be continued. What a limit of money cut off
// is left to the caller.
func (a *answer) again() bool {
	x := a.last
	if x.stop.Reason != llm.StopMaxTokens || a.continued >= a.model.o.Continue ||
		!x.endsInText() || a.request.Afford != nil {
		return false
	}
	a.continued++
	a.joins = true
	a.assembler.Keep(x.pending)
	a.goOn(chainDirective)
	return true
}

// maxPaused limits how often an answer is resumed.
const maxPaused = 10

// resume reports whether the provider paused during its own work, and prepares a request that sends
// that work back unchanged, upon which the provider continues.
// https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
func (a *answer) resume() bool {
	x := a.last
	stopped := x.stop.Native == "pause_turn" || x.stop.Native == "compaction"
	if !stopped || a.paused >= maxPaused || len(x.all) == 0 {
		return false
	}
	if !goesOn(x.all[len(x.all)-1]) {
		return false
	}
	a.paused++
	a.n++
	a.joins = false
	a.assembler.KeepSaid()
	a.before = append(a.before, llm.Message{
		Role: llm.RoleAssistant, Parts: x.all, Model: a.model.ID(),
	})
	return true
}

// goesOn reports whether the provider can continue an answer that ends with this part: a block of
// its own work. Unknown blocks are not such work, and the provider requires a user's message after
// them.
func goesOn(p llm.Part) bool {
	own, ok := p.(llm.Opaque)
	var head struct {
		Type string `json:"type"`
	}
	if !ok || json.Unmarshal(own.JSON, &head) != nil {
		return false
	}
	switch head.Type {
	case "server_tool_use", "mcp_tool_use", "compaction":
		return true
	default:
		return strings.HasSuffix(head.Type, "_tool_result")
	}
}

// maxInsisted limits how often a model is asked again in words only.
const maxInsisted = 2

// insist reports whether the model is asked once more for the required call that it did not make,
// and prepares for it: without thinking, so that the call can be forced. A model that always thinks
// is asked in words.
func (a *answer) insist() bool {
	limit := 1
	if traitOf(a.model.name).alwaysThinks {
		limit = maxInsisted
	}
	if !a.asked || a.last.stop.Reason != llm.StopEnd || a.insisted >= limit {
		return false
	}
	a.insisted++
	a.joins = false
	a.assembler.KeepSaid()
	nudge := "You have not called a tool. Call one now."
	if c := a.request.Choice; c.Mode == llm.ChoiceTool {
		nudge = "You have not called the tool " + a.names.Wire(c.Name) + ". Call it now."
	}
	a.goOn(nudge)
	return true
}

// goOn appends the answer so far to the next request, followed by a directive.
func (a *answer) goOn(directive string) {
	a.n++
	if len(a.last.said) > 0 {
		a.before = append(a.before, llm.Message{
			Role: llm.RoleAssistant, Parts: a.last.said, Model: a.model.ID(),
		})
	}
	a.before = append(a.before, llm.Message{
		Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: directive}},
	})
}
