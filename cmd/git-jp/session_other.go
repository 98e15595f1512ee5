//go:build !unix

package main

import "errors"

// sessionID is not supported here; jp then tries variables.
func sessionID() (int, error) {
	return 0, errors.ErrUnsupported
}
