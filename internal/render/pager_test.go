package render

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func startPager(t *testing.T, command string, env ...string) (*Pager, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	p, err := StartPager(t.Context(), PagerOptions{
		Command: command, Env: append([]string{"PATH=" + os.Getenv("PATH")}, env...), Out: out,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, name
}

func TestPager(t *testing.T) {
	tests := []struct {
		name, command string
		env           []string
		want          string
	}{
		{"defaults", `echo "$LESS $LV"; cat`, nil, "FRX -c\nhello\n"},
		{"the user's", `echo "$LESS $LV"; cat`, []string{"LESS=R", "LV="}, "R \nhello\n"},
		{"its messages", `echo oops >&2; cat`, nil, "oops\nhello\n"},
		{"a program alone", `sort`, nil, "hello\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, name := startPager(t, tt.command, tt.env...)
			if _, err := io.WriteString(p, "hello\n"); err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(name); err != nil || string(got) != tt.want {
				t.Errorf("shown %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestNoPager(t *testing.T) {
	for _, command := range []string{"", " ", "cat"} {
		p, err := StartPager(t.Context(), PagerOptions{Command: command})
		if p != nil || err != nil {
			t.Errorf("%q: %v, %v", command, p, err)
		}
	}
}

// A reader who quits early ends the rendering, which is not a failure.
func TestPagerQuit(t *testing.T) {
	p, _ := startPager(t, "head -c 1 >/dev/null")
	line := strings.Repeat("x", 1<<16)
	var err error
	for range 100 {
		if _, err = io.WriteString(p, line); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrPagerQuit) {
		t.Errorf("err = %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestPagerFails(t *testing.T) {
	p, _ := startPager(t, "exit 3")
	if err := p.Close(); err == nil {
		t.Error("no error")
	}
}
