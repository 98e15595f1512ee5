package repair_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

const brokenID = 17000000000

// newBrokenSite returns a repository with every fault that can be repaired: content that is missing
// and damaged, a truncated stream, a conversation twice, and one in jp's trash.
func newBrokenSite(t testing.TB) *site {
	s := newSite(t)
	for i := range 4 {
		writeConversation(t, s.Dir, brokenID+i, []string{fmt.Sprint("content ", i)})
	}
	migrate(t, s.Dir, workspace.FormatBlobs, false)
	s.Commit("whole")
	conversation := func(i int) string {
		return s.Path(fmt.Sprintf(".jp/conversations/%d-x", brokenID+i))
	}
	s.Remove(blobPath("content 0"))
	s.WriteFile(blobPath("content 1"), "damaged")
	stream := s.ReadFile(fmt.Sprintf(".jp/conversations/%d-x/events.json", brokenID+1))
	place(t, filepath.Join(conversation(1), "events.json"), []byte(stream[:100]))
	if err := os.CopyFS(filepath.Join(filepath.Dir(conversation(2)), fmt.Sprint(brokenID+2)),
		os.DirFS(conversation(2))); err != nil {
		t.Fatal(err)
	}
	place(t, s.Path(".jp/conversations/.trash"), nil)
	if err := os.MkdirAll(s.Path(".jp/conversations/.trash"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.move(conversation(3), s.Path(fmt.Sprintf(".jp/conversations/.trash/%d-x-1", brokenID+3)))
	return s
}

// again returns a copy of a site.
func (s *site) again() *site {
	s.t.Helper()
	dir := filepath.Join(gittest.TempDir(s.t), "repo")
	if err := os.CopyFS(dir, os.DirFS(s.Dir)); err != nil {
		s.t.Fatal(err)
	}
	return &site{gittest.At(s.t, dir), s.t, s.data}
}

func (s *site) options() repair.Options {
	return repair.Options{Sources: s.sources(), Now: time.Now, PID: os.Getpid()}
}

// mend plans and applies until no certain repair is left, and returns the remaining faults.
func mend(ctx context.Context, t testing.TB, o repair.Options) []*repair.Fault {
	t.Helper()
	for range 4 {
		plan, err := repair.MakePlan(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Certain(true))+len(plan.Certain(false)) == 0 {
			return plan.Faults
		}
		if err := plan.Apply(ctx, true); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("it does not come to an end")
	return nil
}

// files returns the conversations of a site, by path, and its blobs.
func (s *site) files() map[string]string {
	all := tree(s.t, s.Path(".jp"))
	for name := range all {
		if strings.Contains(name, ".tmp/") || strings.Contains(name, "locks/") {
			delete(all, name)
		}
	}
	return all
}

func TestEverythingIsMended(t *testing.T) {
	s := newBrokenSite(t)
	before := s.files()
	plan, err := repair.MakePlan(t.Context(), s.options())
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]int{}
	for _, f := range plan.Faults {
		states[string(f.State)+" "+string(f.Outcome)]++
	}
	for _, want := range []string{
		"missing certain", "malformed certain", "duplicate-id certain", "trashed certain",
	} {
		if states[want] != 1 {
			t.Errorf("%d faults are %s: %v", states[want], want, states)
		}
	}
	if d := differences(before, s.files()); d != "" {
		t.Errorf("a plan has changed %s", d)
	}
	if err := plan.Apply(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for name, data := range s.files() {
		if !strings.HasPrefix(name, "blobs/") && before[name] != data {
			t.Errorf("%s has changed, and only content was to be restored", name)
		}
	}
	if left := mend(t.Context(), t, s.options()); len(left) > 0 {
		t.Errorf("left: %+v", left[0])
	}
	s.checkMended("after the first run")
	name := fmt.Sprintf(".jp/conversations/%d-x/events.json", brokenID+1)
	kept, err := filepath.Glob(s.Path(".git/jp/trash/repair-*/" + name))
	if err != nil || len(kept) != 1 {
		t.Fatalf("what was replaced is in %v, %v", kept, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || string(data) != before[name[len(".jp/"):]] {
		t.Errorf("what was replaced is kept as %q, %v", data, err)
	}
	after := s.files()
	if left := mend(t.Context(), t, s.options()); len(left) > 0 {
		t.Errorf("left after a second run: %+v", left[0])
	}
	if d := differences(after, s.files()); d != "" {
		t.Errorf("a second run has changed %s", d)
	}
}

// checkMended checks that git finds everything as it was committed.
func (s *site) checkMended(when string) {
	s.t.Helper()
	if out := s.Run("status", "--porcelain", "--untracked-files=no", "--", ".jp"); out != "" {
		s.t.Errorf("%s: %s", when, out)
	}
	src := s.sources()
	entries, problems, err := src.Workspace.List(workspace.ListOptions{})
	if err != nil || len(entries) != 4 || len(problems) > 0 {
		s.t.Errorf("%s: %v, %v, %v", when, entries, problems, err)
	}
}

// TestPuttingAsideMayFail: a file that cannot be quarantined is not replaced, and the next run
// completes the repair.
func TestPuttingAsideMayFail(t *testing.T) {
	full := errors.New("no space left on device")
	count := func(s *site, n int) (repair.Options, *int) {
		o, at := s.options(), new(int)
		o.Hook = func(atomicfile.Step, string) error {
			if *at++; *at == n {
				return full
			}
			return nil
		}
		return o, at
	}
	broken := newBrokenSite(t)
	o, steps := count(broken.again(), -1)
	mend(t.Context(), t, o)
	if *steps < 10 {
		t.Fatalf("there are %d steps", *steps)
	}
	t.Logf("%d points", *steps)
	for n := 1; n <= *steps; n++ {
		s := broken.again()
		before := s.files()
		o, _ := count(s, n)
		plan, err := repair.MakePlan(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Apply(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, f := range plan.Faults {
			if f.Err == nil {
				continue
			}
			failed++
			if !errors.Is(f.Err, full) || f.Done {
				t.Errorf("step %d: %s: %v", n, f.Path, f.Err)
			}
			name := strings.TrimPrefix(f.Path, ".jp/")
			if now := s.files(); before[name] != now[name] {
				t.Errorf("step %d: %s was replaced and not quarantined", n, f.Path)
			}
		}
		if failed != 1 {
			t.Errorf("step %d: %d faults failed", n, failed)
		}
		if left := mend(t.Context(), t, s.options()); len(left) > 0 {
			t.Errorf("again after step %d: left %+v", n, left[0])
		}
		s.checkMended(fmt.Sprintf("again after step %d", n))
	}
}

// TestKilledRepairIsFinishedByTheNext kills a repairing process after a random time.
func TestKilledRepairIsFinishedByTheNext(t *testing.T) {
	if dir := os.Getenv("REPAIR_TEST_SITE"); dir != "" {
		s := &site{gittest.At(t, dir), t, os.Getenv("REPAIR_TEST_DATA")}
		fmt.Println("begun")
		mend(t.Context(), t, s.options())
		return
	}
	broken := newBrokenSite(t)
	for n := range 10 {
		s := broken.again()
		cmd := exec.CommandContext(t.Context(), os.Args[0],
			"-test.run=^TestKilledRepairIsFinishedByTheNext$")
		cmd.Env = append(os.Environ(), "REPAIR_TEST_SITE="+s.Dir, "REPAIR_TEST_DATA="+s.data)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(n*n) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if left := mend(t.Context(), t, s.options()); len(left) > 0 {
			t.Errorf("after a kill: left %+v", left[0])
		}
		s.checkMended(fmt.Sprintf("after kill %d", n))
	}
}
