package llm

import (
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
