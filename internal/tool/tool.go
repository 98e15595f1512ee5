package tool

import (
	"cmp"
	"context"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Tool can be called by a model.
type Tool interface {
	// Definition returns the description for models. It does not change.
	Definition() Definition
	// Run runs the call. Its arguments are complete, with defaults. An error becomes a result with
	// its text; a result returned with an error is kept before it. Run returns soon after ctx ends.
	Run(ctx context.Context, c Call) (Result, error)
}

// A Formatter is a tool with its own format of arguments for users.
type Formatter interface {
	FormatArguments(ctx context.Context, c Call) (string, error)
}

// A Renamed tool has the name that a configuration gave it.
type Renamed interface {
	// Origin says what the tool is where it comes from, "" if that has the same name.
	Origin() string
}

// A Cautious tool has calls that the user is asked about whatever its policy says.
type Cautious interface {
	// Caution returns what the user must know of a call. If it fails, the call does not run: a
	// change that cannot be shown is not made.
	Caution(ctx context.Context, c Call) (Caution, error)
}

// A Caution is what the user should see of a call before it runs. The zero value is nothing.
type Caution struct {
	Subjects []string // names of what the call touches; each is asked about once
	Reason   string   // why the user is asked, shown after the subjects
	Change   string   // effect of the call on files, as a patch
}

// A Definition describes a tool to models. Summary and Schema are in every request; the rest is
// returned on demand, by describe_tools.
type Definition struct {
	Name        string
	Summary     string
	Description string
	Examples    string
	Parameters  []Parameter
	// Schema is the JSON Schema of the arguments, an object.
	Schema jsontext.Value
	// Open says that the tool accepts arguments that the schema does not name.
	Open bool
}

// Brief returns the description beside the schema: the summary, else the description.
func (d Definition) Brief() string {
	return cmp.Or(d.Summary, d.Description)
}

// A Call is one call of a tool.
type Call struct {
	ID        string // not unique in a stream
	Name      string
	Arguments jsontext.Value // an object
	// Asker answers the tool's questions. It may be nil.
	Asker Asker
}

// A Result is the result of a call.
type Result struct {
	Blocks  []events.Block
	IsError bool
	// Err is why the call failed, for the caller; a model gets Blocks only.
	Err error
	// Person is the user's decision about the call, for the record.
	Person Person
}

// A Person is the user's decision about a call. The zero value means none, or a plain approval.
type Person struct {
	Did       Deed
	Arguments jsontext.Value // those that ran, for [EditedArguments]
}

// A Deed is the kind of a decision.
type Deed string

// The deeds, as the stream spells them.
const (
	Refused         Deed = "refused"
	Replied         Deed = "replied" // interrupted the call with a reply
	Withheld        Deed = "withheld"
	EditedArguments Deed = "edited-arguments"
	EditedResult    Deed = "edited-result"
)

// by returns r with the user's decision.
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

// OK returns a result with one text.
func OK(s string) Result { return Result{Blocks: []events.Block{Text(s)}} }

// Failed returns an error result with a text.
func Failed(s string) Result { return Result{Blocks: []events.Block{Text(s)}, IsError: true} }

// An Asker lets the user or a model answer the questions of tools.
type Asker interface {
	// Ask returns the answer as JSON of the question's type.
	Ask(ctx context.Context, q Question) (jsontext.Value, error)
}

// A Question is a question that a tool must have answered to continue.
type Question struct {
	Tool, Call string // name of the tool, id of the call
	ID         string // of the question, within the tool
	Text       string
	Preamble   string // shown before the text, may be empty
	Type       AnswerType
	Options    []string       // for AnswerSelect
	Default    jsontext.Value // nil if there is none
	// Target is who answers, by the tool's configuration: "user", "assistant", an object with
	// settings for the assistant, or nil.
	Target jsontext.Value
}

// AnswerType is the type of an answer.
type AnswerType string

// The types of answers, as the stream spells them.
const (
	AnswerBoolean AnswerType = "boolean"
	AnswerSelect  AnswerType = "select"
	AnswerText    AnswerType = "text"
)
