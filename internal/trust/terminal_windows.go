package trust

import (
	"errors"
	"io"
	"os"
)

// Terminal opens the console of the process, independently of the standard streams.
func Terminal() (io.ReadWriteCloser, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return console{in, out}, nil
}

// A console reads from one device and writes to another.
type console struct{ in, out *os.File }

func (c console) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c console) Write(b []byte) (int, error) { return c.out.Write(b) }
func (c console) Close() error                { return errors.Join(c.in.Close(), c.out.Close()) }
