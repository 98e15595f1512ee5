package gitint_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gitint"
)

func TestStageNamesTheHolderOfALock(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	r.WriteFile("b", "2")
	repo := openAt(t, r)
	lock, err := os.Create(r.Path(".git/index.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	start := time.Now()
	_, err = repo.Stage(t.Context(), gitint.Change{Add: []string{"b"}})
	var locked *gitint.LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v", err)
	}
	if locked.Path != r.Path(".git/index.lock") || locked.Since.IsZero() {
		t.Errorf("got %+v", locked)
	}
	if time.Since(start) < 50*time.Millisecond {
		t.Error("did not wait")
	}
	if _, err := os.Stat("/proc/self/fd"); err == nil &&
		!strings.Contains(locked.Holder, fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("holder %q", locked.Holder)
	}
	if _, err := os.Stat(lock.Name()); err != nil {
		t.Error("the lock of others is gone")
	}
}

// TestStageDoesNotBlameTheCaller checks that a git which only waits for this program, or for
// another run of it, is not reported as the holder: the lock of such a run names itself.
func TestStageDoesNotBlameTheCaller(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	r.WriteFile("b", "2")
	r.WriteFile(".git/index.lock", "")
	ctx, cancel := context.WithCancel(t.Context())
	caller := exec.CommandContext(ctx, "git", "-c", "alias.jp=!echo started; exec sleep 60", "jp")
	caller.Dir, caller.Env = r.Dir, r.Env
	out, err := caller.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = caller.Wait()
	}()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	change := gitint.Change{Add: []string{"b"}, LockTimeout: gitint.NoWait}
	_, err = openAt(t, r).Stage(t.Context(), change)
	locked := new(gitint.LockedError)
	if !errors.As(err, &locked) || locked.Holder != "" {
		t.Errorf("got %v", err)
	}
}

// TestStageBreaksTheLockOfAKilledRun checks that a killed run leaves no lock to remove by hand: the
// lock names its owner, and the kernel shows that it has ended.
func TestStageBreaksTheLockOfAKilledRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("locks are not broken here")
	}
	r := committed(t, map[string]string{"a": "1"})
	r.WriteFile("b", "2")
	r.WriteFile(".git/index.lock", "git-jp 4194305\n")
	change := gitint.Change{Add: []string{"b"}, LockTimeout: gitint.NoWait}
	if _, err := openAt(t, r).Stage(t.Context(), change); err != nil {
		t.Error(err)
	}
	assertNoLeftovers(t, r)
	if got := r.Run("ls-files"); got != "a\nb" {
		t.Errorf("index %q", got)
	}
}

// TestStageKeepsTheLockOfALivingRun checks that the lock of a living run is kept, also if that is
// not a child process.
func TestStageKeepsTheLockOfALivingRun(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	r.WriteFile("b", "2")
	change := gitint.Change{Add: []string{"b"}, LockTimeout: gitint.NoWait}
	inner := change
	change.Verify = func(ctx context.Context, _ []gitint.Entry) error {
		_, err := openAt(t, r).Stage(ctx, inner)
		if locked := new(gitint.LockedError); !errors.As(err, &locked) ||
			!strings.Contains(err.Error(), fmt.Sprintf("git-jp, process %d", os.Getpid())) {
			t.Errorf("got %v", err)
		}
		return nil
	}
	if _, err := openAt(t, r).Stage(t.Context(), change); err != nil {
		t.Error(err)
	}
}

func TestStageWaitsForALock(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	r.WriteFile("b", "2")
	r.WriteFile(".git/index.lock", "")
	change := gitint.Change{Add: []string{"b"}, LockTimeout: gitint.NoWait}
	if _, err := openAt(t, r).Stage(t.Context(), change); err == nil {
		t.Error("NoWait waited")
	}
	go func() {
		time.Sleep(60 * time.Millisecond)
		_ = os.Remove(r.Path(".git/index.lock"))
	}()
	change.LockTimeout = time.Minute
	if _, err := openAt(t, r).Stage(t.Context(), change); err != nil {
		t.Error(err)
	}
}

func TestStageOfManyAtOnce(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	repo := openAt(t, r)
	var wg sync.WaitGroup
	const n = 8
	for i := range n {
		name := fmt.Sprintf("f%d", i)
		r.WriteFile(name, name)
		wg.Go(func() {
			_, err := repo.Stage(t.Context(), gitint.Change{
				Add: []string{name}, LockTimeout: time.Minute,
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(r.Run("ls-files"), "f"); got != n {
		t.Errorf("%d of %d staged", got, n)
	}
}

// TestStageCancelled checks that no lock is left if git, or this program, ends in the middle.
func TestStageCancelled(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	r.WriteFile("b", "2")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := openAt(t, r).Stage(ctx, gitint.Change{
		Add: []string{"b"},
		Verify: func(context.Context, []gitint.Entry) error {
			cancel()
			return ctx.Err()
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	assertNoLeftovers(t, r)
	if got := r.Run("ls-files"); got != "a" {
		t.Errorf("index %q", got)
	}
}

// TestStageAfterACrash checks that leftovers of a killed stage do not block the next one.
func TestStageAfterACrash(t *testing.T) {
	r := committed(t, map[string]string{"a": "1"})
	r.WriteFile("b", "2")
	r.WriteFile(".git/index.jp-4194305", "half")
	r.WriteFile(".git/index.jp-4194305.lock", "")
	r.WriteFile(".git/index.jpg", "a picture")
	if _, err := openAt(t, r).Stage(t.Context(), gitint.Change{Add: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if got := r.ReadFile(".git/index.jpg"); got != "a picture" {
		t.Errorf("got %q", got)
	}
	r.Remove(".git/index.jpg")
	assertNoLeftovers(t, r)
}
