package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
)

// The interrupted operations, each on a workspace with conversation id1 in both stores.
var operations = map[string]func(context.Context, *Workspace) error{
	"update": func(ctx context.Context, w *Workspace) error { return w.Update(ctx, id1, change) },
	"hold": func(ctx context.Context, w *Workspace) error {
		h, err := w.Hold(ctx, id1)
		if err != nil {
			return err
		}
		err = h.Update(change)
		if err == nil {
			err = h.Update(change) // without a further change
		}
		return errors.Join(err, h.Release())
	},
	"create": func(ctx context.Context, w *Workspace) error {
		n := &NewConversation{
			ID: id1 + 1, Details: details("made"), Stream: events.New(withResult("made")...),
		}
		_, err := w.Create(ctx, n)
		return err
	},
	"create all": func(ctx context.Context, w *Workspace) error {
		family := []*NewConversation{made(id1+1, "made"), made(id1+2, "made too"), made(id1+3, "made")}
		_, errs, settle := w.CreateAll(ctx, [][]*NewConversation{family})
		errs[0] = errors.Join(errs[0], settle())
		if !errors.Is(errs[0], fs.ErrExist) {
			return errs[0]
		}
		for _, n := range slices.Backward(family) { // an earlier run created some
			if _, err := w.Create(ctx, n); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		return nil
	},
	"archive": func(ctx context.Context, w *Workspace) error { return apart(w.Archive(ctx, id1)) },
	"remove":  func(ctx context.Context, w *Workspace) error { return w.Remove(ctx, id1, nil) },
}

func made(id events.ID, title string) *NewConversation {
	return &NewConversation{
		ID: id, Details: details(title), Stream: events.New(withResult(title)...),
	}
}

func change(c *Conversation) error {
	title := "second"
	c.Details.Title = &title
	c.BaseConfig = []byte("{\"assistant\": {}}\n")
	if c.Stream.Len() == 4 {
		c.Stream.Append(withResult("new")...)
	}
	return nil
}

func crashWorld(t *testing.T) *world {
	w := newWorld(t)
	w.conversation(w.withUserLocal()+"/conversations/17800836875-first", "first")
	w.conversation(dir1, "first")
	return w
}

// interrupt calls f in place of step number n of w.
func interrupt(w *Workspace, n int, f func() error) *int {
	count := 0
	for _, s := range w.stores() {
		s.hook = func(atomicfile.Step, string) error {
			count++
			if count == n {
				return f()
			}
			return nil
		}
		if v := s.blobs.Volume(); v != nil {
			v.Hook = s.hook
		}
	}
	return &count
}

// sound checks what must hold after any interruption: each conversation is complete, its files are
// old or new, and its contents exist.
func (w *world) sound(what string) {
	w.Helper()
	ws := w.open()
	entries, problems, err := ws.List(ListOptions{Archived: true, Local: true})
	if err != nil || len(problems) != 0 {
		w.Errorf("%s: %v, %v", what, problems, err)
	}
	for _, e := range entries {
		c, err := ws.Load(e)
		if err != nil {
			w.Errorf("%s: %v", what, err)
			continue
		}
		for ref := range references(c.Stream) {
			if _, err := ws.BlobsOf(e).Read(ref); err != nil {
				w.Errorf("%s: %v", what, err)
			}
		}
		if n := c.Stream.Len(); n != 2 && n != 4 && n != 6 {
			w.Errorf("%s: %d elements", what, n)
		}
		newBase := strings.Contains(string(c.BaseConfig), "assistant")
		if c.Stream.Len() == 6 && !newBase {
			w.Errorf("%s: the stream is new and its configuration old", what)
		}
		if c.Title() == "second" && c.Stream.Len() != 6 {
			w.Errorf("%s: the details are new and the stream that they tell of is old", what)
		}
	}
	there := func(id events.ID) bool {
		return slices.ContainsFunc(entries, func(e Entry) bool { return e.ID == id })
	}
	if !there(id1) && !strings.HasPrefix(what, "remove") {
		w.Errorf("%s: the conversation is gone", what)
	}
	if strings.HasPrefix(what, "create all") && there(id1+1) && (!there(id1+2) || !there(id1+3)) {
		w.Errorf("%s: the first of a family is there without the others", what)
	}
	if strings.Contains(what, "create all, again") && !there(id1+1) {
		w.Errorf("%s: the first of a family is not there", what)
	}
}

func steps(t *testing.T, op string) int {
	w := crashWorld(t)
	ws := w.open()
	count := interrupt(ws, -1, nil)
	if err := operations[op](t.Context(), ws); err != nil {
		t.Fatal(err)
	}
	w.sound(op + " done")
	w.noTrash()
	return *count
}

// countPoints logs at the end how many interruptions were tried.
func countPoints(t *testing.T) *atomic.Int64 {
	points := new(atomic.Int64)
	t.Cleanup(func() { t.Logf("%d points", points.Load()) })
	return points
}

func TestEveryStepMayFail(t *testing.T) {
	broken := errors.New("broken")
	points := countPoints(t)
	for op, run := range operations {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			n := steps(t, op)
			for i := 1; i <= n; i++ {
				w := crashWorld(t)
				ws := w.open()
				interrupt(ws, i, func() error { return broken })
				if err := run(t.Context(), ws); !errors.Is(err, broken) {
					t.Errorf("%s, step %d: %v", op, i, err)
				}
				w.sound(fmt.Sprintf("%s, step %d of %d", op, i, n))
				w.again(op, fmt.Sprintf("%s, again after step %d of %d", op, i, n))
				points.Add(1)
			}
		})
	}
}

// again repeats an interrupted operation: the result must be that of an uninterrupted one.
func (w *world) again(op, what string) {
	w.Helper()
	err := operations[op](w.Context(), w.open())
	var none *NotFoundError
	created := op == "create" && errors.Is(err, fs.ErrExist)
	removed := op == "remove" && errors.As(err, &none)
	if err != nil && !created && !removed {
		w.Errorf("%s: %v", what, err)
	}
	w.sound(what)
	if local := w.names("data/workspace/proj-otvo8/conversations"); op == "archive" &&
		!slices.Equal(local, []string{".archive"}) {
		w.Errorf("%s: user-local copies are %v", what, local)
	}
}

const crashVariable = "GIT_JP_TEST_CRASH"

// TestMain turns the test binary into a process that is killed in the middle of an operation.
func TestMain(m *testing.M) {
	op, step, ok := strings.Cut(os.Getenv(crashVariable), ":")
	if !ok {
		os.Exit(m.Run())
	}
	w, err := Open(os.Getenv("GIT_JP_TEST_ROOT"), Env{
		Getenv: os.Getenv, Now: id1.Time,
	})
	if err != nil {
		os.Exit(3)
	}
	n, _ := strconv.Atoi(step)
	interrupt(w, n, func() error {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {} // until the signal arrives
	})
	if err := operations[op](context.Background(), w); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
}

func TestEveryStepMayBeTheLast(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	stride := 3
	if os.Getenv("GIT_JP_SOAK") != "" {
		stride = 1
	}
	points := countPoints(t)
	for op := range operations {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			n := steps(t, op)
			for i := 1; i <= n; i += stride {
				w := crashWorld(t)
				cmd := exec.CommandContext(t.Context(), self)
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d", crashVariable, op, i),
					"GIT_JP_TEST_ROOT="+w.root, "JP_USER_DATA_DIR="+w.vars["JP_USER_DATA_DIR"])
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() > 0 {
					t.Fatalf("%s, step %d of %d was not killed: %v\n%s", op, i, n, err, out)
				}
				w.sound(fmt.Sprintf("%s, killed at step %d of %d", op, i, n))
				// The dead process's lock must not block.
				w.again(op, fmt.Sprintf("%s, again after the kill at step %d of %d", op, i, n))
				points.Add(1)
			}
		})
	}
}
