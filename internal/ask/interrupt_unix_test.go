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

// ended runs the calling test again in a child process, which calls do, and returns the exit status
// of the child.
func ended(t *testing.T, do func(i *ask.Interrupts, ctx context.Context)) syscall.WaitStatus {
	t.Helper()
	const child = "GIT_JP_TEST_SIGNALLED"
	if os.Getenv(child) == t.Name() {
		i := &ask.Interrupts{Now: time.Now}
		ctx, stop := i.Listen(context.Background())
		defer stop()
		do(i, ctx)
		time.Sleep(time.Minute) // the signal may still be delivered
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

// TestReadingEndsByTheSignalBefore checks that a command that only reads ends by a signal that came
// before it was known to only read.
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

// TestReadingForAWhile checks that a command that only reads ends at once, and cleans up when it
// goes on to change something.
func TestReadingForAWhile(t *testing.T) {
	for name, released := range map[string]bool{"reads": false, "released": true} {
		t.Run(name, func(t *testing.T) {
			status := ended(t, func(i *ask.Interrupts, ctx context.Context) {
				i.Hear()
				release := i.Reading()
				if !released {
					signalled(t, syscall.SIGINT)
					return
				}
				release()
				signalled(t, syscall.SIGINT)
				<-ctx.Done()
				time.Sleep(100 * time.Millisecond) // a signal that ends it would arrive
				os.Exit(4)
			})
			if ended := status.Signal() == syscall.SIGINT; ended == released {
				t.Errorf("it ended with %v", status)
			}
		})
	}
}

// TestNothingIsHeardBeforeItIsNeeded checks that a command that changes nothing installs no
// handler: the default action ends it.
func TestNothingIsHeardBeforeItIsNeeded(t *testing.T) {
	status := ended(t, func(*ask.Interrupts, context.Context) { signalled(t, syscall.SIGTERM) })
	if status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", status)
	}
}

// TestWhoFinishesIsNotEnded runs a command that has computed its result and writes it.
func TestWhoFinishesIsNotEnded(t *testing.T) {
	status := ended(t, func(i *ask.Interrupts, _ context.Context) {
		i.Reading()
		i.Finish()
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			signalled(t, s)
		}
		time.Sleep(100 * time.Millisecond)
		os.Exit(4)
	})
	if status.ExitStatus() != 4 {
		t.Errorf("it ended with %v", status)
	}
}

// TestTheEndPutsTheTerminalInOrder checks that stop calls the function of AtEnd unless it was
// forgotten. A prompter may be about to restore the terminal when the program ends, which does not
// wait for it.
func TestTheEndPutsTheTerminalInOrder(t *testing.T) {
	i := &ask.Interrupts{Now: time.Now}
	_, stop := i.Listen(t.Context())
	inOrder, forgotten := 0, 0
	i.AtEnd(func() { forgotten++ })()
	i.AtEnd(func() { inOrder++ })
	stop()
	if inOrder != 1 || forgotten != 0 {
		t.Errorf("it was put in order %d times, and %d times by who was done", inOrder, forgotten)
	}
}

// TestWhoTakesInterruptsHearsThem checks that a command that only reads can take interrupts, like
// one with a pager.
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
