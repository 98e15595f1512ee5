package anthropic

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/git-jp/git-jp/internal/llm"
)

// DefaultBaseURL is where Anthropic answers.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultContinue is how often an answer that was cut off is continued.
const DefaultContinue = 5

// Options are what is particular to Anthropic.
type Options struct {
	// Continue is how often an answer that was cut off at its limit is continued.
	Continue int
	// Betas are names of beta features, sent with every request.
	Betas []string
}

// A Model is one of Anthropic's. It implements [llm.Model], [llm.Describer] and
// [llm.Catalog].
type Model struct {
	name string
	at   llm.Endpoint
	o    Options
	sdk  sdk.Client
}

// New returns the model of this name, without the provider.
func New(name string, at llm.Endpoint, o Options) *Model {
	if at.Provider == "" {
		at.Provider = "anthropic"
	}
	if at.BaseURL == "" {
		at.BaseURL = DefaultBaseURL
	}
	return &Model{name: name, at: at, o: o, sdk: sdk.NewClient(clientOptions(at, o)...)}
}

func clientOptions(at llm.Endpoint, o Options) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(at.BaseURL),
		option.WithAPIKey(at.Key),
		option.WithHTTPClient(at.Client),
		option.WithMaxRetries(0),
	}
	if at.UserAgent != "" {
		opts = append(opts, option.WithHeader("User-Agent", at.UserAgent))
	}
	if len(o.Betas) > 0 {
		opts = append(opts, option.WithHeader("anthropic-beta", strings.Join(o.Betas, ",")))
	}
	for name, values := range at.Header {
		for _, v := range values {
			opts = append(opts, option.WithHeaderAdd(name, v))
		}
	}
	return opts
}

// ID implements [llm.Model].
func (m *Model) ID() string { return m.at.ID(m.name) }

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		newAnswer(m, r, yield).run(ctx)
	}
}

// send posts one body and returns the answer's, which the caller closes.
func (m *Model) send(ctx context.Context, b *built) (*http.Response, error) {
	var res *http.Response
	err := m.sdk.Post(ctx, "v1/messages", b.params, &res, b.options...)
	if err == nil && res.StatusCode == http.StatusOK {
		return res, nil
	}
	return nil, m.failure(res, err)
}

// failure returns what package llm calls an error of the library's.
func (m *Model) failure(res *http.Response, err error) error {
	var api *sdk.Error
	if errors.As(err, &api) && api.Response != nil {
		res, err = api.Response, nil
	}
	if err == nil && res != nil {
		return llm.ReadError(m.ID(), res, m.at.Now)
	}
	return err
}
