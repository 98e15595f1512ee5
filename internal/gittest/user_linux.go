package gittest

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// AsNobody runs f without the rights of the superuser over files, on a thread that ends afterwards.
func AsNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}
