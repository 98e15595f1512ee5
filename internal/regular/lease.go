package regular

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// leaseTime is how long a program may keep a lease on a file that another one opens: Linux allows
// it 45 s (proc(5), lease-break-time).
const leaseTime = 46 * time.Second

// waiting repeats the opening of a file while it fails since another program has a lease on the
// file, such as a file server, or a process of ours that is about to write to it: an open that
// does not block, in case of a pipe, does not wait for it either (fcntl(2), "Leases").
func waiting[T any](open func() (T, error)) (T, error) {
	const longest = 100 * time.Millisecond
	waited := time.Duration(0)
	for wait := time.Millisecond; ; wait = min(2*wait, longest) {
		f, err := open()
		if !errors.Is(err, syscall.EAGAIN) || waited >= leaseTime {
			return f, err
		}
		time.Sleep(wait)
		waited += wait
	}
}

// openNow opens a file for reading, and does not block.
func openNow(name string) (*os.File, error) {
	return waiting(func() (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|noWait, 0) })
}

// openBelow is openNow below a directory.
func openBelow(root *os.Root, name string) (*os.File, error) {
	return waiting(func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|noWait, 0) })
}
