package gittest

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// WriteProgram writes a file that the test is about to run. A process that another test starts
// meanwhile must not inherit the open file: while it holds it, between its fork and its exec, the
// system refuses to run the file (ETXTBSY).
func WriteProgram(tb testing.TB, path, content string) {
	tb.Helper()
	writeProgram(tb, path, strings.NewReader(content))
}

func writeProgram(tb testing.TB, path string, content io.Reader) {
	tb.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = io.Copy(file, content)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(path, 0o755) // whatever the umask is, others run it too
	}
	if err != nil {
		tb.Fatal(err)
	}
}
