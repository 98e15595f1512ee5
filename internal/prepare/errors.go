package prepare

import "fmt"

// An AskedError says that what the user asked for makes no sense: its caller's words are wrong,
// not what they are about.
type AskedError struct{ err error }

// Error implements error.
func (e *AskedError) Error() string { return e.err.Error() }

// Unwrap returns the fault.
func (e *AskedError) Unwrap() error { return e.err }

// askedf makes an AskedError.
func askedf(format string, args ...any) error {
	return &AskedError{fmt.Errorf(format, args...)}
}
