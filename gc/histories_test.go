package gc_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/gittest"
)

// historyLength is the number of operations in one repository.
const historyLength = 150

// modelOps is the number of operations in all: GIT_JP_MODEL, or a default for the kind of run.
func modelOps() int {
	if n, err := strconv.Atoi(os.Getenv("GIT_JP_MODEL")); err == nil {
		return n
	}
	if os.Getenv("GIT_JP_SOAK") != "" {
		return 1_000_000
	}
	return 2 * historyLength
}

func randomHistory(seed uint64) []op {
	r := rand.New(rand.NewPCG(seed, 1))
	total := 0
	for _, o := range ops {
		total += o.often
	}
	history := make([]op, historyLength)
	for i := range history {
		n := r.IntN(total)
		for _, o := range ops {
			if n -= o.often; n < 0 {
				history[i] = op{o.kind, r.IntN(1000), r.IntN(1000)}
				break
			}
		}
	}
	return append(history, op{"gc", 1, 0})
}

// failure ends a history that differs from the model.
type failure struct{ text string }

// strictTB turns a failure into a panic, so that a shortened history can be tried.
type strictTB struct {
	testing.TB
	dir     string
	n       int
	cleanup []func()
}

func (s *strictTB) Helper()             {}
func (s *strictTB) Cleanup(f func())    { s.cleanup = append(s.cleanup, f) }
func (s *strictTB) Fatal(args ...any)   { panic(failure{fmt.Sprint(args...)}) }
func (s *strictTB) Logf(string, ...any) {}
func (s *strictTB) Fatalf(format string, args ...any) {
	panic(failure{fmt.Sprintf(format, args...)})
}

func (s *strictTB) TempDir() string {
	s.n++
	dir := filepath.Join(s.dir, strconv.Itoa(s.n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		panic(failure{err.Error()})
	}
	return dir
}

// live runs a history and returns why it failed, "" if it did not, and the resulting world.
func live(t *testing.T, history []op) (why string, m *world) {
	dir, err := os.MkdirTemp("", "gc-model-")
	if err != nil {
		t.Fatal(err)
	}
	tb := &strictTB{TB: t, dir: dir}
	defer func() {
		for _, f := range slices.Backward(tb.cleanup) {
			f()
		}
		_ = os.RemoveAll(dir)
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			why = f.text
		}
	}()
	m = newWorld(tb)
	for i, o := range history {
		what := fmt.Sprintf("after %d, %s", i, o)
		before := m.main.work.clone()
		for _, k := range ops {
			if k.kind == o.kind {
				k.do(m, o.a, o.b)
			}
		}
		m.ran[o.kind]++
		m.compare(what)
		if i == len(history)-1 && o.kind == "gc" {
			m.judge(before.blobs)
		}
	}
	return "", m
}

// shrink removes operations that a failure does not need.
func shrink(t *testing.T, history []op) []op {
	deadline := time.Now().Add(2 * time.Minute)
	for size := len(history) / 2; size > 0; size /= 2 {
		for at := 0; at < len(history) && time.Now().Before(deadline); {
			less := slices.Delete(slices.Clone(history), at, min(at+size, len(history)))
			if why, _ := live(t, less); why != "" && len(less) > 0 {
				history = less
			} else {
				at += size
			}
		}
	}
	return history
}

// TestHistories runs random histories of real git operations, beside a model of which references
// resolve after each. A failing history is shrunk and printed as a script for testdata/histories,
// which is run from then on.
func TestHistories(t *testing.T) {
	if gittest.RanAsUser(t) { // it makes files unreadable
		return
	}
	total := modelOps()
	first := uint64(1)
	if os.Getenv("GIT_JP_SOAK") != "" || os.Getenv("GIT_JP_MODEL") != "" {
		first = uint64(time.Now().UnixNano()) // any number will do
	}
	histories := (total + historyLength - 1) / historyLength
	t.Logf("%d operations in %d histories from seed %d", histories*historyLength, histories, first)
	var mu sync.Mutex
	ran, deleted, refused := map[string]int{}, 0, 0
	seeds := make(chan uint64)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for seed := range seeds {
				why, m := live(t, randomHistory(seed))
				mu.Lock()
				for kind, n := range m.ran {
					ran[kind] += n
				}
				deleted += m.deleted
				refused += m.refused
				if why != "" && !t.Failed() {
					small := shrink(t, randomHistory(seed))
					again, _ := live(t, small)
					t.Errorf("seed %d: %s\nsmall: %s\n%s", seed, why, again, script(small))
				}
				mu.Unlock()
			}
		})
	}
	for i := range histories {
		if t.Failed() {
			break
		}
		seeds <- first + uint64(i) // counts up
	}
	close(seeds)
	group.Wait()
	t.Logf("%d contents deleted, %d refusals; %v", deleted, refused, ran)
	// One in about a hundred histories deletes nothing.
	if deleted == 0 && (first == 1 || histories > 5) {
		t.Error("nothing was ever deleted")
	}
}

func script(history []op) string {
	var b strings.Builder
	for _, o := range history {
		fmt.Fprintln(&b, o)
	}
	return b.String()
}

// TestKnownHistories runs the histories that failed once.
func TestKnownHistories(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	names, err := filepath.Glob("testdata/histories/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var history []op
		for line := range strings.Lines(string(data)) {
			var o op
			if _, err := fmt.Sscanf(line, "%s %d %d", &o.kind, &o.a, &o.b); err == nil {
				history = append(history, o)
			}
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			if why, _ := live(t, history); why != "" {
				t.Error(why)
			}
		})
	}
}
