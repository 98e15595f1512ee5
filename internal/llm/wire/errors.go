package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// An UnreachableError says that no connection could be made, or that the server does not speak
// HTTP. The same request would fail again.
type UnreachableError struct {
	Provider string
	Address  string        // without user and query
	Err      error         // of package net, net/http or crypto/tls
	Within   time.Duration // the limit, if Err is a time-out
}

// Error implements error.
func (e *UnreachableError) Error() string {
	why := reason(e.Err)
	if timeout, ok := errors.AsType[net.Error](e.Err); ok && timeout.Timeout() {
		why = "no connection within " + e.Within.String()
	}
	return fmt.Sprintf("%s: connect to %s: %s", e.Provider, e.Address, why)
}

// IsUntrusted reports whether the server's certificate was not accepted.
func (e *UnreachableError) IsUntrusted() bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](e.Err)
	return ok
}

// reason returns the part of an error of package net that users can do something about.
func reason(err error) string {
	var (
		dns     *net.DNSError
		call    *os.SyscallError
		unknown x509.UnknownAuthorityError
		through string
	)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		through = "through the proxy: "
	}
	switch {
	case errors.As(err, &dns):
		return through + dns.Err
	case errors.As(err, &call):
		return through + call.Err.Error()
	case errors.As(err, &unknown):
		return "its certificate is signed by an unknown authority"
	case isForeign(err):
		return "the answer is not HTTP"
	default:
		return err.Error()
	}
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// A PageError says that the server answered with a web page, such as that of a web site or a login.
type PageError struct {
	Provider string
	Address  string // without user and query
}

// Error implements error.
func (e *PageError) Error() string {
	return fmt.Sprintf("%s: %s returned a web page", e.Provider, e.Address)
}

// A ForeignError says that a server answered with something else than a stream, such as an error as
// a document.
type ForeignError struct {
	Body []byte // its beginning
}

// Error implements error.
func (e *ForeignError) Error() string { return "not a stream of events" }

// An IdleError says that the provider was silent for too long.
type IdleError struct {
	Provider string
	After    time.Duration
	First    bool // the answer had not begun
	Alive    bool // the provider showed that it was alive
}

// Error implements error.
func (e *IdleError) Error() string {
	text := fmt.Sprintf("%s: no data for %s", e.Provider, e.After)
	if e.First {
		text = fmt.Sprintf("%s: no answer within %s", e.Provider, e.After)
	}
	if e.Alive {
		text += ", though the server is alive"
	}
	return text
}

// Timeout reports true, as for any time-out of package net.
func (e *IdleError) Timeout() bool { return true }

// A CutError says that an answer is incomplete: the connection was lost, or the server closed the
// stream, before the end of the answer.
type CutError struct {
	Provider string
	Err      error // nil if the server closed the stream
}

// Error implements error.
func (e *CutError) Error() string {
	if e.Err == nil {
		return e.Provider + ": the server closed the stream"
	}
	return e.Provider + ": the connection was lost: " + reason(e.Err)
}

// Unwrap returns the cause.
func (e *CutError) Unwrap() error { return e.Err }

// An InvalidError says that a request breaks rules of the provider. It is a bug of this program;
// such a request is never sent.
type InvalidError struct {
	Provider   string
	Violations []Violation
}

// Error implements error.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s would refuse the request", e.Provider)
	for i, v := range e.Violations {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + v.String())
	}
	return b.String()
}

// A SizeError says that an answer exceeds the limit.
type SizeError struct {
	Provider string
	Limit    int64
}

// Error implements error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: the answer is longer than %d bytes", e.Provider, e.Limit)
}
