package ask

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"
)

// A screen serializes output, and holds it back during a question.
type screen struct {
	mu     sync.Mutex
	spin   *spinner // running spinner, if any
	within bool     // the answer ends within a line
}

// write calls f, which writes, when no question is open.
func (s *screen) write(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// hold keeps other writers waiting until it is released. The spinner then restarts.
func (s *screen) hold() (release func()) {
	s.mu.Lock()
	goOn := s.pause()
	return func() {
		goOn()
		s.mu.Unlock()
	}
}

// pause erases the spinner until goOn is called.
func (s *screen) pause() (goOn func()) {
	if s.spin == nil || !s.spin.stop() {
		return func() {}
	}
	return s.spin.start
}

// A spinner runs while a model is silent, on a terminal only.
type spinner struct {
	w    io.Writer
	on   bool
	step time.Duration // 0 for spinnerStep

	mu   sync.Mutex
	quit chan struct{}
	done chan struct{}
}

const spinnerStep = 120 * time.Millisecond

func (s *spinner) start() { s.startWith(nil) }

// startWith starts the spinner beside a text, which is called with the time since then.
func (s *spinner) startWith(text func(time.Duration) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on || s.quit != nil {
		return
	}
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	go s.run(text, s.quit, s.done)
}

func (s *spinner) run(
	text func(time.Duration) string, quit, done chan struct{},
) {
	defer close(done)
	const frames = `|/-\`
	step := cmp.Or(s.step, spinnerStep)
	tick := time.NewTicker(step)
	defer tick.Stop()
	width := 0 // of the longest frame, to erase it
	for i := 0; ; i++ {
		select {
		case <-quit:
			if width > 0 {
				fmt.Fprintf(s.w, "\r%*s\r", width, "")
			}
			return
		case <-tick.C:
			frame := string(frames[i%len(frames)])
			if text != nil {
				frame += " " + text(time.Duration(i)*step)
			}
			width = max(width, len(frame))
			fmt.Fprintf(s.w, "\r%-*s", width, frame)
		}
	}
}

// stop stops the spinner and reports whether it was running.
func (s *spinner) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quit == nil {
		return false
	}
	close(s.quit)
	<-s.done
	s.quit, s.done = nil, nil
	return true
}
