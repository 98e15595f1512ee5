package llm

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// An Endpoint is where and how an adapter reaches its provider. Keys and addresses come from
// whoever decided that they may be used together; adapters never look for either.
type Endpoint struct {
	// Provider is the first half of the model's id, and the name in errors.
	Provider string
	BaseURL  string
	Key      string
	Client   *http.Client // of [NewClient]
	Retry    Retry
	Now      func() time.Time // for a Retry-After that names a time; nil ignores those
	// UserAgent names this program, "" for the library's own.
	UserAgent string
	// Header are further headers, such as the name of an application or a beta.
	Header http.Header
}

// ID returns the id of one of the provider's models.
func (e Endpoint) ID(name string) string { return e.Provider + "/" + name }

// Bearer returns the headers of a provider that takes its key as a bearer token.
func (e Endpoint) Bearer() http.Header {
	h := e.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if e.Key != "" {
		h.Set("Authorization", "Bearer "+e.Key)
	}
	if e.UserAgent != "" {
		h.Set("User-Agent", e.UserAgent)
	}
	return h
}

// Stream runs exchanges under the endpoint's retry policy, see [Retry.Stream]. An exchange
// yields what it reads and returns what went wrong.
func (e Endpoint) Stream(
	ctx context.Context, exchange func(context.Context, func(Delta, error) bool) error,
) iter.Seq2[Delta, error] {
	return e.Retry.Stream(ctx, func(ctx context.Context) iter.Seq2[Delta, error] {
		return func(yield func(Delta, error) bool) {
			if err := exchange(ctx, yield); err != nil {
				yield(Delta{}, err)
			}
		}
	})
}
