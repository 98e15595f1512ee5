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

// A Terminal shows answers and asks the user: it has the standard streams of the program, and the
// device behind them. There is one for each run of the program.
type Terminal struct {
	render.Printer

	// In is where the user answers yes or no; nil if no user can.
	In io.Reader
	// Device opens the terminal. It fails if no user is there to answer.
	Device     func() (io.ReadWriteCloser, error)
	Editor     *Editor
	Interrupts *Interrupts

	screen screen
}

// ErrNobodyThere says that there is no terminal to ask on.
var ErrNobodyThere = errors.New("there is no terminal to ask on")

// device returns the format of text on the device.
func (t *Terminal) device() render.Output {
	return render.Output{Terminal: true, Color: t.Output.Color || t.Errors.Color}
}

// Watched reports whether a user can see the output beside the answer, and so interrupt it.
func (t *Terminal) Watched() bool { return t.Errors.Terminal && !t.Quiet }

// NoteBetween is Note while an answer is shown: the note has a line of its own, and the spinner
// pauses for it.
func (t *Terminal) NoteBetween(format string, args ...any) {
	t.screen.write(func() {
		defer t.screen.pause()()
		if t.screen.within && t.Errors.Terminal && !t.Quiet {
			fmt.Fprintln(t.Err)
			t.screen.within = false
		}
		t.Note(format, args...)
	})
}

// An UnconfirmedError says that the user did not agree to a dangerous step.
type UnconfirmedError struct {
	What  string
	Cost  string // its consequence, a sentence without the period; "" for none worth mentioning
	Asked bool   // the user said no; else no user could be asked
}

// Error implements error.
func (e *UnconfirmedError) Error() string { return e.What + ": not confirmed" }

// Hints say how to proceed, and at what cost.
func (e *UnconfirmedError) Hints() []string {
	switch {
	case e.Asked:
		return nil
	case e.Cost != "":
		return []string{
			strings.ToLower(e.Cost[:1]) + e.Cost[1:],
			"give --yes to go ahead anyway",
		}
	}
	return []string{"give --yes to go ahead without being asked"}
}

// Agree asks whether to take a step. It returns an [UnconfirmedError] if the answer is no, or no
// user can answer.
func (t *Terminal) Agree(what, question string) error {
	if !t.Confirm(question) {
		return &UnconfirmedError{What: what, Asked: t.In != nil}
	}
	return nil
}

// Confirm asks a yes-or-no question on standard error. An empty line, an interrupt, and no user to
// answer all mean no.
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
			line = "" // an incomplete line is no answer
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
