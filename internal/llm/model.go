package llm

import (
	"context"
	"errors"
	"iter"
	"strings"
)

// A Model answers requests.
type Model interface {
	// ID returns the model's id as spelled in configuration, such as "anthropic/claude-sonnet-4-6".
	ID() string
	// Stream sends the request and returns the answer as it arrives. The sequence can be ranged
	// over once. It ends after a [DeltaStop] or with an error; breaking out of it or ending ctx
	// closes the connection before it returns. An input that the model does not accept is an
	// [*UnsupportedError] before anything is sent, even if ctx has ended.
	Stream(ctx context.Context, r *Request) iter.Seq2[Delta, error]
}

// Takes returns an [*UnsupportedError] if the request has an input that the model does not accept.
// It sends nothing.
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

// Info describes a model, as far as its provider or a table does. Zero means unknown.
type Info struct {
	ID        string // including the provider
	Title     string
	Window    int // tokens of a request with its answer
	MaxOutput int // tokens of an answer
	Accepts   Inputs
	Reasoning bool
	Tools     bool
	Price     Price
}

// A Price is a provider's price of a model, in USD per million tokens. Zero means unknown.
type Price struct {
	Input, Output, Read, Write float64
}

// Inputs are the media that a model accepts beside text.
type Inputs struct {
	Images, PDFs, Audio bool
}

// A Describer describes its model. It may ask the provider.
type Describer interface {
	Describe(ctx context.Context) (Info, error)
}

// A Catalog lists a provider's models.
type Catalog interface {
	Models(ctx context.Context) ([]Info, error)
}

// SplitID splits a model's id into provider and name; ok is false if one of them is missing.
func SplitID(id string) (provider, name string, ok bool) {
	provider, name, ok = strings.Cut(id, "/")
	return provider, name, ok && provider != "" && name != ""
}
