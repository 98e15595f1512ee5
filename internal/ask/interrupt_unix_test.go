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
// ended runs the test that calls it once more, as a process of its own in which do is called, and
// returns how that ended.
func ended(t *testing.T, do func(i *ask.Interrupts, ctx context.Context)) syscall.WaitStatus {
	t.Helper()
	const child = "GIT_JP_TEST_SIGNALLED"
	if os.Getenv(child) == t.Name() {
		i := &ask.Interrupts{Now: time.Now}
		ctx, stop := i.Listen(context.Background())
		defer stop()
		do(i, ctx)
		time.Sleep(time.Minute) // the signal is on its way to one of the threads
		os.Exit(3)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"="+t.Name())
	err = cmd.Run()
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := ee.Sys().(syscall.WaitStatus); ok {
			return status
		}
	}
	t.Fatalf("it ended with %v", err)
	return 0
}

func signalled(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

// TestReadingEndsByTheSignalBefore holds that a command that only reads ends by a signal which
// came before the program knew that it does.
func TestReadingEndsByTheSignalBefore(t *testing.T) {
	status := ended(t, func(i *ask.Interrupts, ctx context.Context) {
		i.Hear()
		signalled(t, syscall.SIGTERM)
		<-ctx.Done()
		i.Reading()
	})
	if status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", status)
	}
}

// TestNothingIsHeardBeforeItIsNeeded holds that a command which changes nothing pays for no
// signals: the system ends it.
func TestNothingIsHeardBeforeItIsNeeded(t *testing.T) {
	status := ended(t, func(*ask.Interrupts, context.Context) { signalled(t, syscall.SIGTERM) })
	if status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", status)
	}
}

// TestWhoTakesInterruptsHearsThem is a pager of a command that only reads.
func TestWhoTakesInterruptsHearsThem(t *testing.T) {
	status := ended(t, func(i *ask.Interrupts, _ context.Context) {
		i.Reading()
		i.Take(func() bool { return true })
		signalled(t, syscall.SIGINT)
		time.Sleep(time.Second)
		os.Exit(4)
	})
	if status.ExitStatus() != 4 {
		t.Errorf("it ended with %v", status)
	}
}
