//go:build !unix

package main

import (
	"errors"
	"time"
)

// sessionID is not supported here; jp then tries variables.
func sessionID() (int, error) {
	return 0, errors.ErrUnsupported
}

// leader is not supported here.
func leader(int) (time.Duration, bool) { return 0, true }
