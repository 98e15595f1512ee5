package git

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// A process that has the output of git open may outlive git. It is waited for in steps: one long
// wait would be over, with the output unread, when this process has not had the processor for as
// long.
const (
	waitSteps = 40
	waitStep  = 50 * time.Millisecond
)

// An output is a pipe that git writes to. All of it is read while git runs.
type output struct {
	read, write *os.File
	data        bytes.Buffer
	done        chan struct{} // closed when data is complete
}

func newOutput() (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for git: %w", err)
	}
	o := &output{read: r, write: w, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		_, _ = o.data.ReadFrom(r) // until it is closed, on either side
	}()
	return o, nil
}

// end returns what git wrote, after it has ended.
func (o *output) end() []byte {
	_ = o.write.Close()
	for n, all := 0, false; n < waitSteps && !all; n++ {
		select {
		case <-o.done:
			all = true
		case <-time.After(waitStep):
		}
	}
	_ = o.read.Close()
	<-o.done
	return o.data.Bytes()
}
