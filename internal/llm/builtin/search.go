package builtin

import (
	"context"
	"encoding/json"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// ID is the model's id.
const ID = "builtin/search"

// Options configure the model.
type Options struct {
	// Offer is a sentence that names a model to choose instead, if a key or a server was found; ""
	// for the general advice.
	Offer string
}

// A Model answers questions by searching.
type Model struct {
	o Options
}

// New returns the model.
func New(o Options) *Model { return &Model{o} }

// ID implements [llm.Model].
func (m *Model) ID() string { return ID }

// Describe implements [llm.Describer].
func (m *Model) Describe(context.Context) (llm.Info, error) {
	return llm.Info{ID: ID, Title: "Search without a language model", Tools: true}, nil
}

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		tell := func(d llm.Delta, err error) bool {
			if ctx.Err() != nil {
				yield(llm.Delta{}, context.Cause(ctx))
				return false
			}
			return yield(d, err)
		}
		s := newSearch(m.o, r)
		s.out = llm.NewAssembler(r, tell)
		s.run()
	}
}

// A search is one step of the loop. Its next calls depend on the calls since the question.
type search struct {
	o        Options
	request  *llm.Request
	out      *llm.Assembler
	question string
	words    []word
	defines  *regexp.Regexp // a line that defines something
	done     []step         // calls since the question, with their results
	calls    int            // in the whole conversation
	grep     string         // names of the tools, "" if not offered
	read     string
}

// A step is a call and its result.
type step struct {
	call   llm.Call
	result *llm.Result
}

func newSearch(o Options, r *llm.Request) *search {
	s := &search{o: o, request: r}
	for _, t := range r.Tools {
		switch {
		case strings.HasSuffix(t.Name, "grep_files"):
			s.grep = t.Name
		case strings.HasSuffix(t.Name, "read_file"):
			s.read = t.Name
		}
	}
	if r.Choice.Mode == llm.ChoiceNone {
		s.grep, s.read = "", ""
	}
	for _, m := range r.Messages {
		s.message(m)
	}
	s.words = words(s.question)
	s.defines = regexp.MustCompile(definition(s.words))
	return s
}

func (s *search) message(m llm.Message) {
	var said []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			said = append(said, p.Text)
		case llm.Call:
			s.calls++
			s.done = append(s.done, step{call: p})
		case llm.Result:
			s.answered(p)
		}
	}
	if m.Role == llm.RoleUser && len(said) > 0 {
		s.question, s.done = strings.Join(said, "\n"), nil
	}
}

func (s *search) answered(r llm.Result) {
	for i := range s.done {
		if s.done[i].result == nil && s.done[i].call.ID == r.CallID {
			s.done[i].result = &r
			return
		}
	}
}

func (s *search) run() {
	switch {
	case s.request.Schema != nil:
		s.fill()
	case len(s.words) > 0 && s.grep != "" && len(s.steps(s.grep)) == 0:
		s.ask(s.patterns())
	case s.read != "" && len(s.steps(s.read)) == 0 && len(s.passages()) > 0:
		s.ask(s.reads())
	default:
		s.answer()
	}
}

// steps returns the calls of a tool since the question.
func (s *search) steps(tool string) []step {
	return lists.Filter(s.done, func(st step) bool { return tool != "" && st.call.Name == tool })
}

// ask makes all calls at once.
func (s *search) ask(calls []llm.Call) {
	for i, c := range calls {
		id := "search_" + strconv.Itoa(s.calls+i+1)
		s.out.Start(i, llm.PartCall, id, c.Name)
		s.out.Append(i, string(c.Args))
		s.out.End(i)
	}
	s.out.Stop(llm.Stop{Reason: llm.StopTools})
}

// patterns returns searches for lines with two of the words, for definitions, and for each word
// alone, which shows which words are rare.
func (s *search) patterns() []llm.Call {
	var calls []llm.Call
	add := func(pattern string) {
		args := encoded(map[string]any{"pattern": pattern})
		calls = append(calls, llm.Call{Name: s.grep, Args: args})
	}
	if pairs := pairs(s.words); pairs != "" {
		add("(?i)" + pairs)
	}
	add(definition(s.words))
	for _, w := range s.words {
		add("(?i)" + w.pattern)
	}
	return calls
}

// reads returns calls that read the best passages, with some lines around.
func (s *search) reads() []llm.Call {
	return lists.Map(s.passages(), func(p passage) llm.Call {
		return llm.Call{Name: s.read, Args: encoded(map[string]any{
			"path": p.path, "start_line": p.from, "end_line": p.to,
		})}
	})
}

// encoded returns arguments as JSON, with sorted keys.
func encoded(args map[string]any) jsontext.Value {
	raw, err := json.Marshal(args)
	if err != nil { // cannot fail for strings and numbers
		return jsontext.Value("{}")
	}
	return jsontext.Value(raw)
}
