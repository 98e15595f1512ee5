package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts hears Ctrl-C. A command that can do better than to end takes it with
// [interrupts.take]; else the first one cancels the context, and the next one ends the
// process at once.
type interrupts struct {
	mu      sync.Mutex
	pressed func() bool // of who took it; nil for nobody
}

// listen hears signals until stop is called. The context is cancelled where nobody takes one.
func (i *interrupts) listen(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan os.Signal, 4)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() {
		for {
			select {
			case s := <-heard:
				if s != os.Interrupt || !i.press() {
					signal.Stop(heard)
					cancel()
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(heard); cancel() }
}

func (i *interrupts) press() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pressed != nil && i.pressed()
}

// take hands interrupts to a command until release is called. Pressed must not wait; it
// returns false when the command is to end.
func (i *interrupts) take(pressed func() bool) (release func()) {
	if i == nil {
		return func() {}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pressed = pressed
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.pressed = nil
	}
}
