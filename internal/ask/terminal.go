package ask

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/render"
)

// A Terminal is where an answer is shown and a person is asked: the standard streams of the
// program, and the device behind them. There is one for a run of the program.
type Terminal struct {
	render.Printer

	// In is where a person answers yes or no; nil where nobody does.
	In io.Reader
	// Device opens the terminal. It fails where nobody is there to answer.
	Device     func() (io.ReadWriteCloser, error)
	Editor     *Editor
	Interrupts *Interrupts

	screen screen
}

// ErrNobodyThere says that there is no terminal to ask on.
var ErrNobodyThere = errors.New("there is no terminal to ask on")

// device says how text is written to the device.
func (t *Terminal) device() render.Output {
	return render.Output{Terminal: true, Color: t.Output.Color || t.Errors.Color}
}

// Watched reports whether somebody sees what goes on beside the answer, and can end it.
func (t *Terminal) Watched() bool { return t.Errors.Terminal && !t.Quiet }

// NoteBetween is Note while an answer is shown: it stands on a line of its own, and what moves
// makes room for it and goes on.
func (t *Terminal) NoteBetween(format string, args ...any) {
	t.screen.write(func() {
		defer t.screen.pause()()
		if t.screen.within && t.Errors.Terminal && !t.Quiet {
			format, t.screen.within = "\n"+format, false
		}
		t.Note(format, args...)
	})
}

// An UnconfirmedError is a dangerous step that nobody agreed to.
type UnconfirmedError struct {
	What  string
	Cost  string // what it would cost, a sentence without its period; "" for nothing special
	Asked bool   // somebody said no; else nobody could be asked
}

// Error names the step.
func (e *UnconfirmedError) Error() string { return e.What + ": not confirmed" }

// Hints say how to go ahead, and what that would cost.
func (e *UnconfirmedError) Hints() []string {
	switch {
	case e.Asked:
		return nil
	case e.Cost != "":
		return []string{
			strings.ToLower(e.Cost[:1]) + e.Cost[1:],
			"give --yes to go ahead all the same",
		}
	}
	return []string{"give --yes to go ahead without being asked"}
}

// Agree asks whether a step may be taken. The error is an [UnconfirmedError] of what the step is
// where the answer is no, or where nobody can answer.
func (t *Terminal) Agree(what, question string) error {
	if !t.Confirm(question) {
		return &UnconfirmedError{What: what, Asked: t.In != nil}
	}
	return nil
}

// Confirm asks a question on standard error that is answered yes or no. After an empty line and
// after an interrupt the answer is no, and so it is where nobody can answer.
func (t *Terminal) Confirm(question string) bool {
	if t.In == nil {
		return false
	}
	fmt.Fprintf(t.Err, "%s [y/N] ", render.Message(question))
	interrupted := make(chan struct{})
	press := sync.OnceFunc(func() { close(interrupted) })
	defer t.Interrupts.Take(func() bool { press(); return false })()
	answered := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(t.In).ReadString('\n')
		if err != nil {
			line = "" // a line that does not end is no answer
		}
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-answered:
		return answer == "y" || answer == "yes"
	case <-interrupted:
		fmt.Fprintln(t.Err)
		return false
	}
}
