package trust

import (
	"errors"
	"io"
	"sync"
	"time"
)

// An Asker is a [Gate] that asks the user about claims that are not approved, one question at a
// time. It is safe for concurrent use.
type Asker struct {
	Approvals *Approvals                         // required
	Terminal  func() (io.ReadWriteCloser, error) // required: opens the terminal device
	Now       func() time.Time                   // required
	// Known are the claims of the configuration. A question about one of them includes the others
	// of its family.
	Known []Claim

	mu       sync.Mutex      // held while asking
	answered map[Claim]error // by claim, for this run
}

// Allow implements [Gate]. It asks about each claim once in a run.
func (a *Asker) Allow(c Claim) error {
	if a.Approvals.approved(c) {
		return nil
	}
	if c.unbound() != nil {
		return a.refusal(c, false)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err, ok := a.answered[c]; ok {
		return err
	}
	if a.Approvals.approved(c) { // by the answer to another call
		return nil
	}
	g := a.family(c)
	err := a.ask(c, g)
	if a.answered == nil {
		a.answered = map[Claim]error{}
	}
	for _, member := range g.Claims {
		if !a.Approvals.approved(member) { // what is stored counts until the user revokes it
			a.answered[member] = err
		}
	}
	return err
}

// family returns the claims for one question: those of the same family that are not answered yet.
func (a *Asker) family(c Claim) Group {
	claims := []Claim{c}
	for _, other := range a.Known {
		_, answered := a.answered[other]
		if other != c && !answered && other.unbound() == nil && !a.Approvals.approved(other) {
			claims = append(claims, other)
		}
	}
	return a.Approvals.Groups(claims)[0] // the group of the first
}

// ask asks the question. Without a terminal, the answer is no.
func (a *Asker) ask(c Claim, g Group) (err error) {
	tty, err := a.Terminal()
	if err != nil {
		return a.refusal(c, false)
	}
	defer func() { err = errors.Join(err, tty.Close()) }()
	answer, err := put(tty, g.String()+"Allow? [y]es, [o]nce, [N]o: ")
	switch {
	case err != nil:
		return a.refusal(c, false)
	case answer == "y", answer == "yes":
		return a.Approvals.Approve(a.Now(), g.Claims...)
	case answer == "o", answer == "once":
		return nil
	default:
		return a.refusal(c, true)
	}
}

func (a *Asker) refusal(c Claim, declined bool) error {
	return &RefusedError{Claim: c, ID: a.Approvals.ID(c), Declined: declined}
}

// readLine reads exactly one line, since the rest may be for another reader. An incomplete line is
// no answer.
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
