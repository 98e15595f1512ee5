package trust

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An Asker is a [Gate] that asks the user about what is not approved yet, one question
// after the other. It may be used by several goroutines.
type Asker struct {
	Approvals *Approvals                         // required
	Terminal  func() (io.ReadWriteCloser, error) // required: opens the terminal device
	Now       func() time.Time                   // required

	mu       sync.Mutex      // held while asking
	answered map[Claim]error // by claim, for this run
}

// Allow implements [Gate]. A claim is asked about once in a run.
func (a *Asker) Allow(c Claim) error {
	if a.Approvals.approved(c) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err, ok := a.answered[c]; ok {
		return err
	}
	err := a.ask(c)
	if a.answered == nil {
		a.answered = map[Claim]error{}
	}
	a.answered[c] = err
	return err
}

// ask puts the question. Without a terminal nobody says yes.
func (a *Asker) ask(c Claim) (err error) {
	tty, err := a.Terminal()
	if err != nil {
		return a.refusal(c, false)
	}
	defer func() { err = errors.Join(err, tty.Close()) }()
	if _, err := fmt.Fprintf(tty, "%s:\n  %s\nAllow? [y]es, [o]nce, [N]o: ",
		c, strconv.QuoteToGraphic(c.Value)); err != nil {
		return a.refusal(c, false)
	}
	line, _ := readLine(tty)
	switch answer := strings.ToLower(strings.TrimSpace(line)); answer {
	case "y", "yes":
		return a.Approvals.Approve(a.Now(), c)
	case "o", "once":
		return nil
	default:
		return a.refusal(c, true)
	}
}

func (a *Asker) refusal(c Claim, declined bool) error {
	return &RefusedError{Claim: c, ID: a.Approvals.ID(c), Declined: declined}
}

// readLine reads one line and nothing behind it, which may be for somebody else. A
// line that does not end is no answer.
func readLine(r io.Reader) (string, bool) {
	const most = 1 << 10
	var line []byte
	for b := make([]byte, 1); len(line) < most; {
		n, err := r.Read(b)
		if n == 1 && b[0] == '\n' {
			return string(line), true
		}
		line = append(line, b[:n]...)
		if err != nil {
			return "", false
		}
	}
	return "", false
}
