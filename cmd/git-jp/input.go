package main

import (
	"context"
	"io"
)

// input returns standard input, reading from which ends with an error when ctx is done: whoever
// writes it may be waiting, and a person who typed Ctrl-C would wait for the end of it.
func (a *app) input(ctx context.Context) io.Reader { return input{ctx, a.stdin} }

type input struct {
	ctx  context.Context // a Read has none
	from io.Reader
}

func (in input) Read(p []byte) (int, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data := make([]byte, len(p)) // not p, which belongs to the caller again when ctx is done
		n, err := in.from.Read(data)
		read <- result{data[:n], err}
	}()
	select {
	case <-in.ctx.Done():
		return 0, in.ctx.Err()
	case r := <-read:
		return copy(p, r.data), r.err
	}
}
