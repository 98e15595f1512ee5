package ask

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A screen is what is written to while somebody may be asked something: one at a time.
type screen struct {
	mu     sync.Mutex
	spin   *spinner // what moves; nil for nothing
	within bool     // the answer stands within a line
}

// write calls what writes, when nobody is being asked.
func (s *screen) write(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// hold keeps others from writing until it is released. What moved goes on then.
func (s *screen) hold() (release func()) {
	s.mu.Lock()
	goOn := s.pause()
	return func() {
		goOn()
		s.mu.Unlock()
	}
}

// pause takes away what moves, until goOn is called.
func (s *screen) pause() (goOn func()) {
	if s.spin == nil || !s.spin.stop() {
		return func() {}
	}
	return s.spin.start
}

// A spinner moves while a model says nothing, on a terminal only.
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

// startWith moves beside a text, which is told for how long it has moved.
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
	step := s.step
	if step == 0 {
		step = spinnerStep
	}
	tick := time.NewTicker(step)
	defer tick.Stop()
	width := 0 // of the longest frame: what was longer is written over
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

// stop reports whether it moved.
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
