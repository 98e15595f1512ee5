//go:build !windows

package trust

import (
	"io"
	"os"
)

// Terminal opens the controlling terminal of the process, independently of the standard streams.
func Terminal() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
