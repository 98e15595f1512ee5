//go:build !windows

package gc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// The processes of the test, by the first word of faultEnv.
var processes = map[string]func(f *fixture, number int, until time.Time) error{
	"writer":    writeWithLocks,
	"raw":       writeWithoutLocks,
	"collector": collectAgain,
}

// shared is the number of contents that all writers share, so that one writer refers again to
// content that another one dropped.
const shared = 40

func someContent(r *rand.Rand) []byte {
	if r.IntN(2) == 0 {
		return fmt.Appendf(nil, "content %d", r.IntN(shared))
	}
	return fmt.Appendf(nil, "new %d", r.Uint64())
}

// writeWithLocks changes conversations as the commands do.
func writeWithLocks(f *fixture, number int, until time.Time) error {
	r := rand.New(rand.NewPCG(uint64(number), uint64(os.Getpid()))) // small
	w := f.openWorkspace(time.Now)
	id := events.ID(17800000000 + number)
	n := &workspace.NewConversation{
		ID: id, Details: &events.Details{LastActivatedAt: time.Now()}, Stream: events.New(),
	}
	if _, err := w.Create(context.Background(), n); err != nil {
		return err
	}
	for done := false; !done; done = time.Now().After(until) {
		err := w.Update(context.Background(), id, func(c *workspace.Conversation) error {
			s, err := events.Decode([]byte(inline(someContent(r), someContent(r))))
			c.Stream = s
			return err
		})
		held := new(workspace.LockedError)
		if err != nil && !errors.As(err, &held) {
			return err
		}
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
	}
	return nil
}

// inline returns a stream with inline contents.
func inline(all ...[]byte) string {
	s := stream(make([]blobs.Hash, len(all))...)
	for _, c := range all {
		old := fmt.Sprintf(`{"$blob":"%s","size":1}`, blobs.Hash{})
		s = strings.Replace(s, old, fmt.Sprintf(`{"text":%q}`, c), 1)
	}
	return s
}

// writeWithoutLocks does only what RFD 066 requires: content, stream, and a check whether the
// content still exists.
func writeWithoutLocks(f *fixture, number int, until time.Time) error {
	r := rand.New(rand.NewPCG(uint64(number), uint64(os.Getpid()))) // small
	store, err := blobs.Open(f.Path(".jp/blobs"), blobs.Options{Now: time.Now})
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(f.Path(".jp"))
	if err != nil {
		return err
	}
	dir := fmt.Sprintf("conversations/178%08d-raw", number)
	put := func(name, data string) error {
		return atomicfile.Write(root, dir+"/"+name, []byte(data),
			atomicfile.Options{TempDir: "blobs/.tmp", NoSync: true})
	}
	if err := errors.Join(put("metadata.json", "{}\n"), put("base_config.json", "{}\n")); err != nil {
		return err
	}
	for done := false; !done; done = time.Now().After(until) {
		one, two := someContent(r), someContent(r)
		for _, c := range [][]byte{one, two} {
			if _, err := store.Write(c); err != nil {
				return err
			}
		}
		if err := put("events.json", stream(blobs.Sum(one), blobs.Sum(two))); err != nil {
			return err
		}
		for _, c := range [][]byte{one, two} {
			if _, err := store.Stat(blobs.Sum(c)); err == nil {
				continue
			}
			if _, err := store.Write(c); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
	return nil
}

func collectAgain(f *fixture, _ int, until time.Time) error {
	o := f.options()
	o.Now, o.Grace, o.AcceptMissing = time.Now, 0, true
	o.Cache = refs.Open(f.Path(".git/jp/cache"))
	moved, runs := 0, 0
	for done := false; !done; done = time.Now().After(until) {
		p, err := gc.MakePlan(context.Background(), o)
		busy, refused := new(gc.BusyError), new(gc.RefusedError)
		if err == nil {
			var res *gc.Result
			res, err = gc.Sweep(context.Background(), o, p)
			if err == nil {
				runs++
				moved += len(res.Moved)
			}
		}
		locked := err != nil && strings.Contains(err.Error(), "index.lock")
		if err != nil && !errors.As(err, &busy) && !errors.As(err, &refused) && !locked {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	fmt.Printf("%d runs, %d moved\n", runs, moved)
	return nil
}

func (f *fixture) openWorkspace(clock func() time.Time) *workspace.Workspace {
	f.tb.Helper()
	w, err := workspace.Open(f.Dir, workspace.Env{
		Getenv: func(string) string { return "" }, Now: clock, Dir: f.Dir, PID: os.Getpid(),
		Settings: workspace.Settings{LockWait: time.Second},
	})
	if err != nil {
		f.tb.Fatal(err)
	}
	return w
}

// TestManyProcesses runs eight writers, two collectors, a committer and git gc in one repository.
// At the end all referenced content must exist.
func TestManyProcesses(t *testing.T) {
	long := 3 * time.Second
	if os.Getenv("GIT_JP_SOAK") != "" {
		long = time.Minute
	}
	f := newFixture(t)
	until := time.Now().Add(long)
	type process struct {
		what string
		cmd  *exec.Cmd
		out  *strings.Builder
	}
	var all []process
	start := func(kind string, number int) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", faultEnv, kind, number, f.Dir),
			"GC_UNTIL="+strconv.FormatInt(until.UnixNano(), 10))
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Its seed is its number, and that of the process.
		what := fmt.Sprintf("%s %d of process %d", kind, number, cmd.Process.Pid)
		all = append(all, process{what, cmd, &out})
	}
	for i := range 4 {
		start("writer", i+1)
		start("raw", i+101)
	}
	start("collector", 1)
	start("collector", 2)
	commits := 0
	for n := 0; time.Now().Before(until); n++ {
		_, addErr := f.Try("add", "-A", ".jp")
		if _, err := f.Try("commit", "-q", "-m", "x"); err == nil && addErr == nil {
			commits++
		}
		if n%20 == 10 {
			_, _ = f.Try("gc", "-q")
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, p := range all {
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", p.what, err, p.out)
		}
		if strings.HasPrefix(p.what, "collector") {
			t.Logf("%s: %s", p.what, strings.TrimSpace(p.out.String()))
		}
	}
	t.Logf("%d commits", commits)
	if _, err := gc.Recover(t.Context(), f.options()); err != nil {
		t.Fatal(err)
	}
	f.nothingLost()
	f.Run("fsck", "--connectivity-only")
}

func (f *fixture) nothingLost() {
	f.tb.Helper()
	names, err := filepath.Glob(f.Path(".jp/conversations/*/events.json"))
	if err != nil || len(names) != 8 {
		f.tb.Errorf("%d conversations, %v", len(names), err)
	}
	store, err := blobs.Open(f.Path(".jp/blobs"), blobs.Options{})
	if err != nil {
		f.tb.Fatal(err)
	}
	defer store.Close() // was only read
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.tb.Fatal(err)
		}
		m := refs.MentionsIn(data)
		if m.Err != nil || len(m.Refs) == 0 {
			f.tb.Errorf("%s: %v, %d references", name, m.Err, len(m.Refs))
		}
		for _, h := range m.Refs {
			if _, err := store.Stat(h); err != nil {
				f.tb.Errorf("%s has lost %s: %v", filepath.Base(filepath.Dir(name)), h, err)
			}
		}
	}
}
