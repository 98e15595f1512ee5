package tool

import (
	"context"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Tool is something that a model can call.
type Tool interface {
	// Definition says what a model is told of the tool. It does not change.
	Definition() Definition
	// Run makes the call. Its arguments are complete: defaults are filled in. An error
	// becomes a result that says it; a result beside an error is kept before it. Run
	// returns soon after ctx is done.
	Run(ctx context.Context, c Call) (Result, error)
}

// A Formatter is a tool that shows its arguments to a person in a form of its own.
type Formatter interface {
	FormatArguments(ctx context.Context, c Call) (string, error)
}

// A Cautious tool has calls that somebody is asked about whatever its policy says.
type Cautious interface {
	// Caution says what there is to ask about a call. A call for which it gives an error
	// does not run: what cannot be shown is not done.
	Caution(ctx context.Context, c Call) (Caution, error)
}

// A Caution is what a person should see of a call before it runs. The zero value is nothing.
type Caution struct {
	Subjects []string // what is touched, by name; each is asked about once
	Reason   string   // why that is asked, behind the subjects
	Change   string   // what the call would do to files, as a patch
}

// A Definition is what a model is told of a tool. Summary and Schema go with every
// request; the rest is told on demand, by describe_tools.
type Definition struct {
	Name        string
	Summary     string
	Description string
	Examples    string
	Parameters  []Parameter
	// Schema is the JSON Schema of the arguments, an object.
	Schema jsontext.Value
	// Open says that arguments which the schema does not name are the tool's business.
	Open bool
}

// Brief returns what goes with the schema: the summary, else the description.
func (d Definition) Brief() string {
	if d.Summary != "" {
		return d.Summary
	}
	return d.Description
}

// A Call is one call of a tool.
type Call struct {
	ID        string // not unique in a stream
	Name      string
	Arguments jsontext.Value // an object
	// Asker answers what the tool asks. Nil answers nothing.
	Asker Asker
}

// A Result is what a call gives.
type Result struct {
	Blocks  []events.Block
	IsError bool
	// Err is why the call failed, for the caller; a model is given Blocks alone.
	Err error
	// Person says what a person did about the call, for the record.
	Person Person
}

// A Person says what a person did about a call. The zero value is nothing, or a bare yes.
type Person struct {
	Did       Deed
	Arguments jsontext.Value // those that were run, of [EditedArguments]
}

// A Deed is what a person did about a call.
type Deed string

// The deeds, as the stream spells them.
const (
	Refused         Deed = "refused"
	Replied         Deed = "replied" // interrupted the call, and said something
	Withheld        Deed = "withheld"
	EditedArguments Deed = "edited-arguments"
	EditedResult    Deed = "edited-result"
)

// by returns r as what came of a deed.
func (r Result) by(did Deed) Result {
	r.Person.Did = did
	return r
}

// Text returns a block of text.
func Text(s string) events.Block {
	return events.Block{Type: events.BlockText, Content: blobs.Loaded([]byte(s))}
}

// Resource returns a block that is a resource.
func Resource(r events.Resource) events.Block {
	return events.Block{Type: events.BlockResource, Resource: &r}
}

// OK returns a result of one text.
func OK(s string) Result { return Result{Blocks: []events.Block{Text(s)}} }

// Failed returns a result that says what went wrong.
func Failed(s string) Result { return Result{Blocks: []events.Block{Text(s)}, IsError: true} }

// An Asker answers the questions of tools: from a person, or from a model.
type Asker interface {
	// Ask returns the answer as JSON of the question's type.
	Ask(ctx context.Context, q Question) (jsontext.Value, error)
}

// A Question is something that a tool must know before it can go on.
type Question struct {
	Tool, Call string // name of the tool, id of the call
	ID         string // of the question, within the tool
	Text       string
	Preamble   string // to show before the text, may be empty
	Type       AnswerType
	Options    []string       // of AnswerSelect
	Default    jsontext.Value // nil when there is none
	// Target says who is to answer, as the tool's configuration has it: "user",
	// "assistant", an object with settings for the assistant, or nil.
	Target jsontext.Value
}

// AnswerType is the kind of answer that a question wants.
type AnswerType string

// The types of answers, as the stream spells them.
const (
	AnswerBoolean AnswerType = "boolean"
	AnswerSelect  AnswerType = "select"
	AnswerText    AnswerType = "text"
)
