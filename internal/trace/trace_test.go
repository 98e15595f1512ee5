package trace

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 890e6, time.UTC)

func TestLog_lines(t *testing.T) {
	long := strings.Repeat("x", 5000)
	tests := []struct {
		name string
		args []string
		err  error
		want string
	}{
		{
			"plain",
			[]string{"git", "rev-parse", "--git-dir"},
			nil,
			"git-jp: 05:06:07.890    1.23ms  git rev-parse --git-dir\n",
		},
		{
			"quoted",
			[]string{"git", "add", "a b", "", `c"d`},
			nil,
			"git-jp: 05:06:07.890    1.23ms  git add \"a b\" \"\" \"c\\\"d\"\n",
		},
		{
			"control characters",
			[]string{"git", "x\n\x1b[2J"},
			errors.New("a\tb\nsecond line"),
			"git-jp: 05:06:07.890    1.23ms  git \"x\\n\\x1b[2J\"  # a\\tb\n",
		},
		{
			"long",
			[]string{long},
			nil,
			"git-jp: 05:06:07.890    1.23ms  " + long[:maxText] + "…(5000 bytes)\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var buf bytes.Buffer
			New(&buf).Command(tt.args, start, 1234567*time.Nanosecond, tt.err)
			if got := buf.String(); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestLog_nilWritesNothing(t *testing.T) {
	l := New(nil)
	if l != nil {
		t.Error("there is a log without a writer")
	}
	l.Command([]string{"git"}, start, 0, nil) // must not panic
}

// failing counts the calls and refuses them.
type failing struct{ calls int }

func (f *failing) Write([]byte) (int, error) { f.calls++; return 0, errors.New("disk full") }

func TestLog_ignoresErrorsOfWriting(t *testing.T) {
	w := &failing{}
	New(w).Command([]string{"git"}, start, 0, nil)
	if w.calls != 1 {
		t.Errorf("%d writes, want 1", w.calls)
	}
}

func TestLog_keepsLinesOfGoroutinesApart(t *testing.T) {
	var buf bytes.Buffer
	l := New(&buf)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				l.Command([]string{strings.Repeat("a", 50)}, start, 0, nil)
			}
		})
	}
	wg.Wait()
	var alone bytes.Buffer
	New(&alone).Command([]string{strings.Repeat("a", 50)}, start, 0, nil)
	for line := range strings.Lines(buf.String()) {
		if line != alone.String() {
			t.Fatalf("mixed line %q", line)
		}
	}
}
