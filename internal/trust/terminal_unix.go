//go:build !windows

package trust

import (
	"io"
	"os"
)

// Terminal opens the terminal that the process belongs to, whatever the standard
// streams are.
func Terminal() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
