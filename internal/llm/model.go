package llm

import (
	"context"
	"errors"
	"iter"
	"strings"
)

// A Model answers requests.
type Model interface {
	// ID returns the model's id as it is spelled in configuration,
	// "anthropic/claude-sonnet-4-6".
	ID() string
	// Stream sends the request and returns what comes back, as it comes. The
	// sequence can be ranged over once. It ends after a [DeltaStop] or with an
	// error; breaking out of it or ending ctx closes the connection before it
	// returns. What the model does not take is an [*UnsupportedError] before
	// anything is sent, whatever became of ctx.
	Stream(ctx context.Context, r *Request) iter.Seq2[Delta, error]
}

// Takes returns an [*UnsupportedError] for a request that has something which the model does not
// take. Nothing is sent.
func Takes(m Model, r *Request) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range m.Stream(ctx, r) {
		if no, ok := errors.AsType[*UnsupportedError](err); ok {
			return no
		}
		break
	}
	return nil
}

// Info describes a model, as far as its provider or a table tells. A zero number is
// not known.
type Info struct {
	ID        string // with the provider
	Title     string
	Window    int // tokens of a whole request with its answer
	MaxOutput int // tokens of an answer
	Accepts   Inputs
	Reasoning bool
	Tools     bool
	Price     Price
}

// A Price is what a provider says that a model costs, in USD for a million tokens. What is zero is
// not known.
type Price struct {
	Input, Output, Read, Write float64
}

// Inputs says which media a model takes beside text.
type Inputs struct {
	Images, PDFs, Audio bool
}

// A Describer knows about its model more than its id. It may ask the provider.
type Describer interface {
	Describe(ctx context.Context) (Info, error)
}

// A Catalog lists what a provider offers.
type Catalog interface {
	Models(ctx context.Context) ([]Info, error)
}

// SplitID cuts a model's id into provider and name; ok is false when one of them is
// missing.
func SplitID(id string) (provider, name string, ok bool) {
	provider, name, ok = strings.Cut(id, "/")
	return provider, name, ok && provider != "" && name != ""
}
