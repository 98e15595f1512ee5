package llm

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"
)

// An Endpoint is the address and key by which an adapter reaches its provider. The caller, which
// decided that the two may be used together, sets them; adapters never look for either.
type Endpoint struct {
	// Provider is the first part of the model's id, and the name in errors.
	Provider string
	// Model is the name of the model that is asked, without the provider. The adapter sets it.
	Model   string
	BaseURL string
	Key     string
	// KeyHeader is the header of the key, "" for the format's default.
	KeyHeader string
	Client    *http.Client // from [wire.NewClient]
	Patience  Patience
	Retry     Retry
	Now       func() time.Time // for a Retry-After with a date; nil ignores those
	// UserAgent names this program, "" for the default of net/http.
	UserAgent string
}

// ID returns the id of one of the provider's models.
func (e Endpoint) ID(name string) string { return e.Provider + "/" + name }

// At returns the address of a path below the base URL. A query of the base URL, such as the version
// of a format, follows the path.
func (e Endpoint) At(path string) string {
	base, query, ok := strings.Cut(e.BaseURL, "?")
	base = strings.TrimRight(base, "/") + "/" + path
	if ok {
		base += "?" + query
	}
	return base
}

// Below returns an address with the path prefix of a format, which users write or leave out. An
// address with its version in the query gets no prefix.
func Below(address, prefix string) string {
	if strings.Contains(address, "?") {
		return address
	}
	address = strings.TrimRight(address, "/")
	if !strings.HasSuffix(address, "/v1") {
		address += prefix
	}
	return address
}

// Bearer returns the headers for a provider that accepts its key as a bearer token.
func (e Endpoint) Bearer() http.Header {
	h := http.Header{}
	switch {
	case e.Key != "" && e.KeyHeader != "":
		h.Set(e.KeyHeader, e.Key)
	case e.Key != "":
		h.Set("Authorization", "Bearer "+e.Key)
	}
	if e.UserAgent != "" {
		h.Set("User-Agent", e.UserAgent)
	}
	return h
}

// An Exchange sends a request, yields the deltas that it reads and returns the error. If unsigned
// is true, it sends nothing that the provider signed or encrypted.
type Exchange func(
	ctx context.Context, r *Request, unsigned bool, yield func(Delta, error) bool,
) error

// Attempt runs one exchange under the endpoint's retry policy until it is answered or the policy
// ends; ok is false once the consumer has stopped.
func (e Endpoint) Attempt(
	ctx context.Context, r *Request, yield func(Delta, error) bool,
	exchange func(ctx context.Context, yield func(Delta, error) bool) error,
) (failed error, ok bool) {
	attempt := func(ctx context.Context) iter.Seq2[Delta, error] {
		return func(yield func(Delta, error) bool) {
			if err := exchange(ctx, yield); err != nil {
				yield(Delta{}, err)
			}
		}
	}
	for d, err := range e.Retry.Stream(ctx, r, e.Patience.watch(e.Provider, attempt)) {
		if err != nil {
			return err, true
		}
		if !yield(d, nil) {
			return nil, false
		}
	}
	return nil, true
}

// Stream runs exchanges under the endpoint's retry policy, see [Retry.Stream]. If the provider
// refuses what it has signed itself, because a key or a model changed since, the request is sent
// again without it; the record does not change.
func (e Endpoint) Stream(
	ctx context.Context, r *Request, exchange Exchange,
) iter.Seq2[Delta, error] {
	attempt := func(ctx context.Context) iter.Seq2[Delta, error] {
		return func(yield func(Delta, error) bool) {
			said := false
			tell := func(d Delta, err error) bool {
				said = true
				return yield(d, err)
			}
			err := exchange(ctx, r, false, tell)
			if !said && SignatureRefused(err) {
				err = exchange(ctx, r, true, tell)
			}
			if err != nil {
				yield(Delta{}, err)
			}
		}
	}
	return e.Retry.Stream(ctx, r, e.Patience.watch(e.Provider, attempt))
}
