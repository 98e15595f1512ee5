package render

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// A clock moves by one step each time it is read.
type clock struct {
	now  time.Time
	step time.Duration
}

func (c *clock) read() time.Time {
	c.now = c.now.Add(c.step)
	return c.now
}

func TestProgressOff(t *testing.T) {
	p := NewProgress(nil, ProgressOptions{})
	p.Add(1)
	p.Done()
}

func TestProgressLines(t *testing.T) {
	c := &clock{step: time.Second}
	var b strings.Builder
	p := NewProgress(&b, ProgressOptions{
		Mode: ProgressLines, Label: "migrate\x1b[2J", Total: 2000, Now: c.read,
	})
	for range 12 {
		p.Add(100)
	}
	p.Done()
	want := `migrate\x1b[2J: 500 of 2 000, 100/s, 15s left` + "\n" +
		`migrate\x1b[2J: 1 000 of 2 000, 100/s, 10s left` + "\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestProgressBar(t *testing.T) {
	c := &clock{step: 200 * time.Millisecond}
	var b strings.Builder
	p := NewProgress(&b, ProgressOptions{
		Mode: ProgressBar, Label: "check", Total: 100, Now: c.read,
	})
	p.Add(1)
	p.Add(1)
	if b.Len() > 0 {
		t.Errorf("short work shows %q", b.String())
	}
	p.Add(48)
	const bar = "\r 50% ████████████             check: 50 of 100, 83/s, 1s left"
	if got := b.String(); got != bar {
		t.Errorf("the bar is %q, want %q", got, bar)
	}
	c.step = time.Millisecond
	p.Add(1)
	if got := b.String(); got != bar {
		t.Errorf("bars are drawn without a pause: %q", got)
	}
	p.Done()
	if got := b.String(); got != bar+"\r"+strings.Repeat(" ", utf8.RuneCountInString(bar)-1)+"\r" {
		t.Errorf("the bar stays: %q", got)
	}
	before := b.Len()
	p.Add(1)
	if b.Len() != before {
		t.Error("a late Add draws the bar again")
	}
}

func TestProgressIsSafeForGoroutines(t *testing.T) {
	c := &clock{step: time.Second}
	var b strings.Builder
	p := NewProgress(&b, ProgressOptions{Mode: ProgressBar, Label: "x", Now: c.read})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				p.Add(1)
			}
		})
	}
	wg.Wait()
	p.Done()
}
