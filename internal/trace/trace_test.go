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

func TestLog_Printf_staysOnOneLine(t *testing.T) {
	var buf bytes.Buffer
	New(&buf).Printf("read %d blobs of %q\n\nforged: line\xff", 3, "x")
	want := "git-jp: read 3 blobs of \"x\"\\n\\nforged: line\\xff\n"
	if got := buf.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLog_nilWritesNothing(t *testing.T) {
	l := New(nil)
	if l.Enabled() {
		t.Error("a log without a writer is enabled")
	}
	l.Command([]string{"git"}, start, 0, nil) // must not panic
	l.Printf("x")
}

// failing counts the calls and refuses them.
type failing struct{ calls int }

func (f *failing) Write([]byte) (int, error) { f.calls++; return 0, errors.New("disk full") }

func TestLog_ignoresErrorsOfWriting(t *testing.T) {
	w := &failing{}
	New(w).Printf("x")
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
				l.Printf("%s", strings.Repeat("a", 50))
			}
		})
	}
	wg.Wait()
	for line := range strings.Lines(buf.String()) {
		if line != "git-jp: "+strings.Repeat("a", 50)+"\n" {
			t.Fatalf("mixed line %q", line)
		}
	}
}
