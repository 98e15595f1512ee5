package ask

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/render"
)

// A Terminal is where an answer is shown and a person is asked: the standard streams of the
// program, and the device behind them. There is one for a run of the program.
type Terminal struct {
	Out, Err io.Writer
	// Output and Errors say how text is written to them, and whether they are terminals.
	Output, Errors render.Output
	Quiet          bool // no notes
	JSON           bool // events in place of text

	// Device opens the terminal. It fails where nobody is there to answer.
	Device     func() (io.ReadWriteCloser, error)
	Editor     *Editor
	Interrupts *Interrupts
	Now        func() time.Time

	screen screen
}

// ErrNobodyThere says that there is no terminal to ask on.
var ErrNobodyThere = errors.New("there is no terminal to ask on")

// device says how text is written to the device.
func (t *Terminal) device() render.Output {
	return render.Output{Terminal: true, Color: t.Output.Color || t.Errors.Color}
}

// Note tells something that is no answer.
func (t *Terminal) Note(format string, args ...any) {
	if !t.Quiet {
		fmt.Fprintln(t.Err, render.Sanitize(fmt.Sprintf(format, args...)))
	}
}

// Warn tells something that should not be missed, in silence too.
func (t *Terminal) Warn(format string, args ...any) {
	fmt.Fprintf(t.Err, "warning: %s\n", render.Message(fmt.Sprintf(format, args...)))
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

// Confirm asks a question on standard error that is answered yes or no on in. After an empty line
// and after an interrupt the answer is no.
func (t *Terminal) Confirm(in io.Reader, question string) bool {
	fmt.Fprintf(t.Err, "%s [y/N] ", render.Message(question))
	interrupted := make(chan struct{})
	press := sync.OnceFunc(func() { close(interrupted) })
	defer t.Interrupts.Take(func() bool { press(); return false })()
	answered := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
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
