package ask

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/git-jp/git-jp/internal/tool/process"
)

// Interrupts hears Ctrl-C and what else asks the program to end. A command that can do better
// than to end takes Ctrl-C with [Interrupts.Take]. One that only reads has nothing to put in
// order: the first signal ends it, in whatever loop it is, and until there is something to do then,
// the system does that: to hear signals costs a thread at each start. For the others the first one
// cancels the context, and the next one, or its time running out, ends the process.
type Interrupts struct {
	Now    func() time.Time
	Groups process.Groups // of the user's programs, which end with this one

	mu      sync.Mutex
	pressed func() bool // of who took it; nil for nobody
	atEnd   func()      // what the terminal needs before the process ends
	reads   bool        // the command changes nothing
	hear    func()      // begins to hear, once
	asked   os.Signal   // what cancelled the context; nil for nothing
}

const (
	// SamePress is how long after an interrupt another one is the same: git, which started
	// us, hears Ctrl-C too and hands it on.
	SamePress = 150 * time.Millisecond
	// orderTime is how long a command may put things in order. What is ended then is as safe
	// as what is killed: the next command goes on from there.
	orderTime = 10 * time.Second
)

// endings are the signals that are heard. A program started by nohup stays.
func endings() []os.Signal {
	heard := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		heard = append(heard, syscall.SIGHUP)
	}
	return heard
}

// Listen hears signals from [Interrupts.Hear] on, until stop is called. The context is
// cancelled where nobody takes one.
func (i *Interrupts) Listen(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan os.Signal, 4)
	done := make(chan struct{})
	i.hear = sync.OnceFunc(func() {
		signal.Notify(heard, endings()...)
		go i.serve(ctx, cancel, heard, done)
	})
	i.Groups.Before = i.hear
	return ctx, func() { signal.Stop(heard); close(done); cancel() }
}

// Hear begins to hear signals, where that was not so. A command that changes something calls it
// first; what takes interrupts, or starts programs of the user's, does so by itself.
func (i *Interrupts) Hear() {
	if i != nil && i.hear != nil {
		i.hear()
	}
}

func (i *Interrupts) serve(
	ctx context.Context, cancel func(), heard chan os.Signal, done chan struct{},
) {
	var last time.Time
	for {
		select {
		case s := <-heard:
			now := i.Now()
			again := now.Sub(last) < SamePress
			last = now
			if again || s == os.Interrupt && i.press() {
				continue
			}
			if ctx.Err() != nil || i.endsAtOnce(s) {
				i.end(s)
			}
			cancel()
			time.AfterFunc(orderTime, func() { i.end(s) })
		case <-done:
			return
		}
	}
}

// end ends the process as the signal does that nobody hears, with the programs that it runs:
// each is in a group of its own, which no terminal tells that we are gone.
func (i *Interrupts) end(s os.Signal) {
	i.Groups.Kill()
	i.mu.Lock()
	atEnd := i.atEnd
	i.mu.Unlock()
	if atEnd != nil {
		atEnd()
	}
	raise(s)
}

func (i *Interrupts) press() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pressed != nil && i.pressed()
}

// endsAtOnce reports whether the command changes nothing, and keeps the signal for one that says
// so only now, see [Interrupts.Reading].
func (i *Interrupts) endsAtOnce(s os.Signal) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = s
	return i.reads
}

// Reading says that the command changes nothing. A signal that came while the program did not know
// yet what it was asked for ends it now.
func (i *Interrupts) Reading() {
	if i == nil {
		return
	}
	i.mu.Lock()
	i.reads = true
	asked := i.asked
	i.mu.Unlock()
	if asked != nil {
		i.end(asked)
	}
}

// Take hands interrupts to a command until release is called, which hands them back. Pressed
// must not wait; it returns false when the command is to end.
func (i *Interrupts) Take(pressed func() bool) (release func()) {
	if i == nil {
		return func() {}
	}
	i.Hear()
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

// AtEnd has f called before a signal ends the process, until forget is called.
func (i *Interrupts) AtEnd(f func()) (forget func()) {
	if i == nil {
		return func() {}
	}
	i.Hear()
	set := func(f func()) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.atEnd = f
	}
	set(f)
	return func() { set(nil) }
}
