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

// Interrupts handles Ctrl-C and other signals that ask the program to end. A command that handles
// Ctrl-C itself calls [Interrupts.Take]. A command that only reads has nothing to clean up: the
// first signal ends it, in whatever loop it is. As long as no command has work to protect, signals
// keep their default action, since a handler costs a thread at each start. For other commands, the
// first signal cancels the context, and a second one or a time-out ends the process.
type Interrupts struct {
	Now    func() time.Time
	Groups process.Groups // of the programs it runs, which end with this process

	mu      sync.Mutex
	pressed func() bool // of the command that called Take; nil for none
	atEnd   func()      // restores the terminal before the process ends
	reads   bool        // the command changes nothing
	hear    func()      // installs the handler, once
	asked   os.Signal   // cancelled the context; nil if none did
}

const (
	// SamePress is the time within which a second interrupt counts as the same: git, if it started
	// this program, receives Ctrl-C too and forwards it.
	SamePress = 150 * time.Millisecond
	// orderTime limits the clean-up of a command. Ending it then is as safe as killing it: the next
	// command recovers.
	orderTime = 10 * time.Second
)

// endings returns the signals to handle. SIGHUP stays ignored in a program started by nohup.
func endings() []os.Signal {
	heard := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		heard = append(heard, syscall.SIGHUP)
	}
	return heard
}

// Listen handles signals from [Interrupts.Hear] on until stop is called at the end of the program.
// An interrupt that no command takes cancels the context.
func (i *Interrupts) Listen(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan os.Signal, 4)
	done := make(chan struct{})
	i.hear = sync.OnceFunc(func() {
		signal.Notify(heard, endings()...)
		go i.serve(ctx, cancel, heard, done)
	})
	i.Groups.Before = i.hear
	return ctx, func() { i.putInOrder(); signal.Stop(heard); close(done); cancel() }
}

// Hear installs the signal handler, unless that was done. Commands call it before they change
// anything; Take, AtEnd and the start of other programs call it themselves.
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

// end ends the process by the signal, like its default action, and kills the programs that it runs:
// each has a process group of its own, which the terminal sends no signal.
func (i *Interrupts) end(s os.Signal) {
	i.Groups.Kill()
	i.putInOrder()
	raise(s)
}

// putInOrder calls the function of [Interrupts.AtEnd] before the process ends.
func (i *Interrupts) putInOrder() {
	i.mu.Lock()
	atEnd := i.atEnd
	i.mu.Unlock()
	if atEnd != nil {
		atEnd()
	}
}

func (i *Interrupts) press() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pressed != nil && i.pressed()
}

// endsAtOnce reports whether the command only reads, and keeps the signal for a later call of
// [Interrupts.Reading].
func (i *Interrupts) endsAtOnce(s os.Signal) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = s
	return i.reads
}

// Terminated reports whether SIGTERM asked the program to end.
func (i *Interrupts) Terminated() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked == syscall.SIGTERM
}

// Reading says that the command only reads, until release is called. A signal that came before this
// was known ends the process now.
func (i *Interrupts) Reading() (release func()) {
	if i == nil {
		return func() {}
	}
	i.mu.Lock()
	before, asked := i.reads, i.asked
	i.reads = true
	i.mu.Unlock()
	if asked != nil {
		i.end(asked)
	}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.reads = before
	}
}

// Finish ignores signals that ask the program to end from here on. It is for a command that a
// signal could end at any point until now and that only has to write its result. Ignoring signals
// costs nothing; handling them costs a thread.
func (i *Interrupts) Finish() {
	if i != nil {
		signal.Ignore(endings()...)
	}
}

// Take passes interrupts to a command until release is called. Pressed must not block; it returns
// false if the command should end.
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

// AtEnd registers f to be called before the process ends, by a signal or while a question is open,
// until forget is called.
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
