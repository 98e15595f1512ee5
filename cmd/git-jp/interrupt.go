package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// interrupts hears Ctrl-C. A command that can do better than to end takes it with
// [interrupts.take]; else the first one cancels the context, and the next one ends the
// process at once.
type interrupts struct {
	now func() time.Time

	mu      sync.Mutex
	pressed func() bool // of who took it; nil for nobody
}

// samePress is how long after an interrupt another one is the same: git, which started us,
// hears Ctrl-C too and hands it on.
const samePress = 150 * time.Millisecond

// listen hears signals until stop is called. The context is cancelled where nobody takes one.
func (i *interrupts) listen(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan os.Signal, 4)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		var last time.Time
		for {
			select {
			case s := <-heard:
				now := i.now()
				again := now.Sub(last) < samePress
				last = now
				if again || s == os.Interrupt && i.press() {
					continue
				}
				cancel()
				time.AfterFunc(samePress, func() { signal.Stop(heard) })
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(heard); close(done); cancel() }
}

func (i *interrupts) press() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pressed != nil && i.pressed()
}

// take hands interrupts to a command until release is called, which hands them back. Pressed
// must not wait; it returns false when the command is to end.
func (i *interrupts) take(pressed func() bool) (release func()) {
	if i == nil {
		return func() {}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.pressed
	i.pressed = pressed
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.pressed = before
	}
}
