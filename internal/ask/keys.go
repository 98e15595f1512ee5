package ask

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Key puts a question that one key answers, without Enter, and returns what was typed. Keys
// that were pressed before the question stood there do not answer it, and neither does Enter
// alone. Where the terminal cannot tell single keys, a line answers.
func (s *Prompt) Key(format string, args ...any) (string, error) {
	restore, err := s.keys() // before a person can see what is asked
	if err != nil {
		return s.Line(format, args...)
	}
	defer restore()
	s.Say(format, args...)
	for b := make([]byte, 64); ; {
		n, err := s.tty.Read(b)
		if err != nil {
			return "", errors.Join(ErrNobodyThere, err)
		}
		key := strings.TrimSpace(string(b[:n]))
		switch {
		case key == "", key[0] == 0x1b: // Enter, an arrow
			continue
		case strings.IndexByte(key, endOfInput) >= 0:
			return "", errors.Join(ErrNobodyThere, io.EOF)
		}
		s.Say("%s\n", key)
		return key, nil
	}
}

// endOfInput is Ctrl-D, which a terminal hands on that tells single keys.
const endOfInput = 4

// keys makes the terminal tell single keys until restore is called, which a signal that ends
// the program does, too.
func (s *Prompt) keys() (restore func(), err error) {
	// A device of its own: an interrupt closes that of the question.
	tty, err := s.prompter.terminal.Device()
	if err != nil {
		return nil, err
	}
	f, ok := tty.(*os.File)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, tty.Close())
	}
	undo, err := singleKeys(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read single keys: %w", err), tty.Close())
	}
	forget := s.prompter.terminal.Interrupts.AtEnd(undo)
	return func() {
		forget()
		undo()
		_ = tty.Close()
	}, nil
}
