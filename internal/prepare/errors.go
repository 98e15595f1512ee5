package prepare

import "fmt"

// An AskedError is a fault of the user's own options, as opposed to one of the objects that they
// name.
type AskedError struct{ err error }

// Error implements error.
func (e *AskedError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *AskedError) Unwrap() error { return e.err }

// askedf returns an AskedError.
func askedf(format string, args ...any) error {
	return &AskedError{fmt.Errorf(format, args...)}
}
