//go:build !unix

package main

import "errors"

// sessionID has no answer here; the variables that jp tries next may have one.
func sessionID() (int, error) {
	return 0, errors.ErrUnsupported
}
