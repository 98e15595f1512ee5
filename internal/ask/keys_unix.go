//go:build unix

package ask

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// singleKeys switches a terminal to single keys without echo, and discards unread keys. Ctrl-C and
// other signal keys keep their effect. Undo restores the terminal.
func singleKeys(tty *os.File) (undo func(), err error) {
	conn, err := tty.SyscallConn()
	if err != nil {
		return nil, err
	}
	var was unix.Termios
	control := func(fd uintptr) {
		var now *unix.Termios
		if now, err = unix.IoctlGetTermios(int(fd), getTermios); err != nil {
			return
		}
		was = *now
		now.Lflag &^= unix.ICANON | unix.ECHO
		now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
		err = unix.IoctlSetTermios(int(fd), setTermiosFlush, now)
	}
	if e := conn.Control(control); e != nil || err != nil {
		return nil, errors.Join(e, err)
	}
	return func() {
		_ = conn.Control(func(fd uintptr) {
			_ = unix.IoctlSetTermios(int(fd), setTermios, &was)
		})
	}, nil
}
