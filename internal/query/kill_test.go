//go:build unix

package query_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
)

// A deadly record kills its process, like kill -9, before or after one of its saves.
type deadly struct {
	query.Record
	left  int
	after bool
}

func (d *deadly) Save(change func(*events.Stream) error) error {
	d.left--
	if d.left == 0 && !d.after {
		die()
	}
	err := d.Record.Save(change)
	if d.left == 0 {
		die()
	}
	return err
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// story is a turn with every kind of save: parallel calls whose results come in another order, a
// message whose connection is lost, and a complete one.
func story() *player {
	return &player{acts: []act{
		calls("a", "b"), breaks("It is", transient()), say(llm.StopEnd, " there."),
	}}
}

// TestKilledAnywhere kills a query before and after each of its saves. The remaining stream loads,
// has everything that was saved before, and the next query continues from it.
func TestKilledAnywhere(t *testing.T) {
	if at := os.Getenv("GIT_JP_TEST_KILL"); at != "" {
		perish(t, at)
		return
	}
	finished := false
	for n := 1; !finished; n++ {
		for _, when := range []string{"before", "after"} {
			root := t.TempDir()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAnywhere$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("GIT_JP_TEST_KILL=%d %s %s", n, when, root))
			out, err := cmd.CombinedOutput()
			finished = err == nil
			if !finished && !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%v\n%s", err, out)
			}
			s := newStage(t, root)
			left := s.stored(t)
			if !finished {
				goesOn(t, s, left)
			}
		}
		if n > 30 {
			t.Fatal("it never ends")
		}
	}
}

// goesOn asks again and checks that nothing was lost.
func goesOn(t *testing.T, s *stage, left string) {
	t.Helper()
	p := &player{acts: []act{say(llm.StopEnd, "fine")}}
	if _, err := s.turn(p, waiter{}).Run(t.Context(), ask("and?")); err != nil {
		t.Fatalf("%v after\n%s", err, left)
	}
	if now := s.stored(t); !strings.HasPrefix(now, left) {
		t.Errorf("it was\n%s\nit is\n%s", left, now)
	}
	for name, a := range adapters() {
		if _, err := a.send(p.asked[0]); err != nil {
			t.Errorf("%s: %v after\n%s", name, err, left)
		}
	}
}

// perish runs in the child process, which is killed around the save that at names.
func perish(t *testing.T, at string) {
	fields := strings.SplitN(at, " ", 3)
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, fields[2])
	turn := s.turn(story(), waiter{[]string{"b", "a"}})
	turn.Record = &deadly{Record: turn.Record, left: n, after: fields[1] == "after"}
	if _, err := turn.Run(t.Context(), ask("q")); err != nil {
		t.Fatal(err)
	}
}
