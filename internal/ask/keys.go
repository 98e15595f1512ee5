package ask

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Key asks a question that is answered by one key, without Enter, and returns the key. Keys pressed
// before the question was shown do not count, and neither does Enter alone. On a terminal without
// single keys, the answer is a line.
func (s *Prompt) Key(format string, args ...any) (string, error) {
	restore, err := s.keys() // before the question is shown
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
		case key == "", key[0] == 0x1b: // Enter, or an arrow key
			continue
		case strings.IndexByte(key, endOfInput) >= 0:
			return "", errors.Join(ErrNobodyThere, io.EOF)
		}
		s.Say("%s\n", key)
		return key, nil
	}
}

// endOfInput is Ctrl-D, which a terminal passes on as a key in this mode.
const endOfInput = 4

// keys switches the terminal to single keys until restore is called. A signal that ends the program
// restores it too.
func (s *Prompt) keys() (restore func(), err error) {
	// A second device: an interrupt closes that of the question.
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
