package llm

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// An APIError is an error of a provider, in an HTTP response or in the middle of a stream.
type APIError struct {
	Provider string
	Status   int    // 0 in the middle of a stream
	Type     string // the provider's name for it, such as "overloaded_error"
	Message  string
	// RetryAfter is how long the provider asked to wait, 0 if it did not.
	RetryAfter time.Duration
	Retryable  bool
}

// Error implements error.
func (e *APIError) Error() string {
	var b strings.Builder
	if e.Status != 0 {
		fmt.Fprintf(&b, "%s returned %d", e.Provider, e.Status)
	} else {
		fmt.Fprintf(&b, "%s returned an error", e.Provider)
	}
	if e.Type != "" {
		fmt.Fprintf(&b, " (%s)", oneLine(e.Type))
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", oneLine(e.Message))
	}
	if e.RetryAfter >= time.Minute { // for less, this program waits itself
		fmt.Fprintf(&b, "; it asks to wait %s", e.RetryAfter.Round(time.Second))
	}
	return b.String()
}

// Unauthorized reports whether the provider rejects the key.
func (e *APIError) Unauthorized() bool { return e.Status == http.StatusUnauthorized }

// NotFound reports whether the provider does not know the requested object, usually the model.
func (e *APIError) NotFound() bool { return e.Status == http.StatusNotFound }

// An OverflowError says that a request does not fit the model's window.
type OverflowError struct {
	Model  string
	Tokens int // of the request, 0 if unknown
	Limit  int // of the model, 0 if unknown
	Err    error
}

// Error implements error.
func (e *OverflowError) Error() string {
	s := "the conversation does not fit the window of " + e.Model
	if e.Tokens > 0 && e.Limit > 0 {
		s += fmt.Sprintf(": %d tokens of %d", e.Tokens, e.Limit)
	}
	return s
}

// Unwrap returns the cause.
func (e *OverflowError) Unwrap() error { return e.Err }

// A RefusalError says that the model refuses to answer. Streams report a refusal as [StopRefusal];
// the error is for callers that want an answer or an error.
type RefusalError struct {
	Model                 string
	Category, Explanation string
}

// Error implements error.
func (e *RefusalError) Error() string {
	s := e.Model + " refuses to answer"
	if e.Category != "" {
		s += " (" + e.Category + ")"
	}
	if e.Explanation != "" {
		s += ": " + e.Explanation
	}
	return s
}

// A WireError says that a provider sent data that is not in its own format.
type WireError struct {
	Provider string
	Err      error
}

// Error implements error.
func (e *WireError) Error() string {
	return fmt.Sprintf("%s: reading the answer: %v", e.Provider, e.Err)
}

// Unwrap returns the cause.
func (e *WireError) Unwrap() error { return e.Err }

// An UnsupportedError says that a model does not accept an input.
type UnsupportedError struct {
	Model string
	What  string // "images", "application/zip", …
	Name  string // of the attachment, "" if it has none
}

// Error implements error.
func (e *UnsupportedError) Error() string {
	s := e.Model + " does not accept " + e.What
	if e.Name != "" {
		s += ": " + e.Name
	}
	return s
}
