//go:build unix

package ask_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/ask"
)

// TestReadingEndsByTheSignalBefore holds that a command that only reads ends by a signal which
// came before the program knew that it does.
func TestReadingEndsByTheSignalBefore(t *testing.T) {
	const child = "GIT_JP_TEST_SIGNALLED"
	if os.Getenv(child) != "" {
		i := &ask.Interrupts{Now: time.Now}
		ctx, stop := i.Listen(context.Background())
		defer stop()
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		i.Reading()
		time.Sleep(time.Second) // the signal is on its way to one of the threads
		os.Exit(3)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	err = cmd.Run()
	var ee *exec.ExitError
	if !errors.As(err, &ee) {
		t.Fatalf("it ended with %v", err)
	}
	if status, ok := ee.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", err)
	}
}
